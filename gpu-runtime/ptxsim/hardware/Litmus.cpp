// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The litmus kernels, many launches each. Without its fence a kernel may or may not give a stale answer: how often it does
// is noted and counts as agreement.

#include "hardware/Litmus.h"
#include "hardware/Client.h"

namespace tilewright::ptxsim::confirm {
namespace {

constexpr int launches = 200;

/// Launches that gave another answer; -1 when the kernel cannot be loaded.
int staleAnswers(Client &c, const std::string &text, unsigned cluster, int count) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  if (c.cuModuleLoadData(&module, text.c_str()) != CUDA_SUCCESS)
    return -1;
  c.must(c.cuModuleGetFunction(&function, module, "litmus"), "litmus");
  CUdeviceptr data = 0, out = 0;
  c.must(c.cuMemAlloc_v2(&data, 256), "cuMemAlloc");
  c.must(c.cuMemAlloc_v2(&out, 256), "cuMemAlloc");
  CUlaunchAttribute attribute = {};
  attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
  attribute.value.clusterDim.x = cluster;
  attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
  CUlaunchConfig config = {2, 1, 1, 64, 1, 1, 0, nullptr, &attribute, cluster == 1 ? 0u : 1u};
  void *params[] = {&data, &out};
  int stale = 0;
  for (int i = 0; i < count; ++i) {
    uint32_t answer = 0;
    c.must(c.cuMemsetD8_v2(data, 0, 256), "cuMemsetD8");
    c.must(c.cuMemsetD8_v2(out, 0, 256), "cuMemsetD8");
    c.must(c.cuLaunchKernelEx(&config, function, params, nullptr), "cuLaunchKernelEx");
    c.must(c.cuMemcpyDtoH_v2(&answer, out, 4), "cuMemcpyDtoH");
    stale += answer != litmus::expected;
  }
  c.cuMemFree_v2(data);
  c.cuMemFree_v2(out);
  c.cuModuleUnload(module);
  return stale;
}

} // namespace

void askLitmus(Client &client) {
  int major = 0;
  client.must(client.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, client.device), "major");
  if (major < 9)
    return;
  for (const litmus::Kernel &kernel : litmus::kernels) {
    int stale = staleAnswers(client, kernel.text(), kernel.cluster, launches);
    client.record(std::string("stale answers, ") + kernel.name, "0", std::to_string(stale), stale == 0);
  }
  if (client.isSimulator())
    return;
  for (const litmus::Kernel &kernel : litmus::kernels) {
    std::string text = kernel.text();
    for (size_t at; (at = text.find("fence.proxy")) != std::string::npos;)
      text.erase(at, text.find(';', at) + 1 - at);
    int stale = staleAnswers(client, text, kernel.cluster, launches);
    client.record(std::string("stale answers without a fence, ") + kernel.name, "any number", std::to_string(stale),
                  stale >= 0);
  }
}

} // namespace tilewright::ptxsim::confirm
