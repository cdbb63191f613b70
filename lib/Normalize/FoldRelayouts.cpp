// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads through ops that only move elements, and cleans what a body captures.
//
//   %t = linalg.generic <(i,j)->(j,i), (i,j)->(i,j)> ins(%b) { yield %in }
//   %r = linalg.generic <matmul> ins(%a, %t) outs(%z)
// becomes
//   %r = linalg.generic <matmul, map of b transposed> ins(%a, %b) outs(%z)
//
// Dims of size one are dropped with reshapes at the edge of the program; between
// ops the reshapes cancel.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_FOLDRELAYOUTSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

bool tilewright::isRelayout(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return false;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  return yield.getValues().front() == op.getBody()->getArgument(0);
}

/// Elements that move through `operand` need not be materialised: its producer
/// is a relayout of a tensor.
static bool readsThroughRelayout(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  return producer && isRelayout(producer) && !producer->hasAttr(kConfigAttr) &&
         isa<RankedTensorType>(producer.getDpsInputOperand(0)->get().getType());
}

namespace {
/// An input that is a scalar (not a tensor) is used by the body directly; the
/// operand then is unused.
struct CaptureScalarInputs : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    bool changed = false;
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (isa<ShapedType>(input->get().getType()) || argument.use_empty())
        continue;
      rewriter.replaceAllUsesWith(argument, input->get());
      changed = true;
    }
    return success(changed);
  }
};
} // namespace

LogicalResult tilewright::foldRelayouts(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  linalg::populateElementwiseOpsFusionPatterns(patterns, readsThroughRelayout);
  linalg::populateMoveInitOperandsToInputPattern(patterns);
  patterns.add<CaptureScalarInputs>(context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  if (failed(applyPatternsGreedily(func, std::move(patterns))))
    return func.emitError("folding of transposes and broadcasts did not reach "
                          "a fixed point; simplify the chain of relayouts");

  linalg::ControlDropUnitDims control;
  auto everyDim = control.controlFn;
  control.controlFn = [everyDim](Operation *op) {
    return op->hasAttr(kConfigAttr) ? SmallVector<unsigned>() : everyDim(op);
  };
  RewritePatternSet unitDims(context);
  linalg::populateFoldUnitExtentDimsPatterns(unitDims, control);
  linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(unitDims, control);
  linalg::populateMoveInitOperandsToInputPattern(unitDims);
  // A slice loses its unit dims itself.
  tensor::populateReassociativeReshapeFoldingPatterns(unitDims);
  if (failed(applyPatternsGreedily(func, std::move(unitDims))))
    return func.emitError("dropping of unit dims did not reach a fixed point; "
                          "remove dims of size one from the input");
  return success();
}

namespace {
struct FoldRelayoutsPass
    : public tilewright::impl::FoldRelayoutsPassBase<FoldRelayoutsPass> {
  void runOnOperation() override {
    if (failed(foldRelayouts(getOperation())))
      signalPassFailure();
  }
};
} // namespace
