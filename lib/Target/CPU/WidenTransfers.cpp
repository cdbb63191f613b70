// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transfers of vectors that leave out inner dims of the memory get these dims,
// of size one, and with them a minor identity: upstream's masks compare the last
// dim, whatever the map says.
//
//   %v = vector.transfer_read %a[%i, %j], %pad {permutation_map = (d0, d1) -> (d0)}
//          : memref<?x?xf32>, vector<4xf32>
//
//   %w = vector.transfer_read %a[%i, %j], %pad {in_bounds = [false, true]}
//          : memref<?x?xf32>, vector<4x1xf32>
//   %v = vector.shape_cast %w : vector<4x1xf32> to vector<4xf32>
//
// What a read repeats is repeated after it.

#include "Unroll.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// A transfer in the order of memory, with all dims from its first one on.
struct WideForm {
  SmallVector<int64_t> order; // position in memory order -> vector dim
  VectorType sorted, wide;
  SmallVector<bool> inBounds; // of `wide`
};
} // namespace

template <typename Op>
static FailureOr<WideForm> getWideForm(PatternRewriter &rewriter, Op op,
                                       VectorType type) {
  AffineMap map = op.getPermutationMap();
  if (op.getMask() || type.getRank() == 0 ||
      !isa<MemRefType>(op.getBase().getType()) ||
      !map.isProjectedPermutation() || map.isMinorIdentity())
    return rewriter.notifyMatchFailure(op, "has no dims to add");
  int64_t rank = map.getNumDims();
  WideForm form;
  form.order = llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
  llvm::sort(form.order, [&](int64_t a, int64_t b) {
    return map.getDimPosition(a) < map.getDimPosition(b);
  });
  int64_t first = map.getDimPosition(form.order.front());
  if (rank - first == type.getRank())
    return rewriter.notifyMatchFailure(op, "a permutation, which upstream does");
  SmallVector<int64_t> sorted, wide(rank - first, 1);
  form.inBounds.assign(rank - first, true);
  for (int64_t dim : form.order) {
    sorted.push_back(type.getDimSize(dim));
    wide[map.getDimPosition(dim) - first] = type.getDimSize(dim);
    form.inBounds[map.getDimPosition(dim) - first] = op.isDimInBounds(dim);
  }
  form.sorted = VectorType::get(sorted, type.getElementType());
  form.wide = VectorType::get(wide, type.getElementType());
  return form;
}

static AffineMapAttr minorIdentity(Operation *op, int64_t rank, VectorType type) {
  return AffineMapAttr::get(
      AffineMap::getMinorIdentityMap(rank, type.getRank(), op->getContext()));
}

/// `value`, of whose dims number i is to become dim order[i].
static Value reorder(PatternRewriter &rewriter, Location loc, Value value,
                     ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  return vector::TransposeOp::create(rewriter, loc, value,
                                     invertPermutationVector(order));
}

namespace {
struct WidenRead : OpRewritePattern<vector::TransferReadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::TransferReadOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<WideForm> form = getWideForm(rewriter, op, op.getVectorType());
    if (failed(form))
      return failure();
    Location loc = op.getLoc();
    Value value = vector::TransferReadOp::create(
        rewriter, loc, form->wide, op.getBase(), op.getIndices(),
        minorIdentity(op, op.getIndices().size(), form->wide), op.getPadding(),
        /*mask=*/Value(), rewriter.getBoolArrayAttr(form->inBounds));
    value = vector::ShapeCastOp::create(rewriter, loc, form->sorted, value);
    rewriter.replaceOp(op, reorder(rewriter, loc, value, form->order));
    return success();
  }
};

/// Dims that repeat the memory's elements come after the read: upstream would
/// leave them in the middle, where a dim of size one has no load.
struct RepeatAfterRead : OpRewritePattern<vector::TransferReadOp> {
  RepeatAfterRead(MLIRContext *context)
      : OpRewritePattern(context, /*benefit=*/8) {}
  LogicalResult matchAndRewrite(vector::TransferReadOp op,
                                PatternRewriter &rewriter) const override {
    AffineMap map = op.getPermutationMap();
    VectorType type = op.getVectorType();
    if (op.getMask() || !isa<MemRefType>(op.getBase().getType()))
      return rewriter.notifyMatchFailure(op, "masked, or no memref");
    SmallVector<AffineExpr> exprs;
    SmallVector<bool> inBounds;
    SmallVector<int64_t> shape, wide, repeated, read;
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      if (isa<AffineConstantExpr>(expr)) {
        repeated.push_back(dim);
        wide.push_back(type.getDimSize(dim));
        continue;
      }
      read.push_back(dim);
      exprs.push_back(expr);
      shape.push_back(type.getDimSize(dim));
      inBounds.push_back(op.isDimInBounds(dim));
    }
    if (repeated.empty() || read.empty())
      return rewriter.notifyMatchFailure(op, "repeats nothing, or one element");
    Location loc = op.getLoc();
    Value value = vector::TransferReadOp::create(
        rewriter, loc, VectorType::get(shape, type.getElementType()),
        op.getBase(), op.getIndices(),
        AffineMapAttr::get(
            AffineMap::get(map.getNumDims(), 0, exprs, op.getContext())),
        op.getPadding(), /*mask=*/Value(), rewriter.getBoolArrayAttr(inBounds));
    llvm::append_range(wide, shape);
    value = vector::BroadcastOp::create(
        rewriter, loc, VectorType::get(wide, type.getElementType()), value);
    llvm::append_range(repeated, read); // the order of the broadcast's dims
    rewriter.replaceOp(op, reorder(rewriter, loc, value, repeated));
    return success();
  }
};

struct WidenWrite : OpRewritePattern<vector::TransferWriteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::TransferWriteOp op,
                                PatternRewriter &rewriter) const override {
    FailureOr<WideForm> form = getWideForm(rewriter, op, op.getVectorType());
    if (failed(form))
      return failure();
    Location loc = op.getLoc();
    Value value = op.getVector();
    if (!llvm::is_sorted(form->order))
      value = vector::TransposeOp::create(rewriter, loc, value, form->order);
    value = vector::ShapeCastOp::create(rewriter, loc, form->wide, value);
    vector::TransferWriteOp::create(
        rewriter, loc, value, op.getBase(), op.getIndices(),
        minorIdentity(op, op.getIndices().size(), form->wide),
        /*mask=*/Value(), rewriter.getBoolArrayAttr(form->inBounds));
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void cpu::populateWidenTransferPatterns(RewritePatternSet &patterns) {
  patterns.add<RepeatAfterRead, WidenRead, WidenWrite>(patterns.getContext());
}
