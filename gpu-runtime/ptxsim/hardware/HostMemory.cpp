// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions about host memory that kernels access where it is: pinned, registered, managed.

#include "hardware/Client.h"

#include <vector>

namespace tilewright::ptxsim::confirm {
namespace {

const char *const text = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry increment(.param .u64 data) {
  .reg .b32 %r<3>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd3, %rd1, %rd2;
  ld.global.u32 %r2, [%rd3];
  add.u32 %r2, %r2, 1;
  st.global.u32 [%rd3], %r2;
  ret;
}
)";

constexpr unsigned count = 64;

/// A kernel adds one to each of 64 words.
void askIncrement(Client &c, CUfunction function, const std::string &what, CUdeviceptr address, unsigned *words) {
  for (unsigned i = 0; i < count; ++i)
    words[i] = i;
  void *params[] = {&address};
  c.expect("launch on " + what, CUDA_SUCCESS,
           c.cuLaunchKernel(function, 1, 1, 1, count, 1, 1, 0, nullptr, params, nullptr));
  c.expect("end of the launch on " + what, CUDA_SUCCESS, c.cuCtxSynchronize());
  unsigned wrong = 0;
  for (unsigned i = 0; i < count; ++i)
    wrong += words[i] != i + 1;
  c.record("wrong words in " + what, "0", std::to_string(wrong), wrong == 0);
}

void askPinned(Client &c, CUfunction function) {
  void *pinned = nullptr;
  CUdeviceptr address = 0;
  c.expect("pinned memory", CUDA_SUCCESS, c.cuMemAllocHost_v2(&pinned, count * 4));
  c.expect("its device address", CUDA_SUCCESS, c.cuMemHostGetDevicePointer_v2(&address, pinned, 0));
  bool same = address == reinterpret_cast<CUdeviceptr>(pinned);
  c.record("it is the host's", "yes", same ? "yes" : "no", same);
  askIncrement(c, function, "pinned memory", address, static_cast<unsigned *>(pinned));
  unsigned type = 0;
  c.expect("kind of pinned memory", CUDA_SUCCESS,
           c.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address));
  c.record("it is the host's kind", "1", std::to_string(type), type == CU_MEMORYTYPE_HOST);
  c.expect("free of pinned memory", CUDA_SUCCESS, c.cuMemFreeHost(pinned));
  c.expect("free of what is not pinned", CUDA_ERROR_INVALID_VALUE, c.cuMemFreeHost(&type));
}

void askRegistered(Client &c, CUfunction function) {
  alignas(4096) static unsigned words[4096 / 4];
  CUdeviceptr address = 0;
  c.expect("registering memory", CUDA_SUCCESS, c.cuMemHostRegister_v2(words, sizeof(words), 0));
  c.expect("registering it again", CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED,
           c.cuMemHostRegister_v2(words, sizeof(words), 0));
  c.expect("its device address", CUDA_SUCCESS, c.cuMemHostGetDevicePointer_v2(&address, words, 0));
  askIncrement(c, function, "registered memory", address, words);
  c.expect("unregistering", CUDA_SUCCESS, c.cuMemHostUnregister(words));
  c.expect("unregistering again", CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, c.cuMemHostUnregister(words));
}

void askManaged(Client &c, CUfunction function) {
  CUdeviceptr address = 0;
  c.expect("managed memory attached to nothing", CUDA_ERROR_INVALID_VALUE, c.cuMemAllocManaged(&address, 64, 0));
  c.expect("managed memory", CUDA_SUCCESS, c.cuMemAllocManaged(&address, count * 4, CU_MEM_ATTACH_GLOBAL));
  unsigned *words = reinterpret_cast<unsigned *>(address), copied = 0;
  askIncrement(c, function, "managed memory", address, words);
  c.expect("fill of managed memory", CUDA_SUCCESS, c.cuMemsetD32_v2(address, 7, count));
  c.expect("copy from managed memory", CUDA_SUCCESS, c.cuMemcpyDtoH_v2(&copied, address + 4, 4));
  c.record("what the fill wrote there", "7", std::to_string(copied), copied == 7);
  unsigned isManaged = 0;
  c.expect("whether it is managed", CUDA_SUCCESS,
           c.cuPointerGetAttribute(&isManaged, CU_POINTER_ATTRIBUTE_IS_MANAGED, address));
  c.record("it is", "1", std::to_string(isManaged), isManaged == 1);
  c.expect("free of managed memory", CUDA_SUCCESS, c.cuMemFree_v2(address));
}

} // namespace

void askHostMemory(Client &client) {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  client.must(client.cuModuleLoadData(&module, text), "cuModuleLoadData");
  client.must(client.cuModuleGetFunction(&function, module, "increment"), "cuModuleGetFunction");
  askPinned(client, function);
  askRegistered(client, function);
  askManaged(client, function);
  client.cuModuleUnload(module);
}

} // namespace tilewright::ptxsim::confirm
