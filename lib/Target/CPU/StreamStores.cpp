// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A store reads the cache line that it writes, unless it passes the caches by. What is
// written into a large result, by a kernel that reads and writes more than caches have, is not
// found there later anyway:
//
//   vector.store %v, %r[%i] : memref<16777216xf32>, vector<16xf32>
//   ->
//   vector.store %v, %r[%i] {nontemporal = true} : …
//
// and in LLVM IR, as x86 wants such addresses aligned, which only the caller of the
// kernel knows:
//
//   if (address & 63) store … align 4
//   else              store … align 64, !nontemporal
//
// Where all of these addresses are a buffer's and a number of whole lines, and a tile that was
// transposed is stored at once, one test of the buffers chooses between two copies of the
// kernel: branches between so many stores would keep registers from being reused.
//
//   if ((%r & 63) | …) return kernel.unaligned(…)
//
// Other threads see these stores after a fence, which ends the kernel.

#include "StreamStores.h"

#include "tilewright/Dialect/Strategies.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Support/KnownBits.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <numeric>

namespace tilewright {
#define GEN_PASS_DEF_STREAMSTORESPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static constexpr int64_t kLineBytes = 64;

/// Whole lines, so that no line is written in parts that lie far apart in time.
static bool hasWholeLines(vector::StoreOp store) {
  VectorType type = store.getVectorType();
  return type.getRank() == 1 && !type.isScalable() &&
         type.getNumElements() * type.getElementTypeBitWidth() % (8 * kLineBytes) == 0 &&
         store.getBase().getType().isLastDimUnitStride();
}

/// The bytes of argument `number`, whose dynamic sizes are arguments, too. Null if these are not
/// known.
static Value countBytes(OpBuilder &builder, func::FuncOp func, unsigned number,
                        MemRefType type) {
  auto scalars = func->getAttrOfType<ArrayAttr>(kScalarsAttr);
  unsigned buffers =
      llvm::count_if(func.getArgumentTypes(), llvm::IsaPred<MemRefType>);
  Location loc = func.getLoc();
  int64_t constant = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  Value count;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (!type.isDynamicDim(d)) {
      constant *= type.getDimSize(d);
      continue;
    }
    auto meaning = DimAttr::get(func.getContext(), number, d);
    auto found = scalars ? llvm::find(scalars, meaning) : nullptr;
    if (!scalars || found == scalars.end())
      return nullptr;
    Value size = func.getArgument(buffers + (found - scalars.begin()));
    count = count ? Value(arith::MulIOp::create(builder, loc, count, size)) : size;
  }
  Value rest = arith::ConstantIndexOp::create(builder, loc, constant);
  return count ? Value(arith::MulIOp::create(builder, loc, count, rest)) : rest;
}

/// Whether no cache of `bytes` would keep result `number`: it has a quarter of them, and all
/// buffers together have as many. Null if that is not known.
static Value isLarge(OpBuilder &builder, func::FuncOp func, unsigned number, int64_t bytes) {
  constexpr int64_t kPart = 4;
  Location loc = func.getLoc();
  Value own, all;
  for (auto [at, argument] : llvm::enumerate(func.getArguments())) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    Value count = type ? countBytes(builder, func, at, type) : Value();
    if (at == number)
      own = count;
    if (count)
      all = all ? builder.createOrFold<arith::AddIOp>(loc, all, count) : count;
  }
  if (!own)
    return nullptr;
  auto isAtLeast = [&](Value value, int64_t least) {
    Value limit = arith::ConstantIndexOp::create(builder, loc, least);
    return builder.createOrFold<arith::CmpIOp>(loc, arith::CmpIPredicate::sge, value, limit);
  };
  Value isPart = isAtLeast(own, bytes / kPart), areAll = isAtLeast(all, bytes);
  return builder.createOrFold<arith::AndIOp>(loc, isPart, areAll);
}

/// Where the result is large, a twin of the store that passes the caches by.
static void splitStore(vector::StoreOp store, Value large) {
  OpBuilder builder(store);
  auto branch = scf::IfOp::create(builder, store.getLoc(), large, /*withElseRegion=*/true);
  OpBuilder inner = branch.getThenBodyBuilder();
  cast<vector::StoreOp>(inner.clone(*store)).setNontemporal(true);
  store->moveBefore(branch.elseBlock()->getTerminator());
}

static void streamStores(func::FuncOp func, unsigned number, int64_t bytes) {
  BlockArgument result = func.getArgument(number);
  SmallVector<vector::StoreOp> stores;
  SmallVector<memref::PrefetchOp> prefetches;
  for (Operation *user : result.getUsers()) {
    auto store = dyn_cast<vector::StoreOp>(user);
    if (store && hasWholeLines(store))
      stores.push_back(store);
    else if (auto prefetch = dyn_cast<memref::PrefetchOp>(user))
      prefetches.push_back(prefetch);
    // Masked stores of edges are ordinary ones; whatever else there is may read.
    else if (!isa<vector::StoreOp, vector::MaskedStoreOp, memref::StoreOp>(user))
      return;
  }
  if (stores.empty())
    return;
  OpBuilder builder = OpBuilder::atBlockBegin(&func.getBody().front());
  Value large = isLarge(builder, func, number, bytes);
  if (!large || matchPattern(large, m_Zero()))
    return;
  if (matchPattern(large, m_One())) {
    for (vector::StoreOp store : stores)
      store.setNontemporal(true);
    // No cache has what is streamed.
    for (memref::PrefetchOp prefetch : prefetches)
      prefetch.erase();
    return;
  }
  for (vector::StoreOp store : stores)
    splitStore(store, large);
}

namespace {
struct StreamStoresPass : tilewright::impl::StreamStoresPassBase<StreamStoresPass> {
  using StreamStoresPassBase::StreamStoresPassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    auto access = func->getAttrOfType<ArrayAttr>(kAccessAttr);
    auto config = func->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
    if (!isKernel(func) || func.isExternal() || !access || !traitsOf(config).passesOnce)
      return;
    for (auto [number, how] : llvm::enumerate(access.getAsValueRange<StringAttr>()))
      if (how == "write" && number < func.getNumArguments() &&
          isa<MemRefType>(func.getArgument(number).getType()))
        streamStores(func, number, bytes);
  }
};
} // namespace

/// Of 16-bit floats the code generator makes ordinary stores, even if they are cast to
/// integers: a register after the other by name.
static void streamFloats16(llvm::IRBuilder<> &builder, llvm::StoreInst *store,
                           unsigned vectorBytes) {
  llvm::Value *value = store->getValueOperand();
  auto *type = cast<llvm::FixedVectorType>(value->getType());
  unsigned lanes = vectorBytes / 2;
  auto *words = llvm::FixedVectorType::get(builder.getInt32Ty(), vectorBytes / 4);
  auto *instruction = llvm::InlineAsm::get(
      llvm::FunctionType::get(builder.getVoidTy(), {words, builder.getPtrTy()}, false),
      "vmovntdq $0, ($1)", "v,r,~{memory}", /*hasSideEffects=*/true);
  for (unsigned first = 0; first < type->getNumElements(); first += lanes) {
    llvm::SmallVector<int> order(lanes);
    std::iota(order.begin(), order.end(), int(first));
    llvm::Value *part = builder.CreateShuffleVector(value, order);
    llvm::Value *address =
        builder.CreateConstGEP1_64(type->getElementType(), store->getPointerOperand(), first);
    builder.CreateCall(instruction, {builder.CreateBitCast(part, words), address});
  }
}

/// Makes `store`, whose address is that of a line, one that passes the caches by.
static void streamAligned(llvm::StoreInst *store, unsigned vectorBytes) {
  if (!store->getValueOperand()->getType()->getScalarType()->is16bitFPTy()) {
    store->setAlignment(llvm::Align(kLineBytes));
    return;
  }
  llvm::IRBuilder<> builder(store);
  streamFloats16(builder, store, vectorBytes);
  store->eraseFromParent();
}

/// An ordinary store.
static void storeThroughCaches(llvm::StoreInst *store) {
  store->setMetadata(llvm::LLVMContext::MD_nontemporal, nullptr);
}

/// Whether `address` is that of a line in `store`, found out where it is stored.
static void guardStore(llvm::StoreInst *store, unsigned vectorBytes) {
  llvm::IRBuilder<> builder(store);
  llvm::Value *address =
      builder.CreatePtrToInt(store->getPointerOperand(), builder.getInt64Ty());
  llvm::Value *aligned =
      builder.CreateICmpEQ(builder.CreateAnd(address, kLineBytes - 1), builder.getInt64(0));
  llvm::Instruction *then, *otherwise;
  llvm::SplitBlockAndInsertIfThenElse(aligned, store, &then, &otherwise);
  auto *streamed = cast<llvm::StoreInst>(store->clone());
  streamed->insertBefore(then->getIterator());
  streamAligned(streamed, vectorBytes);
  store->moveBefore(otherwise->getIterator());
  storeThroughCaches(store);
}

/// The argument that `address` is a number of whole lines behind. Null if that is not known.
static llvm::Argument *bufferOfLines(llvm::Value *address, const llvm::DataLayout &layout) {
  llvm::APInt constant(64, 0);
  while (auto *offset = dyn_cast<llvm::GEPOperator>(address)) {
    llvm::SmallMapVector<llvm::Value *, llvm::APInt, 4> variables;
    if (!offset->collectOffset(layout, 64, variables, constant))
      return nullptr;
    for (auto &[variable, scale] : variables)
      if (llvm::computeKnownBits(variable, layout).countMinTrailingZeros() +
              scale.countr_zero() < llvm::Log2_64(kLineBytes))
        return nullptr;
    address = offset->getPointerOperand();
  }
  return constant.urem(kLineBytes) == 0 ? dyn_cast<llvm::Argument>(address) : nullptr;
}

static llvm::SmallVector<llvm::StoreInst *> streamedStores(llvm::Function &function) {
  llvm::SmallVector<llvm::StoreInst *> stores;
  for (llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *store = dyn_cast<llvm::StoreInst>(&instruction))
      if (store->hasMetadata(llvm::LLVMContext::MD_nontemporal))
        stores.push_back(store);
  return stores;
}

/// Leaves `function` to a copy of it that streams nothing where one of `buffers` does not begin
/// with a line.
static void splitByAlignment(llvm::Function &function,
                             llvm::ArrayRef<llvm::Argument *> buffers) {
  llvm::ValueToValueMapTy map;
  llvm::Function *unaligned = llvm::CloneFunction(&function, map);
  unaligned->setName(function.getName() + ".unaligned");
  llvm::for_each(streamedStores(*unaligned), storeThroughCaches);

  llvm::BasicBlock *body = &function.getEntryBlock();
  auto *entry = llvm::BasicBlock::Create(function.getContext(), "", &function, body);
  auto *leave = llvm::BasicBlock::Create(function.getContext(), "", &function, body);
  llvm::IRBuilder<> builder(entry);
  llvm::Value *bits = builder.getInt64(0);
  for (llvm::Argument *buffer : buffers)
    bits = builder.CreateOr(bits, builder.CreatePtrToInt(buffer, builder.getInt64Ty()));
  llvm::Value *low = builder.CreateAnd(bits, kLineBytes - 1);
  builder.CreateCondBr(builder.CreateICmpEQ(low, builder.getInt64(0)), body, leave);
  builder.SetInsertPoint(leave);
  llvm::SmallVector<llvm::Value *> arguments;
  for (llvm::Argument &argument : function.args())
    arguments.push_back(&argument);
  builder.CreateCall(unaligned, arguments);
  builder.CreateRetVoid();
}

/// Whether a block stores as many lines as a transposed tile has.
static bool storesTiles(llvm::ArrayRef<llvm::StoreInst *> stores) {
  constexpr unsigned kLines = 16;
  llvm::SmallDenseMap<llvm::BasicBlock *, unsigned> counts;
  return llvm::any_of(stores, [&](llvm::StoreInst *store) {
    return ++counts[store->getParent()] >= kLines;
  });
}

void cpu::guardStreamedStores(llvm::Module &module, unsigned vectorBytes) {
  for (llvm::Function &function : llvm::make_early_inc_range(module)) {
    llvm::SmallVector<llvm::StoreInst *> stores = streamedStores(function);
    if (stores.empty())
      continue;
    llvm::SmallSetVector<llvm::Argument *, 4> buffers;
    for (llvm::StoreInst *store : stores)
      buffers.insert(bufferOfLines(store->getPointerOperand(), module.getDataLayout()));
    for (llvm::BasicBlock &block : function)
      if (auto *end = dyn_cast<llvm::ReturnInst>(block.getTerminator()))
        llvm::IRBuilder<>(end).CreateIntrinsic(llvm::Intrinsic::x86_sse_sfence, {});
    // The branches of shorter registers keep the two stores of a line together, which the
    // code generator's scheduler would move apart; of a few stores, these from each other.
    bool isSplit = vectorBytes >= kLineBytes && storesTiles(stores) &&
                   !buffers.contains(nullptr) && function.getReturnType()->isVoidTy();
    if (isSplit)
      splitByAlignment(function, buffers.getArrayRef());
    for (llvm::StoreInst *store : stores)
      if (isSplit || store->getAlign() >= llvm::Align(kLineBytes))
        streamAligned(store, vectorBytes);
      else
        guardStore(store, vectorBytes);
  }
}
