// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations that upstream can decompose but its path to loops does not:
// linalg.softmax, linalg.pack, linalg.unpack, tensor.concat. And ours:
// tilewright.attention, and (LowerIrregular.cpp) scatter, scan and sort.

#include "LowerIrregular.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Normalize/DecomposeAttention.h"
#include "tilewright/Normalize/Normalize.h"
#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {
#define GEN_PASS_DEF_DECOMPOSEOPSPASS
#include "tilewright/Target/Reference/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {
struct DecomposeSoftmax : OpRewritePattern<linalg::SoftmaxOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::SoftmaxOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "not on tensors");
    if (linalg::SoftmaxOp wide = widenSoftmax(rewriter, op))
      op = wide;
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (failed(results))
      return failure();
    rewriter.replaceOp(op, *results);
    return success();
  }
};

struct LowerAttention : OpRewritePattern<AttentionOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionOp op,
                                PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, decomposeAttention(rewriter, op, /*branches=*/true));
    return success();
  }
};

/// tilewright.scatter, tilewright.scan and tilewright.sort element by element, in order.
struct LowerScatter : OpRewritePattern<ScatterOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScatterOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, lowerScatter(rewriter, op));
    return success();
  }
};

struct LowerScan : OpRewritePattern<ScanOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ScanOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, lowerScan(rewriter, op));
    return success();
  }
};

struct LowerSort : OpRewritePattern<SortOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SortOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, lowerSort(rewriter, op));
    return success();
  }
};

struct LowerPack : OpRewritePattern<linalg::PackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::PackOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::any_of(op.getStaticInnerTiles(), ShapedType::isDynamic))
      return success(succeeded(linalg::lowerPack(rewriter, op)));
    rewriter.replaceOp(op, computePack(rewriter, op));
    return success();
  }
};

struct LowerUnPack : OpRewritePattern<linalg::UnPackOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(linalg::UnPackOp op,
                                PatternRewriter &rewriter) const override {
    if (!llvm::any_of(op.getStaticInnerTiles(), ShapedType::isDynamic))
      return success(succeeded(linalg::lowerUnPack(rewriter, op)));
    rewriter.replaceOp(op, computeUnpack(rewriter, op));
    return success();
  }
};

/// Upstream would slice dims of no elements, or put pieces of none behind the last element, which
/// its verifier refuses.
struct DropEmptyConcat : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(tensor::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    RankedTensorType type = op.getResultType();
    if (type.hasStaticShape() && type.getNumElements() == 0) {
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, type.getShape(),
                                                   type.getElementType());
      return success();
    }
    SmallVector<Value> pieces;
    SmallVector<Type> types;
    for (Value piece : op.getInputs())
      if (auto own = cast<RankedTensorType>(piece.getType()); own.getDimSize(op.getDim()) != 0) {
        pieces.push_back(piece);
        types.push_back(own);
      }
    if (pieces.empty() || pieces.size() == op.getInputs().size())
      return rewriter.notifyMatchFailure(op, "no piece is known to be empty beside others");
    Value result = pieces.front();
    if (pieces.size() > 1)
      result = tensor::ConcatOp::create(rewriter, op.getLoc(),
                                        tensor::ConcatOp::inferResultType(op.getDim(), types),
                                        op.getDim(), pieces);
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct DecomposeOpsPass
    : tilewright::impl::DecomposeOpsPassBase<DecomposeOpsPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DecomposeSoftmax, LowerAttention, LowerPack, LowerUnPack, LowerScatter,
                 LowerScan, LowerSort>(&getContext());
    patterns.add<DropEmptyConcat>(&getContext(), /*benefit=*/2);
    tensor::populateDecomposeTensorConcatPatterns(patterns);
    GreedyRewriteConfig config;
    config.enableFolding(false);
    if (failed(applyPatternsBounded(getOperation(), std::move(patterns),
                                    "lower", "decomposition of ops", config)))
      signalPassFailure();
  }
};
} // namespace
