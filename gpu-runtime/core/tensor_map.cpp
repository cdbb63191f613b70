// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every limit of cuTensorMapEncodeTiled (CUDA driver API, "Tensor Map Object
// Management"), checked here so that the message names the operand's dim, not the
// driver's argument.
#include "core/tensor_map.h"

namespace tilewright::runtime {

namespace {

constexpr size_t kMaxDims = 5;
constexpr int64_t kMaxBox = 256;
constexpr uint64_t kMaxDim = uint64_t(1) << 32;
constexpr uint64_t kMaxStride = uint64_t(1) << 40; // bytes, exclusive
constexpr uint64_t kAlignment = 16;                // bytes: base, strides, rows of a box

std::string number(uint64_t value) { return std::to_string(value); }

} // namespace

Status checkTensorMapBox(const TensorMapParam &param, tw_dtype dtype, size_t rank) {
  if (rank < 1 || rank > kMaxDims)
    return unsupported("a tensor map has 1 to 5 dims, its operand " + number(rank));
  if (param.box.size() != rank)
    return unsupported("the box has " + number(param.box.size()) +
                       " dims, its operand " + number(rank));
  if (param.swizzle != 0 && param.swizzle != 32 && param.swizzle != 64 &&
      param.swizzle != 128)
    return unsupported("a tensor map swizzles 0, 32, 64 or 128 bytes, not " +
                       number(param.swizzle));
  for (int64_t extent : param.box)
    if (extent < 1 || extent > kMaxBox)
      return unsupported("a box has 1 to 256 elements along a dim, not " +
                         std::to_string(extent));
  uint64_t row = uint64_t(param.box.back()) * dtypeBytes(dtype);
  if (row % kAlignment)
    return unsupported("rows of a box are multiples of 16 bytes, not " + number(row));
  if (param.swizzle && row > param.swizzle)
    return unsupported("rows of a box have at most the " + number(param.swizzle) +
                       " bytes of the swizzle, not " + number(row));
  return Status::ok();
}

Status describeTensorMap(const View &view, const TensorMapParam &param,
                         TensorMapDesc &result) {
  size_t rank = view.dims.size();
  if (Status s = checkTensorMapBox(param, view.dtype, rank))
    return s;
  if (view.isPadded)
    return unsupported("no tensor map describes a padded view");
  if (view.address() % kAlignment)
    return unsupported("its first element is " + number(view.address() % kAlignment) +
                       " bytes behind a multiple of 16");
  if (view.stride(rank - 1) != 1 && view.dims[rank - 1] != 1)
    return unsupported("neighbours along its last dim are " +
                       std::to_string(view.stride(rank - 1)) + " elements apart, not 1");
  result = {};
  result.dtype = view.dtype;
  result.address = view.address();
  result.swizzle = param.swizzle;
  for (size_t i = rank; i-- > 0;) {
    uint64_t size = uint64_t(view.dims[i]);
    if (size < 1 || size > kMaxDim)
      return unsupported("dim " + number(i) + " has " + number(size) +
                         " elements; a tensor map takes 1 to 2^32");
    result.dims.push_back(size);
    result.box.push_back(uint32_t(param.box[i]));
    if (i == rank - 1)
      continue;
    // The stride of a dim of one element does not matter, but has to be allowed.
    uint64_t bytes = uint64_t(view.stride(i)) * dtypeBytes(view.dtype);
    if (size == 1 && (bytes % kAlignment || bytes >= kMaxStride))
      bytes = kAlignment;
    if (bytes % kAlignment || bytes >= kMaxStride)
      return unsupported("neighbours along dim " + number(i) + " are " + number(bytes) +
                         " bytes apart; a tensor map takes multiples of 16 below 2^40");
    result.strides.push_back(bytes);
  }
  return Status::ok();
}

} // namespace tilewright::runtime
