// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of queries of attention, with all of the depth, walks along the keys with an
// online softmax. With bq queries and bk keys in a block:
//
//   %q = read bq x d
//   %m, %l, %o = for %j = first key to last key step bk   (or back)
//       iter_args(%x = lowest : bq, %m = lowest * c : bq, %l = 0 : bq, %o = 0 : bq x e)
//     %s  = mma %q, read bk x d, 0             scores
//     %s' = scaled, capped, masked %s          by place only outside of the blocks of
//                                              keys that all queries see
//     %x' = largest of each row of %s', and of %x
//     %m' = %x' * c                            c = scale * log2(e)
//     %p  = exp2(%s' * c - %m')
//     %a  = exp2(%m - %m')                     what all before shrinks by
//     %l' = %l * %a + sum of each row of %p
//     %o' = mma %p, read bk x e, %o * %a
//   write %o / %l, or zeros of rows without keys; log-sum-exp (%m + log2(%l)) * ln 2

#include "AttentionBlock.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;

template <typename Carried>
static Carried fromValues(ValueRange values) {
  bool hasScaled = values.size() > 3;
  return {values[0], hasScaled ? values[1] : Value(), values[values.size() - 2],
          values.back()};
}

template <typename Carried>
static SmallVector<Value> asValues(const Carried &carried) {
  if (!carried.scaled)
    return {carried.largest, carried.sum, carried.result};
  return {carried.largest, carried.scaled, carried.sum, carried.result};
}

Value AttentionVectors::multiply(Value left, Value right, Value acc,
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

/// A block of keys, or of values. Pages that are shorter are read one by one, and each
/// written to its rows in shared memory by `promote`.
Value AttentionVectors::readRows(Value tensor, AffineMap map, unsigned column,
                                 int64_t columns) {
  int64_t size = op.getPageSize();
  if (size == 0 || size >= plan.keys)
    return read(tensor, map, op.getKeyLoop(), column, {plan.keys, columns});
  Value key = position[op.getKeyLoop()];
  auto type = VectorType::get({plan.keys, columns}, getElementTypeOrSelf(tensor.getType()));
  Value all = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  for (int64_t first = 0; first < plan.keys; first += size) {
    enterKeys(add(key, constant(first)));
    Value page = read(tensor, map, op.getKeyLoop(), column, {size, columns});
    all = vector::InsertStridedSliceOp::create(b, loc, page, all,
                                               ArrayRef<int64_t>{first, 0},
                                               ArrayRef<int64_t>{1, 1});
  }
  position[op.getKeyLoop()] = key;
  return all;
}

Value AttentionVectors::readQueries(int64_t depth) {
  return read(op.getQuery(), op.getQueryMap(), op.getQueryLoop(), op.getDepthLoop(),
              {plan.queries, depth});
}

/// The scores of queries by keys; of slices of the depth, which both are read in, where there
/// are no `queries`.
Value AttentionVectors::multiplyKeys(Value queries, const Scores &block) {
  Value none = splat(floats(block.shape()), 0);
  unsigned d = op.getDepthLoop();
  if (queries)
    return multiply(queries, readRows(op.getKey(), op.getKeyMap(), d, plan.depth), none, true,
                    plan.scores);
  auto loop = scf::ForOp::create(b, loc, constant(0), constant(extents[d]),
                                 constant(plan.slice), none);
  Value whole = position[d];
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  position[d] = loop.getInductionVar();
  Value some = readQueries(plan.slice);
  Value keys = readRows(op.getKey(), op.getKeyMap(), d, plan.slice);
  scf::YieldOp::create(
      b, loc, multiply(some, keys, loop.getRegionIterArgs()[0], true, plan.scores));
  position[d] = whole;
  return loop.getResult(0);
}

AttentionBlock::Carried AttentionVectors::step(Value at, const Carried &before, Value queries) {
  Scores block{plan.queries, plan.keys};
  int64_t wide[] = {plan.queries, plan.columns};
  VectorType rowType = floats(plan.queries);
  Value scaled = scaleScores(multiplyKeys(queries, block));
  unsigned j = op.getKeyLoop();
  Value key = position[j];
  bool hasWholeSteps = startOfWhole || endOfWhole;
  Value seen = hasWholeSteps ? maskScores(scaled, block, /*isWholeStep=*/true) : Value();
  if (cutsBoxes()) {
    ownKeys = key;
    position[j] = add(key, shiftOf(key));
  }
  Value scores = hideKeys(maskScores(scaled, block), block);
  ownKeys = {};
  position[j] = key;
  if (hasWholeSteps)
    scores = arith::SelectOp::create(b, loc, isWholeStep(at, /*isPeeled=*/true), seen, scores);

  Carried after;
  largestOf(after, vector::MultiDimReductionOp::create(b, loc, scores, before.largest,
                                                       {false, true},
                                                       vector::CombiningKind::MAXNUMF));
  Value difference = differenceOf(before, after);
  Value powers = powersOf(scores, after, block);
  Value shrink = shrinkOf(difference);
  // What -0 is added to stays as it is.
  Value sum = vector::MultiDimReductionOp::create(
      b, loc, powers, splat(rowType, -0.0), {false, true}, vector::CombiningKind::ADD);
  after.sum = mlir::math::FmaOp::create(b, loc, before.sum, shrink, sum);
  Value result =
      arith::MulFOp::create(b, loc, before.result, alongRows(shrink, wide));
  Value values = readRows(op.getValue(), op.getValueMap(), op.getColumnLoop(), plan.columns);
  Value weights = convert(powers, getElementTypeOrSelf(op.getValue().getType()));
  after.result = multiply(weights, values, result, false, plan.values);
  return after;
}

SmallVector<Value> AttentionVectors::finish(const Carried &last) {
  int64_t wide[] = {plan.queries, plan.columns};
  Value isEmpty, inverse = inverseOf(last.sum, isEmpty);
  Value result = arith::MulFOp::create(b, loc, last.result, alongRows(inverse, wide));
  result = convert(result, getElementTypeOrSelf(op.getOutputs()[0].getType()));
  SmallVector<Value> results{write(result, op.getOutputs()[0], op.getOutputMap(),
                                   {op.getQueryLoop(), op.getColumnLoop()})};
  if (op.hasLogSumExp())
    results.push_back(write(logSumExp(last, isEmpty), op.getOutputs()[1],
                            op.getOutputMap(1), {op.getQueryLoop()}));
  return results;
}

SmallVector<Value> AttentionVectors::buildLoop() {
  Value queries = plan.slice ? Value() : readQueries(plan.depth);
  Carried first = start(floats(plan.queries));
  first.result = splat(floats({plan.queries, plan.columns}), 0);
  auto loop = scf::ForOp::create(b, loc, firstKey, endKey, constant(plan.keys),
                                 asValues(first));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar(), key = keyOf(at);
    position[op.getKeyLoop()] = key;
    if (!op.getTable() || op.getPageSize() >= plan.keys)
      enterKeys(key);
    Carried before = fromValues<Carried>(loop.getRegionIterArgs());
    scf::YieldOp::create(b, loc, asValues(step(at, before, queries)));
  }
  return finish(fromValues<Carried>(loop.getResults()));
}
