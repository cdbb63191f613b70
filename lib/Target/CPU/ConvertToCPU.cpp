// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The C interface of CPU kernels (docs/abi.md) in front of a kernel:
//
//   func.func @k(%params: !llvm.ptr, %x: i32, %y: i32, %z: i32) {
//     %p = load params[0]          // a buffer
//     %n = load params[1]          // a scalar
//     call @k.body(<memref of %p>, %n, %x)
//
// The block's number, gpu.block_id x, is one more argument of the body.

#include "tilewright/Target/CPU/Passes.h"

#include "tilewright/Target/Buffers.h"
#include "tilewright/Target/Target.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace tilewright {
#define GEN_PASS_DEF_CONVERTTOCPUPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// A scalar out of the low bits of a slot.
static Value fromSlot(OpBuilder &builder, Location loc, Value slot, Type type) {
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, slot);
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 64)
    slot = arith::TruncIOp::create(builder, loc, builder.getIntegerType(bits),
                                   slot);
  return isa<FloatType>(type)
             ? Value(arith::BitcastOp::create(builder, loc, type, slot))
             : slot;
}

/// Gives the body its block number as last argument.
static void addBlockNumber(func::FuncOp body) {
  OpBuilder builder(body.getContext());
  Block &entry = body.getBody().front();
  Value number = entry.addArgument(builder.getIndexType(), body.getLoc());
  SmallVector<Type> types(body.getArgumentTypes());
  types.push_back(builder.getIndexType());
  body.setFunctionType(builder.getFunctionType(types, {}));
  body.walk([&](gpu::BlockIdOp op) {
    if (op.getDimension() != gpu::Dimension::x)
      return;
    op.replaceAllUsesWith(number);
    op.erase();
  });
}

static LogicalResult createEntry(func::FuncOp body, StringRef name) {
  Location loc = body.getLoc();
  OpBuilder builder(body);
  auto pointer = LLVM::LLVMPointerType::get(body.getContext());
  Type i64 = builder.getI64Type(), i32 = builder.getI32Type();
  auto entry = func::FuncOp::create(
      loc, name, builder.getFunctionType({pointer, i32, i32, i32}, {}));
  builder.insert(entry);
  entry->setAttr(kKernelAttr, builder.getUnitAttr());
  builder.setInsertionPointToStart(entry.addEntryBlock());

  // Dims come after the buffers, so scalars are loaded first.
  ArrayRef<Type> types = body.getArgumentTypes().drop_back();
  SmallVector<Value> arguments(types.size());
  auto slot = [&](unsigned number, Type type) -> Value {
    Value address =
        LLVM::GEPOp::create(builder, loc, pointer, i64, entry.getArgument(0),
                            ArrayRef<LLVM::GEPArg>{int32_t(number)});
    return LLVM::LoadOp::create(builder, loc, type, address);
  };
  unsigned buffers = llvm::count_if(types, llvm::IsaPred<MemRefType>);
  llvm::DenseMap<Attribute, Value> known;
  auto meaning = body->getAttrOfType<ArrayAttr>(kScalarsAttr);
  if (!meaning || meaning.size() != types.size() - buffers)
    return body.emitOpError() << "'" << kScalarsAttr
                              << "' must describe each scalar argument";
  for (unsigned i = buffers; i < types.size(); ++i) {
    if (!types[i].isIntOrIndexOrFloat())
      return body.emitOpError() << "argument " << i << " has type " << types[i]
                                << "; buffers come first, then scalars";
    arguments[i] = fromSlot(builder, loc, slot(i, i64), types[i]);
    known[meaning[i - buffers]] = arguments[i];
  }
  for (unsigned i = 0; i < buffers; ++i) {
    auto type = dyn_cast<MemRefType>(types[i]);
    if (!type)
      return body.emitOpError() << "argument " << i << " has type " << types[i]
                                << "; buffers come first, then scalars";
    MLIRContext *context = body.getContext();
    SmallVector<Value> sizes, dynamicStrides;
    auto find = [&](Attribute what, SmallVectorImpl<Value> &into) {
      Value value = known.lookup(what);
      into.push_back(value);
      if (!value)
        body.emitOpError() << "has no scalar argument for " << what;
      return success(value != nullptr);
    };
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (type.isDynamicDim(d) && failed(find(DimAttr::get(context, i, d), sizes)))
        return failure();
    if (!type.getLayout().isIdentity()) {
      SmallVector<int64_t> strides;
      int64_t offset;
      if (failed(type.getStridesAndOffset(strides, offset)))
        return body.emitOpError() << "argument " << i << " has no strides";
      for (auto [d, stride] : llvm::enumerate(strides))
        if (ShapedType::isDynamic(stride) &&
            failed(find(StrideAttr::get(context, i, d), dynamicStrides)))
          return failure();
      SmallVector<Value> begin;
      if (failed(find(OffsetAttr::get(context, i), begin)))
        return failure();
      Value first =
          arith::IndexCastOp::create(builder, loc, i64, begin.front());
      arguments[i] = createStridedBuffer(builder, loc, slot(i, pointer), first,
                                         type, sizes, dynamicStrides);
      continue;
    }
    arguments[i] = createBuffer(builder, loc, slot(i, pointer),
                                createByteCount(builder, loc, type, sizes), type,
                                sizes);
  }
  Value number = arith::IndexCastUIOp::create(
      builder, loc, builder.getIndexType(), entry.getArgument(1));
  arguments.push_back(number);
  func::CallOp::create(builder, loc, body, arguments);
  func::ReturnOp::create(builder, loc);
  return success();
}

namespace {
struct ConvertToCPUPass
    : tilewright::impl::ConvertToCPUPassBase<ConvertToCPUPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<func::FuncOp> kernels;
    for (auto func : module.getOps<func::FuncOp>())
      if (isKernel(func) && !func.isExternal())
        kernels.push_back(func);
    for (func::FuncOp body : kernels) {
      std::string name = body.getName().str();
      body.setName(name + ".body");
      body.setPrivate();
      body->removeAttr(kKernelAttr);
      addBlockNumber(body);
      if (failed(createEntry(body, name)))
        return signalPassFailure();
    }
  }
};
} // namespace

void tilewright::registerTargetCPUPasses() {
  registerTilewrightTargetCPUPasses();
}
