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

/// What both kinds have in common; the enumerations are checked here.
struct Encoding {
  CUtensorMap *map;
  CUtensorMapDataType type;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion promotion;
  CUtensorMapFloatOOBfill fill;
};

CUresult encode(const char *name, const Encoding &of, TensorMapRequest request) {
  if (!of.map || reinterpret_cast<uintptr_t>(of.map) % 64 != 0 || static_cast<unsigned>(of.promotion) > 3 ||
      static_cast<unsigned>(of.fill) > 1 || static_cast<unsigned>(of.interleave) > 2 ||
      static_cast<unsigned>(of.swizzle) > 6)
    return CUDA_ERROR_INVALID_VALUE;
  if (driver().options.computeCapability < 90 || of.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ||
      of.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) {
    std::fprintf(stderr, "ptxsim: %s: %s\n", name,
                 driver().options.computeCapability < 90              ? "tensor maps need sm_90 (PTXSIM_ARCH)"
                 : of.interleave != CU_TENSOR_MAP_INTERLEAVE_NONE ? "interleaved layouts are not simulated"
                                                                    : "this swizzle needs sm_100");
    return CUDA_ERROR_NOT_SUPPORTED;
  }
  request.elementBytes = elementBytes(of.type);
  request.isFloat = of.type >= CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
  request.dataType = static_cast<uint8_t>(of.type);
  request.swizzle = static_cast<Swizzle>(of.swizzle);
  request.fillsNaN = of.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  TensorMap encoded;
  std::string why;
  if (!encodeTensorMap(request, encoded, why)) {
    std::fprintf(stderr, "ptxsim: %s: %s\n", name, why.c_str());
    return CUDA_ERROR_INVALID_VALUE;
  }
  // Before CUDA 13 maps were aligned to 64 bytes, not to 128.
  std::memcpy(static_cast<void *>(reinterpret_cast<uint8_t *>(of.map)), &encoded, sizeof(encoded));
  return CUDA_SUCCESS;
}

TensorMapRequest requestOf(cuuint32_t rank, void *address, const cuuint64_t *dims, const cuuint64_t *strides,
                           const cuuint32_t *elementStrides) {
  TensorMapRequest request;
  request.rank = rank;
  request.address = reinterpret_cast<uint64_t>(address);
  request.dims = reinterpret_cast<const uint64_t *>(dims);
  request.strides = reinterpret_cast<const uint64_t *>(strides);
  request.elementStrides = elementStrides;
  return request;
}

} // namespace

namespace api {

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                const cuuint64_t *dims, const cuuint64_t *strides, const cuuint32_t *box,
                                const cuuint32_t *elementStrides, CUtensorMapInterleave interleave,
                                CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill fill) {
  TensorMapRequest request = requestOf(rank, address, dims, strides, elementStrides);
  request.box = box;
  return encode("cuTensorMapEncodeTiled", {map, type, interleave, swizzle, promotion, fill}, request);
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank, void *address,
                                 const cuuint64_t *dims, const cuuint64_t *strides, const int *lower, const int *upper,
                                 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t *elementStrides,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill) {
  TensorMapRequest request = requestOf(rank, address, dims, strides, elementStrides);
  request.isIm2col = true;
  request.lower = lower;
  request.upper = upper;
  request.channels = channels;
  request.pixels = pixels;
  return encode("cuTensorMapEncodeIm2col", {map, type, interleave, swizzle, promotion, fill}, request);
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
