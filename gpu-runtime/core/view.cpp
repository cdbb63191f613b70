// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making and comparing views; see view.h.

#include "core/view.h"

#include "core/checked.h"

namespace tilewright::runtime {

bool View::overlaps(const View &other) const {
  if (bytes == 0 || other.bytes == 0)
    return false;
  // Adopted buffers may name the same memory: compare addresses where buffers
  // have them, and offsets otherwise.
  uint64_t a = offset, b = other.offset;
  if (buffer != other.buffer) {
    if (!buffer->address() || !other.buffer->address())
      return false;
    a = address(), b = other.address();
  }
  return a < b + uint64_t(other.bytes) && b < a + uint64_t(bytes);
}

Status makeView(std::shared_ptr<Buffer> buffer, uint64_t offset, tw_dtype dtype,
                std::vector<int64_t> dims, View &result) {
  View view;
  if (Status s = denseSize(dims, dtype, view.elements, view.bytes))
    return s;
  if (!rangeFits(offset, view.bytes, buffer->size()))
    return invalidArgument(
        "tensor " + shapeText(dims, dtype) + " at offset " +
        std::to_string(offset) + " takes " + std::to_string(view.bytes) +
        " bytes; its buffer has " + std::to_string(buffer->size()));
  if (offset % dtypeBytes(dtype))
    return invalidArgument("tensor " + shapeText(dims, dtype) + " at offset " +
                           std::to_string(offset) +
                           " is misaligned; expected a multiple of " +
                           std::to_string(dtypeBytes(dtype)));
  view.buffer = std::move(buffer);
  view.offset = offset;
  view.dtype = dtype;
  view.dims = std::move(dims);
  result = std::move(view);
  return Status::ok();
}

Status allocateView(Device &device, Stream *stream, tw_dtype dtype,
                    std::vector<int64_t> dims, View &result) {
  int64_t elements, bytes;
  if (Status s = denseSize(dims, dtype, elements, bytes))
    return s;
  std::shared_ptr<Buffer> buffer;
  if (Status s = device.allocate(bytes, stream, buffer))
    return std::move(s).in("tensor " + shapeText(dims, dtype));
  return makeView(std::move(buffer), 0, dtype, std::move(dims), result);
}

Status checkViewType(const View &view, tw_dtype dtype,
                     const std::vector<int64_t> &shape,
                     const std::string &what) {
  auto differs = [&](const std::string &how) {
    return invalidArgument(what + ": expected " + shapeText(shape, dtype) +
                           ", got " + view.text() + ": " + how);
  };
  if (view.dtype != dtype)
    return differs("the element type differs");
  if (view.dims.size() != shape.size())
    return differs("the rank differs");
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] >= 0 && shape[i] != view.dims[i])
      return differs("dim " + std::to_string(i) + " differs");
  return Status::ok();
}

} // namespace tilewright::runtime
