// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images in the manifest:
//
//   #tilewright.image<dims = [?, ?, ?, 64], strides = [?, ?, 64], places = [?, ?], …,
//                     windows = [1, 3], along = [2, 4], extents = [0, 1]>
// becomes
//   "dims": [["dim", 0, 0], ["scalar", 0], ["scalar", 1], 64],
//   "strides": [["stride", 0, 0], ["stride", 0, 2], 64], …
// and guards of what a tensor map of them takes.

#include "ManifestImages.h"
#include "tilewright/Dialect/Divisibility.h"

using namespace mlir;
using namespace tilewright;
namespace json = llvm::json;

namespace {
/// What of the images that `operand` is pixels of only a launch tells, as expressions.
struct ImageSizes {
  int64_t operand;
  ImageAttr image;

  /// Pixels of the result along dim of space `dim`.
  json::Value places(size_t dim) const {
    int64_t places = image.getPlaces()[dim];
    if (ShapedType::isStatic(places))
      return places;
    return json::Array{"dim", operand, image.getWindows()[dim]};
  }
  /// Elements along dim of space `dim`.
  json::Value extent(size_t dim) const {
    int64_t extent = image.getDims()[dim + 1];
    if (ShapedType::isStatic(extent))
      return extent;
    if (isTold(dim))
      return json::Array{"scalar", image.getExtents()[dim]};
    // Up to where its last window begins, and as far behind as windows may not.
    int64_t step = image.getSteps()[dim],
            rest = image.getLower()[dim] - image.getUpper()[dim] + 1 - step;
    json::Value last = places(dim);
    if (step != 1)
      last = json::Array{"mul", std::move(last), step};
    return rest ? json::Value(json::Array{"add", std::move(last), rest}) : std::move(last);
  }
  /// What stride `dim` is a part of, and how often it is in there.
  std::pair<json::Value, int64_t> strideOfOperand(size_t dim) const {
    if (dim == 0)
      return {json::Array{"stride", operand, 0}, 1};
    int64_t along = image.getAlong()[dim - 1];
    return {json::Array{"stride", operand, along},
            along == image.getWindows()[dim - 1] ? image.getSteps()[dim - 1]
                                                 : image.getDilations()[dim - 1]};
  }
  json::Value stride(size_t dim) const {
    if (ShapedType::isStatic(image.getStrides()[dim]))
      return image.getStrides()[dim];
    auto [stride, times] = strideOfOperand(dim);
    return times == 1 ? std::move(stride)
                      : json::Array{"floordiv", std::move(stride), times};
  }
  bool isTold(size_t dim) const { return image.getExtents()[dim] >= 0; }
};
} // namespace

/// What a map takes of images whose sizes are open: strides of whole units, elements, and
/// as many windows between the corners as the result has pixels.
static void guardImage(const ImageSizes &sizes, int64_t unit, json::Array &all) {
  ImageAttr image = sizes.image;
  for (auto [dim, stride] : llvm::enumerate(image.getStrides())) {
    if (ShapedType::isStatic(stride))
      continue;
    auto [of, times] = sizes.strideOfOperand(dim);
    if (unit * times > 1)
      all.push_back(
          json::Array{"eq", json::Array{"mod", std::move(of), unit * times}, 0});
  }
  for (size_t dim = 0; dim < image.getPlaces().size(); ++dim) {
    bool isOpen = ShapedType::isDynamic(image.getDims()[dim + 1]);
    int64_t lower = image.getLower()[dim];
    // An image that is all in front of its padding's end has no elements.
    if (isOpen && (sizes.isTold(dim) || lower < 0))
      all.push_back(json::Array{"ge", sizes.extent(dim), 1});
    if (!sizes.isTold(dim) && (isOpen || ShapedType::isStatic(image.getPlaces()[dim])))
      continue;
    // Of a stride that no other dim says, where there is one window: it may be anything.
    if (ShapedType::isDynamic(image.getStrides()[dim + 1]) &&
        image.getAlong()[dim] == image.getWindows()[dim])
      all.push_back(json::Array{"ge", sizes.strideOfOperand(dim + 1).first, 1});
    json::Value inside = sizes.extent(dim);
    if (int64_t more = image.getUpper()[dim] - lower)
      inside = json::Array{"add", std::move(inside), more};
    all.push_back(json::Array{
        "eq", json::Array{"ceildiv", std::move(inside), image.getSteps()[dim]},
        sizes.places(dim)});
  }
}

void tilewright::guardImages(func::FuncOp kernel, json::Array &all) {
  TargetAttr target = getTarget(kernel);
  int64_t accessBytes = target ? target.getFact("access_bytes", 16) : 16, operand = 0;
  for (Type type : kernel.getArgumentTypes()) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped)
      continue;
    if (ImageAttr image = getImage(kernel, operand); image && image.isOpen())
      guardImage({operand, image},
                 accessBytes * 8 / shaped.getElementTypeBitWidth(), all);
    ++operand;
  }
}

json::Object tilewright::describeImage(int64_t operand, ImageAttr image) {
  ImageSizes sizes{operand, image};
  json::Array dims, strides;
  for (auto [dim, size] : llvm::enumerate(image.getDims()))
    if (ShapedType::isStatic(size))
      dims.push_back(size);
    else
      dims.push_back(dim ? sizes.extent(dim - 1) : json::Array{"dim", operand, 0});
  for (size_t dim = 0; dim < image.getStrides().size(); ++dim)
    strides.push_back(sizes.stride(dim));
  return json::Object{{"dims", std::move(dims)},
                      {"strides", std::move(strides)},
                      {"lower", json::Array(image.getLower())},
                      {"upper", json::Array(image.getUpper())},
                      {"steps", json::Array(image.getSteps())}};
}

json::Value tilewright::placesExpression(func::FuncOp kernel, int64_t operand, int64_t dim) {
  return ImageSizes{operand, getImage(kernel, operand)}.places(dim);
}
