// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters: which launches are refused, and programs/cluster.ptx, whose blocks read, copy and arrive in each other's
// shared memory.

#include "hardware/Client.h"

#include <fstream>
#include <numeric>
#include <sstream>
#include <vector>

namespace tilewright::ptxsim::confirm {
namespace {

const char *const kernels = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry plain() { ret; }
.visible .entry two() .reqnctapercluster 2 { ret; }
.visible .entry atLeastSome() .explicitcluster { ret; }
.visible .entry atMostFour() .explicitcluster .maxclusterrank 4 { ret; }
)";

struct Launcher {
  Client &c;
  CUmodule module = nullptr;

  CUfunction operator[](const char *name) {
    CUfunction function = nullptr;
    c.must(c.cuModuleGetFunction(&function, module, name), name);
    return function;
  }
  /// Zero for the cluster's x: none is given.
  CUresult launch(CUfunction function, unsigned grid, unsigned x, unsigned y = 1, void **params = nullptr,
                  unsigned block = 64) {
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = x;
    attribute.value.clusterDim.y = y;
    attribute.value.clusterDim.z = 1;
    CUlaunchConfig config = {grid, 1, 1, block, 1, 1, 0, nullptr, &attribute, x == 0 ? 0u : 1u};
    return c.cuLaunchKernelEx(&config, function, params, nullptr);
  }
};

void askRefusals(Client &c) {
  Launcher l = {c};
  c.must(c.cuModuleLoadData(&l.module, kernels), "cuModuleLoadData");
  CUfunction plain = l["plain"];
  c.expect("clusters of two blocks", CUDA_SUCCESS, l.launch(plain, 4, 2));
  c.expect("clusters of eight blocks", CUDA_SUCCESS, l.launch(plain, 8, 8));
  c.expect("a grid that clusters do not divide", CUDA_ERROR_INVALID_VALUE, l.launch(plain, 3, 2));
  c.expect("a cluster higher than the grid", CUDA_ERROR_INVALID_VALUE, l.launch(plain, 4, 2, 2));
  c.expect("clusters of sixteen blocks without leave", CUDA_ERROR_INVALID_CLUSTER_SIZE, l.launch(plain, 16, 16));
  c.expect("leave for them", CUDA_SUCCESS,
           c.cuFuncSetAttribute(plain, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  c.expect("clusters of sixteen blocks with leave", CUDA_SUCCESS, l.launch(plain, 16, 16));
  c.expect("clusters of 32 blocks", CUDA_ERROR_INVALID_CLUSTER_SIZE, l.launch(plain, 32, 32));
  c.expect("a kernel that has clusters", CUDA_SUCCESS, l.launch(l["two"], 4, 0));
  c.expect("a kernel that has clusters, by cuLaunchKernel", CUDA_SUCCESS,
           c.cuLaunchKernel(l["two"], 4, 1, 1, 64, 1, 1, 0, nullptr, nullptr, nullptr));
  c.expect("clusters other than the kernel's", CUDA_ERROR_INVALID_CLUSTER_SIZE, l.launch(l["two"], 4, 4));
  c.expect("a grid that the kernel's clusters do not divide", CUDA_ERROR_INVALID_VALUE, l.launch(l["two"], 3, 0));
  c.expect("no clusters where the kernel wants some", CUDA_ERROR_INVALID_CLUSTER_SIZE,
           l.launch(l["atLeastSome"], 4, 0));
  c.expect("some clusters where the kernel wants some", CUDA_SUCCESS, l.launch(l["atLeastSome"], 4, 2));
  c.expect("more blocks than .maxclusterrank", CUDA_ERROR_INVALID_CLUSTER_SIZE, l.launch(l["atMostFour"], 8, 8));
  int value = 0;
  c.must(c.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, l["two"]), "cuFuncGetAttribute");
  c.record("required width of a cluster", "2", std::to_string(value), value == 2);
  c.expect("another required width than the compiled one", CUDA_ERROR_NOT_PERMITTED,
           c.cuFuncSetAttribute(l["two"], CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
  CUlaunchConfig config = {8, 1, 1, 64, 1, 1, 0, nullptr, nullptr, 0};
  c.expect("the largest cluster", CUDA_SUCCESS, c.cuOccupancyMaxPotentialClusterSize(&value, l["two"], &config));
  c.record("the largest portable cluster", "8", std::to_string(value), value == 8);
  c.expect("how many clusters fit", CUDA_SUCCESS, c.cuOccupancyMaxActiveClusters(&value, l["two"], &config));
  c.record("some clusters fit", "1", std::to_string(value > 0), value > 0);
  c.expect("how many clusters of no size fit", CUDA_ERROR_INVALID_CLUSTER_SIZE,
           c.cuOccupancyMaxActiveClusters(&value, plain, &config));
  c.expect("end of the launches", CUDA_SUCCESS, c.cuCtxSynchronize());
  c.cuModuleUnload(l.module);
}

/// Six blocks in clusters of three, 64 threads each.
void askTogether(Client &c, const std::string &path) {
  constexpr int blocks = 6, size = 3, rounds = 5;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  Launcher l = {c};
  if (CUresult result = c.cuModuleLoadData(&l.module, text.str().c_str()))
    return c.record("cluster.ptx", "loaded", c.name(result), false);
  std::vector<int> in(rounds * 256);
  std::iota(in.begin(), in.end(), 1000);
  CUdeviceptr input = 0, out = 0;
  size_t most = blocks * rounds * 256;
  c.must(c.cuMemAlloc_v2(&input, in.size() * 4), "cuMemAlloc");
  c.must(c.cuMemAlloc_v2(&out, most * 4), "cuMemAlloc");
  c.must(c.cuMemcpyHtoD_v2(input, in.data(), in.size() * 4), "cuMemcpyHtoD");
  auto neighbour = [](int at, int step) { return at / (64 * size) * 64 * size + (at + 64 * step) % (64 * size); };
  auto ask = [&](const char *kernel, void **params, auto expected, size_t count) {
    c.must(c.cuMemsetD8_v2(out, 0xff, most * 4), "cuMemsetD8");
    c.must(l.launch(l[kernel], blocks, size, 1, params), kernel);
    std::vector<int> got(count);
    c.must(c.cuMemcpyDtoH_v2(got.data(), out, count * 4), "cuMemcpyDtoH");
    int wrong = 0;
    for (size_t i = 0; i < count; ++i)
      wrong += got[i] != expected(static_cast<int>(i));
    c.record(std::string("wrong results of ") + kernel + " of cluster.ptx", "0", std::to_string(wrong), wrong == 0);
  };
  int count = rounds;
  void *onlyOut[] = {&out}, *all[] = {&input, &out, &count};
  ask("ring", onlyOut, [&](int i) { return 3 * neighbour(i, 1) + 1; }, blocks * 64);
  ask("multicast", all, [&](int i) { return in[i % (rounds * 256)] + i / (rounds * 256) % size; }, most);
  ask("send", onlyOut,
      [&](int i) {
        int from = neighbour(i / 3, size - 1);
        return i % 3 == 0 ? 7 * from : i % 3 == 1 ? 5 * from : 64 * (from / 64 * 64) + 63 * 32;
      },
      blocks * 64 * 3);
  c.cuMemFree_v2(input);
  c.cuMemFree_v2(out);
  c.cuModuleUnload(l.module);
}

} // namespace

void askClusters(Client &client, const std::string &folder) {
  int major = 0, minor = 0;
  client.must(client.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, client.device), "major");
  client.must(client.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, client.device), "minor");
  if (major < 9)
    return;
  askRefusals(client);
  // Code for sm_90a runs on that GPU only.
  if (major == 9 && minor == 0)
    askTogether(client, folder + "/cluster.ptx");
}

} // namespace tilewright::ptxsim::confirm
