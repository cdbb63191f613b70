// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A slice whose dims are split is a slice of the tensor with those dims split. The
// whole tensor lies densely, so that splitting it moves nothing, and what reads a
// slice reads it where it lies.
//
//   %k = tensor.extract_slice %qkv[0, 512] [128, 512] [1, 1]    // 128 x 1536
//   %h = tensor.expand_shape %k [[0], [1, 2]]                   // 128 x 8 x 64
// becomes
//   %w = tensor.expand_shape %qkv [[0], [1, 2]]                 // 128 x 24 x 64
//   %h = tensor.extract_slice %w[0, 8, 0] [128, 8, 64] [1, 1, 1]
//
// where the slice begins at, and the whole dim has, a multiple of what is inside of the
// first of the new dims.

#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_EXPANDSLICESPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

namespace {
/// The whole tensor with its dims split, and the slice of it.
struct SplitSlice {
  SmallVector<OpFoldResult> wholeSizes, offsets, sizes, steps;
  SmallVector<int64_t> wholeShape;
};
} // namespace

static void addDim(SplitSlice &split, OpFoldResult wholeSize, int64_t extent,
                   OpFoldResult offset, OpFoldResult size, OpFoldResult step) {
  split.wholeSizes.push_back(wholeSize);
  split.wholeShape.push_back(extent);
  split.offsets.push_back(offset);
  split.sizes.push_back(size);
  split.steps.push_back(step);
}

/// Adds dim `dim` of `slice`, split into the dims `group` of `expand`.
static LogicalResult splitDim(RewriterBase &b, tensor::ExtractSliceOp slice,
                              tensor::ExpandShapeOp expand, unsigned dim,
                              ArrayRef<int64_t> group, SplitSlice &split) {
  int64_t extent = slice.getSourceType().getDimSize(dim);
  OpFoldResult offset = slice.getMixedOffsets()[dim];
  OpFoldResult step = slice.getMixedStrides()[dim];
  SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
  if (group.size() == 1) {
    OpFoldResult whole =
        tensor::getMixedSize(b, slice.getLoc(), slice.getSource(), dim);
    addDim(split, whole, extent, offset, sizes[group[0]], step);
    return success();
  }
  int64_t inside = 1;
  for (int64_t inner : group.drop_front())
    inside *= expand.getResultType().getDimSize(inner);
  std::optional<int64_t> begin = getConstantIntValue(offset);
  if (ShapedType::isDynamicShape(
          expand.getResultType().getShape().slice(group[1], group.size() - 1)) ||
      inside == 0 || ShapedType::isDynamic(extent) || extent % inside || !begin ||
      *begin % inside || !isOneInteger(step))
    return failure();
  auto attr = [&](int64_t value) -> OpFoldResult { return b.getIndexAttr(value); };
  addDim(split, attr(extent / inside), extent / inside, attr(*begin / inside),
         sizes[group[0]], step);
  for (int64_t inner : group.drop_front())
    addDim(split, sizes[inner], expand.getResultType().getDimSize(inner), attr(0),
           sizes[inner], step);
  return success();
}

LogicalResult tilewright::expandSlice(RewriterBase &b, tensor::ExpandShapeOp expand) {
  auto slice = expand.getSrc().getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || expand.getSrcType().getRank() == 0)
    return failure();
  b.setInsertionPoint(expand);
  SplitSlice split;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  SmallVector<ReassociationIndices> groups, kept = expand.getReassociationIndices();
  auto next = kept.begin();
  for (int64_t dim = 0; dim < slice.getSourceType().getRank(); ++dim) {
    int64_t first = split.wholeShape.size();
    if (dropped.test(dim))
      addDim(split, tensor::getMixedSize(b, slice.getLoc(), slice.getSource(), dim),
             slice.getSourceType().getDimSize(dim), slice.getMixedOffsets()[dim],
             b.getIndexAttr(1), slice.getMixedStrides()[dim]);
    else if (failed(splitDim(b, slice, expand, dim, *next++, split)))
      return failure();
    groups.push_back(
        llvm::to_vector<2>(llvm::seq<int64_t>(first, split.wholeShape.size())));
  }
  auto whole = tensor::ExpandShapeOp::create(
      b, expand.getLoc(), slice.getSourceType().clone(split.wholeShape),
      slice.getSource(), groups, split.wholeSizes);
  b.replaceOpWithNewOp<tensor::ExtractSliceOp>(expand, expand.getResultType(), whole,
                                               split.offsets, split.sizes, split.steps);
  if (slice->use_empty())
    b.eraseOp(slice);
  return success();
}

namespace {
struct ExpandSlicesPass
    : public tilewright::impl::ExpandSlicesPassBase<ExpandSlicesPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<tensor::ExpandShapeOp> ops;
    getOperation().walk([&](tensor::ExpandShapeOp op) { ops.push_back(op); });
    for (tensor::ExpandShapeOp op : ops)
      (void)expandSlice(rewriter, op);
  }
};
} // namespace
