// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of few channels. A window's columns and their channels are
// neighbours in memory; where channels alone leave most of a matrix instruction
// idle, both become one loop, and so do the image's columns and channels:
//
//   x[n, oh * 2 + kh, ow * 2 + kw, c]  * w[kh, kw, c, o]      kw < 7, c < 3
// becomes
//   x1[n, oh * 2 + kh, ow * 6 + j]     * w1[kh, j, o]         j < 21
//
// with x1 and w1 the same memory under other dims. A padded image is padded by
// as many columns times channels.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dialect/Windows.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

/// From so many channels on, they fill an instruction by themselves.
static constexpr int64_t kEnough = 16;

namespace {
struct Flattening {
  OpOperand *image = nullptr, *filter = nullptr;
  unsigned column = 0, channel = 0; // loops
  int64_t channels = 0;
  int64_t filterDim = 0; // of the column
};
} // namespace

/// Whether the last two dims of `value` can be seen as one.
static bool canSeeAsOne(Value value) {
  if (auto pad = value.getDefiningOp<tensor::PadOp>()) {
    int64_t last = pad.getSourceType().getRank() - 1;
    return pad.getConstantPaddingValue() &&
           !ShapedType::isDynamicShape(pad.getStaticLow()) &&
           !ShapedType::isDynamicShape(pad.getStaticHigh()) &&
           pad.getStaticLow()[last] == 0 && pad.getStaticHigh()[last] == 0 &&
           isa<BlockArgument>(pad.getSource());
  }
  return isa<BlockArgument>(value);
}

static std::optional<Flattening> match(linalg::GenericOp op) {
  if (op->hasAttr(kConfigAttr) || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics() || op.getNumDpsInputs() != 2 ||
      op.getNumDpsInits() != 1)
    return std::nullopt;
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  auto reduces = [&](unsigned loop) {
    return types[loop] == utils::IteratorType::reduction;
  };
  Flattening found;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    (map.isProjectedPermutation() ? found.filter : found.image) = operand;
  }
  if (!found.image || !found.filter)
    return std::nullopt;
  AffineMap image = op.getMatchingIndexingMap(found.image),
            filter = op.getMatchingIndexingMap(found.filter);
  auto type = cast<RankedTensorType>(found.image->get().getType());
  int64_t rank = type.getRank();
  if (rank < 2 || !canSeeAsOne(found.image->get()) ||
      !isa<BlockArgument>(found.filter->get()) || type.isDynamicDim(rank - 1) ||
      type.isDynamicDim(rank - 2))
    return std::nullopt;
  auto channel = dyn_cast<AffineDimExpr>(image.getResult(rank - 1));
  auto steps = getWindowSteps(image.getResult(rank - 2), image.getNumDims());
  if (!channel || !steps)
    return std::nullopt;
  found.channel = channel.getPosition();
  found.channels = type.getDimSize(rank - 1);
  // The filter's dim in front of the channels' is the column's.
  std::optional<unsigned> at = filter.getResultPosition(channel);
  if (!at || *at == 0 || !reduces(found.channel) || found.channels >= kEnough)
    return std::nullopt;
  found.filterDim = *at - 1;
  found.column = filter.getDimPosition(found.filterDim);
  auto shape = cast<RankedTensorType>(found.filter->get().getType()).getShape();
  if (!reduces(found.column) || (*steps)[found.column] != 1 ||
      (*steps)[found.channel] || shape[*at] != found.channels ||
      ShapedType::isDynamic(shape[found.filterDim]))
    return std::nullopt;
  for (int64_t dim = 0; dim < rank - 2; ++dim)
    if (image.getResult(dim).isFunctionOfDim(found.column) ||
        image.getResult(dim).isFunctionOfDim(found.channel))
      return std::nullopt;
  return found;
}

/// `value` with dims `first` and the next as one.
static Value collapse(OpBuilder &b, Location loc, Value value, int64_t first) {
  SmallVector<ReassociationIndices> groups;
  int64_t rank = cast<RankedTensorType>(value.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim == first + 1)
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  return tensor::CollapseShapeOp::create(b, loc, value, groups);
}

static Value collapseImage(OpBuilder &b, Location loc, Value image) {
  auto pad = image.getDefiningOp<tensor::PadOp>();
  int64_t first = cast<RankedTensorType>(image.getType()).getRank() - 2;
  if (!pad)
    return collapse(b, loc, image, first);
  int64_t channels = pad.getSourceType().getDimSize(first + 1);
  auto widths = [&](ArrayRef<int64_t> given) {
    SmallVector<OpFoldResult> result;
    for (int64_t dim = 0; dim <= first; ++dim)
      result.push_back(
          b.getIndexAttr(given[dim] * (dim == first ? channels : 1)));
    return result;
  };
  SmallVector<int64_t> shape(pad.getResultType().getShape().drop_back());
  shape.back() *= channels;
  return tensor::PadOp::create(
      b, loc, RankedTensorType::get(shape, pad.getResultType().getElementType()),
      collapse(b, loc, pad.getSource(), first), widths(pad.getStaticLow()),
      widths(pad.getStaticHigh()), pad.getConstantPaddingValue());
}

bool tilewright::flattenChannels(RewriterBase &rewriter, linalg::GenericOp op) {
  std::optional<Flattening> found = match(op);
  if (!found)
    return false;
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  rewriter.setInsertionPoint(op);
  // The column's loop becomes that of both, and the channels' goes.
  unsigned numLoops = op.getNumLoops();
  SmallVector<AffineExpr> loops;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    loops.push_back(getAffineDimExpr(loop - (loop > found->channel), context));
  loops[found->channel] = getAffineConstantExpr(0, context);
  AffineExpr both = loops[found->column];
  auto renumber = [&](AffineExpr expr) { return expr.replaceDims(loops); };

  SmallVector<AffineMap> maps;
  SmallVector<Value> inputs;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> results;
    if (&operand == found->image) {
      for (AffineExpr expr : map.getResults().drop_back())
        results.push_back(renumber(expr));
      SmallVector<AffineExpr> others(loops);
      others[found->column] = getAffineConstantExpr(0, context);
      results.back() =
          map.getResult(map.getNumResults() - 2).replaceDims(others) *
              found->channels +
          both;
      inputs.push_back(collapseImage(rewriter, loc, operand.get()));
    } else {
      for (auto [dim, expr] : llvm::enumerate(map.getResults()))
        if (&operand != found->filter || int64_t(dim) != found->filterDim + 1)
          results.push_back(renumber(expr));
      if (&operand == found->filter)
        inputs.push_back(
            collapse(rewriter, loc, operand.get(), found->filterDim));
    }
    maps.push_back(simplifyAffineMap(
        AffineMap::get(numLoops - 1, 0, results, context)));
  }
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  types.erase(types.begin() + found->channel);
  auto flat = linalg::GenericOp::create(rewriter, loc, op.getResultTypes(),
                                        inputs, op.getOutputs(), maps, types);
  rewriter.inlineRegionBefore(op.getRegion(), flat.getRegion(),
                              flat.getRegion().begin());
  rewriter.replaceOp(op, flat);
  return true;
}
