// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions to the driver API: what it refuses and with which code, and what its calls do.

#include "hardware/Client.h"

#include <vector>

namespace tilewright::ptxsim::confirm {
namespace {

const char *const kernels = R"(
.version 7.0
.target sm_80
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 factor, .param .u32 count) {
  .reg .pred %p;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [factor];
  ld.param.u32 %r2, [count];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p, %r6, %r2;
  @%p ret;
  mad.wide.u32 %rd2, %r6, 4, %rd1;
  ld.global.u32 %r7, [%rd2];
  mul.lo.s32 %r7, %r7, %r1;
  st.global.u32 [%rd2], %r7;
  ret;
}
.visible .entry atMost64(.param .u64 data) .maxntid 64 {
  ret;
}
.visible .entry exactly64(.param .u64 data) .reqntid 64 {
  ret;
}
.visible .entry fault(.param .u64 where) {
  .reg .b64 %rd;
  ld.param.u64 %rd, [where];
  st.global.u32 [%rd], 1;
  ret;
}
.visible .entry stop() {
  trap;
}
)";

struct Kernels {
  explicit Kernels(Client &client) : client(client) {
    client.must(client.cuModuleLoadData(&module, kernels), "cuModuleLoadData");
  }
  CUfunction operator[](const char *name) {
    CUfunction function = nullptr;
    client.must(client.cuModuleGetFunction(&function, module, name), name);
    return function;
  }
  Client &client;
  CUmodule module = nullptr;
};

void askLaunchLimits(Client &c) {
  Kernels k(c);
  CUdeviceptr data = 0;
  unsigned one = 1;
  c.must(c.cuMemAlloc_v2(&data, 256), "cuMemAlloc");
  void *params[] = {&data, &one, &one};
  auto launch = [&](const char *name, unsigned grid, unsigned block, unsigned shared = 0) {
    return c.cuLaunchKernel(k[name], grid, 1, 1, block, 1, 1, shared, nullptr, params, nullptr);
  };
  c.expect("launch of no blocks", CUDA_ERROR_INVALID_VALUE, launch("scale", 0, 1));
  c.expect("launch of no threads", CUDA_ERROR_INVALID_VALUE, launch("scale", 1, 0));
  c.expect("launch of 1025 threads", CUDA_ERROR_INVALID_VALUE, launch("scale", 1, 1025));
  c.expect("launch beyond maxntid", CUDA_ERROR_INVALID_VALUE, launch("atMost64", 1, 65));
  c.expect("launch within maxntid", CUDA_SUCCESS, launch("atMost64", 1, 64));
  c.expect("launch against reqntid", CUDA_ERROR_INVALID_VALUE, launch("exactly64", 1, 32));
  c.expect("launch as reqntid says", CUDA_SUCCESS, launch("exactly64", 1, 64));
  c.expect("48 KiB of dynamic shared memory", CUDA_SUCCESS, launch("scale", 1, 1, 48 << 10));
  c.expect("more than 48 KiB without the attribute", CUDA_ERROR_INVALID_VALUE, launch("scale", 1, 1, (48 << 10) + 1));
  c.expect("the attribute", CUDA_SUCCESS,
           c.cuFuncSetAttribute(k["scale"], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64 << 10));
  c.expect("more than 48 KiB with the attribute", CUDA_SUCCESS, launch("scale", 1, 1, 64 << 10));
  c.expect("the attribute beyond the device", CUDA_ERROR_INVALID_VALUE,
           c.cuFuncSetAttribute(k["scale"], CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 20));
  c.expect("grid.y of 65536", CUDA_ERROR_INVALID_VALUE,
           c.cuLaunchKernel(k["scale"], 1, 65536, 1, 1, 1, 1, 0, nullptr, params, nullptr));
  c.expect("block.z of 65", CUDA_ERROR_INVALID_VALUE,
           c.cuLaunchKernel(k["scale"], 1, 1, 1, 1, 1, 65, 0, nullptr, params, nullptr));
  c.expect("launch of what is no function", CUDA_ERROR_INVALID_HANDLE,
           c.cuLaunchKernel(nullptr, 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr));
  c.expect("no parameters", CUDA_ERROR_INVALID_VALUE,
           c.cuLaunchKernel(k["scale"], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  struct {
    CUdeviceptr data;
    unsigned factor, count;
  } packed = {data, 1, 1};
  size_t size = sizeof(packed), shorter = size - 4;
  void *extra[] = {reinterpret_cast<void *>(1), &packed, reinterpret_cast<void *>(2), &size, nullptr};
  c.expect("parameters as a buffer", CUDA_SUCCESS,
           c.cuLaunchKernel(k["scale"], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  extra[3] = &shorter;
  c.expect("parameters as a buffer too short", CUDA_ERROR_INVALID_VALUE,
           c.cuLaunchKernel(k["scale"], 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  c.expect("end of the launches", CUDA_SUCCESS, c.cuCtxSynchronize());
  c.cuMemFree_v2(data);
  c.cuModuleUnload(k.module);
}

void askCopies(Client &c) {
  Kernels k(c);
  std::vector<unsigned> values(1000);
  for (unsigned i = 0; i < values.size(); ++i)
    values[i] = i;
  CUdeviceptr data = 0;
  unsigned factor = 3, count = 1000;
  c.must(c.cuMemAlloc_v2(&data, 4000), "cuMemAlloc");
  c.expect("copy to the device", CUDA_SUCCESS, c.cuMemcpyHtoD_v2(data, values.data(), 4000));
  void *params[] = {&data, &factor, &count};
  c.expect("launch", CUDA_SUCCESS, c.cuLaunchKernel(k["scale"], 8, 1, 1, 128, 1, 1, 0, nullptr, params, nullptr));
  c.expect("copy to the host", CUDA_SUCCESS, c.cuMemcpyDtoH_v2(values.data(), data, 4000));
  unsigned wrong = 0;
  for (unsigned i = 0; i < values.size(); ++i)
    wrong += values[i] != 3 * i;
  c.record("wrong elements", "0", std::to_string(wrong), wrong == 0);
  c.cuMemFree_v2(data);
  c.cuModuleUnload(k.module);
}

void askMemory(Client &c) {
  CUdeviceptr data = 0;
  unsigned word = 0;
  c.expect("allocation of 0 bytes", CUDA_ERROR_INVALID_VALUE, c.cuMemAlloc_v2(&data, 0));
  c.expect("allocation of 1 EiB", CUDA_ERROR_OUT_OF_MEMORY, c.cuMemAlloc_v2(&data, size_t(1) << 60));
  c.must(c.cuMemAlloc_v2(&data, 1024), "cuMemAlloc");
  c.record("alignment of an allocation", "0", std::to_string(data % 256), data % 256 == 0);
  c.expect("fill", CUDA_SUCCESS, c.cuMemsetD32_v2(data, 0x01020304, 256));
  c.expect("fill at an odd address", CUDA_ERROR_INVALID_VALUE, c.cuMemsetD32_v2(data + 1, 0, 1));
  c.expect("copy", CUDA_SUCCESS, c.cuMemcpyDtoH_v2(&word, data + 1020, 4));
  c.record("what the fill wrote", "16909060", std::to_string(word), word == 0x01020304);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  c.expect("range of an inner address", CUDA_SUCCESS, c.cuMemGetAddressRange_v2(&base, &bytes, data + 100));
  c.record("its base and size", "0 1024", std::to_string(data - base) + " " + std::to_string(bytes),
           base == data && bytes == 1024);
  c.expect("free of an inner address", CUDA_ERROR_INVALID_VALUE, c.cuMemFree_v2(data + 256));
  c.expect("free", CUDA_SUCCESS, c.cuMemFree_v2(data));
  c.expect("free again", CUDA_ERROR_INVALID_VALUE, c.cuMemFree_v2(data));
  c.expect("free of null", CUDA_SUCCESS, c.cuMemFree_v2(0));
}

void askContext(Client &c) {
  CUdeviceptr data = 0;
  CUdevice device;
  CUmodule module;
  c.expect("device 1000", CUDA_ERROR_INVALID_DEVICE, c.cuDeviceGet(&device, 1000));
  c.cuCtxSetCurrent(nullptr);
  c.expect("allocation without a context", CUDA_ERROR_INVALID_CONTEXT, c.cuMemAlloc_v2(&data, 64));
  c.expect("module without a context", CUDA_ERROR_INVALID_CONTEXT, c.cuModuleLoadData(&module, kernels));
  c.cuCtxSetCurrent(c.context);
  c.expect("PTX of a version to come", CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
           c.cuModuleLoadData(&module, ".version 99.0\n.target sm_80\n.address_size 64\n"));
  Kernels k(c);
  CUfunction function = nullptr;
  c.expect("kernel that is not there", CUDA_ERROR_NOT_FOUND, c.cuModuleGetFunction(&function, k.module, "missing"));
  c.cuModuleUnload(k.module);
}

void askStreams(Client &c) {
  Kernels k(c);
  CUstream first = nullptr, second = nullptr;
  CUevent event = nullptr, fresh = nullptr;
  CUdeviceptr data = 0;
  c.expect("stream with unknown flags", CUDA_ERROR_INVALID_VALUE, c.cuStreamCreate(&first, 64));
  c.must(c.cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  c.must(c.cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  c.must(c.cuEventCreate(&event, 0), "cuEventCreate");
  c.must(c.cuEventCreate(&fresh, 0), "cuEventCreate");
  c.must(c.cuMemAlloc_v2(&data, 400), "cuMemAlloc");
  c.expect("event that was never recorded", CUDA_SUCCESS, c.cuEventQuery(fresh));
  c.expect("fill on a stream", CUDA_SUCCESS, c.cuMemsetD32Async(data, 7, 100, first));
  c.expect("record", CUDA_SUCCESS, c.cuEventRecord(event, first));
  c.expect("wait", CUDA_SUCCESS, c.cuStreamWaitEvent(second, event, 0));
  unsigned factor = 6, count = 100;
  void *params[] = {&data, &factor, &count};
  c.expect("launch on a stream", CUDA_SUCCESS,
           c.cuLaunchKernel(k["scale"], 1, 1, 1, 128, 1, 1, 0, second, params, nullptr));
  c.expect("synchronisation", CUDA_SUCCESS, c.cuStreamSynchronize(second));
  c.expect("query afterwards", CUDA_SUCCESS, c.cuStreamQuery(second));
  unsigned value = 0;
  c.cuMemcpyDtoH_v2(&value, data + 396, 4);
  c.record("what the launch wrote", "42", std::to_string(value), value == 42);
  float milliseconds = 0;
  c.expect("time since an event that was never recorded", CUDA_ERROR_INVALID_HANDLE,
           c.cuEventElapsedTime(&milliseconds, fresh, event));
  c.cuEventDestroy_v2(event);
  c.cuEventDestroy_v2(fresh);
  c.expect("end of a stream", CUDA_SUCCESS, c.cuStreamDestroy_v2(first));
  c.expect("end of another", CUDA_SUCCESS, c.cuStreamDestroy_v2(second));
  c.cuMemFree_v2(data);
  c.cuModuleUnload(k.module);
}

/// Last: contexts do not survive.
void askFailures(Client &c) {
  struct {
    const char *kernel, *question;
    CUdeviceptr where;
    CUresult expected;
  } failures[] = {{"fault", "store to address 64", 64, CUDA_ERROR_ILLEGAL_ADDRESS},
                  {"fault", "misaligned store", 1, CUDA_ERROR_MISALIGNED_ADDRESS},
                  {"stop", "trap", 0, CUDA_ERROR_LAUNCH_FAILED}};
  for (auto &failure : failures) {
    Kernels k(c);
    CUdeviceptr data = 0;
    c.must(c.cuMemAlloc_v2(&data, 64), "cuMemAlloc");
    if (failure.where == 1)
      failure.where += data;
    void *params[] = {&failure.where};
    c.must(c.cuLaunchKernel(k[failure.kernel], 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr), failure.question);
    c.expect(failure.question, failure.expected, c.cuCtxSynchronize());
    c.expect(std::string("allocation after a ") + failure.question, failure.expected, c.cuMemAlloc_v2(&data, 64));
    c.reset();
    c.expect(std::string("allocation after the reset that follows a ") + failure.question, CUDA_SUCCESS,
             c.cuMemAlloc_v2(&data, 64));
    c.cuMemFree_v2(data);
  }
}

} // namespace

void askApi(Client &client) {
  askLaunchLimits(client);
  askCopies(client);
  askMemory(client);
  askContext(client);
  askStreams(client);
  askFailures(client);
}

} // namespace tilewright::ptxsim::confirm
