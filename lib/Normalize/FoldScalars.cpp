// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Front ends compute numbers as tensors, which would be kernels:
//
//   %n = linalg.fill ins(128.0) outs(%e : tensor<f32>)
//   %c = linalg.generic <()->(), ()->()> ins(%n) outs(%e) { subf %in, %ddof }
//   %s = tensor.extract %c[]
// becomes
//   %s = arith.subf 128.0, %ddof
//
// What has the same value everywhere is computed once, outside, and fills a tensor where
// one is asked for.

#include "Capture.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_FOLDSCALARSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The body computes with scalars from outside alone, in what the host has, too.
static bool isSameEverywhere(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr) || !op.getNumResults() ||
      op.getNumReductionLoops() != 0 ||
      llvm::any_of(op.getBody()->getArguments(), [](BlockArgument a) { return !a.use_empty(); }))
    return false;
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<arith::ArithDialect, math::MathDialect>(inner.getDialect());
  });
}

/// The one value that `operand` of a structured op has everywhere, or null.
static Value scalarOf(OpOperand *operand) {
  if (!isa<ShapedType>(operand->get().getType()))
    return operand->get();
  auto fill = operand->get().getDefiningOp<linalg::FillOp>();
  return fill && fill.hasPureTensorSemantics() ? fill.getInputs()[0] : Value();
}

namespace {
/// A body uses the value with which an input is filled; nothing reads the input then.
struct ReadFilled : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr))
      return failure();
    return captureInputs(rewriter, op, scalarOf);
  }
};

struct FillInsteadOfGeneric : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSameEverywhere(op))
      return failure();
    IRMapping mapping;
    for (Operation &inner : op.getBody()->without_terminator())
      rewriter.clone(inner, mapping);
    SmallVector<Value> filled;
    for (auto [scalar, init] : llvm::zip_equal(
             op.getBody()->getTerminator()->getOperands(), op.getDpsInits()))
      filled.push_back(linalg::FillOp::create(rewriter, op.getLoc(),
                                              mapping.lookupOrDefault(scalar), init)
                           .getResult(0));
    rewriter.replaceOp(op, filled);
    return success();
  }
};
} // namespace

LogicalResult tilewright::foldScalars(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  linalg::populateEraseUnnecessaryInputsPatterns(patterns);
  patterns.add<FillInsteadOfGeneric, ReadFilled>(context);
  return applyPatternsBounded(func, std::move(patterns), "normalize",
                              "folding of scalars");
}

namespace {
struct FoldScalarsPass : public tilewright::impl::FoldScalarsPassBase<FoldScalarsPass> {
  void runOnOperation() override {
    if (failed(foldScalars(getOperation())))
      signalPassFailure();
  }
};
} // namespace
