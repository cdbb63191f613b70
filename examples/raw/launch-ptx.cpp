// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches PTX with the CUDA driver API; all that is known of the kernel is what
// the manifest says. See README.md.
//
//   launch-ptx matmul.json FOLDER

#include "manifest.h"
#include "product.h"

#include <cuda.h>

#include <cstdio>

static void check(CUresult result, const char *what) {
  if (result == CUDA_SUCCESS)
    return;
  const char *text = nullptr;
  cuGetErrorString(result, &text);
  throw std::runtime_error(std::string(what) + ": " + (text ? text : "?"));
}
#define CHECK(call) check(call, #call)

static CUdeviceptr upload(const std::vector<float> &values) {
  CUdeviceptr address;
  CHECK(cuMemAlloc(&address, values.size() * sizeof(float)));
  CHECK(cuMemcpyHtoD(address, values.data(), values.size() * sizeof(float)));
  return address;
}

static void run(const std::string &manifestFile, const std::string &folder) {
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));

  // Which kernel, and how: the manifest knows, given shapes and the device.
  manifest::json program = manifest::load(manifestFile, "cuda");
  int major, minor;
  CHECK(cuDeviceGetAttribute(
      &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device));
  CHECK(cuDeviceGetAttribute(
      &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device));
  manifest::json facts = {{"sm", major * 10 + minor}, {"subgroup_size", 32}};
  if (facts["sm"] < program.at("requires").at("sm"))
    throw std::runtime_error("the program requires sm_" +
                             program["requires"]["sm"].dump());
  Product product;
  manifest::Launch launch(program, 0, product.shapes(), facts);

  CUmodule module;
  CUfunction kernel;
  std::string ptx = manifest::readFile(folder + "/" + launch.file);
  CHECK(cuModuleLoadData(&module, ptx.c_str()));
  CHECK(cuModuleGetFunction(&kernel, module, launch.name.c_str()));

  // Parameters: buffers in operand order, then scalars.
  CUdeviceptr buffers[] = {upload(product.a), upload(product.b),
                           upload(product.c)};
  std::vector<void *> params;
  for (size_t i = 0; i < launch.buffers; ++i)
    params.push_back(&buffers[i]);
  for (manifest::Scalar &scalar : launch.scalars)
    params.push_back(&scalar.bits); // the driver takes as many bytes as it needs
  CHECK(cuLaunchKernel(kernel, launch.grid[0], launch.grid[1], launch.grid[2],
                       launch.block[0], launch.block[1], launch.block[2],
                       launch.shared, /*stream=*/nullptr, params.data(),
                       nullptr));
  CHECK(cuCtxSynchronize());

  CHECK(cuMemcpyDtoH(product.c.data(), buffers[2],
                     product.c.size() * sizeof(float)));
  for (CUdeviceptr buffer : buffers)
    CHECK(cuMemFree(buffer));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  if (int64_t wrong = product.countWrong())
    throw std::runtime_error(std::to_string(wrong) + " elements are wrong");
  std::printf("%s on %u blocks of %u threads: every element is right\n",
              launch.name.c_str(), launch.grid[0], launch.block[0]);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: launch-ptx MANIFEST.json FOLDER\n");
    return 2;
  }
  try {
    run(argv[1], argv[2]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "launch-ptx: %s\n", error.what());
    return 1;
  }
}
