// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fragments of 16- and 8-bit elements out of shared memory, by tilewright.load_matrices
// where the target has it. In a fragment of a matrix instruction four lanes hold
// the pairs of a row of eight and eight groups of lanes the rows; each pair of
// registers is one 8x8 matrix. Rows of the matrix that are rows of the memory
// are read as they are, columns transposed:
//
//   A[m][k] in memory, pairs along k          B[k][n] in memory, pairs along k
//   load_matrices %a[(l % 8) * row + …]       load_matrices transposed %b[…]
//
// Bytes are loaded as 16-bit pairs of neighbours along the reduction, of which the
// fragment is the same register image. Transposing would part them, so that columns
// of bytes are no matrices: tiles of bytes lie with the reduction innermost.

#include "Matrices.h"
#include "Swizzle.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;
using layout::DigitTerm;
using layout::Level;

std::optional<MatrixDims>
tilewright::matchMatrices(const DistributedLayout &layout, int64_t each) {
  if (layout.rank() < 2 || layout.numRegisters() % each)
    return std::nullopt;
  MatrixDims dims = {-1, -1};
  for (const DigitTerm &term : layout.forwardTerms(Level::Lane)) {
    if (term.div == 1 && term.mod == 4 && term.multiplier == each)
      dims.pair = term.dim;
    else if (term.div == 4 && term.mod == 8 && term.multiplier == 1)
      dims.row = term.dim;
    else
      return std::nullopt;
  }
  if (dims.pair < 0 || dims.row < 0 || dims.pair == dims.row)
    return std::nullopt;
  for (int64_t reg = 0; reg < layout.numRegisters(); ++reg) {
    std::vector<int64_t> first = layout.registerOffset(reg - reg % each);
    first[dims.pair] += reg % each;
    if (layout.registerOffset(reg) != first)
      return std::nullopt;
  }
  return dims;
}

int64_t tilewright::matricesAtOnce(ArrayRef<int64_t> offsets) {
  int64_t count = offsets.size();
  auto uniform = [&](int64_t size) {
    if (count % size)
      return false;
    for (int64_t first = 0; first < count; first += size) {
      for (int64_t i = 1; i < size; ++i)
        if (offsets[first + i] - offsets[first] != offsets[i] - offsets[0])
          return false;
      if (size == 4 && offsets[first + 3] - offsets[first + 2] !=
                           offsets[first + 1] - offsets[first])
        return false;
    }
    return true;
  };
  return uniform(4) ? 4 : uniform(2) ? 2 : 1;
}

namespace {
/// A tile in shared memory as matrices.
struct MatrixTile {
  SmallVector<int64_t> strides;
  /// The dims along a matrix' row in memory, and from row to row.
  int contiguous = 0, across = 0;
  bool transposed = false;
  /// Elements from the view's first to the tile's, and from there to each matrix.
  int64_t start = 0;
  SmallVector<int64_t> offsets;
};
} // namespace

/// Rows of neighbours at multiples of 16 bytes, which are `row` elements; `each` of them are in a
/// register.
static std::optional<MatrixTile> matchMatrixTile(vector::TransferReadOp op, const MemView &mem,
                                                 const DistributedLayout &layout, int64_t each,
                                                 int64_t row) {
  std::optional<MatrixDims> dims = matchMatrices(layout, each);
  if (!dims)
    return std::nullopt;
  MatrixTile tile;
  for (const Index &stride : mem.strides)
    if (!stride.isConstant())
      return std::nullopt;
    else
      tile.strides.push_back(stride.constant);
  tile.transposed = tile.strides[dims->pair] != 1;
  tile.contiguous = tile.transposed ? dims->row : dims->pair;
  tile.across = tile.transposed ? dims->pair : dims->row;
  if (tile.strides[tile.contiguous] != 1 || tile.strides[tile.across] % row ||
      mem.offsetDivisor % row || (tile.transposed && each != 2))
    return std::nullopt;
  if (ArrayRef<int64_t> swizzle = mem.shared.getSwizzle();
      !swizzle.empty() && (int64_t(1) << swizzle[1]) < row)
    return std::nullopt;
  for (auto [index, stride] : llvm::zip_equal(op.getIndices(), tile.strides)) {
    std::optional<int64_t> constant = getConstantIntValue(index);
    if (!constant)
      return std::nullopt;
    tile.start += *constant * stride;
  }
  if (tile.start % row)
    return std::nullopt;
  for (int64_t reg = 0; reg < layout.numRegisters(); reg += each) {
    std::vector<int64_t> at = layout.registerOffset(reg);
    if (at[tile.contiguous] % row)
      return std::nullopt;
    int64_t offset = 0;
    for (auto [coordinate, stride] : llvm::zip_equal(at, tile.strides))
      offset += coordinate * stride;
    tile.offsets.push_back(offset);
  }
  return tile;
}

bool ThreadCode::readMatrices(vector::TransferReadOp op,
                              const DistributedLayout &layout) {
  TargetAttr target = getTarget(source);
  FailureOr<MemView> mem = view(op.getBase());
  if (!target || !target.getFacts().contains("load_matrices") || failed(mem) ||
      !mem->shared || op.getMask() ||
      op.hasOutOfBoundsDim() || !op.getPermutationMap().isIdentity() ||
      !mem->element.isIntOrFloat())
    return false;
  int64_t bits = mem->element.getIntOrFloatBitWidth();
  if (bits != 16 && bits != 8)
    return false;
  int64_t each = 32 / bits;
  std::optional<MatrixTile> tile = matchMatrixTile(op, *mem, layout, each, /*row=*/128 / bits);
  if (!tile)
    return false;
  ArrayRef<int64_t> strides = tile->strides, offsets = tile->offsets;

  // The thread's part: its warp's tile, and the lane's row, which is row
  // lane % 8 of matrix lane / 8.
  Location loc = op.getLoc();
  Index base(0);
  for (auto [coordinate, stride] :
       llvm::zip_equal(warpCoordinates(layout), strides))
    base = add(loc, base, multiply(loc, coordinate, Index(stride)));
  int64_t known = warpBits(layout, strides);
  int64_t size = matricesAtOnce(offsets);
  auto addDigit = [&](int64_t div, int64_t mod, int64_t multiplier) {
    Value digit = arith::DivUIOp::create(b, loc, lane(), constant(loc, div));
    digit = arith::RemUIOp::create(b, loc, digit, constant(loc, mod));
    base = add(loc, base, multiply(loc, Index(digit), Index(multiplier)));
    int64_t own = (mod - 1) * multiplier;
    bool isKnown = known >= 0 && llvm::isPowerOf2_64(multiplier) && !(known & own);
    known = isKnown ? known | own : -1;
  };
  addDigit(1, 8, strides[tile->across]);
  if (size >= 2)
    addDigit(8, 2, offsets[1] - offsets[0]);
  if (size == 4)
    addDigit(16, 2, offsets[2] - offsets[0]);

  Registers result;
  SmallVector<Type> types(each * size, mem->element);
  SharedOffsets shared(*this, loc, *mem, base, known);
  for (size_t first = 0; first < offsets.size(); first += size) {
    auto load = LoadMatricesOp::create(b, loc, types, mem->base,
                                       shared.at(tile->start + offsets[first]),
                                       tile->transposed);
    llvm::append_range(result, load.getResults());
  }
  define(op.getVector(), result);
  return true;
}
