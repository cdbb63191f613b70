// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions return dense buffers. Where a program returns a slice, upstream's
// bufferization copies it if its type says that it is not dense; a slice whose
// strides are known only when the program runs is cast to a dense type as it is:
//
//   %d = memref.cast %slice : memref<?x?xf32, strided<[?, 1]>> to memref<?x?xf32>
//   return %d
//     ->  %d = memref.alloc(…)  memref.copy %slice, %d  return %d

#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace tilewright {
#define GEN_PASS_DEF_COPYRETURNEDVIEWSPASS
#include "tilewright/Target/Reference/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// Whether a cast takes for dense what may have gaps.
static bool assumesDense(memref::CastOp cast) {
  auto source = dyn_cast<MemRefType>(cast.getSource().getType());
  auto result = dyn_cast<MemRefType>(cast.getType());
  return source && result && result.getLayout().isIdentity() &&
         !source.getLayout().isIdentity();
}

static Value copy(OpBuilder &builder, memref::CastOp cast) {
  Location loc = cast.getLoc();
  auto type = ::cast<MemRefType>(cast.getType());
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(memref::DimOp::create(builder, loc, cast.getSource(), d));
  Value dense = memref::AllocOp::create(builder, loc, type, sizes);
  memref::CopyOp::create(builder, loc, cast.getSource(), dense);
  return dense;
}

namespace {
struct CopyReturnedViewsPass
    : tilewright::impl::CopyReturnedViewsPassBase<CopyReturnedViewsPass> {
  void runOnOperation() override {
    getOperation().walk([](func::ReturnOp op) {
      for (OpOperand &operand : op->getOpOperands()) {
        auto cast = operand.get().getDefiningOp<memref::CastOp>();
        if (!cast || !assumesDense(cast))
          continue;
        OpBuilder builder(op);
        operand.set(copy(builder, cast));
      }
    });
  }
};
} // namespace
