// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which arguments of a kernel copy engines can name, whatever is multiplied: dense
// tensors of 2 to 5 dims whose rows lie at multiples of 16 bytes.

#include "TensorMaps.h"

#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Padding.h"

using namespace mlir;
using namespace tilewright;

static constexpr int64_t kAlignment = 16, kMostDims = 5;

/// Why no tensor map is of a window (of images, too, whose windows overlap), as the end of
/// a sentence; empty if one is. A variant of the kernel promises that it is aligned.
static std::string whyNotWindow(func::FuncOp kernel, int64_t position,
                                StridedLayoutAttr view, int64_t bytes) {
  auto aligned = kernel->getAttrOfType<DenseI64ArrayAttr>(kAlignedAttr);
  if (!aligned || !llvm::is_contained(aligned.asArrayRef(), position))
    return " is a window of a larger tensor, which may begin anywhere";
  ArrayRef<int64_t> strides = view.getStrides();
  if (strides.empty() || strides.back() != 1)
    return " is a window without neighbours in memory along its last dim";
  for (int64_t stride : strides.drop_back())
    if (ShapedType::isStatic(stride) && stride * bytes % kAlignment)
      return " is a window whose rows are " + std::to_string(stride * bytes) +
             " bytes apart; a tensor map needs multiples of 16";
  return "";
}

std::string tilewright::whyNoTensorMap(func::FuncOp kernel, BlockArgument argument) {
  if (getPadding(argument))
    return " is padded where it is read";
  int64_t position = operandNumber(argument);
  if (auto bits = kernel->getAttrOfType<IntegerAttr>(kIndexBitsAttr);
      bits && bits.getInt() > 32)
    return " may have 2^31 elements; coordinates of copy engines have 32 bits";
  auto type = cast<RankedTensorType>(argument.getType());
  if (type.getRank() < 2 || type.getRank() > kMostDims)
    return " has " + std::to_string(type.getRank()) +
           " dims; a tensor map of a matrix has 2 to 5";
  if (!type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() % 8)
    return " is of elements that are no whole bytes";
  int64_t bytes = type.getElementTypeBitWidth() / 8, row = type.getShape().back();
  if (StridedLayoutAttr view = getView(kernel, position))
    if (std::string why = whyNotWindow(kernel, position, view, bytes); !why.empty())
      return why;
  bool isDynamic = ShapedType::isDynamic(row);
  int64_t known =
      isDynamic ? promisedDivisor(kernel, position, type.getRank() - 1) : row;
  if (!getView(kernel, position) && known * bytes % kAlignment)
    return " has rows of " +
           (isDynamic ? "any number of" : std::to_string(row * bytes)) +
           " bytes; a tensor map needs multiples of 16";
  if (llvm::is_contained(type.getShape(), 0))
    return " has no elements";
  return "";
}
