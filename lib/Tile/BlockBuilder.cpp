// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The code of one block, see BlockBuilder.h for the idea.

#include "BlockBuilder.h"
#include "tilewright/Configure/Streams.h"
#include "tilewright/Dialect/Clusters.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/TilingInterface.h"

using namespace mlir;
using namespace tilewright;

BlockBuilder::BlockBuilder(OpBuilder &builder, const KernelInfo &info,
                           const TilePlan &plan)
    : b(builder), info(info), plan(plan), kernel(info.kernel) {
  extents.resize(info.classes.size());
  scopes.emplace_back();
}

//===----------------------------------------------------------------------===//
// Extents, offsets, sizes
//===----------------------------------------------------------------------===//

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

Environment BlockBuilder::placeBlock() {
  Environment env;
  Location loc = kernel.getLoc();
  for (unsigned number = 0; number < info.classes.size(); ++number) {
    env.offsets.push_back(b.getIndexAttr(0));
    env.sizes.push_back(getExtent(number));
    env.tiled.push_back(false);
  }

  // The root's order of loops is the order of the tile ids.
  auto config = info.getRoot()->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  SharesAttr shares = config ? sharesOf(info, config) : SharesAttr();
  SmallVector<unsigned> spread;
  for (unsigned number : info.getClasses(info.getRoot()))
    if (info.classes[number].parallel && plan.classes[number].loop &&
        !(shares && number == info.split->part))
      spread.push_back(number);
  WorkItemOp item;
  if (shares)
    item = WorkItemOp::create(b, loc, shares, /*number=*/Value());
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
  std::optional<unsigned> shared = plan.getSharedClass();
  if (shared) {
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
  ValueRange ids;
  Value clusterPart;
  if (!counts.empty()) {
    auto tile = TileIdOp::create(
        b, loc, SmallVector<Type>(counts.size(), b.getIndexType()), counts,
        /*number=*/item ? item.getTile() : Value(), DenseI64ArrayAttr(), IntegerAttr());
    if (config && config.getRaster() > 1 && spread.size() > 1)
      setRaster(tile, config.getRaster(), spread);
    if (config && !config.getCluster().empty() && !shared)
      for (auto [loop, number] : llvm::enumerate(info.getClasses(info.getRoot())))
        if (llvm::is_contained(spread, number))
          // A config does not speak of the loop that counts parts.
          cluster.push_back(loop < config.getCluster().size()
                                ? config.getCluster()[loop]
                                : 1);
    if (plan.clusterSum)
      cluster.push_back(plan.clusterSum->parts);
    ids = tile.getIds().take_front(spread.size());
    if (plan.clusterSum)
      clusterPart = tile.getIds().back();
  }
  for (auto [number, id] : llvm::zip_equal(spread, ids)) {
    int64_t step = plan.classes[number].step;
    env.offsets[number] = affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineDimExpr(0) * step, {id});
    env.sizes[number] = tileSize(number, step, env.offsets[number],
                                 getExtent(number));
  }
  if (clusterPart)
    placeClusterPart(clusterPart, env);
  for (auto [number, loopClass] : llvm::enumerate(info.classes))
    env.tiled[number] =
        loopClass.parallel ? !plan.classes[number].innerLoop
                           : !plan.classes[number].loop;
  if (item) {
    env.offsets[info.split->part] = item.getPart();
    env.sizes[info.split->part] = b.getIndexAttr(1);
    placeShare(item);
    // The grid is these blocks, whatever the device has; a cluster's lie along its loop.
    int64_t blocks = shares.getBlocks() * llvm::product_of(cluster);
    tileCounts.assign(std::max<size_t>(1, cluster.size()), b.getAffineConstantExpr(1));
    auto along = llvm::find_if(cluster, [](int64_t count) { return count > 1; });
    tileCounts[along == cluster.end() ? 0 : along - cluster.begin()] =
        b.getAffineConstantExpr(blocks);
  } else if (info.split) {
    placePart(env);
  }
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

/// Steps of a share are whole but for the last one of a sum.
void BlockBuilder::placeShare(WorkItemOp item) {
  Location loc = kernel.getLoc();
  unsigned reduced = info.split->reduced;
  Value step = arith::ConstantIndexOp::create(b, loc, plan.classes[reduced].step);
  Value end = getValueOrCreateConstantIndexOp(b, loc, getExtent(reduced));
  partBegin = arith::MulIOp::create(b, loc, item.getBegin(), step).getResult();
  Value stop = arith::MulIOp::create(b, loc, item.getEnd(), step);
  partEnd = arith::MinSIOp::create(b, loc, stop, end).getResult();
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

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Value>>
BlockBuilder::writeLoops(Location loc, ArrayRef<Loop> loops,
                         const Environment &env, ValueRange inits, Body body) {
  if (loops.empty())
    return body(env, inits);
  const Loop &loop = loops.front();
  Value lower = getValueOrCreateConstantIndexOp(b, loc, loop.lower);
  Value upper = getValueOrCreateConstantIndexOp(b, loc, loop.upper);
  Value step = arith::ConstantIndexOp::create(b, loc, loop.step);
  auto forOp = scf::ForOp::create(b, loc, lower, upper, step, inits);

  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(forOp.getBody());
  scopes.emplace_back();
  Environment inside = env;
  inside.offsets[loop.number] = forOp.getInductionVar();
  inside.sizes[loop.number] =
      tileSize(loop.number, loop.step, forOp.getInductionVar(), upper);
  if (loop.base)
    inside.offsets[loop.number] = affine::makeComposedFoldedAffineApply(
        b, loc, b.getAffineDimExpr(0) + b.getAffineDimExpr(1),
        {loop.base, inside.offsets[loop.number]});
  inside.tiled[loop.number] = true;
  FailureOr<SmallVector<Value>> values = writeLoops(
      loc, loops.drop_front(), inside, forOp.getRegionIterArgs(), body);
  scopes.pop_back();
  if (failed(values))
    return failure();
  scf::YieldOp::create(b, loc, *values);
  if (int64_t terms = plan.classes[loop.number].terms; terms > 1)
    loopsOfTerms.push_back({forOp, terms});
  return SmallVector<Value>(forOp.getResults());
}

SmallVector<BlockBuilder::Loop>
BlockBuilder::sequentialLoops(linalg::LinalgOp op, const Environment &env,
                              bool reductions) {
  SmallVector<Loop> loops;
  for (auto [iterator, number] :
       llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)))
    if ((iterator != utils::IteratorType::parallel) == reductions &&
        !info.classes[number].parallel && !env.tiled[number]) {
      bool isSplit = (info.split && info.split->reduced == number) ||
                     (plan.clusterSum && plan.clusterSum->reduced == number);
      loops.push_back({number, isSplit ? partBegin : b.getIndexAttr(0),
                       isSplit ? partEnd : getExtent(number),
                       plan.classes[number].step,
                       isSplit ? partBase : OpFoldResult()});
    }
  return loops;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static Value lookThroughCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

static linalg::LinalgOp getProducer(Value value) {
  return lookThroughCasts(value).getDefiningOp<linalg::LinalgOp>();
}

/// Loops of `op` that index its results.
static SmallVector<unsigned> resultLoops(linalg::LinalgOp op) {
  SmallVector<unsigned> loops;
  for (auto [loop, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel)
      loops.push_back(loop);
  return loops;
}

BlockBuilder::Key BlockBuilder::makeKey(linalg::LinalgOp op,
                                        const Environment &env) {
  Key key{op, {}};
  for (unsigned loop : resultLoops(op)) {
    unsigned number = info.getClasses(op)[loop];
    key.second.push_back(env.offsets[number].getOpaqueValue());
    key.second.push_back(env.sizes[number].getOpaqueValue());
  }
  return key;
}

/// True if the tile that `op` starts from is read.
static bool readsInit(linalg::LinalgOp op, OpOperand &operand) {
  return op.payloadUsesValueFromOperand(&operand);
}

LogicalResult BlockBuilder::hoistProducers(linalg::LinalgOp op,
                                           const Environment &env,
                                           ArrayRef<Loop> loops) {
  for (OpOperand &operand : op->getOpOperands()) {
    linalg::LinalgOp producer = getProducer(operand.get());
    if (!producer || (op.isDpsInit(&operand) && !readsInit(op, operand)))
      continue;
    bool touched = llvm::any_of(resultLoops(producer), [&](unsigned loop) {
      unsigned number = info.getClasses(producer)[loop];
      return llvm::any_of(loops, [&](const Loop &loop) {
        return loop.number == number;
      });
    });
    if (failed(touched ? hoistProducers(producer, env, loops)
                       : LogicalResult(writeOp(producer, env))))
      return failure();
  }
  return success();
}

FailureOr<Value> BlockBuilder::writeOperand(OpOperand &operand,
                                            const Environment &env) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  if (linalg::LinalgOp producer = getProducer(operand.get())) {
    FailureOr<SmallVector<Value>> values = writeOp(producer, env);
    if (failed(values))
      return failure();
    unsigned number =
        cast<OpResult>(lookThroughCasts(operand.get())).getResultNumber();
    return (*values)[number];
  }
  Value source = lookThroughCasts(operand.get());
  if (written.contains(source))
    return op.emitOpError() << "operand " << operand.getOperandNumber()
                            << " is a destination that another result has "
                               "written by then; dispatch it as a kernel of "
                               "its own";
  if (auto updated = current.find(source); updated != current.end())
    source = updated->second;
  if (!isa<RankedTensorType>(source.getType()))
    return source;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<OpFoldResult> offsets, sizes;
  for (unsigned i = 0, e = map.getNumResults(); i < e; ++i) {
    unsigned number = info.getClasses(op)[map.getDimPosition(i)];
    offsets.push_back(env.offsets[number]);
    sizes.push_back(env.sizes[number]);
  }
  if (source.getDefiningOp<tensor::EmptyOp>())
    return tensor::EmptyOp::create(
               b, op.getLoc(), sizes,
               cast<RankedTensorType>(source.getType()).getElementType())
        .getResult();
  SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(b, op.getLoc(), source, offsets, sizes,
                                        strides)
      .getResult();
}

FailureOr<SmallVector<Value>>
BlockBuilder::writeTile(linalg::LinalgOp op, const Environment &env,
                        ValueRange inits) {
  SmallVector<Value> operands;
  SmallVector<Type> types;
  for (OpOperand &operand : op->getOpOperands()) {
    FailureOr<Value> value;
    if (!op.isDpsInit(&operand)) {
      value = writeOperand(operand, env);
    } else if (!inits.empty()) {
      value = inits[operand.getOperandNumber() - op.getNumDpsInputs()];
    } else if (readsInit(op, operand)) {
      value = writeOperand(operand, env);
    } else {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      SmallVector<OpFoldResult> sizes;
      for (unsigned i = 0, e = map.getNumResults(); i < e; ++i)
        sizes.push_back(
            env.sizes[info.getClasses(op)[map.getDimPosition(i)]]);
      value = tensor::EmptyOp::create(b, op.getLoc(), sizes,
                                      getElementTypeOrSelf(operand.get()))
                  .getResult();
    }
    if (failed(value))
      return failure();
    operands.push_back(*value);
    if (op.isDpsInit(&operand))
      types.push_back(value->getType());
  }
  auto tiled = cast<linalg::LinalgOp>(clone(b, op, types, operands));
  tiled->removeAttr(kConfigAttr);
  for (auto [iterator, number] :
       llvm::zip_equal(op.getIteratorTypesArray(), info.getClasses(op)))
    if (iterator == utils::IteratorType::reduction && plan.getSharedClass() == number)
      tiled->setAttr(kOverClusterAttr, b.getUnitAttr());
  SmallVector<OpFoldResult> offsets;
  for (unsigned number : info.getClasses(op))
    offsets.push_back(env.offsets[number]);
  linalg::offsetIndices(b, tiled, offsets);
  return SmallVector<Value>(tiled->getResults());
}

FailureOr<SmallVector<Value>> BlockBuilder::writeOp(linalg::LinalgOp op,
                                                    const Environment &env) {
  Key key = makeKey(op, env);
  for (Scope &scope : llvm::reverse(scopes))
    if (auto found = scope.find(key); found != scope.end())
      return found->second;

  if (plan.clusterSum && op == info.getRoot() && !writesWholeTile)
    return writeSlice(env);
  SmallVector<Loop> loops = sequentialLoops(op, env, /*reductions=*/true);
  FailureOr<SmallVector<Value>> values;
  if (loops.empty()) {
    values = writeTile(op, env, {});
    if (succeeded(values))
      scopes.back()[key] = *values;
    return values;
  }
  // The products of a dual product share a loop.
  SmallVector<linalg::LinalgOp> together{op};
  if (info.isRootProduct(op))
    together = info.rootProducts;
  if (failed(writeReductions(together, env, loops)))
    return failure();
  return scopes.back().at(key);
}

FailureOr<SmallVector<Value>> BlockBuilder::writeSlice(const Environment &env) {
  linalg::LinalgOp root = info.getRoot();
  unsigned sliced = plan.clusterSum->sliced;
  Environment whole = env;
  whole.offsets[sliced] = tileOffset;
  whole.sizes[sliced] = wholeSize;
  writesWholeTile = true;
  FailureOr<SmallVector<Value>> sums = writeOp(root, whole);
  writesWholeTile = false;
  if (failed(sums))
    return failure();
  AffineMap map = root.getMatchingIndexingMap(root.getDpsInitOperand(0));
  SmallVector<OpFoldResult> sizes;
  int64_t dim = 0;
  for (unsigned i = 0, e = map.getNumResults(); i < e; ++i) {
    unsigned number = info.getClasses(root)[map.getDimPosition(i)];
    sizes.push_back(env.sizes[number]);
    dim = number == sliced ? i : dim;
  }
  Value into = tensor::EmptyOp::create(b, root.getLoc(), sizes,
                                       getElementTypeOrSelf(sums->front()));
  SmallVector<Value> slice{ClusterScatterOp::create(b, root.getLoc(), into.getType(),
                                                    sums->front(), into, dim, sliceLoop)};
  scopes.back()[makeKey(root, env)] = slice;
  return slice;
}

LogicalResult BlockBuilder::writeReductions(ArrayRef<linalg::LinalgOp> ops,
                                            const Environment &env, ArrayRef<Loop> loops) {
  SmallVector<Value> inits;
  for (linalg::LinalgOp op : ops) {
    if (failed(hoistProducers(op, env, loops)))
      return failure();
    for (OpOperand &init : op.getDpsInitsMutable()) {
      FailureOr<Value> value = writeOperand(init, env);
      if (failed(value))
        return failure();
      inits.push_back(*value);
    }
  }
  FailureOr<SmallVector<Value>> values = writeLoops(
      linalg::LinalgOp(ops.front()).getLoc(), loops, env, inits,
      [&](const Environment &inside, ValueRange carried) -> FailureOr<SmallVector<Value>> {
        SmallVector<Value> tiles;
        for (linalg::LinalgOp op : ops) {
          unsigned count = op.getNumDpsInits();
          FailureOr<SmallVector<Value>> tile =
              writeTile(op, inside, carried.slice(tiles.size(), count));
          if (failed(tile))
            return failure();
          llvm::append_range(tiles, *tile);
        }
        return tiles;
      });
  if (failed(values))
    return failure();
  ArrayRef<Value> rest = *values;
  for (linalg::LinalgOp op : ops) {
    scopes.back()[makeKey(op, env)] = llvm::to_vector(rest.take_front(op.getNumDpsInits()));
    rest = rest.drop_front(op.getNumDpsInits());
  }
  return success();
}

FailureOr<Value> BlockBuilder::writeResult(unsigned number,
                                           const Environment &env,
                                           Value destination) {
  OpResult result = info.results[number];
  auto op = cast<linalg::LinalgOp>(result.getOwner());
  BlockArgument argument = info.getDestination(number);
  SmallVector<Loop> loops = sequentialLoops(op, env, /*reductions=*/false);
  if (!loops.empty() && failed(hoistProducers(op, env, loops)))
    return failure();
  FailureOr<SmallVector<Value>> values = writeLoops(
      op.getLoc(), loops, env, destination,
      [&](const Environment &inside,
          ValueRange carried) -> FailureOr<SmallVector<Value>> {
        current[argument] = carried.front();
        FailureOr<SmallVector<Value>> tile = writeOp(op, inside);
        if (failed(tile))
          return failure();
        AffineMap map = op.getIndexingMapMatchingResult(result);
        SmallVector<OpFoldResult> offsets, sizes;
        for (unsigned i = 0, e = map.getNumResults(); i < e; ++i) {
          unsigned position = info.getClasses(op)[map.getDimPosition(i)];
          offsets.push_back(inside.offsets[position]);
          sizes.push_back(inside.sizes[position]);
        }
        SmallVector<OpFoldResult> strides(sizes.size(), b.getIndexAttr(1));
        auto inserted = tensor::InsertSliceOp::create(
            b, op.getLoc(), (*tile)[result.getResultNumber()], carried.front(),
            offsets, sizes, strides);
        if (std::optional<unsigned> shared = plan.getSharedClass();
            shared && llvm::none_of(map.getResults(), [&](AffineExpr dim) {
              return info.getClasses(op)[cast<AffineDimExpr>(dim).getPosition()] == *shared;
            }))
          inserted->setAttr(kOneBlockAttr, b.getUnitAttr());
        return SmallVector<Value>{inserted.getResult()};
      });
  if (failed(values))
    return failure();
  current[argument] = values->front();
  written.insert(argument);
  return values->front();
}

FailureOr<SmallVector<Value>> BlockBuilder::build() {
  Environment env = placeBlock();

  // Register tiles: loops around everything. The last loop is outermost for
  // contractions, so that one panel of the right-hand side stays in cache
  // while the rows go by.
  SmallVector<Loop> registerLoops;
  for (unsigned number : info.getClasses(info.getRoot())) {
    const ClassTile &tile = plan.classes[number];
    if (!info.classes[number].parallel || !tile.innerLoop)
      continue;
    OpFoldResult end = affine::makeComposedFoldedAffineApply(
        b, kernel.getLoc(), b.getAffineDimExpr(0) + b.getAffineDimExpr(1),
        {env.offsets[number], env.sizes[number]});
    registerLoops.push_back({number, env.offsets[number], end, tile.inner, OpFoldResult()});
  }
  if (info.getContraction(info.getRoot()))
    std::reverse(registerLoops.begin(), registerLoops.end());

  SmallVector<Value> destinations;
  for (unsigned number = 0; number < info.results.size(); ++number)
    destinations.push_back(info.getDestination(number));
  return writeLoops(
      info.getRoot().getLoc(), registerLoops, env, destinations,
      [&](const Environment &inside,
          ValueRange carried) -> FailureOr<SmallVector<Value>> {
        SmallVector<Value> values;
        written.clear();
        for (auto [number, value] : llvm::enumerate(carried))
          current[info.getDestination(number)] = value;
        for (auto [number, value] : llvm::enumerate(carried)) {
          FailureOr<Value> updated = writeResult(number, inside, value);
          if (failed(updated))
            return failure();
          values.push_back(*updated);
        }
        return values;
      });
}
