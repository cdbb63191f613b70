// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes of results come from what the destinations were made from.
//
//   %r = tilewright.dispatch @k(%x) outs(%e)      %r = tilewright.dispatch …
//   %d = tensor.dim %r, %c0                  =>   %d = tensor.dim %e, %c0
//
// after which upstream's folding of tensor.dim of tensor.empty goes on.

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Place/Place.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_RESOLVEDIMSPASS
#include "tilewright/Place/Passes.h.inc"
} // namespace tilewright

namespace {
struct DimOfDispatch : OpRewritePattern<tensor::DimOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::DimOp op,
                                PatternRewriter &rewriter) const override {
    auto dispatch = op.getSource().getDefiningOp<DispatchOp>();
    if (!dispatch)
      return rewriter.notifyMatchFailure(op, "not the dim of a dispatch");
    unsigned number = cast<OpResult>(op.getSource()).getResultNumber();
    rewriter.modifyOpInPlace(op, [&] {
      op.getSourceMutable().assign(dispatch.getOuts()[number]);
    });
    return success();
  }
};

struct ResolveDimsPass
    : public tilewright::impl::ResolveDimsPassBase<ResolveDimsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    populateResolveDimsPatterns(patterns);
    if (failed(applyPatternsBounded(getOperation(), std::move(patterns),
                                    "place", "resolving of dims")))
      signalPassFailure();
  }
};
} // namespace

void tilewright::populateResolveDimsPatterns(RewritePatternSet &patterns) {
  patterns.add<DimOfDispatch>(patterns.getContext());
  tensor::DimOp::getCanonicalizationPatterns(patterns, patterns.getContext());
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, patterns.getContext());
}
