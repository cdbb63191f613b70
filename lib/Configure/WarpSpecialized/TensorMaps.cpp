// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which arguments of a kernel copy engines can name, whatever is multiplied: dense
// tensors of 2 to 5 dims whose rows lie at multiples of 16 bytes, and pixels of images
// within the limits of im2col maps.

#include "TensorMaps.h"

#include "core/tensor_map_limits.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Padding.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tensor_map;

/// Why no tensor map is of a window (of images, too, whose windows overlap), as the end of
/// a sentence; none if one is. A variant of the kernel promises that it is aligned.
static Refusal whyNotWindow(func::FuncOp kernel, int64_t position, StridedLayoutAttr view,
                            int64_t bytes) {
  auto aligned = kernel->getAttrOfType<DenseI64ArrayAttr>(kAlignedAttr);
  if (!aligned || !llvm::is_contained(aligned.asArrayRef(), position))
    return refuse(Refused::Alignment, " is a window of a larger tensor, which may begin anywhere");
  ArrayRef<int64_t> strides = view.getStrides();
  if (strides.empty() || strides.back() != 1)
    return refuse(Refused::Layout, " is a window without neighbours in memory along its last dim");
  for (int64_t stride : strides.drop_back())
    if (ShapedType::isStatic(stride) && stride * bytes % kAlignment)
      return refuse(Refused::Alignment, " is a window whose rows are " +
                                            std::to_string(stride * bytes) +
                                            " bytes apart; a tensor map needs multiples of 16");
  return {};
}

/// The same of an operand that is pixels of `image`s, elements of `bytes` each: every limit
/// of im2col maps, " has …".
static Refusal whyNoImageMap(ImageAttr image, int64_t bytes) {
  size_t space = image.getPlaces().size();
  auto of = [](int64_t value) { return std::to_string(value); };
  std::string maps = "; an im2col map of " + of(space) + " dims of space takes ";
  for (int64_t dim : image.getDims())
    if (ShapedType::isStatic(dim) && !isDim(dim))
      return refuse(Refused::Extents,
                    " has images of " + of(dim) + " elements along a dim" + maps + "1 to 2^32");
  for (int64_t stride : image.getStrides())
    if (ShapedType::isStatic(stride) && !isStride(stride * bytes))
      return refuse(Refused::Alignment, " has images with rows or pixels " + of(stride * bytes) +
                                            " bytes apart" + maps + "multiples of 16 below 2^40");
  int64_t bound = cornerBound(space);
  for (size_t dim = 0; dim < space; ++dim) {
    int64_t lower = image.getLower()[dim], upper = image.getUpper()[dim];
    for (int64_t corner : {lower, upper})
      if (!isCorner(space, corner))
        return refuse(Refused::Extents, " has windows that begin or end " + of(corner) +
                                            " elements from an edge of the image" + maps +
                                            of(-bound) + " to " + of(bound - 1));
    if (!isStep(image.getSteps()[dim]))
      return refuse(Refused::Extents, " has windows " + of(image.getSteps()[dim]) +
                                          " elements apart" + maps + "1 to " + of(kMaxStep));
    // The windows of the result are the first ones of those that lie in the image; of open
    // sizes the guard says so.
    if (ShapedType::isDynamic(image.getDims()[dim + 1]) ||
        ShapedType::isDynamic(image.getPlaces()[dim]))
      continue;
    int64_t inside = image.getDims()[dim + 1] + upper - lower;
    if (!hasWindows(image.getDims()[dim + 1], lower, upper) ||
        llvm::divideCeil(inside, image.getSteps()[dim]) != uint64_t(image.getPlaces()[dim]))
      return refuse(Refused::Extents,
                    " has fewer windows along a dim than fit between its corners");
  }
  return {};
}

/// Why the taps of `argument`, pixels of `image`, cannot be named.
static Refusal whyNotTaps(ImageAttr image, RankedTensorType type) {
  size_t space = image.getPlaces().size();
  for (auto [tap, dilation] : llvm::zip_equal(image.getTaps(), image.getDilations()))
    if (int64_t last = tap ? (type.getDimSize(tap) - 1) * dilation : 0;
        !isOffset(space, last))
      return refuse(Refused::Extents, " has taps " + std::to_string(last) +
                                          " elements behind the first; an im2col map of " +
                                          std::to_string(space) + " dims of space takes up to " +
                                          std::to_string(maxOffset(space)));
  return {};
}

Refusal tilewright::whyNoTensorMap(func::FuncOp kernel, BlockArgument argument) {
  int64_t position = operandNumber(argument);
  if (ImageAttr image = getImage(kernel, position)) {
    auto type = cast<RankedTensorType>(argument.getType());
    if (!type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() % 8)
      return refuse(Refused::Types, " is of elements that are no whole bytes");
    if (Refusal why = whyNoImageMap(image, type.getElementTypeBitWidth() / 8))
      return why;
    return whyNotTaps(image, type);
  }
  if (getPadding(argument))
    return refuse(Refused::Layout, " is padded where it is read");
  if (getIndexBits(kernel) > 32)
    return refuse(
        Refused::Extents,
        " is in a kernel for operands of 2^31 elements and more; coordinates of copy engines "
        "have 32 bits");
  auto type = cast<RankedTensorType>(argument.getType());
  if (type.getRank() < 2 || type.getRank() > int64_t(kMaxDims))
    return refuse(Refused::Layout, " has " + std::to_string(type.getRank()) +
                                       " dims; a tensor map of a matrix has 2 to 5");
  if (!type.getElementType().isIntOrFloat() || type.getElementTypeBitWidth() % 8)
    return refuse(Refused::Types, " is of elements that are no whole bytes");
  int64_t bytes = type.getElementTypeBitWidth() / 8, row = type.getShape().back();
  if (StridedLayoutAttr view = getView(kernel, position))
    if (Refusal why = whyNotWindow(kernel, position, view, bytes))
      return why;
  bool isDynamic = ShapedType::isDynamic(row);
  int64_t known =
      isDynamic ? promisedDivisor(kernel, position, type.getRank() - 1) : row;
  if (!getView(kernel, position) && known * bytes % kAlignment)
    return refuse(Refused::Alignment,
                  " has rows of " + (isDynamic ? "any number of" : std::to_string(row * bytes)) +
                      " bytes; a tensor map needs multiples of 16");
  if (llvm::is_contained(type.getShape(), 0))
    return refuse(Refused::Extents, " has no elements");
  return {};
}
