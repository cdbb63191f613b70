// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps; the driver knows the rules.

#include "cuda_device.h"

#include <cstring>

namespace tilewright::cuda {

namespace {

/// Types that the hardware only moves are integers of their size.
bool dataType(tw_dtype dtype, CUtensorMapDataType &result) {
  switch (dtype) {
  case TW_F64:
    result = CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
    return true;
  case TW_F32:
    result = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    return true;
  case TW_F16:
    result = CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
    return true;
  case TW_BF16:
    result = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
    return true;
  case TW_I64:
  case TW_INDEX:
    result = CU_TENSOR_MAP_DATA_TYPE_INT64;
    return true;
  case TW_I32:
    result = CU_TENSOR_MAP_DATA_TYPE_INT32;
    return true;
  case TW_I16:
    result = CU_TENSOR_MAP_DATA_TYPE_UINT16;
    return true;
  case TW_F8E4M3FN:
  case TW_F8E5M2:
  case TW_F8E4M3FNUZ:
  case TW_F8E5M2FNUZ:
  case TW_I8:
    result = CU_TENSOR_MAP_DATA_TYPE_UINT8;
    return true;
  default:
    return false;
  }
}

} // namespace

Status CudaDevice::encodeTensorMap(const TensorMapDesc &desc,
                                   std::array<uint8_t, 128> &result) {
  CUtensorMapDataType type;
  if (desc.image ? !api().cuTensorMapEncodeIm2col : !api().cuTensorMapEncodeTiled)
    return unsupported("tensor maps need a driver of CUDA 12.0 or later");
  if (!dataType(desc.dtype, type))
    return unsupported("no tensor map has this element type");
  unsigned swizzle = desc.swizzle == 128  ? 3
                     : desc.swizzle == 64 ? 2
                     : desc.swizzle == 32 ? 1
                                          : 0;
  std::vector<cuuint32_t> ones(desc.dims.size(), 1);
  CUtensorMap map = {};
  ScopedContext scope(*this);
  if (desc.image) {
    CUresult status = api().cuTensorMapEncodeIm2col(
        &map, type, static_cast<cuuint32_t>(desc.dims.size()),
        reinterpret_cast<void *>(desc.address), desc.dims.data(), desc.strides.data(),
        desc.image->lower.data(), desc.image->upper.data(), desc.image->channels,
        desc.image->pixels, desc.image->steps.data(), CU_TENSOR_MAP_INTERLEAVE_NONE,
        static_cast<CUtensorMapSwizzle>(swizzle), CU_TENSOR_MAP_L2_PROMOTION_NONE,
        static_cast<CUtensorMapFloatOOBfill>(desc.fillsNaN));
    std::memcpy(result.data(), &map, result.size());
    return check(status, "cuTensorMapEncodeIm2col");
  }
  CUresult status = api().cuTensorMapEncodeTiled(
      &map, type, static_cast<cuuint32_t>(desc.dims.size()),
      reinterpret_cast<void *>(desc.address), desc.dims.data(),
      desc.strides.data(), desc.box.data(), ones.data(),
      CU_TENSOR_MAP_INTERLEAVE_NONE, static_cast<CUtensorMapSwizzle>(swizzle),
      CU_TENSOR_MAP_L2_PROMOTION_NONE,
      static_cast<CUtensorMapFloatOOBfill>(desc.fillsNaN));
  std::memcpy(result.data(), &map, result.size());
  return check(status, "cuTensorMapEncodeTiled");
}

} // namespace tilewright::cuda
