// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of few channels on matrix units of GPUs. Rows of windows of three halves
// begin at multiples of 2 bytes, and so do those that padding shifts: each element of a
// tile is a load of its own with checks of its own, which take longer than all else. A
// window's elements are read many times, but padded once: a copy of the image with four
// channels has rows of windows at multiples of 8 bytes, for asynchronous copies. The
// further channel is multiplied by zeros.
//
//   %l = tensor.collapse_shape %x [[0], [1], [2, 3]]               32x224x224x3 to 32x224x672
//   %p = tensor.pad %l low[0, 3, 9] high[0, 2, 6]                  32x229x687
//   %w = tilewright.im2col %p {(n, y, i, x, j) -> (n, y * 2 + i, x * 6 + j)}   32x112x7x112x21
//   %g = tensor.collapse_shape %f [[0], [1, 2], [3]]               7x7x3x64 to 7x21x64
//   %r = linalg.generic ins(%w, %g)
// becomes
//   %p = tensor.pad %x low[0, 3, 3, 0] high[0, 2, 2, 1]            32x229x229x4
//   %l = tensor.collapse_shape %p [[0], [1], [2, 3]]               32x229x916
//   %w = tilewright.im2col %l {(n, y, i, x, j) -> (n, y * 2 + i, x * 8 + j)}   32x112x7x112x28
//   %h = tensor.pad %f low[0, 0, 0, 0] high[0, 0, 1, 0]            7x7x4x64
//   %g = tensor.collapse_shape %h [[0], [1, 2], [3]]               7x28x64
//   %r = linalg.generic ins(%w, %g)
//
// A reshape needs its operand in memory, so that the padded tensors are computed there
// (MaterializeWindows.cpp).

#include "tilewright/Analysis/Instructions.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dialect/Windows.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PADCHANNELSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// The least that asynchronous copies with checks move well.
static constexpr int64_t kCopyBytes = 8;
/// How often each element of the copy is read at least, and how many reads there are
/// together: 2^20 of them, each by itself, take an H100 some 2 us (predicted), and two
/// more launches take about 4.
static constexpr int64_t kReads = 4, kElements = int64_t(2) << 20;

namespace {
/// A convolution whose windows' columns and channels are one loop (FlattenChannels.cpp).
struct Convolution {
  linalg::GenericOp op;
  OpOperand *windows = nullptr, *filter = nullptr;
  Im2colOp im2col;
  /// None where the image is not padded.
  tensor::PadOp pad;
  tensor::CollapseShapeOp image, weights;
  /// The windows' dim of columns and channels, the filter's dim of channels.
  int64_t inner = 0, filterChannel = 0;
  int64_t channels = 0, wide = 0;
};
} // namespace

/// The dim of the source of `collapse` that ends its only group of two.
static std::optional<int64_t> endOfPair(tensor::CollapseShapeOp collapse) {
  std::optional<int64_t> end;
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    if (group.size() > 2 || (group.size() == 2 && end))
      return std::nullopt;
    if (group.size() == 2)
      end = group[1];
  }
  return end;
}

/// The filter's channels: the second of the dims that are one with the columns.
static bool matchFilter(Convolution &it, unsigned loop) {
  it.weights = it.filter->get().getDefiningOp<tensor::CollapseShapeOp>();
  std::optional<int64_t> end = it.weights ? endOfPair(it.weights) : std::nullopt;
  AffineMap map = it.op.getMatchingIndexingMap(it.filter);
  std::optional<unsigned> dim = map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
  if (!end || !dim || it.weights.getReassociationIndices()[*dim].size() != 2 ||
      !it.weights.getSrcType().hasStaticShape())
    return false;
  it.filterChannel = *end;
  return it.weights.getSrcType().getDimSize(*end) == it.channels;
}

/// The windows' dim of columns and channels: it alone moves along the image's last dim by
/// one, and nowhere else; others move there by whole pixels.
static bool matchWindows(Convolution &it) {
  int64_t last = it.im2col.getSourceType().getRank() - 1;
  SmallVector<int64_t> steps = it.im2col.getSteps(last);
  std::optional<int64_t> inner;
  for (auto [dim, step] : llvm::enumerate(steps)) {
    if (step == 1 && !inner)
      inner = dim;
    else if (step % it.channels)
      return false;
  }
  if (!inner || it.im2col.getType().getDimSize(*inner) % it.channels)
    return false;
  for (int64_t dim = 0; dim < last; ++dim)
    if (it.im2col.getSteps(dim)[*inner])
      return false;
  it.inner = *inner;
  return true;
}

/// Padding by whole pixels with something finite: zeros are multiplied with it.
static bool matchPad(Convolution &it) {
  if (!it.pad)
    return true;
  TypedAttr fill = getConstantFill(it.pad);
  auto number = dyn_cast_or_null<FloatAttr>(fill);
  if (!fill || (number && !number.getValue().isFinite()) ||
      ShapedType::isDynamicShape(it.pad.getStaticLow()) ||
      ShapedType::isDynamicShape(it.pad.getStaticHigh()))
    return false;
  return it.pad.getStaticLow().back() % it.channels == 0 &&
         it.pad.getStaticHigh().back() % it.channels == 0;
}

static bool hasMatrixInstruction(linalg::GenericOp op, TargetAttr target) {
  auto names = target.getFacts().getAs<ArrayAttr>("mma");
  auto product = cast<linalg::LinalgOp>(op.getOperation());
  std::optional<Contraction> contraction = matchContraction(product);
  return names && contraction && llvm::any_of(names.getAsRange<StringAttr>(), [&](StringAttr name) {
           return bool(matchInstruction(product, name, &*contraction));
         });
}

/// The convolution by `op`, where more channels are worth their copy.
static std::optional<Convolution> match(linalg::GenericOp op, TargetAttr target) {
  if (op->hasAttr(kConfigAttr) || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics() || op.getNumDpsInputs() != 2 || op.getNumResults() != 1)
    return std::nullopt;
  Convolution it;
  it.op = op;
  for (OpOperand *input : op.getDpsInputOperands())
    (input->get().getDefiningOp<Im2colOp>() ? it.windows : it.filter) = input;
  if (!it.windows || !it.filter)
    return std::nullopt;
  it.im2col = it.windows->get().getDefiningOp<Im2colOp>();
  Value source = it.im2col.getSource();
  it.pad = source.getDefiningOp<tensor::PadOp>();
  it.image = (it.pad ? it.pad.getSource() : source).getDefiningOp<tensor::CollapseShapeOp>();
  if (!it.image || !it.image.getSrcType().hasStaticShape() ||
      !it.im2col.getType().hasStaticShape())
    return std::nullopt;
  RankedTensorType image = it.image.getSrcType();
  int64_t bytes = image.getElementTypeBitWidth() / 8;
  if (endOfPair(it.image) != image.getRank() - 1 || bytes < 1 || bytes > 2)
    return std::nullopt;
  it.channels = image.getShape().back();
  it.wide = llvm::alignTo(it.channels, kCopyBytes / bytes);
  // A third more of each tile at most is computed for nothing.
  if (it.wide == it.channels || 3 * it.wide > 4 * it.channels ||
      it.im2col.getType().getNumElements() < std::max(kElements, kReads * image.getNumElements()))
    return std::nullopt;
  if (!matchPad(it) || !matchWindows(it))
    return std::nullopt;
  auto loop = dyn_cast<AffineDimExpr>(
      op.getMatchingIndexingMap(it.windows).getResult(it.inner));
  if (!loop || !matchFilter(it, loop.getPosition()) || !hasMatrixInstruction(op, target))
    return std::nullopt;
  return it;
}

/// `value` padded by so much in front and behind.
static Value createPad(OpBuilder &b, Location loc, Value value, ArrayRef<int64_t> low,
                       ArrayRef<int64_t> high, TypedAttr fill) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> shape;
  SmallVector<OpFoldResult> front, behind;
  for (auto [size, before, after] : llvm::zip_equal(type.getShape(), low, high)) {
    shape.push_back(size + before + after);
    front.push_back(b.getIndexAttr(before));
    behind.push_back(b.getIndexAttr(after));
  }
  auto constant = arith::ConstantOp::create(b, loc, fill);
  return tensor::PadOp::create(b, loc, type.clone(shape), value, front, behind,
                               constant.getResult());
}

/// The image with its padding and further channels, seen as `collapse` sees it.
static Value widenImage(OpBuilder &b, Convolution it) {
  RankedTensorType type = it.image.getSrcType();
  SmallVector<int64_t> low(type.getRank(), 0), high(type.getRank(), 0);
  TypedAttr fill = cast<TypedAttr>(b.getZeroAttr(type.getElementType()));
  if (it.pad) {
    fill = getConstantFill(it.pad);
    // All dims but the last two, which are one of the collapsed tensor, are the same.
    llvm::copy(it.pad.getStaticLow(), low.begin());
    llvm::copy(it.pad.getStaticHigh(), high.begin());
    low[type.getRank() - 2] /= it.channels;
    high[type.getRank() - 2] /= it.channels;
  }
  high.back() = it.wide - it.channels;
  Location loc = it.im2col.getLoc();
  Value padded = createPad(b, loc, it.image.getSrc(), low, high, fill);
  return tensor::CollapseShapeOp::create(b, loc, padded, it.image.getReassociationIndices());
}

/// The windows of an image with further channels.
static Value widenWindows(OpBuilder &b, Convolution it) {
  int64_t last = it.im2col.getSourceType().getRank() - 1;
  AffineExpr along = b.getAffineConstantExpr(0);
  for (auto [dim, step] : llvm::enumerate(it.im2col.getSteps(last)))
    along = along + b.getAffineDimExpr(dim) *
                        (int64_t(dim) == it.inner ? 1 : step / it.channels * it.wide);
  SmallVector<AffineExpr> reads(it.im2col.getMap().getResults());
  reads.back() = along;
  SmallVector<int64_t> sizes(it.im2col.getType().getShape());
  sizes[it.inner] = sizes[it.inner] / it.channels * it.wide;
  return Im2colOp::create(
      b, it.im2col.getLoc(), it.im2col.getType().clone(sizes), widenImage(b, it), ValueRange(),
      simplifyAffineMap(AffineMap::get(sizes.size(), 0, reads, b.getContext())));
}

static Value widenFilter(OpBuilder &b, Convolution it) {
  RankedTensorType type = it.weights.getSrcType();
  SmallVector<int64_t> low(type.getRank(), 0), high(type.getRank(), 0);
  high[it.filterChannel] = it.wide - it.channels;
  Location loc = it.weights.getLoc();
  Value padded = createPad(b, loc, it.weights.getSrc(), low, high,
                           cast<TypedAttr>(b.getZeroAttr(type.getElementType())));
  return tensor::CollapseShapeOp::create(b, loc, padded, it.weights.getReassociationIndices());
}

namespace {
struct PadChannelsPass : public tilewright::impl::PadChannelsPassBase<PadChannelsPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    if (!target || target.getFact("subgroup", 1) <= 1 || isKernel(getOperation()))
      return;
    SmallVector<Convolution> convolutions;
    getOperation().walk([&](linalg::GenericOp op) {
      if (std::optional<Convolution> it = match(op, target))
        convolutions.push_back(*it);
    });
    OpBuilder b(&getContext());
    for (const Convolution &it : convolutions) {
      addExplanation(getOperation(), nameOpAndLine(it.op) + ": the image is copied, padded to " +
                                         Twine(it.wide) + " channels from " + Twine(it.channels) +
                                         ", so that windows are aligned");
      b.setInsertionPoint(it.op);
      it.windows->set(widenWindows(b, it));
      it.filter->set(widenFilter(b, it));
    }
  }
};
} // namespace
