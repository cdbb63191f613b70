// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps. What breaks a rule is refused as by a driver, and the rule is named on stderr.

#include "async/TensorMap.h"
#include "driver/State.h"

#include <cstdio>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

/// Bytes of an element; 0 for types that are not simulated.
unsigned elementBytes(CUtensorMapDataType type) {
  static constexpr uint8_t bytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
  auto index = static_cast<unsigned>(type);
  return index < sizeof(bytes) ? bytes[index] : 0;
}

} // namespace

namespace api {

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  if (!map || reinterpret_cast<uintptr_t>(map) % 64 != 0 || static_cast<unsigned>(promotion) > 3 ||
      static_cast<unsigned>(fill) > 1 || static_cast<unsigned>(interleave) > 2 || static_cast<unsigned>(swizzle) > 6)
    return CUDA_ERROR_INVALID_VALUE;
  if (driver().options.computeCapability < 90 || interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      swizzle > CU_TENSOR_MAP_SWIZZLE_128B)
    return CUDA_ERROR_NOT_SUPPORTED;
  TensorMapRequest request;
  request.elementBytes = elementBytes(type);
  request.isFloat = type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  request.rank = rank;
  request.address = reinterpret_cast<uint64_t>(address);
  request.dims = reinterpret_cast<const uint64_t *>(dims);
  request.strides = reinterpret_cast<const uint64_t *>(strides);
  request.box = box;
  request.elementStrides = elementStrides;
  request.swizzle = static_cast<Swizzle>(swizzle);
  request.fillsNaN = fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  TensorMap encoded;
  std::string why;
  if (!encodeTensorMap(request, encoded, why)) {
    std::fprintf(stderr, "ptxsim: cuTensorMapEncodeTiled: %s\n", why.c_str());
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::memcpy(map, &encoded, sizeof(encoded));
  return CUDA_SUCCESS;
}

CUresult cuTensorMapReplaceAddress(CUtensorMap *map, void *address) {
  if (!map || reinterpret_cast<uint64_t>(address) % 16 != 0 || !address)
    return CUDA_ERROR_INVALID_VALUE;
  TensorMap encoded;
  std::memcpy(&encoded, map, sizeof(encoded));
  if (encoded.magic != TensorMap::magicNumber)
    return CUDA_ERROR_INVALID_VALUE;
  encoded.address = reinterpret_cast<uint64_t>(address);
  std::memcpy(map, &encoded, sizeof(encoded));
  return CUDA_SUCCESS;
}

} // namespace api
} // namespace tilewright::ptxsim
