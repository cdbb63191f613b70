// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of queries of attention, with all of the depth, walks along the keys with an
// online softmax. With bq queries and bk keys in a block:
//
//   %q = read bq x d
//   %m, %l, %o = for %j = first key to last key step bk
//       iter_args(%m = lowest : bq, %l = 0 : bq, %o = 0 : bq x e)
//     %s  = mma %q, read bk x d, 0             scores
//     %s' = scaled, capped, masked %s          by place only behind the last block of
//                                              keys that all queries see
//     %m' = max(%m, largest of each row of %s') * c      c = scale * log2(e)
//     %p  = exp2(%s' * c - %m')
//     %a  = exp2(%m - %m')                     what all before shrinks by
//     %l' = %l * %a + sum of each row of %p
//     %o' = mma %p, read bk x e, %o * %a
//   write %o / %l, or zeros of rows without keys; log-sum-exp (%m + log2(%l)) * ln 2
//
// Keys that no query of the block sees, and those of other parts, are left out by the
// loop's bounds. `largest`
// starts from the lowest finite number, so that hidden scores, -inf, are no NaN. It need
// not be NaN where a score is: the score's own power is.
// What is added to scores (a mask of floats) may be the lowest number itself, which
// has no multiple: there, scores stay in natural units and are multiplied by log2(e)
// after the largest is subtracted.

#include "AttentionBlock.h"

#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

static constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

AttentionBlock::AttentionBlock(OpBuilder &builder, AttentionOp op,
                               const AttentionPlan &plan)
    : b(builder), op(op), plan(plan), loc(op.getLoc()), extents(op.getLoopExtents()) {
  bool addsMask = op.getMask() &&
                  isa<FloatType>(getElementTypeOrSelf(op.getMask().getType()));
  // The largest of scaled scores is the scaled largest of scores.
  if (!addsMask && op.getSoftcapValue() == 0 && op.getScaleValue() > 0)
    powerScale = op.getScaleValue() * kLog2E;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

Value AttentionBlock::constant(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}

Value AttentionBlock::extent(unsigned loop) {
  if (ShapedType::isStatic(extents[loop]))
    return constant(extents[loop]);
  auto [tensor, dim] = op.getOperandOfLoop(loop);
  return tensor::DimOp::create(b, loc, tensor, dim);
}

Value AttentionBlock::add(Value left, Value right) {
  return arith::AddIOp::create(b, loc, left, right);
}

Value AttentionBlock::subtract(Value left, Value right) {
  return arith::SubIOp::create(b, loc, left, right);
}

/// Blocks of queries of one batch are neighbours: they read the same keys.
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
    addLoop(loop, 1);
  addLoop(op.getQueryLoop(), plan.queries);
  SmallVector<Type> types(counts.size(), b.getIndexType());
  auto tile = TileIdOp::create(b, loc, types, counts, Value(), DenseI64ArrayAttr(),
                               IntegerAttr());
  llvm::append_range(position, tile.getIds());
  position.back() =
      arith::MulIOp::create(b, loc, position.back(), constant(plan.queries));
  query = position.back();
  diagonal = op.isBottomRight()
                 ? subtract(extent(op.getKeyLoop()), extent(op.getQueryLoop()))
                 : constant(0);
}

/// The keys of the block's part that any of its queries sees; the first is that of a
/// block of keys.
void AttentionBlock::placeKeys() {
  Value begin = constant(0), end = extent(op.getKeyLoop());
  Value first = add(query, diagonal); // the first query's own key
  if (int64_t behind = op.getKeysBehind(); behind >= 0) {
    Value last = add(first, constant(plan.queries + behind));
    end = arith::MaxSIOp::create(b, loc, constant(0),
                                 arith::MinSIOp::create(b, loc, end, last));
  }
  if (int64_t before = op.getKeysBefore(); before >= 0) {
    Value seen = arith::MaxSIOp::create(b, loc, constant(0),
                                        subtract(first, constant(before)));
    Value block = arith::DivUIOp::create(b, loc, seen, constant(plan.keys));
    begin = arith::MulIOp::create(b, loc, block, constant(plan.keys));
  }
  if (op.getKeyParts()) {
    Value length = createPartLength(b, op, extent(op.getKeyLoop()));
    Value first = arith::MulIOp::create(b, loc, position.front(), length);
    begin = arith::MaxSIOp::create(b, loc, begin, first);
    end = arith::MinSIOp::create(b, loc, end, add(first, length));
  }
  // Windows and parts may lie behind the last key.
  if (op.getKeysBefore() >= 0 || op.getKeyParts())
    end = arith::MaxSIOp::create(b, loc, end, begin);
  firstKey = begin;
  endKey = end;
  endOfWhole = findWholeKeys();
}

/// All blocks of keys from the first to here are seen by all queries of the block. Null
/// where a window hides the first ones from some, and where nothing is hidden.
Value AttentionBlock::findWholeKeys() {
  int64_t behind = op.getKeysBehind();
  bool isRagged = !isInside(op.getKeyLoop(), plan.keys);
  if (op.getKeysBefore() >= 0 || (behind < 0 && !isRagged))
    return {};
  Value end = endKey;
  if (behind >= 0) {
    Value own = add(add(query, diagonal), constant(behind + 1));
    end = arith::MinSIOp::create(b, loc, end, own);
  }
  Value keys = arith::MaxSIOp::create(b, loc, constant(0), subtract(end, firstKey));
  Value blocks = arith::DivUIOp::create(b, loc, keys, constant(plan.keys));
  return add(firstKey, arith::MulIOp::create(b, loc, blocks, constant(plan.keys)));
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

/// Where the block begins in an operand; along the keys at `key`.
SmallVector<Value> AttentionBlock::indicesOf(AffineMap map, Value key) {
  SmallVector<Value> indices;
  for (AffineExpr expr : map.getResults()) {
    unsigned loop = cast<AffineDimExpr>(expr).getPosition();
    indices.push_back(loop < position.size()         ? position[loop]
                      : loop == op.getKeyLoop() ? key
                                                : constant(0));
  }
  return indices;
}

/// Every block of `size` along `loop` is whole.
bool AttentionBlock::isInside(unsigned loop, int64_t size) {
  return ShapedType::isStatic(extents[loop]) && extents[loop] % size == 0;
}

Value AttentionBlock::read(Value tensor, AffineMap map, unsigned row, unsigned column,
                           ArrayRef<int64_t> shape, Value key) {
  Type element = getElementTypeOrSelf(tensor.getType());
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> inBounds;
  unsigned loops[] = {row, column};
  for (auto [loop, size] : llvm::zip_equal(loops, shape)) {
    auto dim = map.getResultPosition(b.getAffineDimExpr(loop));
    exprs.push_back(dim ? b.getAffineDimExpr(*dim) : b.getAffineConstantExpr(0));
    inBounds.push_back(!dim || isInside(loop, size));
  }
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(element));
  return vector::TransferReadOp::create(
      b, loc, VectorType::get(shape, element), tensor, indicesOf(map, key), zero,
      AffineMap::get(map.getNumResults(), 0, exprs, b.getContext()),
      ArrayRef<bool>(inBounds));
}

Value AttentionBlock::write(Value vector, Value tensor, AffineMap map,
                            ArrayRef<unsigned> loops) {
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> inBounds;
  for (auto [loop, size] :
       llvm::zip_equal(loops, cast<VectorType>(vector.getType()).getShape())) {
    exprs.push_back(
        b.getAffineDimExpr(*map.getResultPosition(b.getAffineDimExpr(loop))));
    inBounds.push_back(isInside(loop, size));
  }
  return vector::TransferWriteOp::create(
             b, loc, vector, tensor, indicesOf(map, Value()),
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

Value AttentionBlock::multiply(Value left, Value right, Value acc,
                               bool rightIsTransposed, StringAttr instruction) {
  AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  auto map = [&](AffineExpr row, AffineExpr column) {
    return AffineMap::get(3, 0, {row, column}, b.getContext());
  };
  return MmaOp::create(
      b, loc, left, right, acc,
      b.getAffineMapArrayAttr(
          {map(m, k), rightIsTransposed ? map(n, k) : map(k, n), map(m, n)}),
      ArrayAttr(), instruction);
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
Value AttentionBlock::scaleScores(Value scores) {
  if (powerScale != 0)
    return scores;
  auto type = cast<VectorType>(scores.getType());
  double scale = op.getScaleValue(), cap = op.getSoftcapValue();
  if (cap == 0)
    return arith::MulFOp::create(b, loc, scores, splat(type, scale));
  Value part = arith::MulFOp::create(b, loc, scores, splat(type, scale / cap));
  Value bent = mlir::math::TanhOp::create(b, loc, part);
  return arith::MulFOp::create(b, loc, bent, splat(type, cap));
}

/// The op's mask, whose loops that it lacks are repeated.
Value AttentionBlock::maskScores(Value scores, Value key) {
  if (!op.getMask())
    return scores;
  auto type = cast<VectorType>(scores.getType());
  Value mask = read(op.getMask(), op.getMaskMap(), op.getQueryLoop(), op.getKeyLoop(),
                    type.getShape(), key);
  if (isa<FloatType>(getElementTypeOrSelf(mask.getType())))
    return arith::AddFOp::create(b, loc, scores, convert(mask, type.getElementType()));
  return arith::SelectOp::create(b, loc, mask, scores, splat(type, -INFINITY));
}

/// -inf where the coordinates say so: behind the last key, and outside of what `causal`
/// and `window` let a query see. `pipeline` makes a loop without it of the steps that
/// need it not.
Value AttentionBlock::hideKeys(Value scores, Value key) {
  auto type = cast<VectorType>(scores.getType());
  auto indices = [&](int64_t size) { return VectorType::get({size}, b.getIndexType()); };
  auto spread = [&](Value scalar, int64_t size) -> Value {
    return vector::BroadcastOp::create(b, loc, indices(size), scalar);
  };
  Value step = vector::StepOp::create(b, loc, indices(plan.keys));
  Value columns = add(step, spread(key, plan.keys));
  Value column = vector::BroadcastOp::create(b, loc, type.clone(b.getIndexType()), columns);
  Value rows = add(vector::StepOp::create(b, loc, indices(plan.queries)),
                   spread(add(query, diagonal), plan.queries));
  Value visible;
  auto require = [&](arith::CmpIPredicate predicate, Value bound) {
    Value inside = arith::CmpIOp::create(b, loc, predicate, column,
                                         alongRows(bound, type.getShape()));
    visible = visible ? arith::AndIOp::create(b, loc, visible, inside).getResult()
                      : inside;
  };
  Value last;
  if (!isInside(op.getKeyLoop(), plan.keys))
    last = spread(subtract(extent(op.getKeyLoop()), constant(1)), plan.queries);
  if (int64_t behind = op.getKeysBehind(); behind >= 0) {
    Value own = add(rows, spread(constant(behind), plan.queries));
    last = last ? arith::MinSIOp::create(b, loc, last, own).getResult() : own;
  }
  if (last)
    require(arith::CmpIPredicate::sle, last);
  if (int64_t before = op.getKeysBefore(); before >= 0)
    require(arith::CmpIPredicate::sge,
            subtract(rows, spread(constant(before), plan.queries)));
  if (!visible)
    return scores;
  Value hidden =
      arith::SelectOp::create(b, loc, visible, scores, splat(type, -INFINITY));
  if (!endOfWhole)
    return hidden;
  auto isWhole =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, key, endOfWhole);
  isWhole->setAttr(kWholeAttr, b.getUnitAttr());
  return arith::SelectOp::create(b, loc, isWhole, scores, hidden);
}

AttentionBlock::Carried AttentionBlock::step(const Carried &before, Value key) {
  int64_t shape[] = {plan.queries, plan.keys}, wide[] = {plan.queries, plan.columns};
  VectorType scoreType = floats(shape), rowType = floats(plan.queries);
  Value keys = read(op.getKey(), op.getKeyMap(), op.getKeyLoop(), op.getDepthLoop(),
                    {plan.keys, plan.depth}, key);
  Value scores = multiply(queryBlock, keys, splat(scoreType, 0), true, plan.scores);
  scores = hideKeys(maskScores(scaleScores(scores), key), key);

  Value most = vector::MultiDimReductionOp::create(
      b, loc, scores, splat(rowType, -INFINITY), {false, true},
      vector::CombiningKind::MAXNUMF);
  Value factor = splat(rowType, powerScale != 0 ? powerScale : 1.0);
  if (powerScale != 0)
    most = arith::MulFOp::create(b, loc, most, factor);
  Carried after;
  after.largest = arith::MaxNumFOp::create(b, loc, before.largest, most);
  Value difference = arith::SubFOp::create(b, loc, before.largest, after.largest);
  Value power;
  if (powerScale != 0) {
    Value negated = arith::NegFOp::create(b, loc, after.largest);
    power = mlir::math::FmaOp::create(b, loc, scores, splat(scoreType, powerScale),
                                      alongRows(negated, shape));
  } else {
    power = arith::SubFOp::create(b, loc, scores, alongRows(after.largest, shape));
    power = arith::MulFOp::create(b, loc, power, splat(scoreType, kLog2E));
    difference = arith::MulFOp::create(b, loc, difference, splat(rowType, kLog2E));
  }
  // What is rounded to 16 bits may be approximate.
  auto flags = getElementTypeOrSelf(op.getValue().getType()).isF32()
                   ? arith::FastMathFlags::none
                   : arith::FastMathFlags::afn;
  Value powers = mlir::math::Exp2Op::create(b, loc, power, flags);
  Value shrink = mlir::math::Exp2Op::create(b, loc, difference, flags);
  after.sum = vector::MultiDimReductionOp::create(
      b, loc, powers, arith::MulFOp::create(b, loc, before.sum, shrink), {false, true},
      vector::CombiningKind::ADD);
  Value result =
      arith::MulFOp::create(b, loc, before.result, alongRows(shrink, wide));
  Value values = read(op.getValue(), op.getValueMap(), op.getKeyLoop(),
                      op.getColumnLoop(), {plan.keys, plan.columns}, key);
  Value weights = convert(powers, getElementTypeOrSelf(op.getValue().getType()));
  after.result = multiply(weights, values, result, false, plan.values);
  return after;
}

SmallVector<Value> AttentionBlock::finish(const Carried &last) {
  int64_t wide[] = {plan.queries, plan.columns};
  VectorType rowType = floats(plan.queries);
  Value zero = splat(rowType, 0);
  Value isEmpty =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, last.sum, zero);
  Value inverse = arith::DivFOp::create(b, loc, splat(rowType, 1), last.sum);
  inverse = arith::SelectOp::create(b, loc, isEmpty, zero, inverse);
  Value result = arith::MulFOp::create(b, loc, last.result, alongRows(inverse, wide));
  result = convert(result, getElementTypeOrSelf(op.getOutputs()[0].getType()));
  SmallVector<Value> results{write(result, op.getOutputs()[0], op.getOutputMap(),
                                   {op.getQueryLoop(), op.getColumnLoop()})};
  if (!op.hasLogSumExp())
    return results;
  Value logarithm;
  if (powerScale != 0) {
    logarithm = arith::AddFOp::create(b, loc, last.largest,
                                      mlir::math::Log2Op::create(b, loc, last.sum));
    logarithm = arith::MulFOp::create(b, loc, logarithm, splat(rowType, kLn2));
  } else {
    logarithm = arith::AddFOp::create(b, loc, last.largest,
                                      mlir::math::LogOp::create(b, loc, last.sum));
  }
  logarithm = arith::SelectOp::create(b, loc, isEmpty, splat(rowType, -INFINITY),
                                      logarithm);
  results.push_back(write(logarithm, op.getOutputs()[1], op.getOutputMap(1),
                          {op.getQueryLoop()}));
  return results;
}

SmallVector<Value> AttentionBlock::build() {
  b.setInsertionPoint(op);
  placeBlock();
  placeKeys();
  queryBlock = read(op.getQuery(), op.getQueryMap(), op.getQueryLoop(),
                    op.getDepthLoop(), {plan.queries, plan.depth}, Value());
  constexpr double kLowest = -3.4028234663852886e38;
  Value inits[] = {splat(floats(plan.queries), kLowest), splat(floats(plan.queries), 0),
                   splat(floats({plan.queries, plan.columns}), 0)};
  auto loop = scf::ForOp::create(b, loc, firstKey, endKey, constant(plan.keys), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    ValueRange carried = loop.getRegionIterArgs();
    Carried after = step({carried[0], carried[1], carried[2]}, loop.getInductionVar());
    scf::YieldOp::create(b, loc, ValueRange{after.largest, after.sum, after.result});
  }
  return finish({loop.getResult(0), loop.getResult(1), loop.getResult(2)});
}
