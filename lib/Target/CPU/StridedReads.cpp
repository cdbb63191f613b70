// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads of elements that a short stride picks, as of a convolution with stride 2: two
// reads of what lies side by side, of which a shuffle takes the elements. They overlap,
// so that nothing behind the last element is read. Of stride 1, as of windows that
// overlap, one read.
//
//   %v = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]}
//          : memref<112x7xf32, strided<[2, 1], offset: ?>>, vector<16x1xf32>
//
//   %m = memref.reinterpret_cast %a to offset: [%o + 2 * %i + %k], sizes: [31], strides: [1]
//   %r0 = vector.transfer_read %m[0]  : vector<16xf32>
//   %r1 = vector.transfer_read %m[15] : vector<16xf32>
//   %s = vector.shuffle %r0, %r1 [0, 2, …, 14, 17, …, 31]
//   %v = vector.shape_cast %s
//
// Elements outside are outside of the two reads as well: their size ends behind the
// last element that is inside, their masks have holes where elements lie between.

#include "Unroll.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// What is read: `count` elements along dim `dim` of the vector, `stride` apart.
struct StridedRow {
  int64_t dim, count, stride;
  /// Of each read; of all elements from the first to the last.
  int64_t getHalf() const { return stride == 1 ? count : count * stride / 2; }
  int64_t getSpan() const { return (count - 1) * stride + 1; }
  int64_t getSecond() const { return getSpan() - getHalf(); }
};

struct ReadStrided : OpRewritePattern<vector::TransferReadOp> {
  // Ahead of ReadColumn, which reads one by one.
  ReadStrided(MLIRContext *context) : OpRewritePattern(context, /*benefit=*/3) {}
  LogicalResult matchAndRewrite(vector::TransferReadOp op,
                                PatternRewriter &b) const override;
};
} // namespace

/// Nothing unless the read is one row with a stride of 1, 2 or 4, inside of the memory
/// along all other dims. Stride 1 is left to others along the innermost dim.
static std::optional<StridedRow> matchRow(vector::TransferReadOp op) {
  auto memory = dyn_cast<MemRefType>(op.getBase().getType());
  VectorType type = op.getVectorType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (!memory || type.getRank() < 1 || !op.getPermutationMap().isMinorIdentity() ||
      failed(memory.getStridesAndOffset(strides, offset)) ||
      (op.getMask() && type.getRank() != 1))
    return std::nullopt;
  std::optional<StridedRow> row;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int64_t size = type.getDimSize(dim);
    if (size == 1 && op.isDimInBounds(dim))
      continue;
    int64_t stride = strides[memory.getRank() - type.getRank() + dim];
    bool isPicked = size >= 4 && llvm::isPowerOf2_64(size) && (stride == 2 || stride == 4);
    bool isBeside = stride == 1 && dim + 1 < type.getRank();
    if (row || (!isPicked && !isBeside))
      return std::nullopt;
    row = StridedRow{dim, size, stride};
  }
  return row;
}

/// Elements from the first one to the end of the last that is inside of the memory:
/// negative where the first is outside.
static Value getInside(PatternRewriter &b, vector::TransferReadOp op,
                       const StridedRow &row) {
  Location loc = op.getLoc();
  int64_t dim = op.getIndices().size() - op.getVectorType().getRank() + row.dim;
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  Value size = memref::DimOp::create(b, loc, op.getBase(), dim);
  Value rest = arith::SubIOp::create(b, loc, size, op.getIndices()[dim]);
  Value scaled = arith::MulIOp::create(b, loc, rest, constant(row.stride));
  return arith::SubIOp::create(b, loc, scaled, constant(row.stride - 1));
}

/// The memory from the first element on, as one dim.
static Value getRowMemory(PatternRewriter &b, vector::TransferReadOp op,
                          const StridedRow &row) {
  Location loc = op.getLoc();
  auto metadata = memref::ExtractStridedMetadataOp::create(b, loc, op.getBase());
  Value offset = metadata.getOffset();
  for (auto [index, stride] : llvm::zip(op.getIndices(), metadata.getStrides()))
    offset = arith::AddIOp::create(b, loc, offset,
                                   arith::MulIOp::create(b, loc, index, stride));
  auto from = cast<MemRefType>(op.getBase().getType());
  auto type = MemRefType::get(
      {row.getSpan()}, from.getElementType(),
      StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {1}),
      from.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      b, loc, type, op.getBase(), OpFoldResult(offset),
      ArrayRef<OpFoldResult>{b.getIndexAttr(row.getSpan())},
      ArrayRef<OpFoldResult>{b.getIndexAttr(1)});
}

/// The mask of the read that begins at element `first`; null where all is inside.
static Value getMask(PatternRewriter &b, vector::TransferReadOp op,
                     const StridedRow &row, Value inside, int64_t first) {
  Location loc = op.getLoc();
  auto type = VectorType::get({row.getHalf()}, b.getI1Type());
  Value mask;
  if (inside) {
    Value count = inside;
    if (first)
      count = arith::SubIOp::create(
          b, loc, count, arith::ConstantIndexOp::create(b, loc, first));
    mask = vector::CreateMaskOp::create(b, loc, type, count);
  }
  if (!op.getMask())
    return mask;
  // Lanes of the op's own mask, with holes between.
  SmallVector<int64_t> lanes;
  for (int64_t i = first; i < first + row.getHalf(); ++i)
    lanes.push_back(i % row.stride ? row.count : i / row.stride);
  Value none = arith::ConstantOp::create(
      b, loc, DenseElementsAttr::get(VectorType::get({row.count}, b.getI1Type()), false));
  Value own = vector::ShuffleOp::create(b, loc, op.getMask(), none, lanes);
  return mask ? arith::AndIOp::create(b, loc, mask, own).getResult() : own;
}

LogicalResult ReadStrided::matchAndRewrite(vector::TransferReadOp op,
                                           PatternRewriter &b) const {
  std::optional<StridedRow> row = matchRow(op);
  if (!row)
    return b.notifyMatchFailure(op, "no row of elements a short stride apart");
  Location loc = op.getLoc();
  Value inside = op.isDimInBounds(row->dim) ? Value() : getInside(b, op, *row);
  Value memory = getRowMemory(b, op, *row);
  auto half = VectorType::get({row->getHalf()}, op.getVectorType().getElementType());
  auto map = AffineMapAttr::get(b.getMultiDimIdentityMap(1));
  auto read = [&](int64_t first) -> Value {
    Value place = arith::ConstantIndexOp::create(b, loc, first);
    return vector::TransferReadOp::create(b, loc, half, memory, ValueRange(place), map,
                                          op.getPadding(),
                                          getMask(b, op, *row, inside, first),
                                          b.getBoolArrayAttr({true}));
  };
  Value picked = read(0);
  if (row->stride > 1) {
    SmallVector<int64_t> lanes;
    for (int64_t i = 0; i < row->count; ++i) {
      int64_t place = i * row->stride;
      lanes.push_back(place < row->getHalf()
                          ? place
                          : place - row->getSecond() + row->getHalf());
    }
    picked = vector::ShuffleOp::create(b, loc, picked, read(row->getSecond()), lanes);
  }
  if (op.getVectorType().getRank() == 1)
    b.replaceOp(op, picked);
  else
    b.replaceOpWithNewOp<vector::ShapeCastOp>(op, op.getVectorType(), picked);
  return success();
}

void tilewright::cpu::populateStridedReadPatterns(RewritePatternSet &patterns) {
  patterns.add<ReadStrided>(patterns.getContext());
}
