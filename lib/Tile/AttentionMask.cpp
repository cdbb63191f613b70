// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which scores of a block are hidden: by their coordinates (`causal`, `window`, lengths), or by a
// mask that is read from memory, or computed by the op that produces it, of vectors as large as the
// scores. What of these is the same along a row or a column is one value for each thread once
// layouts are given.
//
//   %m = linalg.generic { slope[h] * (j - i) } ins(%slopes)      scores of 64 queries x 128 keys
// becomes
//   %s = broadcast slopes[%h]                      : 64x128xf32
//   %j = broadcast (vector.step + %key)            : 64x128xindex, along the keys
//   %i = broadcast (vector.step + %query)          : 64x128xindex, along the queries
//   %m = %s * sitofp (%j - %i)

#include "AttentionBlock.h"

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/Matchers.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

VectorType AttentionBlock::indices(int64_t size) {
  return VectorType::get({size}, b.getIndexType());
}

Value AttentionBlock::spread(Value scalar, int64_t size) {
  return vector::BroadcastOp::create(b, loc, indices(size), scalar);
}

/// Which query of the block a row of scores is, or of its head where heads share the rows.
Value AttentionBlock::queryOfRows(const Scores &scores) {
  Value rows = vector::StepOp::create(b, loc, indices(scores.queries));
  if (int64_t queries = plan.headQueries; group && queries < scores.queries)
    rows = arith::RemUIOp::create(b, loc, rows, spread(constant(queries), scores.queries));
  return rows;
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

/// The op's mask, whose loops that it lacks are repeated.
Value AttentionBlock::maskScores(Value values, const Scores &scores, bool isWholeStep) {
  if (!op.getMask())
    return values;
  auto type = cast<VectorType>(values.getType());
  auto valuesOf = [&](Value mask) {
    linalg::GenericOp producer = computedMask(op, mask);
    return producer ? computeMask(producer, scores, isWholeStep)
                    : readMask(mask, mapOfMask(op, mask), scores, isWholeStep);
  };
  Value mask = valuesOf(op.getMask());
  if (op.getKeep())
    values =
        arith::SelectOp::create(b, loc, valuesOf(op.getKeep()), values, splat(type, 0));
  if (isa<FloatType>(getElementTypeOrSelf(mask.getType())))
    return arith::AddFOp::create(b, loc, values, convert(mask, type.getElementType()));
  return arith::SelectOp::create(b, loc, mask, values, splat(type, -INFINITY));
}

Value AttentionBlock::readMask(Value tensor, AffineMap map, const Scores &scores,
                               bool isWholeStep) {
  unsigned rows = op.getQueryLoop(), columns = op.getKeyLoop();
  return read(tensor, map, scores.keysFirst ? columns : rows, scores.keysFirst ? rows : columns,
              scores.shape(), isWholeStep);
}

/// Where along `loop` each score is.
Value AttentionBlock::coordinateOf(unsigned loop, const Scores &scores) {
  Value first = position[loop];
  if (loop == op.getKeyLoop()) {
    Value keys = vector::StepOp::create(b, loc, indices(scores.keys));
    return alongKeys(add(keys, spread(first, scores.keys)), scores);
  }
  int64_t queries = scores.queries;
  if (loop == op.getQueryLoop())
    return alongQueries(add(queryOfRows(scores), spread(first, queries)), scores);
  Value heads = spread(first, queries);
  if (loop == group && plan.headQueries < queries) {
    Value rows = vector::StepOp::create(b, loc, indices(queries));
    heads = add(heads, arith::DivUIOp::create(b, loc, rows,
                                              spread(constant(plan.headQueries), queries)));
  }
  return alongQueries(heads, scores);
}

Value AttentionBlock::computeMask(linalg::GenericOp producer, const Scores &scores,
                                  bool isWholeStep) {
  SmallVector<int64_t> shape = scores.shape();
  IRMapping vectors;
  for (OpOperand *input : producer.getDpsInputOperands()) {
    AffineMap map = maskOperandMap(op, producer, *input);
    bool isScalar = !map.isFunctionOfDim(op.getQueryLoop()) &&
                    !map.isFunctionOfDim(op.getKeyLoop()) &&
                    !(group && map.isFunctionOfDim(*group));
    vectors.map(producer.getMatchingBlockArgument(input),
                isScalar ? element(input->get(), map)
                         : readMask(input->get(), map, scores, isWholeStep));
  }
  auto vectorOf = [&](Value value) -> Value {
    Value known = vectors.lookupOrDefault(value);
    if (isa<VectorType>(known.getType()))
      return known;
    auto type = VectorType::get(shape, known.getType());
    TypedAttr constant;
    if (matchPattern(known, m_Constant(&constant)))
      return arith::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, constant));
    return vector::BroadcastOp::create(b, loc, type, known);
  };
  for (Operation &inner : producer.getBody()->without_terminator()) {
    if (inner.hasTrait<OpTrait::ConstantLike>()) {
      b.clone(inner, vectors);
      continue;
    }
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      vectors.map(index.getResult(),
                  coordinateOf(maskLoop(op, producer, index.getDim()), scores));
      continue;
    }
    SmallVector<Value> operands = llvm::map_to_vector(inner.getOperands(), vectorOf);
    SmallVector<Type> types = llvm::map_to_vector(
        inner.getResultTypes(), [&](Type type) -> Type { return VectorType::get(shape, type); });
    Operation *copy = b.create(
        OperationState(loc, inner.getName(), operands, types, inner.getAttrs()));
    vectors.map(&inner, copy);
    for (auto [scalar, vector] : llvm::zip_equal(inner.getResults(), copy->getResults()))
      vectors.map(scalar, vector);
  }
  return vectorOf(producer.getBody()->getTerminator()->getOperand(0));
}
