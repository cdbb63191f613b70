// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements that share bytes, as bytes; see UnpackSubBytes.cpp.

#include "SubBytes.h"
#include "tilewright/Dialect/Nibbles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::sub_bytes;

/// A tensor of elements that share bytes, or null.
RankedTensorType sub_bytes::packedType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && elementsPerByte(type.getElementType()) > 1 ? type : nullptr;
}

/// Elements of `type` that share a byte, and the bits of each.
int64_t sub_bytes::perByte(RankedTensorType type) {
  return elementsPerByte(type.getElementType());
}
int64_t sub_bytes::bitsOf(RankedTensorType type) {
  return type.getElementTypeBitWidth();
}

/// Whether rows of `type` do not end where bytes do, so that all of it is one row.
bool sub_bytes::isOneRow(RankedTensorType type) {
  return type.getRank() == 0 || (ShapedType::isStatic(type.getShape().back()) &&
                                 type.getShape().back() % perByte(type));
}

/// The bytes of a tensor of elements that share them.
RankedTensorType sub_bytes::bytesOf(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  if (isOneRow(type))
    shape = {int64_t(llvm::divideCeil(type.getNumElements(), perByte(type)))};
  else if (ShapedType::isStatic(shape.back()))
    shape.back() /= perByte(type);
  return RankedTensorType::get(shape, IntegerType::get(type.getContext(), 8));
}

/// The low bits of a byte that `shift` leaves, as a number of i8.
static Value lowBits(OpBuilder &b, Location loc, Value byte, Value shift,
                     int64_t bits, bool isUnsigned) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI8IntegerAttr(value));
  };
  Value low = arith::ShRUIOp::create(b, loc, byte, shift);
  if (isUnsigned)
    return arith::AndIOp::create(b, loc, low, constant((1 << bits) - 1));
  Value others = constant(8 - bits);
  return arith::ShRSIOp::create(
      b, loc, arith::ShLIOp::create(b, loc, low, others), others);
}

/// The element at `indices` of a tensor of `packed`, as a number of i8.
Value sub_bytes::elementAt(OpBuilder &b, Location loc, Value bytes,
                       RankedTensorType packed, ValueRange indices,
                       bool isUnsigned) {
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  SmallVector<Value> place(indices);
  if (isOneRow(packed)) {
    Value at = constant(0);
    for (auto [index, size] : llvm::zip_equal(indices, packed.getShape()))
      at = arith::AddIOp::create(
          b, loc, arith::MulIOp::create(b, loc, at, constant(size)), index);
    place = {at};
  }
  Value at = place.back();
  int64_t count = perByte(packed), bits = bitsOf(packed);
  place.back() = arith::ShRUIOp::create(b, loc, at, constant(llvm::Log2_64(count)));
  Value byte = tensor::ExtractOp::create(b, loc, bytes, place);
  Value shift = arith::MulIOp::create(
      b, loc, arith::AndIOp::create(b, loc, at, constant(count - 1)), constant(bits));
  shift = arith::IndexCastOp::create(b, loc, b.getI8Type(), shift);
  return lowBits(b, loc, byte, shift, bits, isUnsigned);
}

/// A tensor of `packed` that is held as one row, as a tensor of i8.
static Value unpackOneRow(OpBuilder &b, Value bytes, RankedTensorType packed,
                          bool isUnsigned) {
  Location loc = bytes.getLoc();
  unsigned rank = packed.getRank();
  auto wide = RankedTensorType::get(packed.getShape(), b.getI8Type());
  Value empty = tensor::EmptyOp::create(b, loc, wide.getShape(), b.getI8Type());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  return linalg::GenericOp::create(
             b, loc, wide, ValueRange{}, empty,
             ArrayRef<AffineMap>{b.getMultiDimIdentityMap(rank)}, loops,
             [&](OpBuilder &b, Location loc, ValueRange) {
               SmallVector<Value> indices;
               for (unsigned dim = 0; dim < rank; ++dim)
                 indices.push_back(linalg::IndexOp::create(b, loc, dim));
               linalg::YieldOp::create(
                   b, loc,
                   elementAt(b, loc, bytes, packed, indices, isUnsigned));
             })
      .getResult(0);
}

Value sub_bytes::unpack(OpBuilder &b, Value bytes, RankedTensorType packed,
                        bool isUnsigned) {
  if (isOneRow(packed))
    return unpackOneRow(b, bytes, packed, isUnsigned);
  Location loc = bytes.getLoc();
  auto type = cast<RankedTensorType>(bytes.getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> shape(type.getShape());
  shape.push_back(perByte(packed));
  Type i8 = b.getI8Type();
  auto wide = RankedTensorType::get(shape, i8);
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (type.isDynamicDim(dim))
      sizes.push_back(tensor::DimOp::create(b, loc, bytes, dim));
  SmallVector<int8_t> amounts;
  for (int64_t number = 0; number < perByte(packed); ++number)
    amounts.push_back(number * bitsOf(packed));
  Value shifts = arith::ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(RankedTensorType::get({perByte(packed)}, i8),
                             ArrayRef<int8_t>(amounts)));
  Value empty = tensor::EmptyOp::create(b, loc, wide, sizes);
  AffineMap all = b.getMultiDimIdentityMap(rank + 1);
  SmallVector<AffineMap> maps = {
      all.dropResult(rank),
      AffineMap::get(rank + 1, 0, b.getAffineDimExpr(rank)), all};
  SmallVector<utils::IteratorType> loops(rank + 1,
                                         utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      b, loc, wide, ValueRange{bytes, shifts}, empty, maps, loops,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        linalg::YieldOp::create(b, loc,
                                lowBits(b, loc, args[0], args[1], bitsOf(packed), isUnsigned));
      });
  SmallVector<ReassociationIndices> groups;
  for (int64_t dim = 0; dim < rank; ++dim)
    groups.push_back({dim});
  groups.back().push_back(rank);
  return tensor::CollapseShapeOp::create(
      b, loc, RankedTensorType::get(packed.getShape(), i8), op.getResult(0),
      groups);
}
