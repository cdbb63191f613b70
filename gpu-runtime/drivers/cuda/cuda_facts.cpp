// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a CUDA device is and can do. Facts (sizes in bytes):
//
//   sm                    10 * major + minor of the compute capability
//   ptx                   newest PTX version the driver compiles, likewise
//   subgroup_size, min_subgroup_size, max_subgroup_size   the warp: 32
//   multiprocessors, registers (of a multiprocessor)
//   shared_memory         of one block, opt-in included
//   shared_memory_total   of one multiprocessor
//   max_grid_x/y/z, max_block_x/y/z, max_threads
//   max_binding, memory   device memory
//   max_cluster           blocks of a portable cluster; 1 without clusters
//   dependent_launch      1 where a kernel may be launched while the one before it
//                         runs; TILEWRIGHT_CUDA_DEPENDENT_LAUNCH=0 says no, to
//                         measure or to find out what it has to do with a fault
//   l2_cache, clock_khz, memory_clock_khz, memory_bus_bits
//   timestamps            1
//   simulator             1 on ptxsim
#include "cuda_device.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace tilewright::cuda {

/// The PTX ISA that came with a CUDA release.
static int64_t ptxOf(int version) {
  int major = version / 1000, minor = version % 1000 / 10;
  if (major >= 13)
    return 90 + (major == 13 ? minor : 9);
  if (major == 12)
    return minor <= 5 ? 80 + minor : 79 + minor;
  if (major == 11)
    return 70 + minor;
  return 63;
}

Status queryFacts(const CudaLibrary &library, CUdevice device,
                  std::map<std::string, int64_t, std::less<>> &facts) {
  // What an older driver does not know is 0; any other failure is one.
  CUresult failure = CUDA_SUCCESS;
  auto attribute = [&](CUdevice_attribute which) -> int64_t {
    int value = 0;
    CUresult r = library.cuDeviceGetAttribute(&value, which, device);
    if (r != CUDA_SUCCESS && r != CUDA_ERROR_INVALID_VALUE)
      failure = r;
    return r == CUDA_SUCCESS ? value : 0;
  };
  int64_t major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  if (major == 0 && failure == CUDA_SUCCESS)
    return unavailable("cuDeviceGetAttribute tells no compute capability");
  facts["sm"] =
      10 * major + attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  facts["ptx"] = ptxOf(library.version);
  int64_t warp = attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  facts["subgroup_size"] = warp;
  facts["min_subgroup_size"] = warp;
  facts["max_subgroup_size"] = warp;
  facts["multiprocessors"] =
      attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  facts["registers"] =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  int64_t shared =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  facts["shared_memory"] =
      shared ? shared
             : attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  facts["shared_memory_total"] =
      attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  facts["max_grid_x"] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  facts["max_grid_y"] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  facts["max_grid_z"] = attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  facts["max_block_x"] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  facts["max_block_y"] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  facts["max_block_z"] = attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  facts["max_threads"] = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  bool clusters = attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) != 0 &&
                  library.cuLaunchKernelEx;
  facts["max_cluster"] = clusters ? 8 : 1;
  // Chips with clusters have programmatic launches.
  const char *dependent = std::getenv("TILEWRIGHT_CUDA_DEPENDENT_LAUNCH");
  facts["dependent_launch"] =
      clusters && !(dependent && std::string_view(dependent) == "0");
  facts["l2_cache"] = attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  facts["clock_khz"] = attribute(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  facts["memory_clock_khz"] = attribute(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  facts["memory_bus_bits"] =
      attribute(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  if (failure != CUDA_SUCCESS)
    return unavailable("cuDeviceGetAttribute failed: " +
                       library.resultName(failure));
  size_t memory = 0;
  CUresult r = library.cuDeviceTotalMem(&memory, device);
  if (r != CUDA_SUCCESS)
    return unavailable("cuDeviceTotalMem failed: " + library.resultName(r));
  facts["memory"] = static_cast<int64_t>(memory);
  facts["max_binding"] = static_cast<int64_t>(memory);
  facts["timestamps"] = 1;
  facts["simulator"] = library.isSimulator;
  return Status::ok();
}

std::string describe(const CudaLibrary &library, CUdevice device) {
  char name[256] = "";
  library.cuDeviceGetName(name, sizeof(name), device);
  std::map<std::string, int64_t, std::less<>> facts;
  if (queryFacts(library, device, facts))
    return name;
  char memory[32];
  std::snprintf(memory, sizeof(memory), "%.1f GiB",
                static_cast<double>(facts["memory"]) / (1024.0 * 1024 * 1024));
  return std::string(name) + ", CUDA " + versionName(library.version) +
         ", sm_" + std::to_string(facts["sm"]) + ", " +
         std::to_string(facts["multiprocessors"]) + " multiprocessors, " +
         memory;
}

} // namespace tilewright::cuda
