// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches PTX with the CUDA driver API; all that is known of the kernel is what
// the manifest says. See README.md.
//
//   launch-ptx matmul.json FOLDER [M N K]

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

static CUdeviceptr upload(const std::vector<uint8_t> &bytes) {
  CUdeviceptr address;
  CHECK(cuMemAlloc(&address, bytes.size()));
  CHECK(cuMemcpyHtoD(address, bytes.data(), bytes.size()));
  return address;
}

/// The tensor map of a dense operand, as the manifest describes it and cuda.h wants it:
/// innermost dim first, strides in bytes of all dims but that one.
static CUtensorMap encode(const manifest::TensorMap &map, CUdeviceptr address,
                          const manifest::Shape &shape) {
  CUtensorMapDataType type;
  cuuint64_t stride;
  if (map.dtype == "f16")
    type = CU_TENSOR_MAP_DATA_TYPE_FLOAT16, stride = 2;
  else if (map.dtype == "bf16")
    type = CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, stride = 2;
  else if (map.dtype == "f32")
    type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32, stride = 4;
  else if (map.dtype == "i8" || map.dtype.substr(0, 2) == "f8")
    type = CU_TENSOR_MAP_DATA_TYPE_UINT8, stride = 1;
  else
    throw std::runtime_error("this example has no tensor maps of " + map.dtype);
  CUtensorMapSwizzle swizzle = map.swizzle == 128  ? CU_TENSOR_MAP_SWIZZLE_128B
                               : map.swizzle == 64 ? CU_TENSOR_MAP_SWIZZLE_64B
                               : map.swizzle == 32 ? CU_TENSOR_MAP_SWIZZLE_32B
                                                   : CU_TENSOR_MAP_SWIZZLE_NONE;
  std::vector<cuuint64_t> dims(shape.rbegin(), shape.rend()), strides;
  std::vector<cuuint32_t> box(map.box.rbegin(), map.box.rend()), ones(shape.size(), 1);
  for (size_t i = 0; i + 1 < dims.size(); ++i)
    strides.push_back(stride *= dims[i]);
  CUtensorMap result;
  CHECK(cuTensorMapEncodeTiled(
      &result, type, cuuint32_t(dims.size()), reinterpret_cast<void *>(address),
      dims.data(), strides.data(), box.data(), ones.data(),
      CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE));
  return result;
}

/// What expressions of the manifest ask of a device.
static manifest::json factsOf(CUdevice device) {
  auto get = [&](CUdevice_attribute attribute) {
    int value;
    CHECK(cuDeviceGetAttribute(&value, attribute, device));
    return value;
  };
  return {{"sm", get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                     get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)},
          {"subgroup_size", 32},
          {"multiprocessors", get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)}};
}

/// The kernel on these buffers, one for each operand.
static void launchKernel(CUfunction kernel, const manifest::Launch &launch,
                         std::vector<CUdeviceptr> &buffers,
                         const std::vector<manifest::Shape> &shapes) {
  // Parameters: buffers in operand order, scalars, tensor maps.
  std::vector<void *> params;
  for (size_t i = 0; i < launch.buffers; ++i)
    params.push_back(&buffers[i]);
  std::vector<manifest::Scalar> scalars = launch.scalars;
  for (manifest::Scalar &scalar : scalars)
    params.push_back(&scalar.bits); // the driver takes as many bytes as it needs
  std::vector<CUtensorMap> maps;
  for (const manifest::TensorMap &map : launch.maps)
    maps.push_back(encode(map, buffers[map.operand], shapes[map.operand]));
  for (CUtensorMap &map : maps)
    params.push_back(&map);
  CHECK(cuFuncSetAttribute(kernel, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                           int(launch.shared)));
  CUlaunchAttribute cluster = {};
  cluster.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  cluster.value.clusterDim.x = launch.cluster[0];
  cluster.value.clusterDim.y = launch.cluster[1];
  cluster.value.clusterDim.z = launch.cluster[2];
  CUlaunchConfig config = {};
  config.gridDimX = launch.grid[0];
  config.gridDimY = launch.grid[1];
  config.gridDimZ = launch.grid[2];
  config.blockDimX = launch.block[0];
  config.blockDimY = launch.block[1];
  config.blockDimZ = launch.block[2];
  config.sharedMemBytes = launch.shared;
  config.attrs = &cluster;
  config.numAttrs = launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1;
  CHECK(cuLaunchKernelEx(&config, kernel, params.data(), nullptr));
  CHECK(cuCtxSynchronize());
}

static void run(const std::string &manifestFile, const std::string &folder,
                const std::vector<int64_t> &sizes) {
  CUdevice device;
  CUcontext context;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuDevicePrimaryCtxRetain(&context, device));
  CHECK(cuCtxSetCurrent(context));

  // Which kernel, and how: the manifest knows, given shapes and the device.
  manifest::json program = manifest::load(manifestFile, "cuda");
  manifest::json facts = factsOf(device);
  if (facts["sm"] < program.at("requires").at("sm"))
    throw std::runtime_error("the program requires sm_" +
                             program["requires"]["sm"].dump());
  bool ofHalves = program.at("dispatches")[0].at("operands")[0].at("dtype") == "f16";
  Product product(sizes[0], sizes[1], sizes[2], ofHalves);
  manifest::Launch launch(program, 0, product.shapes(), facts);

  CUmodule module;
  CUfunction kernel;
  std::string ptx = manifest::readFile(folder + "/" + launch.file);
  CHECK(cuModuleLoadData(&module, ptx.c_str()));
  CHECK(cuModuleGetFunction(&kernel, module, launch.name.c_str()));
  std::vector<CUdeviceptr> buffers;
  for (const std::vector<uint8_t> &operand : product.operands())
    buffers.push_back(upload(operand));
  launchKernel(kernel, launch, buffers, product.shapes());

  std::vector<uint8_t> result(product.operands().back().size());
  CHECK(cuMemcpyDtoH(result.data(), buffers.back(), result.size()));
  for (CUdeviceptr buffer : buffers)
    CHECK(cuMemFree(buffer));
  CHECK(cuModuleUnload(module));
  CHECK(cuDevicePrimaryCtxRelease(device));
  if (int64_t wrong = product.countWrong(result))
    throw std::runtime_error(std::to_string(wrong) + " elements are wrong");
  std::printf("%s on %u blocks of %u threads, %zu tensor maps: every element is right\n",
              launch.name.c_str(), launch.grid[0], launch.block[0], launch.maps.size());
}

int main(int argc, char **argv) {
  if (argc != 3 && argc != 6) {
    std::fprintf(stderr, "usage: launch-ptx MANIFEST.json FOLDER [M N K]\n");
    return 2;
  }
  try {
    std::vector<int64_t> sizes = {100, 90, 70};
    for (int i = 3; i < argc; ++i)
      sizes[i - 3] = std::stoll(argv[i]);
    run(argv[1], argv[2], sizes);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "launch-ptx: %s\n", error.what());
    return 1;
  }
}
