// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tiles of memory that has two elements to a byte: the bytes are read, and taken apart
// in registers.
//
//   %u = tilewright.unpack %w : tensor<80x48xi8> to tensor<80x96xi8>
//   %s = tensor.extract_slice %u[%i, %k] [16, 32] [1, 1]
// becomes
//   %v = vector.transfer_read %w[%i, %k / 2]          : vector<16x16xi8>
//   %l = arith.shrsi (arith.shli %v, 4), 4              the low halves
//   %h = arith.shrsi %v, 4                              the high ones
//   %t = vector.interleave %l, %h                     : vector<16x32xi8>

#include "Vectorizer.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

using namespace mlir;
using namespace tilewright;

/// The half of each byte of `bytes`, a vector or a scalar, as a number.
static Value takeHalf(OpBuilder &b, Location loc, Value bytes, bool high,
                      bool isUnsigned) {
  auto splat = [&](int64_t value) -> Value {
    TypedAttr attr = b.getI8IntegerAttr(value);
    if (auto vector = dyn_cast<VectorType>(bytes.getType()))
      attr = DenseElementsAttr::get(vector, attr);
    return arith::ConstantOp::create(b, loc, attr);
  };
  if (isUnsigned)
    return high ? arith::ShRUIOp::create(b, loc, bytes, splat(4)).getResult()
                : arith::AndIOp::create(b, loc, bytes, splat(15)).getResult();
  Value top = high ? bytes
                   : arith::ShLIOp::create(b, loc, bytes, splat(4)).getResult();
  return arith::ShRSIOp::create(b, loc, top, splat(4));
}

FailureOr<Value> Vectorizer::readPacked(OpState &state, unsigned number,
                                        Loops loops) {
  linalg::LinalgOp op = state.op;
  Location loc = op.getLoc();
  const Tile tile = *lookup(op->getOperand(number));
  AffineMap map = state.maps[number];
  unsigned rank = map.getNumResults(), innermost = map.getDimPosition(rank - 1);
  int64_t extent = state.extents[innermost];
  SmallVector<Value> indices;
  for (OpFoldResult offset : tile.offsets)
    indices.push_back(getValueOrCreateConstantIndexOp(b, loc, offset));
  OpFoldResult byte = affine::makeComposedFoldedAffineApply(
      b, loc, b.getAffineDimExpr(0).floorDiv(2), {tile.offsets.back()});
  indices.back() = getValueOrCreateConstantIndexOp(b, loc, byte);

  SmallVector<unsigned> own = state.loopsOf(number);
  Type i8 = b.getI8Type();
  if (extent == 0 || extent % 2)
    return op.emitOpError() << "operand " << number << " has two elements to a byte, "
                            << "and a tile of it " << std::max<int64_t>(1, extent)
                            << " along its rows; make that even";
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> exprs;
  SmallVector<bool> inBounds;
  for (unsigned loop : own) {
    shape.push_back(state.extents[loop] / (loop == innermost ? 2 : 1));
    exprs.push_back(
        b.getAffineDimExpr(*map.getResultPosition(b.getAffineDimExpr(loop))));
    inBounds.push_back(!state.isPartial(loop));
  }
  Value zero = arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(0));
  Value bytes = vector::TransferReadOp::create(
      b, loc, VectorType::get(shape, i8), tile.value, indices, zero,
      AffineMap::get(rank, 0, exprs, b.getContext()), ArrayRef<bool>(inBounds));
  Value low = takeHalf(b, loc, bytes, false, tile.isUnsigned);
  Value high = takeHalf(b, loc, bytes, true, tile.isUnsigned);
  Value all = vector::InterleaveOp::create(b, loc, low, high);
  return reorder(state, all, own, loops);
}
