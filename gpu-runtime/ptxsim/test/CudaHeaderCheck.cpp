// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiled, never run: NVIDIA's cuda.h declares the same functions as our table, so a wrong parameter is a conflicting
// declaration; the values of our constants are compared, and the sizes of structures.

#include <cstddef>
#include <cstdint>

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaProfiler.h>

extern "C" {
#define PTXSIM_API_NONE(name, symbol, version, params, args) CUresult symbol params;
#include "driver/Implemented.def"
}

#define PTXSIM_RESULT(name, value, text) static_assert(static_cast<int>(name) == value, #name);
#include "driver/Results.def"
#define PTXSIM_ATTRIBUTE(name, value) static_assert(static_cast<int>(CU_DEVICE_ATTRIBUTE_##name) == value, #name);
#include "driver/Attributes.def"

namespace ours {
#undef CUDA_CB
#undef CU_STREAM_LEGACY
#undef CU_STREAM_PER_THREAD
#undef CU_MEMHOSTALLOC_PORTABLE
#undef CU_MEMHOSTALLOC_DEVICEMAP
#undef CU_MEMHOSTALLOC_WRITECOMBINED
// Our own header inside a namespace, beside NVIDIA's.
#include "driver/Cuda.h"
} // namespace ours

static_assert(sizeof(ours::CUDA_MEMCPY2D) == sizeof(::CUDA_MEMCPY2D), "CUDA_MEMCPY2D");
static_assert(sizeof(ours::CUlaunchConfig) == sizeof(::CUlaunchConfig), "CUlaunchConfig");
static_assert(sizeof(ours::CUlaunchAttribute) == sizeof(::CUlaunchAttribute), "CUlaunchAttribute");
static_assert(offsetof(ours::CUlaunchConfig, hStream) == offsetof(::CUlaunchConfig, hStream), "hStream");
static_assert(offsetof(ours::CUlaunchConfig, numAttrs) == offsetof(::CUlaunchConfig, numAttrs), "numAttrs");
static_assert(offsetof(ours::CUDA_MEMCPY2D, dstPitch) == offsetof(::CUDA_MEMCPY2D, dstPitch), "dstPitch");

#define SAME(name) static_assert(static_cast<long>(ours::name) == static_cast<long>(::name), #name)
SAME(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_NUM_REGS);
SAME(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
SAME(CU_JIT_INFO_LOG_BUFFER);
SAME(CU_JIT_ERROR_LOG_BUFFER);
SAME(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
SAME(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
SAME(CU_POINTER_ATTRIBUTE_MEMORY_TYPE);
SAME(CU_POINTER_ATTRIBUTE_BUFFER_ID);
SAME(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL);
SAME(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR);
SAME(CU_POINTER_ATTRIBUTE_RANGE_SIZE);
SAME(CU_POINTER_ATTRIBUTE_MAPPED);
SAME(CU_MEMORYTYPE_UNIFIED);
SAME(CU_LAUNCH_ATTRIBUTE_COOPERATIVE);
SAME(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
SAME(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
SAME(CU_LAUNCH_ATTRIBUTE_PRIORITY);
SAME(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN);
SAME(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME(CU_MEMPOOL_ATTR_USED_MEM_HIGH);
SAME(CU_LIMIT_MALLOC_HEAP_SIZE);
SAME(CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
SAME(CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
SAME(CU_TENSOR_MAP_SWIZZLE_128B);
SAME(CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
SAME(CU_MODULE_EAGER_LOADING);
