// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One table of element types; see dtype.h.

#include "core/dtype.h"

#include "core/checked.h"

namespace tilewright::runtime {

namespace {

struct DtypeRow {
  const char *name;
  uint32_t bytes;
  bool isFloat;
};

// Indexed by tw_dtype.
constexpr DtypeRow kTable[] = {
    {"invalid", 0, false}, {"f64", 8, true},    {"f32", 4, true},
    {"f16", 2, true},      {"bf16", 2, true},   {"f8E4M3FN", 1, true},
    {"f8E5M2", 1, true},   {"i64", 8, false},   {"i32", 4, false},
    {"i16", 2, false},     {"i8", 1, false},    {"i4", 1, false},
    {"i1", 1, false},      {"index", 8, false},  {"f8E4M3FNUZ", 1, true},
    {"f8E5M2FNUZ", 1, true}, {"i2", 1, false},
};
constexpr int kCount = sizeof(kTable) / sizeof(kTable[0]);
static_assert(TW_I2 == kCount - 1, "one row per tw_dtype");

} // namespace

bool isValidDtype(int32_t dtype) { return dtype > 0 && dtype < kCount; }

const char *dtypeName(int32_t dtype) {
  return kTable[isValidDtype(dtype) ? dtype : 0].name;
}

bool parseDtype(std::string_view name, tw_dtype &result) {
  for (int i = 1; i < kCount; ++i)
    if (name == kTable[i].name) {
      result = static_cast<tw_dtype>(i);
      return true;
    }
  return false;
}

const char *dtypeList() {
  return "f64, f32, f16, bf16, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, i64, "
         "i32, i16, i8, i4, i2, i1, index";
}

uint32_t dtypeBytes(tw_dtype dtype) {
  return kTable[isValidDtype(dtype) ? dtype : 0].bytes;
}

int64_t tensorBytes(int64_t elements, tw_dtype dtype) {
  int64_t shared = elementsPerByte(dtype);
  return shared > 1 ? elements / shared + (elements % shared != 0)
                    : elements * dtypeBytes(dtype);
}

int64_t elementsPerByte(tw_dtype dtype) {
  return dtype == TW_I4 ? 2 : dtype == TW_I2 ? 4 : 1;
}

uint32_t dtypeBits(tw_dtype dtype) {
  return dtypeBytes(dtype) * 8 / static_cast<uint32_t>(elementsPerByte(dtype));
}

bool isFloatDtype(tw_dtype dtype) {
  return kTable[isValidDtype(dtype) ? dtype : 0].isFloat;
}

std::string shapeText(const std::vector<int64_t> &shape, tw_dtype dtype) {
  std::string text;
  for (int64_t dim : shape)
    text += (dim < 0 ? std::string("?") : std::to_string(dim)) + "x";
  return text + dtypeName(dtype);
}

Status denseSize(const std::vector<int64_t> &shape, tw_dtype dtype,
                 int64_t &elements, int64_t &bytes) {
  if (!isValidDtype(dtype))
    return invalidArgument("element type " +
                           std::to_string(static_cast<int>(dtype)) +
                           " is unknown; expected one of " + dtypeList());
  if (shape.size() > kMaxRank)
    return invalidArgument("rank " + std::to_string(shape.size()) +
                           " is beyond the limit of " +
                           std::to_string(kMaxRank));
  // A zero dim makes the tensor empty, but the other dims must still be sane:
  // strides are their products.
  int64_t count = 1, padded = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] < 0)
      return invalidArgument("dim " + std::to_string(i) + " of a tensor is " +
                             std::to_string(shape[i]) + "; expected 0 or more");
    if (!checkedMul(padded, shape[i] ? shape[i] : 1, padded) ||
        padded > (int64_t(1) << 62) / dtypeBytes(dtype))
      return invalidArgument("tensor " + shapeText(shape, dtype) +
                             " is larger than 2^62 bytes");
    count *= shape[i];
  }
  elements = count;
  bytes = tensorBytes(count, dtype);
  return Status::ok();
}

} // namespace tilewright::runtime
