// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// AVX2 masks accesses of 32 and 64 bits only, NEON none. Of a masked access of other
// elements the code generator makes a branch per element: 16 blocks per vector,
// thousands per kernel. It is needed at the edges of tensors alone, so it
// becomes a call:
//
//   define internal <16 x i16> @masked.load.v16i16(ptr, i16 %mask, <16 x i16> %other)
//     store %other to the stack
//     for (; mask; mask &= mask - 1) copy element cttz(mask)
//     load the vector from the stack

#include "MaskedAccess.h"

#include "llvm/Analysis/InstSimplifyFolder.h"
#include "llvm/Analysis/VectorUtils.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace tilewright;

/// The function called instead of masked accesses of `type`, made on demand.
static Function *getHelper(Module &module, FixedVectorType *type, bool isLoad) {
  LLVMContext &context = module.getContext();
  unsigned lanes = type->getNumElements();
  std::string name = std::string(isLoad ? "masked.load.v" : "masked.store.v") +
                     std::to_string(lanes) + "i" +
                     std::to_string(type->getScalarSizeInBits());
  if (Function *function = module.getFunction(name))
    return function;
  Type *pointer = PointerType::get(context, 0);
  Type *maskType = IntegerType::get(context, lanes);
  auto *functionType = FunctionType::get(
      isLoad ? type : Type::getVoidTy(context), {pointer, maskType, type}, false);
  Function *function =
      Function::Create(functionType, GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(Attribute::NoInline);
  function->addFnAttr(Attribute::NoUnwind);
  Value *address = function->getArg(0), *vector = function->getArg(2);

  auto *entry = BasicBlock::Create(context, "entry", function);
  auto *loop = BasicBlock::Create(context, "loop", function);
  auto *exit = BasicBlock::Create(context, "exit", function);
  IRBuilder<> builder(entry);
  AllocaInst *copy = builder.CreateAlloca(type);
  builder.CreateStore(vector, copy);
  Value *zero = ConstantInt::get(maskType, 0);
  builder.CreateCondBr(builder.CreateICmpEQ(function->getArg(1), zero), exit, loop);

  builder.SetInsertPoint(loop);
  PHINode *mask = builder.CreatePHI(maskType, 2);
  mask->addIncoming(function->getArg(1), entry);
  Value *lane = builder.CreateIntrinsic(Intrinsic::cttz, {maskType},
                                        {mask, builder.getTrue()});
  lane = builder.CreateZExtOrTrunc(lane, builder.getInt64Ty());
  Type *element = type->getElementType();
  Value *memory = builder.CreateGEP(element, address, lane);
  Value *stack = builder.CreateGEP(element, copy, lane);
  builder.CreateStore(builder.CreateLoad(element, isLoad ? memory : stack),
                      isLoad ? stack : memory);
  Value *rest =
      builder.CreateAnd(mask, builder.CreateSub(mask, ConstantInt::get(maskType, 1)));
  mask->addIncoming(rest, loop);
  builder.CreateCondBr(builder.CreateICmpEQ(rest, zero), exit, loop);

  builder.SetInsertPoint(exit);
  if (isLoad)
    builder.CreateRet(builder.CreateLoad(type, copy));
  else
    builder.CreateRetVoid();
  return function;
}

/// The only lane of a constant mask that is set, if it is one.
static std::optional<unsigned> onlyLane(Value *mask, unsigned lanes) {
  auto *constant = dyn_cast<Constant>(mask);
  std::optional<unsigned> only;
  for (unsigned lane = 0; constant && lane < lanes; ++lane) {
    Constant *bit = constant->getAggregateElement(lane);
    if (!bit || !(bit->isOneValue() || bit->isZeroValue()) || (only && bit->isOneValue()))
      return std::nullopt;
    if (bit->isOneValue())
      only = lane;
  }
  return only;
}

/// A store of one lane is that of its element. LLVM 22 for x86 does so too, but of integers
/// that are narrowed on their way it stores the wide one, and so what is behind it.
static void storeLane(IntrinsicInst *store, unsigned lane) {
  IRBuilder<> builder(store);
  Align align = store->getParamAlign(1).valueOrOne();
  builder.CreateAlignedStore(builder.CreateExtractElement(store->getArgOperand(0), lane),
                             builder.CreateConstGEP1_64(
                                 store->getArgOperand(0)->getType()->getScalarType(),
                                 store->getArgOperand(1), lane),
                             lane ? Align(1) : align);
  store->eraseFromParent();
}

static void lower(IntrinsicInst *access, unsigned nativeBits) {
  bool isLoad = access->getIntrinsicID() == Intrinsic::masked_load;
  Value *vector = access->getArgOperand(isLoad ? 2 : 0);
  Value *address = access->getArgOperand(isLoad ? 0 : 1);
  Value *mask = access->getArgOperand(isLoad ? 1 : 2);
  auto *type = cast<FixedVectorType>(vector->getType());
  if (std::optional<unsigned> lane = onlyLane(mask, type->getNumElements()); lane && !isLoad)
    return storeLane(access, *lane);
  unsigned bits = type->getScalarSizeInBits();
  bool isFloat = type->getElementType()->isFloatingPointTy();
  bool isCalled = bits < nativeBits && !isa<Constant>(mask);
  if (!isCalled && (bits >= 32 || !isFloat))
    return;
  IRBuilder<> builder(access);
  auto *integers = FixedVectorType::get(builder.getIntNTy(bits), type->getNumElements());
  vector = builder.CreateBitCast(vector, integers);
  Value *result;
  if (isCalled) {
    Value *bitMask = builder.CreateBitCast(
        mask, builder.getIntNTy(type->getNumElements()));
    result = builder.CreateCall(getHelper(*access->getModule(), integers, isLoad),
                                {address, bitMask, vector});
  } else {
    Align align = access->getParamAlign(isLoad ? 0 : 1).valueOrOne();
    result = isLoad ? builder.CreateMaskedLoad(integers, address, align, mask, vector)
                    : builder.CreateMaskedStore(vector, address, align, mask);
  }
  if (isLoad)
    access->replaceAllUsesWith(builder.CreateBitCast(result, type));
  access->eraseFromParent();
}

void cpu::lowerMaskedAccesses(Module &module, unsigned nativeBits) {
  SmallVector<IntrinsicInst *> accesses;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (auto *call = dyn_cast<IntrinsicInst>(&instruction))
          if (call->getIntrinsicID() == Intrinsic::masked_load ||
              call->getIntrinsicID() == Intrinsic::masked_store)
            accesses.push_back(call);
  for (IntrinsicInst *access : accesses)
    lower(access, nativeBits);
}

namespace {
using FoldingBuilder = IRBuilder<InstSimplifyFolder>;
} // namespace

/// The lanes of `vector` from `begin` on, `lanes` of them.
static Value *takeLanes(FoldingBuilder &builder, Value *vector, unsigned begin,
                        unsigned lanes) {
  return builder.CreateShuffleVector(vector, createSequentialMask(begin, lanes, 0));
}

/// The same of a mask, so that lanes that a constant sets or clears are seen to be; what was
/// `taken` of others is taken once.
static Value *takeMask(FoldingBuilder &builder, Value *mask, unsigned begin, unsigned lanes,
                       DenseMap<Value *, Value *> &taken) {
  if (Value *known = taken.lookup(mask))
    return known;
  auto take = [&](Value *operand) { return takeMask(builder, operand, begin, lanes, taken); };
  auto *operation = dyn_cast<Instruction>(mask);
  auto *binary = dyn_cast_or_null<BinaryOperator>(operation);
  auto *select = dyn_cast_or_null<SelectInst>(operation);
  Value *made;
  if (binary) {
    Value *left = take(binary->getOperand(0)), *right = take(binary->getOperand(1));
    made = builder.CreateBinOp(binary->getOpcode(), left, right);
  } else if (select && select->getCondition()->getType()->isVectorTy()) {
    Value *condition = take(select->getCondition()), *then = take(select->getTrueValue()),
          *otherwise = take(select->getFalseValue());
    made = builder.CreateSelect(condition, then, otherwise);
  } else {
    made = takeLanes(builder, mask, begin, lanes);
  }
  return taken[mask] = made;
}

/// Lanes of a load from `begin` on: none of them from memory where their mask is all false.
static Value *loadPiece(FoldingBuilder &builder, IntrinsicInst *load, unsigned begin,
                        unsigned lanes) {
  auto *element = cast<FixedVectorType>(load->getType())->getElementType();
  DenseMap<Value *, Value *> taken;
  Value *mask = takeMask(builder, load->getArgOperand(1), begin, lanes, taken);
  Value *others = takeLanes(builder, load->getArgOperand(2), begin, lanes);
  if (auto *constant = dyn_cast<Constant>(mask); constant && constant->isNullValue())
    return others;
  uint64_t offset = uint64_t(begin) * (element->getScalarSizeInBits() / 8);
  Align align = commonAlignment(load->getParamAlign(0).valueOrOne(), offset);
  Value *address = begin ? builder.CreateConstGEP1_64(element, load->getArgOperand(0), begin)
                         : load->getArgOperand(0);
  return builder.CreateMaskedLoad(FixedVectorType::get(element, lanes), address, align, mask,
                                  others);
}

static void splitLoad(IntrinsicInst *load, unsigned perRegister) {
  FoldingBuilder builder(load->getParent(), load->getIterator(),
                         InstSimplifyFolder(load->getDataLayout()));
  unsigned lanes = cast<FixedVectorType>(load->getType())->getNumElements();
  Value *whole = nullptr;
  for (unsigned begin = 0; begin < lanes; begin += perRegister) {
    unsigned count = std::min(perRegister, lanes - begin);
    Value *piece = loadPiece(builder, load, begin, count);
    SmallVector<int> widened(lanes, PoisonMaskElem), merged(lanes, PoisonMaskElem);
    for (unsigned lane = 0; lane < begin + count; ++lane) {
      merged[lane] = int(lane < begin ? lane : lanes + lane);
      if (lane >= begin)
        widened[lane] = int(lane - begin);
    }
    piece = builder.CreateShuffleVector(piece, widened);
    whole = whole ? builder.CreateShuffleVector(whole, piece, merged) : piece;
  }
  load->replaceAllUsesWith(whole);
  load->eraseFromParent();
}

void cpu::splitMaskedLoads(Module &module, unsigned registerBits, unsigned nativeBits) {
  SmallVector<std::pair<IntrinsicInst *, unsigned>> loads;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (auto *load = dyn_cast<IntrinsicInst>(&instruction);
            load && load->getIntrinsicID() == Intrinsic::masked_load) {
          auto *type = cast<FixedVectorType>(load->getType());
          unsigned bits = type->getScalarSizeInBits();
          if (bits >= nativeBits && !isa<Constant>(load->getArgOperand(1)) &&
              type->getNumElements() * bits > registerBits)
            loads.emplace_back(load, registerBits / bits);
        }
  for (auto [load, perRegister] : loads)
    splitLoad(load, perRegister);
}

static void maskStore(StoreInst *store, FixedVectorType *type) {
  unsigned lanes = type->getNumElements(), wide = PowerOf2Ceil(lanes);
  IRBuilder<> builder(store);
  Type *integer = builder.getIntNTy(type->getScalarSizeInBits());
  SmallVector<int> order;
  SmallVector<Constant *> mask;
  for (unsigned i = 0; i < wide; ++i) {
    order.push_back(i < lanes ? int(i) : PoisonMaskElem);
    mask.push_back(builder.getInt1(i < lanes));
  }
  Value *integers = builder.CreateBitCast(store->getValueOperand(),
                                          FixedVectorType::get(integer, lanes));
  builder.CreateMaskedStore(builder.CreateShuffleVector(integers, order),
                            store->getPointerOperand(), store->getAlign(),
                            ConstantVector::get(mask));
  store->eraseFromParent();
}

void cpu::maskOddStores(Module &module) {
  SmallVector<StoreInst *> stores;
  for (Function &function : module)
    for (BasicBlock &block : function)
      for (Instruction &instruction : block)
        if (auto *store = dyn_cast<StoreInst>(&instruction))
          stores.push_back(store);
  for (StoreInst *store : stores) {
    auto *type = dyn_cast<FixedVectorType>(store->getValueOperand()->getType());
    if (type && type->getElementType()->isFloatingPointTy() &&
        type->getScalarSizeInBits() == 16 && !isPowerOf2_32(type->getNumElements()))
      maskStore(store, type);
  }
}
