// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A caller's CUDA context, stream and memory: made here with the driver API, as
// another program would.
#include "api.h"

#include "drivers/cuda/cuda_api.h"

#include <cstdlib>
#include <dlfcn.h>

namespace tilewright::cts {

namespace {

using namespace tilewright::cuda;

/// The library that the driver under test has opened.
void *openDriver(const std::string &device) {
  if (device.rfind("ptxsim", 0) == 0)
    return dlopen("libtilewright_ptxsim.so.1", RTLD_NOW | RTLD_NOLOAD);
  const char *set = std::getenv("TILEWRIGHT_CUDA_LIBRARY");
  return dlopen(set && *set ? set : "libcuda.so.1", RTLD_NOW);
}

/// A context of the caller's on device 0, current in this thread, with a stream
/// and 256 bytes.
struct Theirs {
  CUcontext context = nullptr, before = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr memory = 0;
  void *library = nullptr;

  template <typename Function> Function *find(const char *name) const {
    return reinterpret_cast<Function *>(dlsym(library, name));
  }
  Status create(Context &of) {
    library = openDriver(of.name());
    if (!library)
      return unavailable("the CUDA driver cannot be opened again");
    auto check = [](CUresult result, const char *what) {
      return result == CUDA_SUCCESS
                 ? Status::ok()
                 : internalError(std::string(what) + ": " +
                                 std::to_string(unsigned(result)));
    };
    if (Status s = check(find<CUresult(CUcontext *, unsigned, CUdevice)>(
                             "cuCtxCreate_v2")(&context, 0, 0),
                         "cuCtxCreate"))
      return s;
    if (Status s = check(find<CUresult(CUstream *, unsigned)>("cuStreamCreate")(
                             &stream, CU_STREAM_NON_BLOCKING),
                         "cuStreamCreate"))
      return s;
    return check(find<CUresult(CUdeviceptr *, size_t)>("cuMemAlloc_v2")(&memory,
                                                                        256),
                 "cuMemAlloc");
  }
  CUcontext current() const {
    CUcontext result = nullptr;
    find<CUresult(CUcontext *)>("cuCtxGetCurrent")(&result);
    return result;
  }
  ~Theirs() {
    if (context)
      find<CUresult(CUcontext)>("cuCtxDestroy_v2")(context);
  }
};

const char *driverOf(const Context &context) {
  return context.name().rfind("ptxsim", 0) == 0 ? "ptxsim" : "cuda";
}

void contextStreamMemory(Context &context) {
  Theirs theirs;
  TW_OK(theirs.create(context));
  InstanceHandle instance;
  DeviceHandle device;
  StreamHandle stream, own;
  BufferHandle buffer;
  TW_API_OK(tilewright_instance_create(nullptr, instance.out()));
  TW_API_OK(tilewright_device_adopt_cuda(instance, driverOf(context),
                                         theirs.context, device.out()));
  TW_CHECK(tilewright_device_name(device) ==
               std::string(driverOf(context)) + ":0",
           tilewright_device_name(device));
  TW_CHECK(tilewright_device_fact(device, "sm") == context.fact("sm"),
           "the facts are the GPU's");
  auto native = reinterpret_cast<uintptr_t>(theirs.stream);
  TW_API_OK(tilewright_stream_import(device, native, stream.out()));
  uint64_t again = 0;
  TW_API_OK(tilewright_stream_native(stream, &again));
  TW_CHECK(again == native, "the stream's handle is the caller's");
  TW_API_OK(tilewright_buffer_import(device, theirs.memory, 256, buffer.out()));
  // In order with the caller's own work on its stream.
  auto fill = theirs.find<CUresult(CUdeviceptr, unsigned, size_t, CUstream)>(
      "cuMemsetD32Async");
  TW_CHECK(fill(theirs.memory, 5, 64, theirs.stream) == CUDA_SUCCESS, "fill");
  TW_OK(increment(context, device, stream, buffer, 2));
  TW_CHECK(theirs.current() == theirs.context,
           "the caller's context is current as before");
  uint32_t out[64] = {};
  auto read = theirs.find<CUresult(void *, CUdeviceptr, size_t)>(
      "cuMemcpyDtoH_v2");
  TW_CHECK(read(out, theirs.memory, 256) == CUDA_SUCCESS, "read");
  TW_CHECK(out[0] == 17 && out[63] == 17, std::to_string(out[0]));
  // The runtime's own stream and memory live in that context as well.
  TW_API_OK(tilewright_stream_create(device, own.out()));
  TW_API_OK(tilewright_buffer_fill(buffer, own, 0, 256, 1, 4));
  TW_OK(increment(context, device, own, buffer, 4));
  own.reset();
  stream.reset();
  buffer.reset();
  device.reset();
  // All of it is still the caller's, and alive.
  TW_CHECK(read(out, theirs.memory, 256) == CUDA_SUCCESS && out[9] == 7,
           "the memory outlives the adoption");
  TW_CHECK(fill(theirs.memory, 5, 64, theirs.stream) == CUDA_SUCCESS,
           "the stream outlives the adoption");
}

void refuses(Context &context) {
  Theirs theirs;
  TW_OK(theirs.create(context));
  InstanceHandle instance;
  DeviceHandle device, adopted;
  StreamHandle stream;
  BufferHandle buffer;
  constexpr auto invalid = StatusCode::InvalidArgument;
  TW_API_OK(tilewright_instance_create(nullptr, instance.out()));
  TW_API_FAILS(tilewright_device_adopt_cuda(instance, driverOf(context),
                                            nullptr, adopted.out()),
               invalid);
  TW_API_FAILS(tilewright_device_adopt_cuda(instance, "metal", theirs.context,
                                            adopted.out()),
               StatusCode::NotFound);
  TW_API_FAILS(tilewright_device_adopt_cuda(instance, "cpu", theirs.context,
                                            adopted.out()),
               StatusCode::Unsupported);
  // The primary context's device and this one do not mix.
  TW_API_OK(tilewright_device_open(instance, context.name().c_str(),
                                   device.out()));
  TW_API_FAILS(tilewright_stream_import(
                   device, reinterpret_cast<uintptr_t>(theirs.stream),
                   stream.out()),
               invalid);
  TW_API_FAILS(tilewright_stream_import(device, CU_STREAM_PER_THREAD_HANDLE,
                                        stream.out()),
               invalid);
  TW_API_FAILS(
      tilewright_buffer_import(device, theirs.memory, 256, buffer.out()),
      invalid);
  TW_API_OK(tilewright_device_adopt_cuda(instance, driverOf(context),
                                         theirs.context, adopted.out()));
  TW_API_FAILS(
      tilewright_buffer_import(adopted, theirs.memory, 1 << 30, buffer.out()),
      invalid);
  TW_API_FAILS(tilewright_buffer_import(adopted, 64, 256, buffer.out()),
               invalid);
  TW_API_FAILS(tilewright_buffer_import(adopted, 0, 256, buffer.out()),
               invalid);
  if (context.fact("simulator")) {
    // Only the simulator tells bad handles from good ones.
    int nothing[64] = {};
    TW_API_FAILS(tilewright_device_adopt_cuda(instance, driverOf(context),
                                              nothing, adopted.out()),
                 invalid);
    TW_API_FAILS(tilewright_stream_import(
                     device, reinterpret_cast<uintptr_t>(&nothing),
                     stream.out()),
                 invalid);
  }
}

void defaultStream(Context &context) {
  InstanceHandle instance;
  DeviceHandle device;
  StreamHandle stream;
  BufferHandle buffer;
  TW_API_OK(tilewright_instance_create(nullptr, instance.out()));
  TW_API_OK(tilewright_device_open(instance, context.name().c_str(),
                                   device.out()));
  TW_API_OK(tilewright_stream_import(device, 0, stream.out()));
  TW_API_OK(tilewright_buffer_allocate(device, 256, buffer.out()));
  TW_API_OK(tilewright_buffer_fill(buffer, stream, 0, 256, 3, 4));
  TW_OK(increment(context, device, stream, buffer, 1));
  uint32_t out[64] = {};
  TW_API_OK(tilewright_buffer_read(buffer, stream, 0, 256, out));
  TW_API_OK(tilewright_stream_synchronize(stream, kForever));
  TW_CHECK(out[7] == 10, std::to_string(out[7]));
}

void nothingToAdopt(Context &context) {
  InstanceHandle instance;
  DeviceHandle device;
  StreamHandle stream;
  TW_API_OK(tilewright_instance_create(nullptr, instance.out()));
  TW_API_OK(tilewright_device_open(instance, context.name().c_str(),
                                   device.out()));
  uint64_t native = 0;
  TW_API_FAILS(tilewright_stream_import(device, 1, stream.out()),
               StatusCode::Unsupported);
  TW_API_OK(tilewright_stream_create(device, stream.out()));
  TW_API_FAILS(tilewright_stream_native(stream, &native),
               StatusCode::Unsupported);
  TW_API_OK(tilewright_stream_flush(stream));
}

} // namespace

std::vector<Case> adoptCudaCases() {
  return {{"adopt.cuda_context", contextStreamMemory, false, OnCuda},
          {"adopt.cuda_refuses", refuses, false, OnCuda},
          {"adopt.cuda_default_stream", defaultStream, false, OnCuda},
          {"adopt.no_streams", nothingToAdopt, false, OnCpu | OnVulkan}};
}

} // namespace tilewright::cts
