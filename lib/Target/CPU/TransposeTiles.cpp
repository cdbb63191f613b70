// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Square tiles whose rows are registers are transposed in registers, in as many steps as
// a row has bits of its length, by shuffles that x86 and AArch64 have as one
// instruction each. Of 4 x 4 f32, which is what a lane of 128 bits holds:
//
//   a0 a1 a2 a3         a0 b0 a1 b1  (low halves of a, b)         a0 b0 c0 d0
//   b0 b1 b2 b3   ->    a2 b2 a3 b3  (high halves)          ->    a1 b1 c1 d1
//   c0 c1 c2 c3         c0 d0 c1 d1                               a2 b2 c2 d2
//   d0 d1 d2 d3         c2 d2 c3 d3                               a3 b3 c3 d3
//
// Longer registers do that in all of their lanes at once; then lanes are exchanged.
//
// A tile of several squares is taken apart:
//
//   | A |  ->  | A^T B^T |        | A B |  ->  | A^T |
//   | B |                                      | B^T |

#include "Unroll.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

static constexpr int64_t kLaneBits = 128, kLongestBits = 512;

namespace {
/// Rows of a square tile, and what shuffles of them need.
struct Rows {
  OpBuilder &builder;
  Location loc;
  int64_t length, lane;
  SmallVector<Value> values;

  Value shuffle(Value a, Value b, ArrayRef<int64_t> order) const {
    return vector::ShuffleOp::create(builder, loc, a, b, order);
  }
  /// In each lane, units of the low or the high half of `a` and of `b` in turns.
  Value interleave(Value a, Value b, int64_t unit, bool high) const {
    SmallVector<int64_t> order;
    for (int64_t first = 0; first < length; first += lane)
      for (int64_t i = 0; i < lane / 2; i += unit)
        for (int64_t from : {int64_t(0), length})
          for (int64_t j = 0; j < unit; ++j)
            order.push_back(from + first + (high ? lane / 2 : 0) + i + j);
    return shuffle(a, b, order);
  }
  /// The even or the odd lanes of `a`, then those of `b`.
  Value takeLanes(Value a, Value b, bool odd) const {
    SmallVector<int64_t> order;
    for (int64_t from : {int64_t(0), length})
      for (int64_t first = odd ? lane : 0; first < length; first += 2 * lane)
        for (int64_t j = 0; j < lane; ++j)
          order.push_back(from + first + j);
    return shuffle(a, b, order);
  }
};
} // namespace

/// Row r of a group of `lane` rows takes, in each lane, what column r of the lane is.
static void transposeInLanes(Rows &rows) {
  // rows.values[g * columns + c]: rows of group g, of `columns` groups of columns the c-th.
  for (int64_t unit = 1; unit < rows.lane; unit *= 2) {
    SmallVector<Value> next;
    for (int64_t group = 0; group < rows.length / (2 * unit); ++group)
      for (int64_t column = 0; column < unit; ++column)
        for (bool high : {false, true})
          next.push_back(rows.interleave(rows.values[2 * group * unit + column],
                                         rows.values[(2 * group + 1) * unit + column],
                                         unit, high));
    rows.values = std::move(next);
  }
}

/// Lane l of row r of group g becomes lane g of row r of group l.
static void exchangeLanes(Rows &rows) {
  int64_t lanes = rows.length / rows.lane;
  for (int64_t row = 0; row < rows.lane; ++row) {
    SmallVector<Value> groups;
    for (int64_t group = 0; group < lanes; ++group)
      groups.push_back(rows.values[group * rows.lane + row]);
    // Halves the number of vectors that a lane's rows are in, until it is one.
    SmallVector<SmallVector<Value>> parts = {groups};
    SmallVector<int64_t> numbers = {0};
    for (int64_t step = 1; step < lanes; step *= 2) {
      SmallVector<SmallVector<Value>> next;
      SmallVector<int64_t> nextNumbers;
      for (auto [part, number] : llvm::zip_equal(parts, numbers))
        for (bool odd : {false, true}) {
          SmallVector<Value> half;
          for (size_t i = 0; i < part.size(); i += 2)
            half.push_back(rows.takeLanes(part[i], part[i + 1], odd));
          next.push_back(half);
          nextNumbers.push_back(number + (odd ? step : 0));
        }
      parts = std::move(next);
      numbers = std::move(nextNumbers);
    }
    for (auto [part, number] : llvm::zip_equal(parts, numbers))
      rows.values[number * rows.lane + row] = part.front();
  }
}

static SmallVector<Value> transposeSquare(OpBuilder &builder, Location loc,
                                          ArrayRef<Value> values, int64_t bits) {
  Rows rows{builder, loc, int64_t(values.size()), kLaneBits / bits, llvm::to_vector(values)};
  transposeInLanes(rows);
  exchangeLanes(rows);
  return rows.values;
}

/// Several rows one after the other: two halves of them, a power of two.
static Value concatenate(OpBuilder &builder, Location loc, ArrayRef<Value> rows) {
  if (rows.size() == 1)
    return rows.front();
  Value a = concatenate(builder, loc, rows.take_front(rows.size() / 2)),
        b = concatenate(builder, loc, rows.drop_front(rows.size() / 2));
  int64_t length = cast<VectorType>(a.getType()).getNumElements();
  return vector::ShuffleOp::create(builder, loc, a, b,
                                   llvm::to_vector(llvm::seq<int64_t>(0, 2 * length)));
}

/// Rows of the transposed tile, square by square of `side` rows.
static SmallVector<Value> transposeSquares(OpBuilder &builder, Location loc,
                                           ArrayRef<Value> rows, int64_t columns, int64_t side,
                                           int64_t bits) {
  SmallVector<Value> result;
  for (int64_t column = 0; column < columns; column += side) {
    // Of a strip of columns, a square below the other.
    SmallVector<SmallVector<Value>> parts(side);
    for (size_t first = 0; first < rows.size(); first += side) {
      SmallVector<Value> square;
      for (Value row : rows.slice(first, side))
        square.push_back(columns == side ? row
                                         : vector::ExtractStridedSliceOp::create(
                                               builder, loc, row, column, side, /*strides=*/1));
      for (auto [part, row] :
           llvm::zip_equal(parts, transposeSquare(builder, loc, square, bits)))
        part.push_back(row);
    }
    for (ArrayRef<Value> part : parts)
      result.push_back(concatenate(builder, loc, part));
  }
  return result;
}

namespace {
struct TransposeTile : OpRewritePattern<vector::TransposeOp> {
  TransposeTile(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/4) {}
  LogicalResult matchAndRewrite(vector::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    VectorType type = op.getSourceVectorType(), result = op.getResultVectorType();
    SmallVector<int64_t> sizes, order;
    for (int64_t dim : op.getPermutation())
      if (type.getDimSize(dim) != 1)
        order.push_back(dim);
    for (int64_t size : type.getShape())
      if (size != 1)
        sizes.push_back(size);
    if (type.isScalable() || sizes.size() != 2 || order[0] < order[1] ||
        !type.getElementType().isIntOrFloat() ||
        !llvm::all_of(sizes, [](int64_t size) { return llvm::isPowerOf2_64(size); }))
      return rewriter.notifyMatchFailure(op, "no tile of squares");
    int64_t bits = type.getElementTypeBitWidth(), side = std::min(sizes[0], sizes[1]);
    if (!llvm::isPowerOf2_64(bits) || bits < 8 || bits > kLaneBits / 2 ||
        side * bits < kLaneBits || side * bits > kLongestBits)
      return rewriter.notifyMatchFailure(op, "its rows are no registers");
    Location loc = op.getLoc();
    auto tile = VectorType::get(sizes, type.getElementType());
    auto transposed = VectorType::get({sizes[1], sizes[0]}, type.getElementType());
    Value value = op.getVector();
    if (type != tile)
      value = vector::ShapeCastOp::create(rewriter, loc, tile, value);
    value = fromRows(rewriter, loc, transposed,
                     transposeSquares(rewriter, loc, getRows(rewriter, loc, value), sizes[1],
                                      side, bits));
    if (result != transposed)
      value = vector::ShapeCastOp::create(rewriter, loc, result, value);
    rewriter.replaceOp(op, value);
    return success();
  }
};
} // namespace

void tilewright::cpu::populateTransposeTilePatterns(RewritePatternSet &patterns) {
  patterns.add<TransposeTile>(patterns.getContext());
}
