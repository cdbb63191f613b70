// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every limit of cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col
// (tensor_map_limits.h), checked here so that the message names the operand's dim, not
// the driver's argument.
#include "core/tensor_map.h"

#include "core/checked.h"
#include "core/dtype.h"
#include "core/tensor_map_limits.h"

namespace tilewright::runtime {

namespace {

using namespace tensor_map;

std::string number(uint64_t value) { return std::to_string(value); }

/// What a row of a box, `bytes` long, has to be.
Status checkRow(uint64_t bytes, unsigned swizzle) {
  if (!isSwizzle(swizzle))
    return unsupported("a tensor map swizzles 0, 32, 64 or 128 bytes, not " +
                       number(swizzle));
  if (!isAligned(bytes))
    return unsupported("rows of a box are multiples of 16 bytes, not " + number(bytes));
  if (!isBoxRow(bytes, swizzle))
    return unsupported("rows of a box have at most the " + number(swizzle) +
                       " bytes of the swizzle, not " + number(bytes));
  return Status::ok();
}

std::string within(const char *what, int64_t value, int64_t least, int64_t most) {
  return std::string(what) + " is " + std::to_string(value) + "; it has to be " +
         std::to_string(least) + " to " + std::to_string(most);
}

Status checkImageDim(int64_t elements) {
  return isDim(elements) ? Status::ok()
                         : unsupported("an image has " + std::to_string(elements) +
                                       " elements along a dim; a tensor map takes 1 to 2^32");
}

Status checkImage(const ImageParam &image, const std::vector<int64_t> &box) {
  size_t space = image.lower.size();
  if (!isSpace(space))
    return unsupported("images have 1 to 3 dims of space, not " + number(space));
  if (image.dims.size() != space + 2 || image.strides.size() != space + 1 ||
      image.upper.size() != space || image.steps.size() != space)
    return unsupported("of images with " + number(space) +
                       " dims of space there are two dims more, and one stride more");
  if (box.size() != 2)
    return unsupported("the box of an image is pixels and channels, not " +
                       number(box.size()) + " dims");
  if (!isPixels(box[0]))
    return unsupported(within("the number of pixels", box[0], 1, kMaxPixels));
  if (!isChannels(box[1]))
    return unsupported(within("the number of channels", box[1], 1, kMaxChannels));
  for (int64_t dim : image.dims)
    if (dim != kOpen)
      if (Status s = checkImageDim(dim))
        return s;
  int64_t bound = cornerBound(space);
  for (size_t i = 0; i < space; ++i) {
    for (int64_t corner : {image.lower[i], image.upper[i]})
      if (!isCorner(space, corner))
        return unsupported(within("a corner", corner, -bound, bound - 1));
    if (!isStep(image.steps[i]))
      return unsupported(within("a step", image.steps[i], 1, kMaxStep));
    if (image.dims[i + 1] != kOpen &&
        !hasWindows(image.dims[i + 1], image.lower[i], image.upper[i]))
      return unsupported("no window is between the corners along dim " + number(i + 1) +
                         " of the image");
  }
  return Status::ok();
}

/// A stride in bytes, as `result` if a tensor map takes it.
Status addStride(uint64_t elements, uint64_t size, size_t dim, TensorMapDesc &result) {
  uint64_t width = dtypeBytes(result.dtype), bytes = 0;
  bool isHuge = elements >= uint64_t(kMaxStride);
  if (!isHuge)
    bytes = elements * width;
  // The stride of a dim of one element does not matter, but has to be allowed; views have
  // none there.
  if (size == 1 && (isHuge || !isStride(bytes) || !bytes))
    isHuge = false, bytes = kAlignment;
  if (isHuge || !isStride(bytes))
    return unsupported("neighbours along dim " + number(dim) + " are " +
                       number(isHuge ? elements : bytes) +
                       (isHuge ? " elements" : " bytes") +
                       " apart; a tensor map takes multiples of 16 below 2^40");
  result.strides.push_back(bytes);
  return Status::ok();
}

/// The images of which `view` is windows: they begin where its memory does.
Status describeImage(const View &view, const TensorMapParam &param,
                     TensorMapDesc &result) {
  const ImageParam &image = *param.image;
  const std::vector<int64_t> &dims = image.dims;
  size_t rank = dims.size();
  int64_t last = 0, bytes;
  for (size_t i = 0; i < rank; ++i) {
    if (Status s = checkImageDim(dims[i]))
      return s;
    int64_t reach, stride = i + 1 < rank ? image.strides[i] : 1;
    if (stride < 0 || !checkedMul(dims[i] - 1, stride, reach) ||
        !checkedAdd(last, reach, last))
      return unsupported("strides of the image overflow");
  }
  uint64_t width = dtypeBytes(view.dtype), size = view.buffer->size();
  if (!checkedAdd(last, 1, last) || !checkedMul(last, int64_t(width), bytes) ||
      view.offset > size || uint64_t(bytes) > size - view.offset)
    return unsupported("the images reach beyond the memory of the operand");
  for (size_t i = rank; i-- > 0;) {
    result.dims.push_back(uint64_t(dims[i]));
    if (i + 1 < rank)
      if (Status s = addStride(uint64_t(image.strides[i]), uint64_t(dims[i]), i, result))
        return s;
  }
  TensorMapDesc::Image &windows = result.image.emplace();
  for (size_t i = image.lower.size(); i-- > 0;) {
    windows.lower.push_back(int32_t(image.lower[i]));
    windows.upper.push_back(int32_t(image.upper[i]));
  }
  // Neither channels nor images are left out.
  windows.steps.assign(rank, 1);
  for (size_t i = 0; i < image.steps.size(); ++i)
    windows.steps[image.steps.size() - i] = uint32_t(image.steps[i]);
  windows.pixels = uint32_t(param.box[0]);
  windows.channels = uint32_t(param.box[1]);
  return Status::ok();
}

/// Makes one dim of the first `count` of `dims`, which lie behind one another.
Status mergeDims(size_t count, std::vector<int64_t> &dims, std::vector<int64_t> &strides) {
  int64_t size = dims[count - 1];
  for (size_t i = count - 1; i-- > 0;) {
    int64_t rows;
    if (!checkedMul(dims[i + 1], strides[i + 1], rows) ||
        (dims[i] != 1 && rows != strides[i]) ||
        !checkedMul(size, dims[i], size))
      return unsupported("its first " + number(count) +
                         " dims do not lie in memory as one");
  }
  dims[count - 1] = size;
  dims.erase(dims.begin(), dims.begin() + ptrdiff_t(count - 1));
  strides.erase(strides.begin(), strides.begin() + ptrdiff_t(count - 1));
  return Status::ok();
}

} // namespace

Status checkTensorMapBox(const TensorMapParam &param, tw_dtype dtype, size_t rank) {
  if (param.merged < 1 || param.merged > std::max<size_t>(rank, 1))
    return unsupported(number(param.merged) + " dims are one, of an operand with " +
                       number(rank));
  if (param.image) {
    if (Status s = checkImage(*param.image, param.box))
      return s;
    return checkRow(uint64_t(param.box[1]) * dtypeBytes(dtype), param.swizzle);
  }
  rank -= param.merged - 1;
  if (rank < 1 || rank > kMaxDims)
    return unsupported("a tensor map has 1 to 5 dims, its operand " + number(rank));
  if (param.box.size() != rank)
    return unsupported("the box has " + number(param.box.size()) +
                       " dims, its operand " + number(rank));
  for (int64_t extent : param.box)
    if (!isBoxExtent(extent))
      return unsupported("a box has 1 to 256 elements along a dim, not " +
                         std::to_string(extent));
  return checkRow(uint64_t(param.box.back()) * dtypeBytes(dtype), param.swizzle);
}

Status describeTensorMap(const View &view, const TensorMapParam &param,
                         TensorMapDesc &result) {
  if (Status s = checkTensorMapBox(param, view.dtype, view.dims.size()))
    return s;
  if (view.isPadded && !param.image)
    return unsupported("no tensor map describes a padded view");
  if (!isAligned(view.address()))
    return unsupported("its first element is " + number(view.address() % kAlignment) +
                       " bytes behind a multiple of 16");
  result = {};
  result.dtype = view.dtype;
  result.address = view.address();
  result.swizzle = param.swizzle;
  if (param.image)
    return describeImage(view, param, result);
  std::vector<int64_t> dims = view.dims, strides;
  for (size_t i = 0; i < dims.size(); ++i)
    strides.push_back(view.stride(i));
  if (Status s = mergeDims(param.merged, dims, strides))
    return s;
  size_t rank = dims.size();
  if (strides[rank - 1] != 1 && dims[rank - 1] != 1)
    return unsupported("neighbours along its last dim are " +
                       std::to_string(strides[rank - 1]) + " elements apart, not 1");
  for (size_t i = rank; i-- > 0;) {
    uint64_t size = uint64_t(dims[i]);
    if (!isDim(dims[i]))
      return unsupported("dim " + number(i) + " has " + number(size) +
                         " elements; a tensor map takes 1 to 2^32");
    result.dims.push_back(size);
    result.box.push_back(uint32_t(param.box[i]));
    if (i == rank - 1)
      continue;
    if (Status s = addStride(uint64_t(strides[i]), size, i, result))
      return s;
  }
  return Status::ok();
}

} // namespace tilewright::runtime
