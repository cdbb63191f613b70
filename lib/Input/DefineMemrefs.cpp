// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memrefs that a program has of its own. Constants, as bufferization leaves them, become the
// tensors that they hold, and allocations on the stack become others:
//
//   memref.global "private" constant @g : memref<4xf32> = dense<[1.0, 2.0, 3.0, 4.0]>
//   %m = memref.get_global @g : memref<4xf32>
//   %s = memref.alloca() : memref<4xf32>
// becomes
//   %t = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
//   %m = bufferization.to_buffer %t read_only : tensor<4xf32> to memref<4xf32>
//   %s = memref.alloc() : memref<4xf32>
//
// `copy-tensors`, for the oracle, which does not raise memrefs: bufferization.to_tensor has what the
// memref holds there, whatever is written later.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DEFINEMEMREFSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

static LogicalResult inlineGlobal(SymbolTable &symbols, memref::GetGlobalOp op) {
  auto global = symbols.lookup<memref::GlobalOp>(op.getName());
  auto data = global ? dyn_cast_or_null<ElementsAttr>(global.getInitialValueAttr()) : ElementsAttr();
  if (!global || !global.getConstant() || !data)
    return op.emitOpError() << "'" << op.getName()
                            << "' is no constant with values; a program has no state: "
                               "make it an argument of the function";
  if (!op.getType().getLayout().isIdentity() || op.getType().getMemorySpace())
    return op.emitOpError("has a layout or a memory space; only plain memrefs are raised");
  OpBuilder b(op);
  Value tensor = arith::ConstantOp::create(b, op.getLoc(), data);
  op->replaceAllUsesWith(bufferization::ToBufferOp::create(b, op.getLoc(), op.getType(), tensor,
                                                           /*read_only=*/true));
  op.erase();
  return success();
}

/// Has `op` take a copy of the memref.
static void copySource(bufferization::ToTensorOp op) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto type = dyn_cast<MemRefType>(op.getBuffer().getType());
  if (!type)
    return;
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(memref::DimOp::create(b, loc, op.getBuffer(), dim));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  Value copy = memref::AllocOp::create(b, loc, plain, sizes);
  memref::CopyOp::create(b, loc, op.getBuffer(), copy);
  op.getBufferMutable().assign(copy);
  op.setRestrict(true);
}

namespace {
struct DefineMemrefsPass : tilewright::impl::DefineMemrefsPassBase<DefineMemrefsPass> {
  using DefineMemrefsPassBase::DefineMemrefsPassBase;
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    SmallVector<memref::GetGlobalOp> reads;
    getOperation().walk([&](memref::GetGlobalOp op) { reads.push_back(op); });
    for (memref::GetGlobalOp op : reads)
      if (failed(inlineGlobal(symbols, op)))
        return signalPassFailure();
    for (auto global : llvm::make_early_inc_range(getOperation().getOps<memref::GlobalOp>()))
      global.erase();
    OpBuilder b(&getContext());
    getOperation().walk([&](memref::AllocaOp op) {
      b.setInsertionPoint(op);
      op->replaceAllUsesWith(memref::AllocOp::create(b, op.getLoc(), op.getType(),
                                                     op.getDynamicSizes(), op.getSymbolOperands(),
                                                     op.getAlignmentAttr()));
      op.erase();
    });
    if (copyTensors)
      getOperation().walk([](bufferization::ToTensorOp op) { copySource(op); });
  }
};
} // namespace
