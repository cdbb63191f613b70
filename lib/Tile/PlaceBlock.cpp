// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which tile is a block's, see BlockBuilder.h: tile ids fix the parallel classes; of a sum
// that several blocks have parts of, the part.

#include "BlockBuilder.h"
#include "tilewright/Configure/Streams.h"
#include "tilewright/Dialect/Clusters.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

OpFoldResult BlockBuilder::getExtent(unsigned number) {
  OpFoldResult &extent = extents[number];
  const LoopClass &loopClass = info.classes[number];
  if (!extent && ShapedType::isStatic(loopClass.extent))
    extent = b.getIndexAttr(loopClass.extent);
  if (!extent)
    extent = tensor::DimOp::create(b, kernel.getLoc(),
                                   kernel.getArgument(loopClass.argument),
                                   loopClass.dim)
                 .getResult();
  return extent;
}

/// min(step, end - offset), or step where it divides the extent. One element
/// is always there: no tile starts at the end.
OpFoldResult BlockBuilder::tileSize(unsigned number, int64_t step,
                                    OpFoldResult offset, OpFoldResult end) {
  int64_t extent = info.classes[number].extent;
  if (step == 1 ||
      (ShapedType::isStatic(extent) && extent % step == 0 && extent > 0))
    return b.getIndexAttr(step);
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  if (std::optional<int64_t> constant = getConstantIntValue(end))
    d1 = b.getAffineConstantExpr(*constant);
  AffineMap map = AffineMap::get(
      2, 0, {b.getAffineConstantExpr(step), d1 - d0}, b.getContext());
  // Not composed with what defines the operands: loop peeling recognises the
  // bound of the loop by its value.
  SmallVector<Value> operands;
  for (OpFoldResult operand : {offset, end})
    operands.push_back(
        getValueOrCreateConstantIndexOp(b, kernel.getLoc(), operand));
  affine::canonicalizeMapAndOperands(&map, &operands);
  return affine::AffineMinOp::create(b, kernel.getLoc(), map, operands)
      .getResult();
}

/// Bands of the two last loops of the root; parts of a sum are walked last.
void BlockBuilder::setRaster(TileIdOp tile, int64_t raster,
                             ArrayRef<unsigned> loops) {
  tile.setRasterAttr(b.getI64IntegerAttr(raster));
  // Those of a cluster are a loop of their own behind `loops`.
  bool isLast = info.split && loops.back() == info.split->part && loops.size() >= 3;
  if (!plan.clusterSum && !isLast)
    return;
  SmallVector<int64_t> order;
  int64_t part = int64_t(loops.size()) - (plan.clusterSum ? 0 : 1);
  for (int64_t loop = part - 1; loop >= 0; --loop)
    order.push_back(loop);
  order.push_back(part);
  tile.setOrderAttr(b.getDenseI64ArrayAttr(order));
}

SmallVector<unsigned> BlockBuilder::spreadClasses(SharesAttr shares) {
  SmallVector<unsigned> spread;
  for (unsigned number : info.getClasses(info.getRoot()))
    if (info.classes[number].parallel && plan.classes[number].loop &&
        !(shares && number == info.split->part))
      spread.push_back(number);
  return spread;
}

SmallVector<Value> BlockBuilder::countTiles(SmallVectorImpl<unsigned> &spread) {
  Location loc = kernel.getLoc();
  SmallVector<Value> counts;
  for (unsigned number : spread) {
    const LoopClass &loopClass = info.classes[number];
    int64_t step = plan.classes[number].step;
    AffineExpr extent;
    if (ShapedType::isStatic(loopClass.extent)) {
      extent = b.getAffineConstantExpr(loopClass.extent);
    } else {
      extent = b.getAffineSymbolExpr(countDims.size());
      countDims.push_back({loopClass.argument, loopClass.dim});
    }
    tileCounts.push_back(extent.ceilDiv(step));
    AffineExpr count = b.getAffineSymbolExpr(0).ceilDiv(step);
    counts.push_back(getValueOrCreateConstantIndexOp(
        b, loc,
        affine::makeComposedFoldedAffineApply(b, loc, count,
                                              {getExtent(number)})));
  }
  // Blocks of a cluster have a part each of a row that they share.
  if (std::optional<unsigned> shared = plan.getSharedClass()) {
    int64_t blocks = plan.classes[*shared].blocks;
    cluster.assign(spread.size(), 1);
    cluster.push_back(blocks);
    spread.push_back(*shared);
    tileCounts.push_back(b.getAffineConstantExpr(blocks));
    counts.push_back(arith::ConstantIndexOp::create(b, loc, blocks));
  }
  if (plan.clusterSum) {
    sliceLoop = int64_t(counts.size());
    tileCounts.push_back(b.getAffineConstantExpr(plan.clusterSum->parts));
    counts.push_back(arith::ConstantIndexOp::create(b, loc, plan.clusterSum->parts));
  }
  return counts;
}

TileIdOp BlockBuilder::writeTileId(ArrayRef<Value> counts, ArrayRef<unsigned> spread,
                                   LoweringConfigAttr config, WorkItemOp item) {
  auto tile = TileIdOp::create(
      b, kernel.getLoc(), SmallVector<Type>(counts.size(), b.getIndexType()), counts,
      /*number=*/item ? item.getTile() : Value(), DenseI64ArrayAttr(), IntegerAttr());
  if (config && config.getRaster() > 1 && spread.size() > 1)
    setRaster(tile, config.getRaster(), spread);
  if (config && !config.getCluster().empty() && !plan.getSharedClass())
    for (auto [loop, number] : llvm::enumerate(info.getClasses(info.getRoot())))
      if (llvm::is_contained(spread, number))
        // A config does not speak of the loop that counts parts.
        cluster.push_back(loop < config.getCluster().size() ? config.getCluster()[loop]
                                                            : 1);
  if (plan.clusterSum)
    cluster.push_back(plan.clusterSum->parts);
  return tile;
}

Environment BlockBuilder::placeBlock() {
  Environment env;
  Location loc = kernel.getLoc();
  for (unsigned number = 0; number < info.classes.size(); ++number) {
    env.offsets.push_back(b.getIndexAttr(0));
    env.sizes.push_back(getExtent(number));
    env.tiled.push_back(false);
  }

  auto config = info.getRoot()->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  SharesAttr shares = config ? sharesOf(info, config) : SharesAttr();
  SmallVector<unsigned> spread = spreadClasses(shares);
  WorkItemOp item;
  if (shares)
    item = WorkItemOp::create(b, loc, shares, /*number=*/Value());
  SmallVector<Value> counts = countTiles(spread);
  ValueRange ids;
  if (!counts.empty())
    ids = writeTileId(counts, spread, config, item).getIds();
  for (auto [number, id] : llvm::zip_equal(spread, ids.take_front(spread.size()))) {
    int64_t step = plan.classes[number].step;
    env.offsets[number] = affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineDimExpr(0) * step, {id});
    env.sizes[number] = tileSize(number, step, env.offsets[number],
                                 getExtent(number));
  }
  if (plan.clusterSum)
    placeClusterPart(ids.back(), env);
  for (auto [number, loopClass] : llvm::enumerate(info.classes))
    env.tiled[number] =
        loopClass.parallel ? !plan.classes[number].innerLoop
                           : !plan.classes[number].loop;
  if (item)
    placeShare(item, env);
  else if (info.split)
    placePart(env);
  return env;
}

/// Parts are whole steps; the last one ends where the sum does. A block's slice of the
/// tile may begin where there is nothing left of it.
void BlockBuilder::placeClusterPart(Value block, Environment &env) {
  Location loc = kernel.getLoc();
  const ClusterSum &sum = *plan.clusterSum;
  AffineExpr d0 = b.getAffineDimExpr(0), d1 = b.getAffineDimExpr(1);
  int64_t extent = info.classes[sum.reduced].extent, step = plan.classes[sum.reduced].step;
  auto begin = [&](AffineExpr part) -> OpFoldResult {
    return affine::makeComposedFoldedAffineApply(
        b, loc, (part * sum.steps).floorDiv(sum.parts) * step, {block});
  };
  partBegin = begin(d0);
  partEnd = begin(d0 + 1);
  if (sum.inLoops) {
    // Constant bounds, so that the loops become one.
    partBase = partBegin;
    partBegin = b.getIndexAttr(0);
    partEnd = b.getIndexAttr(sum.steps / sum.parts * step);
  } else if (extent != sum.steps * step) {
    partEnd = arith::MinSIOp::create(b, loc, getValueOrCreateConstantIndexOp(b, loc, partEnd),
                                     arith::ConstantIndexOp::create(b, loc, extent))
                  .getResult();
  }
  int64_t slice = plan.classes[sum.sliced].step / sum.parts;
  tileOffset = env.offsets[sum.sliced];
  wholeSize = env.sizes[sum.sliced];
  env.offsets[sum.sliced] = affine::makeComposedFoldedAffineApply(
      b, loc, d0 + d1 * slice, {tileOffset, block});
  // Of whole tiles, slices are whole.
  env.sizes[sum.sliced] = b.getIndexAttr(slice);
  if (getConstantIntValue(wholeSize) != plan.classes[sum.sliced].step)
    env.sizes[sum.sliced] = affine::makeComposedFoldedAffineMin(
        b, loc, AffineMap::get(2, 0, {b.getAffineConstantExpr(slice), d1 - d0}, b.getContext()),
        {env.offsets[sum.sliced], getExtent(sum.sliced)});
}

/// Steps of a share are whole but for the last one of a sum. The grid is these blocks,
/// whatever the device has; a cluster's lie along its loop.
void BlockBuilder::placeShare(WorkItemOp item, Environment &env) {
  Location loc = kernel.getLoc();
  env.offsets[info.split->part] = item.getPart();
  env.sizes[info.split->part] = b.getIndexAttr(1);
  unsigned reduced = info.split->reduced;
  Value step = arith::ConstantIndexOp::create(b, loc, plan.classes[reduced].step);
  Value end = getValueOrCreateConstantIndexOp(b, loc, getExtent(reduced));
  partBegin = arith::MulIOp::create(b, loc, item.getBegin(), step).getResult();
  Value stop = arith::MulIOp::create(b, loc, item.getEnd(), step);
  partEnd = arith::MinSIOp::create(b, loc, stop, end).getResult();

  int64_t blocks = item.getShares().getBlocks() * llvm::product_of(cluster);
  tileCounts.assign(std::max<size_t>(1, cluster.size()), b.getAffineConstantExpr(1));
  auto along = llvm::find_if(cluster, [](int64_t count) { return count > 1; });
  tileCounts[along == cluster.end() ? 0 : along - cluster.begin()] =
      b.getAffineConstantExpr(blocks);
}

/// Parts have the length of a whole number of units:
///   length = max(unit, extent ceildiv parts, rounded up to units)
///   last   = extent floordiv length           the part in which the loop ends
///   begin  = min(id, last) * length
///   end    = id <= last ? begin + min(length, extent - begin) : begin
/// so that nothing exceeds the extent, however large.
void BlockBuilder::placePart(const Environment &env) {
  Location loc = kernel.getLoc();
  const SplitClasses &split = *info.split;
  int64_t parts = info.getSplits();
  AffineExpr s0 = b.getAffineSymbolExpr(0);
  OpFoldResult extent = getExtent(split.reduced);
  OpFoldResult length = affine::makeComposedFoldedAffineApply(
      b, loc, s0.ceilDiv(parts).ceilDiv(split.unit) * split.unit, {extent});
  Value id = getValueOrCreateConstantIndexOp(b, loc, env.offsets[split.part]);
  Value end = getValueOrCreateConstantIndexOp(b, loc, extent);
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value whole, last;
  if (std::optional<int64_t> known = getConstantIntValue(length)) {
    int64_t size = std::max(*known, split.unit);
    whole = constant(size);
    last = constant(*getConstantIntValue(extent) / size);
  } else {
    whole = arith::MaxSIOp::create(b, loc, cast<Value>(length),
                                   constant(split.unit));
    last = arith::DivSIOp::create(b, loc, end, whole);
  }
  Value clamped = arith::MinSIOp::create(b, loc, id, last);
  Value begin = arith::MulIOp::create(b, loc, clamped, whole);
  Value left = arith::SubIOp::create(b, loc, end, begin);
  Value size = arith::MinSIOp::create(b, loc, whole, left);
  Value stop = arith::AddIOp::create(b, loc, begin, size);
  Value isPart = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, id,
                                       last);
  partBegin = begin;
  partEnd = arith::SelectOp::create(b, loc, isPart, stop, begin).getResult();
}
