// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/FoldCasts.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// In front of upstream's pattern for ops of any regions.
struct FoldCastsWithoutRegion : OpInterfaceRewritePattern<DestinationStyleOpInterface> {
  explicit FoldCastsWithoutRegion(MLIRContext *context)
      : OpInterfaceRewritePattern(context, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(DestinationStyleOpInterface op,
                                PatternRewriter &rewriter) const override {
    if (!op->getNumRegions() ||
        !llvm::all_of(op->getRegions(), [](Region &region) { return region.empty(); }) ||
        !tensor::hasFoldableTensorCastOperand(op))
      return failure();
    SmallVector<Type> types(op->getResultTypes());
    SmallVector<Value> operands = tensor::getUpdatedOperandsAfterCastOpFolding(op, types);
    OperationState state(op.getLoc(), op->getName(), operands, types, op->getAttrs());
    for (unsigned region = 0; region < op->getNumRegions(); ++region)
      state.addRegion();
    Operation *folded = rewriter.create(state);
    SmallVector<Value> results;
    for (auto [old, result] : llvm::zip_equal(op->getResults(), folded->getResults())) {
      results.push_back(result);
      if (old.getType() != result.getType())
        results.back() = tensor::CastOp::create(rewriter, op.getLoc(), old.getType(), result);
    }
    rewriter.replaceOp(op, results);
    return success();
  }
};
} // namespace

void tilewright::populateFoldCastsWithoutRegionPatterns(RewritePatternSet &patterns) {
  patterns.add<FoldCastsWithoutRegion>(patterns.getContext());
}
