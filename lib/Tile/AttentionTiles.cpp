// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Panels of attention (AttentionPanels.cpp) whose products are in tile registers. Rows of
// these are 16 keys, or columns of the result, with 32 elements of the sum; columns are
// queries, in words of two neighbours along the sum:
//
//   scores[keys] =  keys      (keys x depth)     * queries  (depth / 2 x queries x 2)
//   result      +=  values^T  (columns x keys)   * powers   (keys / 2 x queries x 2)
//
// Sums stay in tile registers, so that what a larger score shrinks is shrunk in memory
// before.

#include "AttentionBlock.h"

#include "tilewright/Dialect/Tilewright.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilewright;

/// Elements of the sum that a tile register has, and of these in a word.
static constexpr int64_t kTileSum = 32, kWord = 2;
/// Sides of the squares that are transposed, and rows of scores that are compared at a time;
/// rows of the result that shrink at a time.
static constexpr int64_t kSquare = 8, kRows = 2;

void AttentionTiles::allocateOperands() {
  Type element = getElementTypeOrSelf(op.getKey().getType());
  int64_t count = plan.queries / plan.panel, row = kWord * plan.panel;
  queryRows = allocate({count, plan.depth / kWord, row}, element);
  powerRows = allocate({plan.keys / kWord, row}, element);
  auto words = [&](Value memory) -> Value {
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<int64_t> shape(type.getShape().drop_back());
    SmallVector<ReassociationIndices> dims;
    for (int64_t dim = 0; dim < int64_t(shape.size()); ++dim)
      dims.push_back({dim});
    dims.push_back({type.getRank() - 1, type.getRank()});
    shape.append({plan.panel, kWord});
    return memref::ExpandShapeOp::create(b, loc, shape, memory, dims);
  };
  queryMemory = words(queryRows);
  powerMemory = words(powerRows);
  keyMemory = allocate({plan.keys, plan.depth}, element);
  valueMemory = allocate({plan.columns, plan.keys}, element);
}

/// Words are transposed as numbers of 32 bits.
void AttentionTiles::packQueries(Value rows, Value panel, Value depth) {
  auto type = cast<VectorType>(rows.getType());
  int64_t words = type.getDimSize(1) / kWord;
  auto wide = VectorType::get({plan.panel, words}, b.getI32Type());
  Value value = vector::BitCastOp::create(b, loc, wide, rows);
  value = vector::TransposeOp::create(b, loc, value, ArrayRef<int64_t>{1, 0});
  auto narrow = VectorType::get({words, kWord * plan.panel}, type.getElementType());
  value = vector::BitCastOp::create(b, loc, narrow, value);
  Value word = arith::DivUIOp::create(b, loc, depth, constant(kWord));
  store(value, queryRows, {panel, word, constant(0)});
}

/// Transposed, so that keys lie side by side.
void AttentionTiles::copyValues() {
  Value key = position[op.getKeyLoop()];
  forEach(plan.keys, kSquare, {}, [&](Value row, ValueRange) {
    enterRows(add(key, row));
    forEach(plan.columns, kSquare, {}, [&](Value column, ValueRange) {
      position[op.getColumnLoop()] = column;
      Value rows = read(op.getValue(), op.getValueMap(), op.getKeyLoop(),
                        op.getColumnLoop(), {kSquare, kSquare});
      rows = vector::TransposeOp::create(b, loc, rows, ArrayRef<int64_t>{1, 0});
      store(rows, valueMemory, {column, row});
      return SmallVector<Value>();
    });
    return SmallVector<Value>();
  });
  position[op.getColumnLoop()] = constant(0);
  position[op.getKeyLoop()] = key;
}

/// `init` and the sum over `terms` of `rows` from `firstRow` on by `words`, at `outer`.
Value AttentionTiles::multiply(int64_t terms, Value rows, Value firstRow, Value words,
                               ValueRange outer, Value init) {
  AffineExpr m = b.getAffineDimExpr(0), n = b.getAffineDimExpr(1),
             k = b.getAffineDimExpr(2);
  auto map = [&](ArrayRef<AffineExpr> results) {
    return AffineMap::get(3, 0, results, b.getContext());
  };
  ArrayAttr maps = b.getAffineMapArrayAttr(
      {map({m, k}), map({k.floorDiv(kWord), n, k % kWord}), map({m, n})});
  auto part = [&](Value memory, ArrayRef<OpFoldResult> offsets, ArrayRef<int64_t> shape) {
    auto type = cast<MemRefType>(memory.getType());
    SmallVector<OpFoldResult> sizes(type.getRank() - shape.size(), b.getIndexAttr(1)),
        strides(type.getRank(), b.getIndexAttr(1));
    for (int64_t size : shape)
      sizes.push_back(b.getIndexAttr(size));
    auto result = cast<MemRefType>(memref::SubViewOp::inferRankReducedResultType(
        shape, type, offsets, sizes, strides));
    return memref::SubViewOp::create(b, loc, result, memory, offsets, sizes, strides);
  };
  return forEach(terms, kTileSum, init, [&](Value term, ValueRange carried) {
    Value left = part(rows, {firstRow, term}, {plan.rows, kTileSum});
    SmallVector<OpFoldResult> offsets(outer.begin(), outer.end());
    Value word = arith::DivUIOp::create(b, loc, term, constant(kWord));
    offsets.append({word, b.getIndexAttr(0), b.getIndexAttr(0)});
    Value right = part(words, offsets, {kTileSum / kWord, plan.panel, kWord});
    return SmallVector<Value>{MmaOp::create(b, loc, left, right, carried.front(), maps,
                                            ArrayAttr(), plan.scores)};
  }).front();
}

Value AttentionTiles::buildScores(Value panel, Value largest) {
  Value zero = constant(0);
  forEach(plan.keys, plan.rows, {}, [&](Value first, ValueRange) {
    Value none = splat(floats({plan.rows, plan.panel}), 0);
    store(multiply(plan.depth, keyMemory, first, queryMemory, panel, none), scoreMemory,
          {first, zero});
    return SmallVector<Value>();
  });
  return forEach(plan.keys, kSquare, largest, [&](Value first, ValueRange carried) {
    Value raw = load(scoreMemory, {first, zero}, {kSquare, plan.panel});
    Value values = finishScores(raw, first);
    if (values != raw)
      store(values, scoreMemory, {first, zero});
    return SmallVector<Value>{largestRow(values, carried.front())};
  }).front();
}

/// Of two keys, side by side for each query: the upper halves of both, rounded to the
/// nearest, in a word. They are no infinities, and NaN stays what it is.
void AttentionTiles::storePowers(Value powers, Value first) {
  auto type = VectorType::get({plan.panel}, b.getI32Type());
  auto word = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(
        b, loc, DenseElementsAttr::get(type, b.getI32IntegerAttr(int32_t(value))));
  };
  Value halves[kWord];
  for (int64_t row = 0; row < kWord; ++row) {
    Value bits = vector::ExtractOp::create(b, loc, powers, row);
    bits = arith::BitcastOp::create(b, loc, type, bits);
    halves[row] = arith::AddIOp::create(b, loc, bits, word(0x8000));
  }
  Value low = arith::ShRUIOp::create(b, loc, halves[0], word(16));
  Value high = arith::AndIOp::create(b, loc, halves[1], word(0xffff0000));
  Value words = arith::OrIOp::create(b, loc, low, high);
  auto narrow = VectorType::get({kWord * plan.panel},
                                getElementTypeOrSelf(op.getValue().getType()));
  store(vector::BitCastOp::create(b, loc, narrow, words), powerRows,
        {arith::DivUIOp::create(b, loc, first, constant(kWord)), constant(0)});
}

void AttentionTiles::buildResult(Value panel, Value shrink) {
  Value zero = constant(0);
  forEach(plan.columns, kRows, {}, [&](Value column, ValueRange) {
    int64_t shape[] = {kRows, plan.panel};
    Value before = load(resultMemory, {panel, column, zero}, shape);
    Value factor = vector::BroadcastOp::create(b, loc, floats(shape), shrink);
    store(arith::MulFOp::create(b, loc, before, factor), resultMemory,
          {panel, column, zero});
    return SmallVector<Value>();
  });
  forEach(plan.columns, plan.rows, {}, [&](Value column, ValueRange) {
    Value before = load(resultMemory, {panel, column, zero}, {plan.rows, plan.panel});
    store(multiply(plan.keys, valueMemory, column, powerMemory, {}, before), resultMemory,
          {panel, column, zero});
    return SmallVector<Value>();
  });
}
