// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product that is only read transposed, which gradients of weights are, is computed so:
//
//   %p = linalg.generic <product -> (m, n)> ins(%a, %b) outs(%z) {…}
//   %t = linalg.generic <(i,j)->(j,i), (i,j)->(i,j)> ins(%p) { yield %in }
// becomes
//   %t = linalg.generic <product -> (n, m)> ins(%a, %b) outs(%z') {…}
//
// Elementwise ops between the two go along.

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_WRITETRANSPOSEDPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The op that makes `value`, if nobody else reads that and no config is pinned to it.
static linalg::GenericOp onlyReadHere(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  return op && value.hasOneUse() && op.getNumResults() == 1 && op.hasPureTensorSemantics() &&
                 !op->hasAttr(kConfigAttr)
             ? op
             : linalg::GenericOp();
}

/// A product whose sums begin with one value everywhere.
static linalg::GenericOp getProduct(Value value) {
  linalg::GenericOp op = onlyReadHere(value);
  return op && linalg::isaContractionOpInterface(op) &&
                 op.getDpsInits()[0].getDefiningOp<linalg::FillOp>()
             ? op
             : linalg::GenericOp();
}

static bool isElementwise(linalg::GenericOp op) {
  return op.hasPureTensorSemantics() && !op->hasAttr(kConfigAttr) && op.getNumResults() == 1 &&
         op.getNumReductionLoops() == 0;
}

/// An elementwise op on its way from a product to one that only moves elements.
static bool goesAlong(OpOperand *operand) {
  auto reader = dyn_cast<linalg::GenericOp>(operand->getOwner());
  linalg::GenericOp op = onlyReadHere(operand->get());
  return reader && op && isRelayout(reader) && !reader->hasAttr(kConfigAttr) &&
         reader.getMatchingIndexingMap(operand).isPermutation() && isElementwise(op) &&
         llvm::any_of(op.getDpsInputs(), [](Value input) { return bool(getProduct(input)); });
}

namespace {
struct TransposeProduct : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isElementwise(op) || !op.getIndexingMapsArray().back().isIdentity())
      return failure();
    for (OpOperand *operand : op.getDpsInputOperands()) {
      AffineMap read = op.getMatchingIndexingMap(operand);
      linalg::GenericOp product = getProduct(operand->get());
      if (!product || read.isIdentity() || !read.isPermutation())
        continue;
      transpose(rewriter, product, read);
      rewriter.modifyOpInPlace(op, [&] {
        SmallVector<AffineMap> maps = op.getIndexingMapsArray();
        maps[operand->getOperandNumber()] = rewriter.getMultiDimIdentityMap(read.getNumDims());
        op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      });
      return success();
    }
    return failure();
  }

private:
  /// Has `product`, which its reader indexes by `read`, write what the reader's loops run
  /// over in their order.
  static void transpose(PatternRewriter &rewriter, linalg::GenericOp product, AffineMap read) {
    AffineMap order = inversePermutation(read); // of dims of the result
    SmallVector<AffineMap> maps = product.getIndexingMapsArray();
    maps.back() = order.compose(maps.back());
    auto fill = product.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
    rewriter.setInsertionPoint(product);
    SmallVector<OpFoldResult> sizes, mixed =
        tensor::getMixedSizes(rewriter, product.getLoc(), fill.getOutputs()[0]);
    for (AffineExpr dim : order.getResults())
      sizes.push_back(mixed[cast<AffineDimExpr>(dim).getPosition()]);
    auto type = cast<RankedTensorType>(product.getResult(0).getType());
    Value empty = tensor::EmptyOp::create(rewriter, product.getLoc(), sizes, type.getElementType());
    Value init = linalg::FillOp::create(rewriter, fill.getLoc(), fill.getInputs()[0], empty).getResult(0);
    rewriter.modifyOpInPlace(product, [&] {
      product.getDpsInitsMutable()[0].set(init);
      product.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
      product.getResult(0).setType(cast<RankedTensorType>(init.getType()));
    });
  }
};
} // namespace

LogicalResult tilewright::writeTransposed(func::FuncOp func) {
  RewritePatternSet patterns(func.getContext());
  linalg::populateElementwiseOpsFusionPatterns(patterns, goesAlong);
  patterns.add<TransposeProduct>(func.getContext());
  return applyPatternsBounded(func, std::move(patterns), "normalize",
                              "transposition of products");
}

namespace {
struct WriteTransposedPass
    : public tilewright::impl::WriteTransposedPassBase<WriteTransposedPass> {
  void runOnOperation() override {
    if (failed(writeTransposed(getOperation())))
      signalPassFailure();
  }
};
} // namespace
