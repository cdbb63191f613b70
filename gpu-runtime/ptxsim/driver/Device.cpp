// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initialisation, the one simulated device, its properties, and error texts.

#include "driver/State.h"

#include <cstdio>
#include <cstring>

namespace tilewright::ptxsim {
namespace {

constexpr int driverVersion = 13000;

bool isDevice(CUdevice device) { return device == 0; }

void copyText(char *to, int length, const char *from) {
  if (length <= 0)
    return;
  std::snprintf(to, static_cast<size_t>(length), "%s", from);
}

struct AttributeValue {
  int attribute;
  int onSm80;
  int onSm90;
};

// What an A100 and an H100 answer, except for counts and clocks that a simulator has no use for.
const AttributeValue attributeValues[] = {
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152, 49152},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1410000, 1980000},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32, 32},
    {CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1, 1},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3, 3},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1215000, 2619000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 5120, 5120},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 41943040, 52428800},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048, 2048},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1, 1},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1, 1},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1, 1},
    {CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 167936, 233472},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536, 65536},
    {CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2, 2},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 166912, 232448},
    {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1, 1},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1, 1},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32, 32},
    {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024, 1024},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1, 1},
    {CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0, 0},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0, 1},
    {CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 0, 1},
};

} // namespace

CUresult deviceAttribute(int attribute, int &value) {
  const MachineOptions &options = driver().options;
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    value = static_cast<int>(options.computeCapability / 10);
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    value = static_cast<int>(options.computeCapability % 10);
    return CUDA_SUCCESS;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    value = static_cast<int>(options.multiprocessors);
    return CUDA_SUCCESS;
  default:
    break;
  }
  for (const AttributeValue &entry : attributeValues)
    if (entry.attribute == attribute) {
      value = options.computeCapability >= 90 ? entry.onSm90 : entry.onSm80;
      return CUDA_SUCCESS;
    }
  // Everything else is a feature that the simulated device does not have.
  switch (attribute) {
#define PTXSIM_ATTRIBUTE(name, number) case number:
#include "driver/Attributes.def"
    value = 0;
    return attribute == 0 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

namespace api {

CUresult cuInit(unsigned flags) {
  if (flags != 0)
    return CUDA_ERROR_INVALID_VALUE;
  Driver &state = driver();
  if (state.initialised)
    return CUDA_SUCCESS;
  state.options = MachineOptions::fromEnvironment();
  state.memory = std::make_unique<DeviceMemory>(state.options.memoryBytes);
  if (!state.memory->ok())
    return CUDA_ERROR_OUT_OF_MEMORY;
  state.queue.configure(state.options.eager, state.options.seed);
  writeReport(); // that there is nothing yet, where an earlier run's may lie
  state.initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = driverVersion;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  switch (static_cast<int>(error)) {
#define PTXSIM_RESULT(name, value, description)                                                                        \
  case value:                                                                                                          \
    *text = #name;                                                                                                     \
    return CUDA_SUCCESS;
#include "driver/Results.def"
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  if (!text)
    return CUDA_ERROR_INVALID_VALUE;
  *text = nullptr;
  switch (static_cast<int>(error)) {
#define PTXSIM_RESULT(name, value, description)                                                                        \
  case value:                                                                                                          \
    *text = description;                                                                                               \
    return CUDA_SUCCESS;
#include "driver/Results.def"
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  if (!device)
    return CUDA_ERROR_INVALID_VALUE;
  if (ordinal != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  *count = 1;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  if (!name || length <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  copyText(name, length, driver().options.computeCapability >= 90 ? "ptxsim sm_90" : "ptxsim sm_80");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  if (!uuid)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  std::memcpy(uuid->bytes, "tilewright/ptxsm", sizeof(uuid->bytes));
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetUuid(CUuuid *uuid, CUdevice device) { return api::cuDeviceGetUuid_v2(uuid, device); }

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  if (!bytes)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  *bytes = driver().memory->capacity();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  return deviceAttribute(attribute, *value);
}

CUresult cuDeviceComputeCapability(int *major, int *minor, CUdevice device) {
  if (!major || !minor)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  *major = static_cast<int>(driver().options.computeCapability / 10);
  *minor = static_cast<int>(driver().options.computeCapability % 10);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char *text, int length, CUdevice device) {
  if (!text || length < 13)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isDevice(device))
    return CUDA_ERROR_INVALID_DEVICE;
  copyText(text, length, "0000:00:00.0");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetByPCIBusId(CUdevice *device, const char *text) {
  if (!device || !text)
    return CUDA_ERROR_INVALID_VALUE;
  if (std::strcmp(text, "0000:00:00.0") != 0)
    return CUDA_ERROR_INVALID_DEVICE;
  *device = 0;
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  if (!can)
    return CUDA_ERROR_INVALID_VALUE;
  if (!isDevice(device) || !isDevice(peer))
    return CUDA_ERROR_INVALID_DEVICE;
  *can = 0;
  return CUDA_SUCCESS;
}

CUresult cuProfilerStart() { return CUDA_SUCCESS; }
CUresult cuProfilerStop() { return CUDA_SUCCESS; }

} // namespace api
} // namespace tilewright::ptxsim
