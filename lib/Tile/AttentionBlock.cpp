// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blocks of attention have in common, however they are laid out: where they lie, which
// keys they see, and the steps of an online softmax.
//
// Keys that no query of the block sees, and those of other parts, are left out by the loop's
// bounds. `largest` starts from the lowest finite number, so that hidden scores, -inf, are
// no NaN. It need not be NaN where a score is: the score's own power is.
// What is added to scores (a mask of floats) may be the lowest number itself, which
// has no multiple: there, scores stay in natural units and are multiplied by log2(e)
// after the largest is subtracted.

#include "AttentionBlock.h"

#include "tilewright/Dialect/InPlaceReads.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

static constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

AttentionBlock::AttentionBlock(OpBuilder &builder, AttentionOp op,
                               const AttentionPlan &plan)
    : b(builder), op(op), plan(plan), loc(op.getLoc()), extents(op.getLoopExtents()) {
  if (plan.heads > 1)
    group = findGroupLoop(op);
  bool addsMask = op.getMask() &&
                  isa<FloatType>(getElementTypeOrSelf(op.getMask().getType()));
  // The largest of scaled scores is the scaled largest of scores.
  if (!addsMask && op.getSoftcapValue() == 0 && op.getScaleValue() > 0)
    powerScale = op.getScaleValue() * kLog2E;
  if (!getElementTypeOrSelf(op.getValue().getType()).isF32())
    powerFlags = arith::FastMathFlags::afn;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value AttentionBlock::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value AttentionBlock::extent(unsigned loop) {
  return createExtent(b, op, loop);
}

Value AttentionBlock::add(Value left, Value right) {
  return arith::AddIOp::create(b, loc, left, right);
}

Value AttentionBlock::subtract(Value left, Value right) {
  return arith::SubIOp::create(b, loc, left, right);
}

/// Which block this is. Blocks of queries of one head are neighbours, for they read the same
/// keys, or those of `raster` heads. Where the last queries see most keys (`causal`) they come
/// first, so that what is computed last takes least.
void AttentionBlock::placeTile(ArrayRef<Value> counts) {
  SmallVector<Value> digits(counts);
  IntegerAttr raster;
  if (plan.raster > 1) { // heads of all batches are one digit
    raster = b.getI64IntegerAttr(plan.raster);
    for (; digits.size() > 2; digits.erase(digits.begin()))
      digits[1] = arith::MulIOp::create(b, loc, digits[0], digits[1]);
  }
  SmallVector<Type> types(digits.size(), b.getIndexType());
  auto tile = TileIdOp::create(b, loc, types, digits, Value(), DenseI64ArrayAttr(), raster);
  position.assign(tile.getIds().begin(), tile.getIds().end());
  for (size_t loop = counts.size() - 2; position.size() < counts.size(); --loop) {
    Value outer = arith::DivUIOp::create(b, loc, position.front(), counts[loop]);
    position.front() = arith::RemUIOp::create(b, loc, position.front(), counts[loop]);
    position.insert(position.begin(), outer);
  }
  bool endsAtDiagonal = op.getKeysBehind() >= 0 && op.getKeysBefore() < 0;
  int64_t queries = extents[op.getQueryLoop()];
  bool isOne = ShapedType::isStatic(queries) && queries <= plan.headQueries;
  if (endsAtDiagonal && !isOne && plan.subgroup > 1)
    position.back() =
        subtract(subtract(counts.back(), constant(1)), position.back());
}

void AttentionBlock::placeBlock() {
  SmallVector<Value> counts;
  auto addLoop = [&](unsigned loop, int64_t step) {
    AffineExpr expr = b.getAffineConstantExpr(extents[loop]);
    if (ShapedType::isDynamic(extents[loop])) {
      expr = b.getAffineSymbolExpr(countDims.size());
      countDims.push_back(op.getOperandOfLoop(loop));
    }
    tileCounts.push_back(expr.ceilDiv(step));
    counts.push_back(arith::CeilDivUIOp::create(b, loc, extent(loop), constant(step)));
  };
  for (unsigned loop = 0; loop < op.getNumBatchLoops(); ++loop)
    addLoop(loop, loop == group ? plan.heads : 1);
  addLoop(op.getQueryLoop(), plan.headQueries);
  placeTile(counts);
  query = arith::MulIOp::create(b, loc, position.back(), constant(plan.headQueries));
  position.back() = query;
  if (group) {
    head = arith::MulIOp::create(b, loc, position[*group], constant(plan.heads));
    position[*group] = head;
  }
  position.resize(op.getNumLoops(), constant(0));
  numKeys = createMostKeys(b, op);
  Value end = numKeys; // of the diagonal
  if (op.getLengths()) {
    Value length = element(op.getLengths(), op.getLengthsMap());
    numKeys = createNumKeys(b, loc, length, numKeys);
    if (op.isBottomRight())
      end = createDiagonalEnd(b, loc, length);
  }
  diagonal = op.isBottomRight() ? subtract(end, extent(op.getQueryLoop())) : constant(0);
  if (op.getLengths() && !op.getTable() && !plan.copyThreads)
    placeSlices({});
}

void AttentionBlock::placeRows(Value first) {
  if (!group) {
    position[op.getQueryLoop()] = add(query, first);
    return;
  }
  Value size = constant(plan.headQueries);
  position[*group] = add(head, arith::DivUIOp::create(b, loc, first, size));
  position[op.getQueryLoop()] = add(query, arith::RemUIOp::create(b, loc, first, size));
}

/// The keys of the block's part that any of its queries sees; the first is that of a
/// block of keys.
void AttentionBlock::placeKeys() {
  Value begin = constant(0), end = numKeys;
  Value first = add(query, diagonal); // the first query's own key
  if (int64_t behind = op.getKeysBehind(); behind >= 0) {
    // In front of the first key where no query sees any: a loop without steps.
    Value last = add(first, constant(plan.headQueries + behind));
    end = arith::MinSIOp::create(b, loc, end, last);
  }
  if (int64_t before = op.getKeysBefore(); before >= 0) {
    Value seen = arith::MaxSIOp::create(b, loc, constant(0),
                                        subtract(first, constant(before)));
    Value block = arith::DivUIOp::create(b, loc, seen, constant(plan.keys));
    begin = arith::MulIOp::create(b, loc, block, constant(plan.keys));
  }
  if (op.getKeyParts()) {
    Value length = createPartLength(b, op, numKeys);
    Value first = arith::MulIOp::create(b, loc, position.front(), length);
    begin = arith::MaxSIOp::create(b, loc, begin, first);
    end = arith::MinSIOp::create(b, loc, end, add(first, length));
  }
  // Windows and parts may lie behind the last key.
  if (op.getKeysBefore() >= 0 || op.getKeyParts())
    end = arith::MaxSIOp::create(b, loc, end, begin);
  firstKey = begin;
  endKey = end;
  findWholeSteps();
}

/// Finds the steps whose keys all queries of the block see: those on the left edge of a window are
/// in front of them, those on the diagonal and the last one behind them. Where just the last block
/// of a known number has hidden keys, steps walk from it to the first: as straight code behind the
/// loop of the others, its mask would hold registers in there.
void AttentionBlock::findWholeSteps() {
  int64_t before = op.getKeysBefore(), behind = op.getKeysBehind();
  bool endsEarly = behind >= 0 || !isInside(op.getKeyLoop(), plan.keys);
  int64_t queries = plan.headQueries, most = extents[op.getQueryLoop()];
  if (ShapedType::isStatic(most))
    queries = std::min(queries, most);
  if (before < 0 && !endsEarly)
    return;
  // At most one block of keys is in the windows of all queries: not worth loops of their own.
  if (before >= 0 && behind >= 0 && before + behind + 1 < queries - 1 + 2 * plan.keys)
    return;
  auto blocksTo = [&](Value end) -> Value {
    Value keys = arith::MaxSIOp::create(b, loc, constant(0), subtract(end, firstKey));
    return arith::DivUIOp::create(b, loc, keys, constant(plan.keys));
  };
  auto stepOf = [&](Value block) {
    return add(firstKey, arith::MulIOp::create(b, loc, block, constant(plan.keys)));
  };
  Value first = add(query, diagonal); // the first query's own key
  Value end = endKey;
  if (behind >= 0)
    end = arith::MinSIOp::create(b, loc, end, add(first, constant(behind + 1)));
  Value whole = blocksTo(end);
  if (before < 0 && behind < 0 && !op.getLengths() && !op.getKeyParts() &&
      ShapedType::isStatic(extents[op.getKeyLoop()])) {
    lastBlock = stepOf(whole);
    startOfWhole = stepOf(constant(1));
    return;
  }
  if (endsEarly)
    endOfWhole = stepOf(whole);
  if (before < 0)
    return;
  // The first key that the last query sees, rounded up to a block.
  Value seen = add(first, constant(queries - 1 - before + plan.keys - 1));
  startOfWhole = stepOf(arith::MinUIOp::create(b, loc, whole, blocksTo(seen)));
}

/// The first key of a step of the walk.
Value AttentionBlock::keyOf(Value step) {
  return lastBlock ? subtract(lastBlock, step) : step;
}

/// Whether all queries of the block see all of the keys of `step`. Of `isPeeled`,
/// `pipeline` makes loops of their own of such steps. Null where each step may hide some.
Value AttentionBlock::isWholeStep(Value step, bool isPeeled) {
  Value all;
  auto require = [&](arith::CmpIPredicate predicate, Value limit) {
    if (!limit)
      return;
    auto inside = arith::CmpIOp::create(b, loc, predicate, step, limit);
    if (isPeeled)
      inside->setAttr(kWholeAttr, b.getUnitAttr());
    all = all ? arith::AndIOp::create(b, loc, all, inside).getResult() : inside.getResult();
  };
  require(arith::CmpIPredicate::slt, endOfWhole);
  require(arith::CmpIPredicate::sge, startOfWhole);
  return all;
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

VectorType AttentionBlock::floats(ArrayRef<int64_t> shape) {
  return VectorType::get(shape, b.getF32Type());
}

Value AttentionBlock::splat(VectorType type, double value) {
  return arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(type, b.getFloatAttr(type.getElementType(), value)));
}

/// Where the position is in an operand.
SmallVector<Value> AttentionBlock::indicesOf(AffineMap map) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    return position[cast<AffineDimExpr>(expr).getPosition()];
  });
}

/// Every block of `size` along `loop` is whole: along heads, queries and keys every block
/// that the plan has, of which `size` is a part.
bool AttentionBlock::isInside(unsigned loop, int64_t size) {
  if (loop == op.getKeyLoop())
    return !op.getLengths() && isWhole(loop);
  else if (loop == op.getQueryLoop())
    size = plan.headQueries;
  else if (loop == group)
    size = plan.heads;
  return ShapedType::isStatic(extents[loop]) && extents[loop] % size == 0;
}

AttentionBlock::Dims AttentionBlock::dimsOf(ArrayRef<unsigned> loops,
                                            ArrayRef<int64_t> shape) {
  Dims dims;
  for (auto [loop, size] : llvm::zip_equal(loops, shape)) {
    int64_t queries = size;
    if (group && loop == op.getQueryLoop()) {
      queries = std::min(size, plan.headQueries);
      dims.loops.push_back(*group);
      dims.shape.push_back(size / queries);
    }
    dims.loops.push_back(loop);
    dims.shape.push_back(queries);
  }
  return dims;
}

Value AttentionBlock::castShape(Value vector, ArrayRef<int64_t> shape) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getShape() == shape)
    return vector;
  return vector::ShapeCastOp::create(b, loc, VectorType::get(shape, type.getElementType()),
                                     vector);
}

/// All of the extent along the keys is blocks of the plan.
bool AttentionBlock::isWhole(unsigned loop) {
  return ShapedType::isStatic(extents[loop]) && extents[loop] % plan.keys == 0;
}

Value AttentionBlock::read(Value tensor, AffineMap map, unsigned row, unsigned column,
                           ArrayRef<int64_t> shape, bool isWholeStep) {
  Type element = getElementTypeOrSelf(tensor.getType());
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> inBounds;
  Dims dims = dimsOf({row, column}, shape);
  Value slice = row != op.getKeyLoop()        ? Value()
                : column == op.getDepthLoop()  ? keySlice
                : column == op.getColumnLoop() ? valueSlice
                                               : Value();
  bool isBox = plan.copyThreads > 0 && row == op.getKeyLoop();
  for (auto [loop, size] : llvm::zip_equal(dims.loops, dims.shape)) {
    AffineExpr expr = b.getAffineDimExpr(loop);
    if ((slice || isBox) && op.getTable() && loop == op.getKeyLoop())
      expr = expr % op.getPageSize();
    auto dim = findResult(map, expr);
    exprs.push_back(dim ? b.getAffineDimExpr(*dim) : b.getAffineConstantExpr(0));
    inBounds.push_back(!dim || isInside(loop, size) ||
                       (isWholeStep && loop == op.getKeyLoop()));
  }
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  auto value = vector::TransferReadOp::create(
      b, loc, VectorType::get(dims.shape, element), slice ? slice : tensor,
      isBox ? boxIndices(map) : slice ? sliceIndices(map) : indicesOf(map), zero,
      AffineMap::get(map.getNumResults(), 0, exprs, b.getContext()),
      ArrayRef<bool>(inBounds));
  // A mask, or what it is computed of: shared memory is full of keys and values. Keys behind the
  // last one are hidden, queries there are not written.
  unsigned i = op.getQueryLoop(), j = op.getKeyLoop();
  if ((row == i && column == j) || (row == j && column == i)) {
    value->setAttr(kReadInPlaceAttr, b.getUnitAttr());
    value->setAttr(kUnreadPaddingAttr, b.getUnitAttr());
    if (ownKeys)
      value->setAttr(kFromBeforeAttr, b.getUnitAttr());
  }
  return castShape(value, shape);
}

Value AttentionBlock::write(Value vector, Value tensor, AffineMap map,
                            ArrayRef<unsigned> loops) {
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> inBounds;
  Dims dims = dimsOf(loops, cast<VectorType>(vector.getType()).getShape());
  for (auto [loop, size] : llvm::zip_equal(dims.loops, dims.shape)) {
    exprs.push_back(
        b.getAffineDimExpr(*map.getResultPosition(b.getAffineDimExpr(loop))));
    inBounds.push_back(isInside(loop, size));
  }
  return vector::TransferWriteOp::create(
             b, loc, castShape(vector, dims.shape), tensor, indicesOf(map),
             AffineMap::get(map.getNumResults(), 0, exprs, b.getContext()),
             ArrayRef<bool>(inBounds))
      .getResult();
}

Value AttentionBlock::alongRows(Value rows, ArrayRef<int64_t> shape) {
  Type element = getElementTypeOrSelf(rows.getType());
  Value column = vector::ShapeCastOp::create(
      b, loc, VectorType::get({shape[0], 1}, element), rows);
  return vector::BroadcastOp::create(b, loc, VectorType::get(shape, element), column);
}

Value AttentionBlock::alongQueries(Value vector, const Scores &scores) {
  if (!scores.keysFirst)
    return alongRows(vector, scores.shape());
  Type element = getElementTypeOrSelf(vector.getType());
  return vector::BroadcastOp::create(b, loc, VectorType::get(scores.shape(), element),
                                     vector);
}

Value AttentionBlock::alongKeys(Value vector, const Scores &scores) {
  return alongQueries(vector, {scores.keys, scores.queries, !scores.keysFirst});
}

Value AttentionBlock::convert(Value value, Type element) {
  auto type = cast<VectorType>(value.getType());
  if (type.getElementType() == element)
    return value;
  if (type.getElementTypeBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(b, loc, type.clone(element), value);
  return arith::TruncFOp::create(b, loc, type.clone(element), value);
}

//===----------------------------------------------------------------------===//
// A block of keys
//===----------------------------------------------------------------------===//

/// Scale and cap, where they are not part of the powers.
Value AttentionBlock::scaleScores(Value values) {
  if (powerScale != 0)
    return values;
  auto type = cast<VectorType>(values.getType());
  double scale = op.getScaleValue(), cap = op.getSoftcapValue();
  if (cap == 0)
    return arith::MulFOp::create(b, loc, values, splat(type, scale));
  Value part = arith::MulFOp::create(b, loc, values, splat(type, scale / cap));
  Value bent = mlir::math::TanhOp::create(b, loc, part);
  return arith::MulFOp::create(b, loc, bent, splat(type, cap));
}

/// -inf where the coordinates say so: behind the last key, of keys that another box has, and
/// outside of what `causal` and `window` let a query see; the scores as they are where nothing
/// is hidden.
Value AttentionBlock::hideKeys(Value values, const Scores &scores) {
  auto type = cast<VectorType>(values.getType());
  Value keys, visible;
  std::optional<BoxKeys> boxes;
  if (ownKeys) {
    boxes = keysOfBoxes(scores.keys);
    keys = boxes->rows;
  } else {
    Value step = vector::StepOp::create(b, loc, indices(scores.keys));
    keys = add(step, spread(position[op.getKeyLoop()], scores.keys));
  }
  keys = alongKeys(keys, scores);
  Value rows = queryOfRows(scores);
  Value own = add(position[op.getQueryLoop()], diagonal);
  if (boxes) // count from the step's first key
    own = subtract(own, ownKeys);
  rows = add(rows, spread(own, scores.queries));
  auto compare = [&](arith::CmpIPredicate predicate, Value bounds) {
    Value inside = arith::CmpIOp::create(b, loc, predicate, keys, bounds);
    visible = visible ? arith::AndIOp::create(b, loc, visible, inside).getResult()
                      : inside;
  };
  auto require = [&](arith::CmpIPredicate predicate, Value bound) {
    Value bounds = alongQueries(bound, scores);
    compare(predicate, boxes ? subtract(bounds, alongKeys(boxes->base, scores)) : bounds);
  };
  if (boxes)
    compare(arith::CmpIPredicate::sge, alongKeys(boxes->firstOwn, scores));
  Value last;
  if (!boxes && !isInside(op.getKeyLoop(), plan.keys))
    last = spread(subtract(numKeys, constant(1)), scores.queries);
  if (int64_t behind = op.getKeysBehind(); behind >= 0) {
    Value seen = add(rows, spread(constant(behind), scores.queries));
    last = last ? arith::MinSIOp::create(b, loc, last, seen).getResult() : seen;
  }
  if (last)
    require(arith::CmpIPredicate::sle, last);
  if (int64_t before = op.getKeysBefore(); before >= 0)
    require(arith::CmpIPredicate::sge,
            subtract(rows, spread(constant(before), scores.queries)));
  if (!visible)
    return values;
  return arith::SelectOp::create(b, loc, visible, values, splat(type, -INFINITY));
}

/// What no key has been seen of.
AttentionBlock::Carried AttentionBlock::start(VectorType rows) {
  // Finite, the multiple of it as well.
  double lowest = powerScale != 0 ? -1e38 / std::max(1.0, powerScale)
                                  : -3.4028234663852886e38;
  Carried first;
  first.largest = splat(rows, lowest);
  if (powerScale != 0)
    first.scaled = splat(rows, float(lowest) * float(powerScale));
  first.sum = splat(rows, 0);
  return first;
}

void AttentionBlock::largestOf(Carried &after, Value largest) {
  after.largest = largest;
  if (powerScale != 0)
    after.scaled = arith::MulFOp::create(
        b, loc, largest, splat(cast<VectorType>(largest.getType()), powerScale));
}

/// Powers of the scores' distance to the largest of their query.
Value AttentionBlock::powersOf(Value values, const Carried &after, const Scores &scores) {
  auto type = cast<VectorType>(values.getType());
  Value power;
  if (powerScale != 0) {
    Value negated = arith::NegFOp::create(b, loc, after.scaled);
    power = mlir::math::FmaOp::create(b, loc, values, splat(type, powerScale),
                                      alongQueries(negated, scores));
  } else {
    power = arith::SubFOp::create(b, loc, values, alongQueries(after.largest, scores));
    power = arith::MulFOp::create(b, loc, power, splat(type, kLog2E));
  }
  return mlir::math::Exp2Op::create(b, loc, power, powerFlags);
}

/// How much the largest grows, in powers of two; negative.
Value AttentionBlock::differenceOf(const Carried &before, const Carried &after) {
  if (powerScale != 0)
    return arith::SubFOp::create(b, loc, before.scaled, after.scaled);
  auto type = cast<VectorType>(after.largest.getType());
  Value difference = arith::SubFOp::create(b, loc, before.largest, after.largest);
  return arith::MulFOp::create(b, loc, difference, splat(type, kLog2E));
}

/// What all before shrinks by.
Value AttentionBlock::shrinkOf(Value difference) {
  return mlir::math::Exp2Op::create(b, loc, difference, powerFlags);
}

/// What results are multiplied by: 0 of queries that saw no key.
Value AttentionBlock::inverseOf(Value sum, Value &isEmpty) {
  auto type = cast<VectorType>(sum.getType());
  Value zero = splat(type, 0);
  isEmpty = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sum, zero);
  Value inverse = arith::DivFOp::create(b, loc, splat(type, 1), sum);
  return arith::SelectOp::create(b, loc, isEmpty, zero, inverse);
}

Value AttentionBlock::logSumExp(const Carried &last, Value isEmpty) {
  auto type = cast<VectorType>(last.sum.getType());
  Value logarithm;
  if (powerScale != 0) {
    logarithm = arith::AddFOp::create(b, loc, last.scaled,
                                      mlir::math::Log2Op::create(b, loc, last.sum));
    logarithm = arith::MulFOp::create(b, loc, logarithm, splat(type, kLn2));
  } else {
    logarithm = arith::AddFOp::create(b, loc, last.largest,
                                      mlir::math::LogOp::create(b, loc, last.sum));
  }
  return arith::SelectOp::create(b, loc, isEmpty, splat(type, -INFINITY), logarithm);
}

SmallVector<Value> AttentionBlock::build() {
  b.setInsertionPoint(op);
  placeBlock();
  placeKeys();
  return buildLoop();
}
