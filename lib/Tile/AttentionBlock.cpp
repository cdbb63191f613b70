// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blocks of attention have in common, however they are laid out: where they are, and how
// their operands are read and written. AttentionKeys.cpp has the keys that they walk along,
// OnlineSoftmax.cpp what they carry from step to step.

#include "AttentionBlock.h"

#include "tilewright/Dialect/InPlaceReads.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

AttentionBlock::AttentionBlock(OpBuilder &builder, AttentionOp op,
                               const AttentionPlan &plan)
    : b(builder), op(op), plan(plan), loc(op.getLoc()), extents(op.getLoopExtents()) {
  if (plan.heads > 1)
    group = findGroupLoop(op);
  choosePowerScale();
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

SmallVector<Value> AttentionBlock::build() {
  b.setInsertionPoint(op);
  placeBlock();
  placeKeys();
  return buildLoop();
}
