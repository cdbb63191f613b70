// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Upstream's bufferization takes two results of one op for two buffers, so it lets one of them be
// written in place that is the other one, too:
//
//   scf.yield %s, %s        // or a slice of %s; return likewise
//     ->  %copy = bufferization.alloc_tensor() copy(%s)
//         scf.yield %s, %copy

#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright {
#define GEN_PASS_DEF_COPYEQUALRESULTSPASS
#include "tilewright/Target/Reference/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// The tensor that `value` is a part or another shape of.
static Value getWhole(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CastOp, tensor::ExtractSliceOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ReshapeOp>(op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

namespace {
struct CopyEqualResultsPass
    : tilewright::impl::CopyEqualResultsPassBase<CopyEqualResultsPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (!op->hasTrait<OpTrait::IsTerminator>())
        return;
      llvm::SmallDenseSet<Value> seen;
      for (OpOperand &operand : op->getOpOperands()) {
        auto type = dyn_cast<RankedTensorType>(operand.get().getType());
        if (!type || seen.insert(getWhole(operand.get())).second)
          continue;
        OpBuilder b(op);
        operand.set(bufferization::AllocTensorOp::create(
            b, op->getLoc(), type, /*dynamicSizes=*/ValueRange(), operand.get()));
      }
    });
  }
};
} // namespace
