// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of narrow elements as words. Where rows of the tile lie along the sum they are
// words already, which are transposed in registers:
//
//   a0 a1 a2 a3            a0a1 b0b1 c0c1 d0d1
//   b0 b1 b2 b3     ->     a2a3 b2b3 c2c3 d2d3
//   c0 …
// Where they lie across it, two (or four) rows are interleaved:
//
//   a0 b0 c0 d0            a0a1 b0b1 c0c1 d0d1
//   a1 b1 c1 d1     ->
//   …

#include "PackWords.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {
class WordPacker {
public:
  WordPacker(OpBuilder &b, Location loc, Value memory, ArrayRef<Value> place,
             VectorType tile)
      : b(b), loc(loc), memory(memory), place(place),
        element(tile.getElementType()), perWord(32 / tile.getElementTypeBitWidth()) {}

  /// The words of one step along the sum out of `perWord` rows, for all of the rows'
  /// elements.
  Value interleave(ArrayRef<Value> rows) {
    if (rows.size() == 1)
      return rows.front();
    SmallVector<Value> even, odd;
    for (auto [number, row] : llvm::enumerate(rows))
      (number % 2 ? odd : even).push_back(row);
    return vector::InterleaveOp::create(b, loc, interleave(even), interleave(odd));
  }

  Value toWords(Value row) {
    auto type = cast<VectorType>(row.getType());
    return vector::BitCastOp::create(
        b, loc, VectorType::get({type.getDimSize(0) / perWord}, b.getI32Type()), row);
  }

  /// Writes words, or elements, at `row` and word `column` of the memory at `place`.
  void write(Value vector, int64_t row, int64_t column) {
    auto type = cast<VectorType>(vector.getType());
    if (type.getElementType() != element)
      vector = vector::BitCastOp::create(
          b, loc,
          VectorType::get({type.getDimSize(0) * type.getElementTypeBitWidth() /
                           element.getIntOrFloatBitWidth()},
                          element),
          vector);
    SmallVector<Value> indices(place);
    indices.push_back(arith::ConstantIndexOp::create(b, loc, row));
    indices.push_back(arith::ConstantIndexOp::create(b, loc, column * perWord));
    bool inBounds = true;
    vector::TransferWriteOp::create(b, loc, vector, memory, indices,
                                    ArrayRef<bool>(inBounds));
  }

  /// Writes the transpose of a matrix of words, by squares.
  void writeTransposed(ArrayRef<Value> rows) {
    int64_t columns = cast<VectorType>(rows.front().getType()).getDimSize(0);
    int64_t side = std::min<int64_t>(16, columns & -columns), count = rows.size();
    auto type = VectorType::get({side}, b.getI32Type());
    for (int64_t top = 0; top < count; top += side)
      for (int64_t left = 0; left < columns; left += side) {
        SmallVector<Value> square;
        for (int64_t i = 0; i < side; ++i) {
          if (top + i >= count) {
            square.push_back(
                arith::ConstantOp::create(b, loc, b.getZeroAttr(type)));
            continue;
          }
          square.push_back(side == columns ? rows[top + i]
                                           : slice(rows[top + i], left, side));
        }
        transpose(square);
        for (auto [i, row] : llvm::enumerate(square))
          write(count - top < side ? slice(row, 0, count - top) : row, left + i,
                top);
      }
  }

private:
  Value slice(Value vector, int64_t offset, int64_t size) {
    return vector::ExtractStridedSliceOp::create(b, loc, vector, offset, size,
                                                 int64_t(1));
  }

  /// A square of vectors, by exchanging halves of ever larger squares.
  void transpose(SmallVectorImpl<Value> &rows) {
    int64_t side = rows.size();
    for (int64_t distance = 1; distance < side; distance *= 2)
      for (int64_t i = 0; i < side; ++i) {
        if (i & distance)
          continue;
        SmallVector<int64_t> low, high;
        for (int64_t lane = 0; lane < side; ++lane) {
          bool second = lane & distance;
          low.push_back(second ? side + lane - distance : lane);
          high.push_back(second ? side + lane : lane + distance);
        }
        Value first = rows[i], other = rows[i + distance];
        rows[i] = vector::ShuffleOp::create(b, loc, first, other, low);
        rows[i + distance] = vector::ShuffleOp::create(b, loc, first, other, high);
      }
  }

  OpBuilder &b;
  Location loc;
  Value memory;
  ArrayRef<Value> place;
  Type element;
  int64_t perWord;
};
} // namespace

void tilewright::packWords(OpBuilder &b, Location loc, Value tile, unsigned sumDim,
                           Value memory, ArrayRef<Value> place, bool alongSum) {
  auto type = cast<VectorType>(tile.getType());
  int64_t perWord = 32 / type.getElementTypeBitWidth();
  if (!alongSum) {
    unsigned rank = cast<MemRefType>(memory.getType()).getRank();
    SmallVector<ReassociationIndices> groups;
    for (unsigned dim = 0; dim + 1 < rank; ++dim)
      groups.push_back({int64_t(dim)});
    groups.back().push_back(rank - 1);
    memory = memref::CollapseShapeOp::create(b, loc, memory, groups);
  }
  WordPacker packer(b, loc, memory, place, type);
  SmallVector<Value> rows;
  // The code generator would take shuffles of bf16 apart.
  auto bits = VectorType::get({type.getDimSize(1)},
                              b.getIntegerType(type.getElementTypeBitWidth()));
  for (int64_t i = 0; i < type.getDimSize(0); ++i) {
    Value row = vector::ExtractOp::create(b, loc, tile, i);
    rows.push_back(vector::BitCastOp::create(b, loc, bits, row));
  }
  if (sumDim == 0) {
    SmallVector<Value> words;
    for (size_t i = 0; i < rows.size(); i += perWord)
      words.push_back(packer.interleave(ArrayRef(rows).slice(i, perWord)));
    rows = words;
  }
  // Now rows are steps along the sum where it was the first dim.
  if ((sumDim == 1) == alongSum) {
    for (auto [i, row] : llvm::enumerate(rows))
      packer.write(row, i, 0);
    return;
  }
  for (Value &row : rows)
    row = packer.toWords(row);
  packer.writeTransposed(rows);
}
