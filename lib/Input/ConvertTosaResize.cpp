// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bilinear `tosa.resize` as a gather of four elements. Element y of a dim is
// read at the position (y * down + offset) / up between the elements i and
// i + 1 of the image, which are clamped into it:
//
//   v = y * down + offset,  i = floor(v / up),  r = v - i * up
//   result = image[i] * (up - r) + image[i + 1] * r        (floats: r / up for r)
//
// A negative offset, as that of half-pixel centers, has i = -1. Upstream's
// conversion divides towards zero there, and so extrapolates.

#include "Tosa.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"

using namespace mlir;
using namespace tilewright;

namespace {
/// One dim of the image, height or width.
struct Axis {
  int64_t up, down, offset, size;
};

/// Between which elements a position is, as indices, and where: r as an integer.
struct Position {
  Value low, high, rest;
};

struct ConvertResize : OpConversionPattern<tosa::ResizeOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult matchAndRewrite(tosa::ResizeOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &b) const override;
};
} // namespace

static Value integer(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

static Value clamped(OpBuilder &b, Location loc, Value i, int64_t size) {
  i = arith::MaxSIOp::create(b, loc, i, integer(b, loc, 0));
  i = arith::MinSIOp::create(b, loc, i, integer(b, loc, size - 1));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), i);
}

static Position locate(OpBuilder &b, Location loc, unsigned dim, Axis axis) {
  // The quotient is of numbers that are not negative.
  int64_t before = axis.offset < 0 ? llvm::divideCeil(-axis.offset, axis.up) : 0;
  Value up = integer(b, loc, axis.up);
  Value y = linalg::IndexOp::create(b, loc, dim);
  y = arith::IndexCastOp::create(b, loc, b.getI32Type(), y);
  Value v = arith::MulIOp::create(b, loc, y, integer(b, loc, axis.down));
  v = arith::AddIOp::create(b, loc, v, integer(b, loc, axis.offset + before * axis.up));
  Value i = arith::DivSIOp::create(b, loc, v, up);
  Value rest = arith::SubIOp::create(b, loc, v, arith::MulIOp::create(b, loc, i, up));
  Value low = arith::SubIOp::create(b, loc, i, integer(b, loc, before));
  Value high = arith::AddIOp::create(b, loc, low, integer(b, loc, 1));
  return {clamped(b, loc, low, axis.size), clamped(b, loc, high, axis.size), rest};
}

/// The mean of two numbers, weighted by the position between them.
static Value mix(OpBuilder &b, Location loc, Value low, Value high, Value rest, int64_t up) {
  if (auto type = dyn_cast<FloatType>(low.getType())) {
    Value one = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, 1));
    Value whole = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, up));
    Value d = arith::DivFOp::create(b, loc, arith::SIToFPOp::create(b, loc, type, rest), whole);
    Value part = arith::MulFOp::create(b, loc, low, arith::SubFOp::create(b, loc, one, d));
    return arith::AddFOp::create(b, loc, part, arith::MulFOp::create(b, loc, high, d));
  }
  Value r = rest, whole = integer(b, loc, up);
  if (low.getType().getIntOrFloatBitWidth() > 32) {
    r = arith::ExtSIOp::create(b, loc, low.getType(), r);
    whole = arith::ExtSIOp::create(b, loc, low.getType(), whole);
  }
  Value part = arith::MulIOp::create(b, loc, low, arith::SubIOp::create(b, loc, whole, r));
  return arith::AddIOp::create(b, loc, part, arith::MulIOp::create(b, loc, high, r));
}

LogicalResult ConvertResize::matchAndRewrite(tosa::ResizeOp op, OpAdaptor adaptor,
                                             ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  Value image = adaptor.getInput();
  auto type = dyn_cast<RankedTensorType>(image.getType());
  auto result = dyn_cast<RankedTensorType>(op.getType());
  SmallVector<int64_t> scale, offset;
  if (op.getMode() != tosa::ResizeMode::BILINEAR || !type || !result ||
      !tosa::getConstShapeValues(op.getScale().getDefiningOp(), scale) ||
      !tosa::getConstShapeValues(op.getOffset().getDefiningOp(), offset))
    return b.notifyMatchFailure(op, "not bilinear, or by unknown scales");
  for (unsigned dim : {1, 2})
    if (type.isDynamicDim(dim) || result.isDynamicDim(dim))
      return b.notifyMatchFailure(op, "height or width is not known");
  Axis rows{scale[0], scale[1], offset[0], type.getDimSize(1)};
  Axis columns{scale[2], scale[3], offset[1], type.getDimSize(2)};
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(b, loc, image);
  for (unsigned dim : {1, 2})
    sizes[dim] = b.getIndexAttr(result.getDimSize(dim));
  Type element = result.getElementType();
  Value empty = tensor::EmptyOp::create(b, loc, sizes, element);
  SmallVector<AffineMap> maps{b.getMultiDimIdentityMap(4)};
  SmallVector<utils::IteratorType> loops(4, utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, empty.getType(), ValueRange{}, empty, maps, loops,
      [&](OpBuilder &b, Location loc, ValueRange) {
        Value n = linalg::IndexOp::create(b, loc, 0), c = linalg::IndexOp::create(b, loc, 3);
        Position y = locate(b, loc, 1, rows), x = locate(b, loc, 2, columns);
        auto read = [&](Value row, Value column) -> Value {
          Value v = tensor::ExtractOp::create(b, loc, image, ValueRange{n, row, column, c});
          return v.getType() == element ? v : arith::ExtSIOp::create(b, loc, element, v);
        };
        auto mixed = [&](Value row) {
          return mix(b, loc, read(row, x.low), read(row, x.high), x.rest, columns.up);
        };
        Value low = mixed(y.low);
        linalg::YieldOp::create(b, loc, mix(b, loc, low, mixed(y.high), y.rest, rows.up));
      });
  replaceWithCast(b, op, generic.getResult(0));
  return success();
}

void tilewright::populateTosaResize(RewritePatternSet &patterns) {
  // Upstream's for images of one row or column, which is read once and
  // broadcast, goes first (200), that for all others last (100).
  patterns.add<ConvertResize>(patterns.getContext(), /*benefit=*/150);
}
