// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole products on matrix units, exact on small integers: programs/gemm.ptx (cp.async, ldmatrix, mma.sync) and, on Hopper,
// programs/hopper.ptx (tensor maps, mbarriers, wgmma) and programs/specialised.ptx (with specialised warps, and in clusters
// whose blocks load for each other).

#include "hardware/Client.h"

#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace tilewright::ptxsim::confirm {
namespace {

constexpr int m = 256, n = 64, k = 320;

int value(size_t i) { return static_cast<int>(i * 2654435761u >> 20) % 7 - 3; }

uint16_t half(int value) {
  static constexpr uint16_t bits[] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
  return bits[value + 3];
}

std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

struct Product {
  CUdeviceptr a = 0, b = 0, c = 0;

  explicit Product(Client &client) {
    std::vector<uint16_t> first(m * k), second(n * k);
    for (size_t i = 0; i < first.size(); ++i)
      first[i] = half(value(i));
    for (size_t i = 0; i < second.size(); ++i)
      second[i] = half(value(i + 77));
    client.must(client.cuMemAlloc_v2(&a, first.size() * 2), "cuMemAlloc");
    client.must(client.cuMemAlloc_v2(&b, second.size() * 2), "cuMemAlloc");
    client.must(client.cuMemAlloc_v2(&c, m * n * 4), "cuMemAlloc");
    client.must(client.cuMemcpyHtoD_v2(a, first.data(), first.size() * 2), "cuMemcpyHtoD");
    client.must(client.cuMemcpyHtoD_v2(b, second.data(), second.size() * 2), "cuMemcpyHtoD");
    client.must(client.cuMemsetD8_v2(c, 0xff, m * n * 4), "cuMemsetD8");
  }

  /// Elements that are not what they should be.
  int wrong(Client &client) {
    std::vector<float> got(m * n);
    client.must(client.cuMemcpyDtoH_v2(got.data(), c, m * n * 4), "cuMemcpyDtoH");
    int count = 0;
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < n; ++j) {
        int sum = 0;
        for (int x = 0; x < k; ++x)
          sum += value(size_t(i) * k + x) * value(size_t(j) * k + x + 77);
        count += got[size_t(i) * n + j] != static_cast<float>(sum);
      }
    return count;
  }

  void free(Client &client) {
    for (CUdeviceptr address : {a, b, c})
      client.cuMemFree_v2(address);
  }
};

/// What a kernel is launched with, beside its arguments.
struct Form {
  const char *kernel;
  bool byTensorMap;
  /// Of a block of C, and of the boxes of A and B.
  unsigned rows, boxA, boxB, threads, sharedBytes;
};

void ask(Client &client, const std::string &path, const Form &form) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  std::string text = readFile(path);
  std::string question = std::string("wrong elements of the product ") + form.kernel + " of " + path.substr(path.rfind('/') + 1);
  if (CUresult result = client.cuModuleLoadData(&module, text.c_str())) {
    client.record(question, "0", "not loaded: " + client.name(result), false);
    return;
  }
  client.must(client.cuModuleGetFunction(&function, module, form.kernel), "cuModuleGetFunction");
  Product product(client);
  int columns = n, depth = k;
  CUtensorMap maps[2];
  const CUdeviceptr from[] = {product.a, product.b};
  for (int i = 0; form.byTensorMap && i < 2; ++i) {
    const cuuint64_t dims[] = {k, cuuint64_t(i == 0 ? m : n)}, strides[] = {k * 2};
    const cuuint32_t box[] = {64, i == 0 ? form.boxA : form.boxB}, ones[] = {1, 1};
    client.must(client.cuTensorMapEncodeTiled(&maps[i], CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2,
                                              reinterpret_cast<void *>(from[i]), dims, strides, box, ones,
                                              CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                                              CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE),
                "cuTensorMapEncodeTiled");
  }
  void *plain[] = {&product.a, &product.b, &product.c, &columns, &depth};
  void *mapped[] = {&maps[0], &maps[1], &product.c, &columns, &depth};
  client.must(client.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        static_cast<int>(form.sharedBytes)),
              "cuFuncSetAttribute");
  client.must(client.cuLaunchKernel(function, n / 64, m / form.rows, 1, form.threads, 1, 1, form.sharedBytes, nullptr,
                                    form.byTensorMap ? mapped : plain, nullptr),
              "cuLaunchKernel");
  int wrong = product.wrong(client);
  client.record(question, "0", std::to_string(wrong), wrong == 0);
  product.free(client);
  client.cuModuleUnload(module);
}

} // namespace

void askPrograms(Client &client, const std::string &folder) {
  int major = 0, minor = 0;
  client.must(client.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, client.device), "major");
  client.must(client.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, client.device), "minor");
  if (major >= 8)
    ask(client, folder + "/gemm.ptx", {"gemm", false, 64, 0, 0, 128, 0});
  // Code for sm_90a runs on that GPU only.
  if (major != 9 || minor != 0)
    return;
  ask(client, folder + "/hopper.ptx", {"gemm", true, 64, 64, 64, 128, 0});
  ask(client, folder + "/specialised.ptx", {"gemm", true, 128, 128, 64, 384, 3 * 24576});
  ask(client, folder + "/specialised.ptx", {"gemmOfTwo", true, 128, 128, 32, 384, 3 * 24576});
}

} // namespace tilewright::ptxsim::confirm
