// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tilewright/Dialect/Windows.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tilewright;

static Value skipCasts(Value value) {
  while (auto cast = value.getDefiningOp<tensor::CastOp>())
    value = cast.getSource();
  return value;
}

/// The memref behind a tensor, or null.
static MemRefType memrefOf(Value tensor) {
  auto op = tensor.getDefiningOp<bufferization::ToTensorOp>();
  return op ? dyn_cast<MemRefType>(op.getBuffer().getType()) : MemRefType();
}

bool tilewright::isWindow(Value value) {
  value = skipCasts(value);
  if (value.getDefiningOp<tensor::ExtractSliceOp>())
    return true;
  MemRefType memref = memrefOf(value);
  return memref && !memref.getLayout().isIdentity();
}

bool tilewright::isSameWindow(tensor::ExtractSliceOp slice,
                              tensor::InsertSliceOp insert) {
  return slice.getSource() == insert.getDest() &&
         slice.getType() == insert.getSourceType() &&
         isEqualConstantIntOrValueArray(slice.getMixedOffsets(),
                                        insert.getMixedOffsets()) &&
         isEqualConstantIntOrValueArray(slice.getMixedSizes(),
                                        insert.getMixedSizes()) &&
         isEqualConstantIntOrValueArray(slice.getMixedStrides(),
                                        insert.getMixedStrides());
}

static int64_t multiply(int64_t a, int64_t b) {
  int64_t result;
  if (ShapedType::isDynamic(a) || ShapedType::isDynamic(b) ||
      llvm::MulOverflow(a, b, result))
    return ShapedType::kDynamic;
  return result;
}

/// Strides of a tensor, dense or not.
static SmallVector<int64_t> stridesOf(Value value) {
  value = skipCasts(value);
  if (auto slice = value.getDefiningOp<tensor::ExtractSliceOp>()) {
    SmallVector<int64_t> from = stridesOf(slice.getSource()), strides;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [dim, step] : llvm::enumerate(slice.getStaticStrides()))
      if (!dropped.test(dim))
        strides.push_back(multiply(from[dim], step));
    return strides;
  }
  SmallVector<int64_t> strides;
  int64_t offset;
  if (MemRefType memref = memrefOf(value);
      memref && succeeded(memref.getStridesAndOffset(strides, offset)))
    return strides;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  strides.assign(shape.size(), 1);
  for (int64_t dim = int64_t(shape.size()) - 2; dim >= 0; --dim)
    strides[dim] = multiply(strides[dim + 1], shape[dim + 1]);
  return strides;
}

StridedLayoutAttr tilewright::getWindowLayout(Value value) {
  if (!isWindow(value))
    return {};
  return StridedLayoutAttr::get(value.getContext(), ShapedType::kDynamic,
                                stridesOf(value));
}
