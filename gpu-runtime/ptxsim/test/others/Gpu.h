// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulator as a program sees it: its library is opened by file, and used by the driver API alone. One Hopper GPU
// per process (code for Ampere runs there too), a fresh context per object. What goes wrong fails the test that runs.

#ifndef TILEWRIGHT_PTXSIM_TEST_OTHERS_GPU_H
#define TILEWRIGHT_PTXSIM_TEST_OTHERS_GPU_H

#include "driver/Cuda.h"
#include "driver/Extensions.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace others {

/// How a kernel is launched, once its arguments are known.
struct Shape {
  std::array<unsigned, 3> grid = {1, 1, 1};
  std::array<unsigned, 3> block = {1, 1, 1};
  std::array<unsigned, 3> cluster = {1, 1, 1};
  unsigned shared = 0;
};

class Gpu {
public:
  Gpu() {
    setenv("PTXSIM_ARCH", "sm_90", 1);
    library = dlopen(PTXSIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
      ADD_FAILURE() << dlerror();
      std::abort();
    }
#define PTXSIM_API_NONE(name, symbol, version, params, args)                                                           \
  symbol = reinterpret_cast<CUresult(*) params>(dlsym(library, #symbol));
#include "driver/Implemented.def"
    must(cuInit(0));
    must(cuDevicePrimaryCtxReset_v2(0));
    must(cuDevicePrimaryCtxRetain(&context, 0));
    must(cuCtxSetCurrent(context));
    reinterpret_cast<decltype(&ptxsimClearFindings)>(dlsym(library, "ptxsimClearFindings"))();
  }
  ~Gpu() { cuDevicePrimaryCtxRelease_v2(0); }

  CUfunction load(const std::string &ptx, const std::string &kernel) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    if (must(cuModuleLoadData(&module, ptx.c_str())))
      must(cuModuleGetFunction(&function, module, kernel.c_str()));
    return function;
  }

  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    must(cuMemAlloc_v2(&address, bytes));
    return address;
  }
  CUdeviceptr upload(const std::vector<uint8_t> &bytes) {
    CUdeviceptr address = allocate(bytes.size());
    must(cuMemcpyHtoD_v2(address, bytes.data(), bytes.size()));
    return address;
  }
  std::vector<uint8_t> download(CUdeviceptr address, size_t bytes) {
    std::vector<uint8_t> data(bytes);
    must(cuMemcpyDtoH_v2(data.data(), address, bytes));
    return data;
  }

  void launch(CUfunction function, const Shape &shape, void **arguments) {
    if (!function)
      return;
    if (shape.shared > 48 * 1024)
      must(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shape.shared)));
    CUlaunchAttribute cluster = {};
    cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    cluster.value.clusterDim = {shape.cluster[0], shape.cluster[1], shape.cluster[2]};
    CUlaunchConfig config = {};
    config.gridDimX = shape.grid[0], config.gridDimY = shape.grid[1], config.gridDimZ = shape.grid[2];
    config.blockDimX = shape.block[0], config.blockDimY = shape.block[1], config.blockDimZ = shape.block[2];
    config.sharedMemBytes = shape.shared;
    config.attrs = &cluster;
    config.numAttrs = shape.cluster == std::array<unsigned, 3>{1, 1, 1} ? 0 : 1;
    if (must(cuLaunchKernelEx(&config, function, arguments, nullptr)))
      must(cuCtxSynchronize());
  }

  /// False, and a failure that says what the simulator found, where a call was refused.
  bool must(CUresult result) {
    if (result == CUDA_SUCCESS)
      return true;
    const char *name = "?";
    cuGetErrorName(result, &name);
    ADD_FAILURE() << name << findings();
    return false;
  }

  /// What was found, by kind; of warnings, "warning: " and the kind.
  std::set<std::string> findingKinds() {
    std::set<std::string> kinds;
    std::istringstream lines(findings());
    const std::string key = "\"kind\": \"";
    for (std::string line; std::getline(lines, line);)
      if (size_t at = line.find(key); at != std::string::npos) {
        at += key.size();
        bool isWarning = line.find("\"warning\": true") != std::string::npos;
        kinds.insert((isWarning ? "warning: " : "") + line.substr(at, line.find('"', at) - at));
      }
    return kinds;
  }

  std::string findings() {
    auto get = reinterpret_cast<decltype(&ptxsimFindings)>(dlsym(library, "ptxsimFindings"));
    std::string text(get(nullptr, 0), 0);
    get(text.data(), text.size());
    return text;
  }

#define PTXSIM_API_NONE(name, symbol, version, params, args) CUresult(*symbol) params = nullptr;
#include "driver/Implemented.def"

private:
  void *library = nullptr;
  CUcontext context = nullptr;
};

} // namespace others

#endif // TILEWRIGHT_PTXSIM_TEST_OTHERS_GPU_H
