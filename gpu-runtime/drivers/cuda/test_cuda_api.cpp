// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares our CUDA declarations with NVIDIA's: signatures at the versions that
// cuda_symbols.def names (cudaTypedefs.h has a type for every one), the values
// of enumerators, sizes and offsets of structs. That it compiles is the test.
#include "cuda_api.h"

// A macro in cuda.h.
constexpr unsigned oursHostAllocPortable =
    tilewright::cuda::CU_MEMHOSTALLOC_PORTABLE;

#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstddef>
#include <cstdio>
#include <type_traits>

namespace ours = tilewright::cuda;

// Rewrites a type made of our declarations into NVIDIA's.
template <typename T> struct Theirs { using type = T; };
template <typename T> using TheirsT = typename Theirs<T>::type;
template <typename T> struct Theirs<T *> { using type = TheirsT<T> *; };
template <typename T> struct Theirs<const T> { using type = const TheirsT<T>; };
template <typename R, typename... P> struct Theirs<R(P...)> {
  using type = TheirsT<R>(TheirsT<P>...);
};
#define TW_SAME(OURS, NVIDIA)                                                  \
  template <> struct Theirs<ours::OURS> { using type = NVIDIA; };
TW_SAME(CUctx_st, std::remove_pointer_t<CUcontext>)
TW_SAME(CUmod_st, std::remove_pointer_t<CUmodule>)
TW_SAME(CUfunc_st, std::remove_pointer_t<CUfunction>)
TW_SAME(CUstream_st, std::remove_pointer_t<CUstream>)
TW_SAME(CUevent_st, std::remove_pointer_t<CUevent>)
TW_SAME(CUresult, CUresult)
TW_SAME(CUdevice_attribute, CUdevice_attribute)
TW_SAME(CUfunction_attribute, CUfunction_attribute)
TW_SAME(CUpointer_attribute, CUpointer_attribute)
TW_SAME(CUjit_option, CUjit_option)
TW_SAME(CUlaunchConfig, CUlaunchConfig)
TW_SAME(CUuuid, CUuuid)
TW_SAME(CUtensorMap, CUtensorMap)
TW_SAME(CUtensorMapDataType, CUtensorMapDataType)
TW_SAME(CUtensorMapInterleave, CUtensorMapInterleave)
TW_SAME(CUtensorMapSwizzle, CUtensorMapSwizzle)
TW_SAME(CUtensorMapL2promotion, CUtensorMapL2promotion)
TW_SAME(CUtensorMapFloatOOBfill, CUtensorMapFloatOOBfill)
#undef TW_SAME

namespace tilewright::cuda {
#define TW_CUDA_SYMBOL(NAME, VERSION, PARAMETERS)                              \
  using Ours_##NAME = CUresult PARAMETERS;
#include "cuda_symbols.def"
} // namespace tilewright::cuda

#define TW_CUDA_SYMBOL(NAME, VERSION, PARAMETERS)                              \
  static_assert(std::is_same_v<TheirsT<ours::Ours_##NAME> *,                   \
                               PFN_##NAME##_v##VERSION>,                       \
                #NAME " differs from cuda.h at version " #VERSION);
#include "cuda_symbols.def"

#define TW_VALUE(NAME)                                                         \
  static_assert((long long)ours::NAME == (long long)::NAME,                    \
                #NAME " differs from cuda.h");
TW_VALUE(CUDA_SUCCESS)
TW_VALUE(CUDA_ERROR_INVALID_VALUE)
TW_VALUE(CUDA_ERROR_OUT_OF_MEMORY)
TW_VALUE(CUDA_ERROR_NOT_INITIALIZED)
TW_VALUE(CUDA_ERROR_DEINITIALIZED)
TW_VALUE(CUDA_ERROR_STUB_LIBRARY)
TW_VALUE(CUDA_ERROR_NO_DEVICE)
TW_VALUE(CUDA_ERROR_INVALID_DEVICE)
TW_VALUE(CUDA_ERROR_INVALID_IMAGE)
TW_VALUE(CUDA_ERROR_NO_BINARY_FOR_GPU)
TW_VALUE(CUDA_ERROR_ECC_UNCORRECTABLE)
TW_VALUE(CUDA_ERROR_INVALID_PTX)
TW_VALUE(CUDA_ERROR_UNSUPPORTED_PTX_VERSION)
TW_VALUE(CUDA_ERROR_NOT_FOUND)
TW_VALUE(CUDA_ERROR_NOT_READY)
TW_VALUE(CUDA_ERROR_ILLEGAL_ADDRESS)
TW_VALUE(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES)
TW_VALUE(CUDA_ERROR_LAUNCH_TIMEOUT)
TW_VALUE(CUDA_ERROR_ASSERT)
TW_VALUE(CUDA_ERROR_HARDWARE_STACK_ERROR)
TW_VALUE(CUDA_ERROR_ILLEGAL_INSTRUCTION)
TW_VALUE(CUDA_ERROR_MISALIGNED_ADDRESS)
TW_VALUE(CUDA_ERROR_INVALID_ADDRESS_SPACE)
TW_VALUE(CUDA_ERROR_INVALID_PC)
TW_VALUE(CUDA_ERROR_LAUNCH_FAILED)
TW_VALUE(CUDA_ERROR_NOT_SUPPORTED)
TW_VALUE(CUDA_ERROR_EXTERNAL_DEVICE)
TW_VALUE(CUDA_ERROR_UNKNOWN)
TW_VALUE(CU_TENSOR_MAP_DATA_TYPE_UINT8)
TW_VALUE(CU_TENSOR_MAP_DATA_TYPE_UINT16)
TW_VALUE(CU_TENSOR_MAP_DATA_TYPE_INT32)
TW_VALUE(CU_TENSOR_MAP_DATA_TYPE_INT64)
TW_VALUE(CU_TENSOR_MAP_DATA_TYPE_FLOAT16)
TW_VALUE(CU_TENSOR_MAP_DATA_TYPE_FLOAT32)
TW_VALUE(CU_TENSOR_MAP_DATA_TYPE_FLOAT64)
TW_VALUE(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK)
TW_VALUE(CU_DEVICE_ATTRIBUTE_WARP_SIZE)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK)
TW_VALUE(CU_DEVICE_ATTRIBUTE_CLOCK_RATE)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE)
TW_VALUE(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)
TW_VALUE(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)
TW_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
TW_VALUE(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)
TW_VALUE(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)
TW_VALUE(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH)
TW_VALUE(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
TW_VALUE(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
TW_VALUE(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
TW_VALUE(CU_FUNC_ATTRIBUTE_NUM_REGS)
TW_VALUE(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
TW_VALUE(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
TW_VALUE(CU_POINTER_ATTRIBUTE_CONTEXT)
TW_VALUE(CU_POINTER_ATTRIBUTE_MEMORY_TYPE)
TW_VALUE(CU_POINTER_ATTRIBUTE_DEVICE_POINTER)
TW_VALUE(CU_POINTER_ATTRIBUTE_IS_MANAGED)
TW_VALUE(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL)
TW_VALUE(CU_MEMORYTYPE_HOST)
TW_VALUE(CU_JIT_INFO_LOG_BUFFER)
TW_VALUE(CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
TW_VALUE(CU_JIT_ERROR_LOG_BUFFER)
TW_VALUE(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
TW_VALUE(CU_JIT_LOG_VERBOSE)
TW_VALUE(CU_GET_PROC_ADDRESS_SUCCESS)
TW_VALUE(CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND)
TW_VALUE(CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT)
TW_VALUE(CU_STREAM_NON_BLOCKING)
TW_VALUE(CU_EVENT_DEFAULT)
TW_VALUE(CU_EVENT_DISABLE_TIMING)
TW_VALUE(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
TW_VALUE(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
#undef TW_VALUE
static_assert(oursHostAllocPortable == CU_MEMHOSTALLOC_PORTABLE);

#define TW_FIELD(STRUCT, FIELD)                                                \
  static_assert(offsetof(ours::STRUCT, FIELD) == offsetof(::STRUCT, FIELD) &&  \
                    sizeof(ours::STRUCT::FIELD) == sizeof(::STRUCT::FIELD),    \
                #STRUCT "::" #FIELD " differs from cuda.h");
#define TW_STRUCT(STRUCT)                                                      \
  static_assert(sizeof(ours::STRUCT) == sizeof(::STRUCT) &&                    \
                    alignof(ours::STRUCT) == alignof(::STRUCT),                \
                #STRUCT " differs from cuda.h");
TW_STRUCT(CUlaunchConfig)
TW_FIELD(CUlaunchConfig, gridDimX)
TW_FIELD(CUlaunchConfig, gridDimZ)
TW_FIELD(CUlaunchConfig, blockDimX)
TW_FIELD(CUlaunchConfig, sharedMemBytes)
TW_FIELD(CUlaunchConfig, hStream)
TW_FIELD(CUlaunchConfig, attrs)
TW_FIELD(CUlaunchConfig, numAttrs)
TW_STRUCT(CUlaunchAttribute)
TW_FIELD(CUlaunchAttribute, id)
TW_FIELD(CUlaunchAttribute, value)
TW_STRUCT(CUlaunchAttributeValue)
TW_FIELD(CUlaunchAttributeValue, clusterDim)
TW_FIELD(CUlaunchAttributeValue, clusterDim.y)
TW_FIELD(CUlaunchAttributeValue, programmaticStreamSerializationAllowed)

int main() {
  std::printf("CUDA declarations agree with cuda.h %d\n", CUDA_VERSION);
  return 0;
}
