// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors in host memory; see host_tensor.h.

#include "host_tensor.h"

#include "core/dtype.h"
#include "number_formats.h"

#include <cstring>

namespace tilewright::run {

using runtime::dtypeBytes;

int64_t HostTensor::elements() const {
  int64_t count = 1;
  for (int64_t dim : dims)
    count *= dim;
  return count;
}

std::string HostTensor::type() const { return runtime::shapeText(dims, dtype); }

bool HostTensor::isFloat() const { return runtime::isFloatDtype(dtype); }

int64_t HostTensor::bits(int64_t i) const {
  if (int64_t shared = runtime::elementsPerByte(dtype); shared > 1) {
    int width = static_cast<int>(8 / shared), from = static_cast<int>(i % shared) * width;
    return static_cast<int8_t>(bytes[i / shared] << (8 - width - from)) >> (8 - width);
  }
  uint32_t size = dtypeBytes(dtype);
  uint64_t value = 0;
  std::memcpy(&value, bytes.data() + i * size, size);
  if (isFloat() || size == 8)
    return static_cast<int64_t>(value);
  if (dtype == TW_I1)
    return static_cast<int64_t>(value); // 0 or 1; other bytes show
  int shift = 64 - 8 * static_cast<int>(size);
  return static_cast<int64_t>(value << shift) >> shift;
}

double HostTensor::number(int64_t i) const {
  int64_t value = bits(i);
  return isFloat() ? decodeFloat(dtype, static_cast<uint64_t>(value))
                   : static_cast<double>(value);
}

void HostTensor::setBits(int64_t i, int64_t value) {
  if (int64_t shared = runtime::elementsPerByte(dtype); shared > 1) {
    int width = static_cast<int>(8 / shared), from = static_cast<int>(i % shared) * width;
    unsigned mask = ((1u << width) - 1) << from;
    uint8_t &byte = bytes[i / shared];
    byte = static_cast<uint8_t>((byte & ~mask) | (static_cast<unsigned>(value) << from & mask));
    return;
  }
  uint32_t size = dtypeBytes(dtype);
  std::memcpy(bytes.data() + i * size, &value, size);
}

HostTensor makeTensor(tw_dtype dtype, std::vector<int64_t> dims) {
  int64_t elements, bytes;
  if (runtime::Status s = runtime::denseSize(dims, dtype, elements, bytes))
    throw RunError(s.message());
  HostTensor tensor;
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  try {
    tensor.bytes.resize(static_cast<size_t>(bytes));
  } catch (const std::exception &) {
    throw RunError("no memory for a tensor " + tensor.type());
  }
  return tensor;
}

std::string indexText(const std::vector<int64_t> &dims, int64_t i) {
  std::string text;
  for (size_t d = dims.size(); d-- > 0;) {
    text = std::to_string(dims[d] ? i % dims[d] : 0) +
           (text.empty() ? "" : ", " + text);
    i = dims[d] ? i / dims[d] : 0;
  }
  return "[" + text + "]";
}

} // namespace tilewright::run
