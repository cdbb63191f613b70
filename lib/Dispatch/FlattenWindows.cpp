// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of narrow images on CPUs. A vector is a piece of one row of the result,
// and rows of 7 leave most of a vector of 16 idle. Through the padded image, whose rows
// lie side by side, all rows are one: what is computed where a window crosses the end
// of a row is thrown away.
//
//   %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1]                  64x7x7 to 64x9x9
//   %w = tilewright.im2col %p {(c, y, i, x, j) -> (c, y + i, x + j)}     64x7x3x7x3
//   %r = linalg.generic <(f, y, x, c, i, j), product> ins(%w, %filter)    32x7x7
// becomes
//   %p = tensor.pad %x low[0, 1, 1] high[0, 2, 1]                  64x7x7 to 64x10x9
//   %l = tensor.collapse_shape %p [[0], [1, 2]]                    64x90
//   %w = tilewright.im2col %l {(c, z, i, j) -> (c, z + 9 * i + j)}       64x63x3x3
//   %a = linalg.generic <(f, z, c, i, j), product> ins(%w, %filter)       32x63
//   %e = tensor.expand_shape %a [[0], [1, 2]]                             32x7x9
//   %r = tensor.extract_slice %e [0, 0, 0] [32, 7, 7] [1, 1, 1]

#include "tilewright/Dialect/Padding.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Dialect/Windows.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Dispatch/Groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_FLATTENWINDOWSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// How much better vectors have to be filled: the result is copied for it.
static constexpr double kGain = 1.25;

namespace {
/// A convolution that can be flattened.
struct Convolution {
  linalg::GenericOp op;
  OpOperand *windows;
  Im2colOp im2col;
  tensor::PadOp pad;
  linalg::FillOp fill;
  /// The loops over rows and columns of the result, which are its last two dims.
  unsigned rowLoop, columnLoop;
  /// Their dims in im2col's map.
  unsigned rowDim, columnDim;
  int64_t height, width, paddedWidth;
};
} // namespace

/// What share of the lanes of vectors rows of `width` elements fill.
static double lanesFilled(int64_t width, int64_t lanes) {
  return double(width) / llvm::alignTo(width, lanes);
}

/// Whether dim `dim` of the map moves by one along `sourceDim` of the
/// source and along no other.
static bool movesAlong(Im2colOp im2col, unsigned dim, unsigned sourceDim) {
  for (unsigned other = 0; other < im2col.getMap().getNumResults(); ++other)
    if (im2col.getSteps(other)[dim] != (other == sourceDim))
      return false;
  return true;
}

/// The position of a loop among the results of a map, if it stands there alone.
static std::optional<unsigned> positionOf(AffineMap map, unsigned loop) {
  return map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
}

/// The loops over rows and columns: the last two dims of the result, of the windows too,
/// and of nothing else.
static bool matchLoops(Convolution &it) {
  AffineMap result = it.op.getIndexingMapMatchingResult(it.op->getResult(0));
  AffineMap reads = it.op.getMatchingIndexingMap(it.windows);
  unsigned rank = result.getNumResults(), sourceRank = it.im2col.getSourceType().getRank();
  if (rank < 2 || sourceRank < 2 || !result.isProjectedPermutation() ||
      !reads.isProjectedPermutation())
    return false;
  it.rowLoop = result.getDimPosition(rank - 2);
  it.columnLoop = result.getDimPosition(rank - 1);
  std::optional<unsigned> rowDim = positionOf(reads, it.rowLoop),
                          columnDim = positionOf(reads, it.columnLoop);
  if (!rowDim || !columnDim)
    return false;
  it.rowDim = *rowDim;
  it.columnDim = *columnDim;
  for (OpOperand *input : it.op.getDpsInputOperands()) {
    AffineMap map = it.op.getMatchingIndexingMap(input);
    if (input != it.windows && (map.isFunctionOfDim(it.rowLoop) ||
                                map.isFunctionOfDim(it.columnLoop)))
      return false;
  }
  return movesAlong(it.im2col, it.rowDim, sourceRank - 2) &&
         movesAlong(it.im2col, it.columnDim, sourceRank - 1);
}

/// The convolution by `op` of a padded image, where vectors gain by its being flattened.
static std::optional<Convolution> match(linalg::GenericOp op, int64_t vectorBytes) {
  if (op->hasAttr(kConfigAttr) || !op.hasPureTensorSemantics() ||
      op.hasIndexSemantics() || op.getNumResults() != 1 ||
      classify(op) != GroupKind::Contraction)
    return std::nullopt;
  Convolution it{};
  it.op = op;
  for (OpOperand *input : op.getDpsInputOperands())
    if (auto im2col = input->get().getDefiningOp<Im2colOp>();
        im2col && im2col.getSource().getDefiningOp<tensor::PadOp>()) {
      it.windows = input;
      it.im2col = im2col;
    }
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  it.fill = op.getDpsInitOperand(0)->get().getDefiningOp<linalg::FillOp>();
  if (!it.im2col || !it.fill || !type.hasStaticShape() ||
      !it.im2col.getType().hasStaticShape() ||
      !it.im2col.getSourceType().hasStaticShape() || !matchLoops(it))
    return std::nullopt;
  it.pad = it.im2col.getSource().getDefiningOp<tensor::PadOp>();
  it.height = type.getDimSize(type.getRank() - 2);
  it.width = type.getDimSize(type.getRank() - 1);
  it.paddedWidth = it.im2col.getSourceType().getShape().back();
  int64_t bits = type.getElementTypeBitWidth();
  if (!getConstantFill(it.pad) || bits < 8 ||
      !getConstantIntValue(it.pad.getMixedHighPad().end()[-2]))
    return std::nullopt;
  int64_t lanes = std::max<int64_t>(1, vectorBytes * 8 / bits);
  double used = double(it.width) / it.paddedWidth *
                lanesFilled(it.height * it.paddedWidth, lanes);
  if (used < kGain * lanesFilled(it.width, lanes))
    return std::nullopt;
  return it;
}

/// The windows of the padded image, whose rows are one, one row more behind them: windows
/// that cross the end of the last row read there.
static Value flattenWindows(OpBuilder &b, Convolution it) {
  Location loc = it.im2col.getLoc();
  tensor::PadOp pad = it.pad;
  b.setInsertionPoint(it.im2col);
  SmallVector<OpFoldResult> high = pad.getMixedHighPad();
  unsigned rank = high.size();
  SmallVector<int64_t> shape(it.im2col.getSourceType().getShape());
  ++shape[rank - 2];
  high[rank - 2] = b.getIndexAttr(*getConstantIntValue(high[rank - 2]) + 1);
  auto fill = arith::ConstantOp::create(b, loc, getConstantFill(pad));
  Value padded = tensor::PadOp::create(
      b, loc, it.im2col.getSourceType().clone(shape), pad.getSource(),
      pad.getMixedLowPad(), high, fill.getResult());
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 1 < int64_t(rank); ++dim)
    groups.push_back({dim});
  groups.back().push_back(rank - 1);
  Value flat = tensor::CollapseShapeOp::create(b, loc, padded, groups);

  AffineMap map = it.im2col.getMap();
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0, next = 0; dim < map.getNumDims(); ++dim)
    dims.push_back(dim == it.columnDim ? b.getAffineConstantExpr(0)
                                       : b.getAffineDimExpr(next++));
  // The step of a row is that of an element now.
  SmallVector<AffineExpr> ofRow(dims);
  ofRow[it.rowDim] = b.getAffineConstantExpr(0);
  SmallVector<AffineExpr> reads;
  for (unsigned dim = 0; dim + 2 < rank; ++dim)
    reads.push_back(map.getResult(dim).replaceDims(dims));
  reads.push_back(map.getResult(rank - 2).replaceDims(ofRow) * it.paddedWidth +
                  map.getResult(rank - 1).replaceDims(dims) + dims[it.rowDim]);
  SmallVector<int64_t> sizes(it.im2col.getType().getShape());
  sizes[it.rowDim] = it.height * it.paddedWidth;
  sizes.erase(sizes.begin() + it.columnDim);
  return Im2colOp::create(b, loc, it.im2col.getType().clone(sizes), flat, ValueRange(),
                          simplifyAffineMap(AffineMap::get(map.getNumDims() - 1, 0, reads,
                                                           b.getContext())));
}

/// `map` without the loop over columns.
static AffineMap dropColumns(const Convolution &it, AffineMap map) {
  SmallVector<AffineExpr> dims, results;
  for (unsigned loop = 0, next = 0; loop < map.getNumDims(); ++loop)
    dims.push_back(getAffineDimExpr(loop == it.columnLoop ? 0 : next++, map.getContext()));
  for (AffineExpr result : map.getResults())
    if (result != getAffineDimExpr(it.columnLoop, map.getContext()))
      results.push_back(result.replaceDims(dims));
  return AffineMap::get(map.getNumDims() - 1, 0, results, map.getContext());
}

static void flatten(IRRewriter &b, const Convolution &it) {
  linalg::GenericOp op = it.op;
  Location loc = op.getLoc();
  Value windows = flattenWindows(b, it);
  b.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> flatShape(type.getShape().drop_back());
  flatShape.back() = it.height * it.paddedWidth;
  auto flatType = type.clone(flatShape);
  Value empty = tensor::EmptyOp::create(b, loc, flatShape, type.getElementType());
  linalg::FillOp fill = it.fill;
  Value init = linalg::FillOp::create(b, loc, fill.getInputs(), empty).getResult(0);

  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    maps.push_back(dropColumns(it, op.getMatchingIndexingMap(&operand)));
    if (op.isDpsInput(&operand))
      inputs.push_back(&operand == it.windows ? windows : operand.get());
  }
  SmallVector<utils::IteratorType> loops = op.getIteratorTypesArray();
  loops.erase(loops.begin() + it.columnLoop);
  auto product = linalg::GenericOp::create(b, loc, flatType, inputs, init, maps, loops);
  b.inlineRegionBefore(op.getRegion(), product.getRegion(), product.getRegion().end());

  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim + 1 < rank; ++dim)
    groups.push_back({dim});
  groups.back().push_back(rank - 1);
  SmallVector<int64_t> wide(type.getShape());
  wide.back() = it.paddedWidth;
  Value rows = tensor::ExpandShapeOp::create(b, loc, type.clone(wide),
                                             product.getResult(0), groups);
  SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), steps(rank, b.getIndexAttr(1));
  b.replaceOpWithNewOp<tensor::ExtractSliceOp>(
      op, type, rows, offsets, getAsIndexOpFoldResult(b.getContext(), type.getShape()),
      steps);
}

namespace {
struct FlattenWindowsPass
    : public tilewright::impl::FlattenWindowsPassBase<FlattenWindowsPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    int64_t vectorBytes = target ? target.getFact("dispatch_vector_bytes", 0) : 0;
    if (!vectorBytes || isKernel(getOperation()))
      return;
    SmallVector<Convolution> convolutions;
    getOperation().walk([&](linalg::GenericOp op) {
      if (std::optional<Convolution> it = match(op, vectorBytes))
        convolutions.push_back(*it);
    });
    IRRewriter rewriter(&getContext());
    for (const Convolution &it : convolutions) {
      addExplanation(getOperation(),
                     nameOpAndLine(it.op) + ": the rows of the padded image are one row, as they "
                                            "are shorter than a vector");
      flatten(rewriter, it);
    }
  }
};
} // namespace
