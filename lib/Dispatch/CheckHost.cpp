// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The gate behind `dispatch`: every op that is not in a kernel must be one that
// the host program can run.

#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Index/IR/IndexDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_CHECKHOSTPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

static bool hasTensors(Operation *op) {
  auto isTensor = [](Type type) { return isa<ShapedType>(type); };
  return llvm::any_of(op->getOperandTypes(), isTensor) ||
         llvm::any_of(op->getResultTypes(), isTensor);
}

template <typename... Ops> static bool isOneOf(OperationName name) {
  return ((name.getTypeID() == TypeID::get<Ops>()) || ...);
}

/// Ops that are run whatever they are given.
static bool isKnownToHost(OperationName name) {
  return isOneOf<tensor::EmptyOp, tensor::DimOp, tensor::CastOp,
                 tensor::ExtractOp, tensor::InsertOp, tensor::FromElementsOp,
                 tensor::CollapseShapeOp, tensor::ExpandShapeOp,
                 tensor::ExtractSliceOp, tensor::InsertSliceOp, memref::DimOp,
                 DispatchOp, CheckOp, LoadedOp, Im2colOp, PickOp, bufferization::ToTensorOp,
                 bufferization::AllocTensorOp,
                 bufferization::MaterializeInDestinationOp, arith::SelectOp,
                 arith::ConstantOp>(name);
}

bool tilewright::runsOnHost(OperationName name) {
  return isKnownToHost(name) ||
         isOneOf<tensor::PadOp, vector::PrintOp, affine::AffineApplyOp,
                 affine::AffineMinOp, affine::AffineMaxOp>(name) ||
         isa_and_nonnull<func::FuncDialect, scf::SCFDialect,
                         cf::ControlFlowDialect, arith::ArithDialect,
                         math::MathDialect, index::IndexDialect, ub::UBDialect>(
             name.getDialect());
}

/// Emits an error and fails if the host cannot run `op`.
static LogicalResult checkHostOp(Operation *op) {
  if (isa<linalg::LinalgOp>(op))
    return op->emitOpError("is in no kernel; only ops on tensors are compiled");
  if (isKnownToHost(op->getName()))
    return success();
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    if (getConstantFill(pad))
      return success();
    return op->emitOpError("pads with a value that its body computes; pad with "
                           "one value, or write it as linalg.generic with "
                           "linalg.index");
  }
  Dialect *dialect = op->getDialect();
  if (isa_and_nonnull<func::FuncDialect, scf::SCFDialect, cf::ControlFlowDialect>(
          dialect))
    return success();
  if (auto print = dyn_cast<vector::PrintOp>(op)) {
    if (print.getSource() && hasTensors(op))
      return op->emitOpError("prints a vector; extract and print its elements");
    return success();
  }
  if (isa_and_nonnull<arith::ArithDialect, math::MathDialect,
                      index::IndexDialect, ub::UBDialect>(dialect) ||
      isa<affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(
          op)) {
    if (!hasTensors(op))
      return success();
    return op->emitOpError("works on tensors or vectors but has no elementwise "
                           "form; write it as linalg.generic");
  }
  if (isa_and_nonnull<tensor::TensorDialect>(dialect))
    return op->emitOpError(
        "is not compiled; on the host tensors can be created (empty, splat), "
        "measured (dim), read and written by element (extract, insert) or "
        "window (extract_slice, insert_slice), padded (pad) and reshaped (cast, "
        "collapse_shape, expand_shape); write the rest as linalg.generic");
  return op->emitOpError("is neither compiled into a kernel nor known to the "
                         "host; accepted are linalg on tensors, scalar arith "
                         "and math, scf, func.call and vector.print");
}

namespace {
struct CheckHostPass
    : public tilewright::impl::CheckHostPassBase<CheckHostPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      return;
    bool refused = false;
    getOperation().getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
      refused |= failed(checkHostOp(op));
      // Its body is a constant.
      return isa<tensor::PadOp>(op) ? WalkResult::skip() : WalkResult::advance();
    });
    if (refused)
      signalPassFailure();
  }
};
} // namespace
