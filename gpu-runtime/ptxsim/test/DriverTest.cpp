// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the simulator's library does beyond a driver: its own entry points, its findings, strictness where a driver would
// crash, damaged images. What a driver does too is asked of both by hardware/confirm.

#include "driver/Cuda.h"
#include "driver/Extensions.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

namespace {

void *libraryHandle() {
  static void *handle = dlopen(PTXSIM_LIBRARY, RTLD_NOW | RTLD_LOCAL);
  return handle;
}

/// The function as a program built against CUDA 13.0 gets it.
template <typename Type> Type *entry(const char *name) {
  using Getter = CUresult(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
  auto *get = reinterpret_cast<Getter *>(dlsym(libraryHandle(), "cuGetProcAddress_v2"));
  void *function = nullptr;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(get(name, &function, 13000, 0, &status), CUDA_SUCCESS) << name;
  return reinterpret_cast<Type *>(function);
}

namespace cu {
#define PTXSIM_API_NONE(name, symbol, version, params, args)                                                           \
  [[maybe_unused]] CUresult symbol params {                                                                            \
    return reinterpret_cast<CUresult(*) params>(dlsym(libraryHandle(), #symbol)) args;                                 \
  }
#include "driver/Implemented.def"
} // namespace cu

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
)";

class DriverTest : public ::testing::Test {
protected:
  static void SetUpTestSuite() {
    ASSERT_NE(libraryHandle(), nullptr) << dlerror();
    ASSERT_EQ(cu::cuInit(0), CUDA_SUCCESS);
  }
  void SetUp() override {
    ASSERT_EQ(cu::cuDevicePrimaryCtxRetain(&context, 0), CUDA_SUCCESS);
    ASSERT_EQ(cu::cuCtxSetCurrent(context), CUDA_SUCCESS);
  }
  void TearDown() override {
    cu::cuCtxSetCurrent(nullptr);
    cu::cuDevicePrimaryCtxRelease_v2(0);
  }
  CUfunction function(const char *name) {
    CUfunction result = nullptr;
    if (!module) {
      EXPECT_EQ(cu::cuModuleLoadData(&module, kernels), CUDA_SUCCESS);
    }
    EXPECT_EQ(cu::cuModuleGetFunction(&result, module, name), CUDA_SUCCESS);
    return result;
  }
  /// `scale` as a programmatic dependent: it may begin while what is in front of it in the stream runs.
  CUresult scaleEarly(CUdeviceptr data, unsigned factor, unsigned count, CUstream stream) {
    void *params[] = {&data, &factor, &count};
    CUlaunchAttribute attribute = {};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config = {(count + 127) / 128, 1, 1, 128, 1, 1, 0, stream, &attribute, 1};
    return cu::cuLaunchKernelEx(&config, function("scale"), params, nullptr);
  }
  CUresult scale(CUdeviceptr data, unsigned factor, unsigned count, CUstream stream, unsigned block = 128) {
    void *params[] = {&data, &factor, &count};
    return cu::cuLaunchKernel(function("scale"), (count + block - 1) / block, 1, 1, block, 1, 1, 0, stream, params,
                              nullptr);
  }
  CUcontext context = nullptr;
  CUmodule module = nullptr;
};

TEST_F(DriverTest, IsTheSimulatorAndSaysSo) {
  EXPECT_NE(dlsym(libraryHandle(), "ptxsimVersion"), nullptr);
  char name[64];
  ASSERT_EQ(cu::cuDeviceGetName(name, sizeof(name), 0), CUDA_SUCCESS);
  EXPECT_EQ(std::string(name).rfind("ptxsim", 0), 0u);
}

TEST_F(DriverTest, KnowsWhatItLacks) {
  auto *graph = entry<CUresult(void *, unsigned)>("cuGraphCreate");
  EXPECT_EQ(graph(nullptr, 0), CUDA_ERROR_NOT_SUPPORTED);
  using Getter = CUresult(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
  auto *get = reinterpret_cast<Getter *>(dlsym(libraryHandle(), "cuGetProcAddress_v2"));
  void *function = nullptr;
  CUdriverProcAddressQueryResult status;
  EXPECT_EQ(get("cuMemcpyHtoDAsync", &function, 13000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status),
            CUDA_SUCCESS);
  EXPECT_EQ(function, dlsym(libraryHandle(), "cuMemcpyHtoDAsync_v2_ptsz"));
}

/// Handles that are none crash a driver, or worse.
TEST_F(DriverTest, ForeignHandles) {
  CUdeviceptr data;
  CUstream stream;
  CUlibrary library;
  unsigned one = 1;
  void *params[] = {&data, &one, &one};
  EXPECT_EQ(cu::cuLaunchKernel(reinterpret_cast<CUfunction>(&data), 1, 1, 1, 1, 1, 1, 0, nullptr, params, nullptr),
            CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(cu::cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuStreamDestroy_v2(stream), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
  ASSERT_EQ(cu::cuLibraryLoadData(&library, kernels, nullptr, nullptr, 0, nullptr, nullptr, 0), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuLibraryUnload(library), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuLibraryUnload(library), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(DriverTest, ErrorsStickUntilReset) {
  CUdeviceptr data;
  ASSERT_EQ(cu::cuMemAlloc_v2(&data, 64), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuMemsetD8_v2(data, 0, 64), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 3, 17, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu::cuMemAlloc_v2(&data, 64), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(cu::cuDevicePrimaryCtxReset_v2(0), CUDA_SUCCESS);
  module = nullptr;
  EXPECT_EQ(cu::cuMemAlloc_v2(&data, 64), CUDA_SUCCESS);
}

TEST_F(DriverTest, MissingWaitBetweenStreamsIsFound) {
  CUstream first, second;
  ASSERT_EQ(cu::cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUdeviceptr data;
  ASSERT_EQ(cu::cuMemAlloc_v2(&data, 400), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuMemsetD32Async(data, 7, 100, first), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 6, 100, second), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  cu::cuDevicePrimaryCtxReset_v2(0);
}

TEST_F(DriverTest, DependentLaunchThatDoesNotWaitIsFound) {
  CUstream stream;
  ASSERT_EQ(cu::cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  CUdeviceptr data;
  ASSERT_EQ(cu::cuMemAlloc_v2(&data, 400), CUDA_SUCCESS);
  // Behind a fill, and when the host has waited, all that it reads is there; so it is for a plain launch behind it.
  ASSERT_EQ(cu::cuMemsetD32Async(data, 7, 100, stream), CUDA_SUCCESS);
  ASSERT_EQ(scaleEarly(data, 6, 100, stream), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 2, 100, stream), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuStreamSynchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(scaleEarly(data, 6, 100, stream), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuStreamSynchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 6, 100, stream), CUDA_SUCCESS);
  ASSERT_EQ(scaleEarly(data, 6, 100, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuStreamSynchronize(stream), CUDA_ERROR_LAUNCH_FAILED);
  cu::cuDevicePrimaryCtxReset_v2(0);
}

/// What the device does not wait for orders no kernels: memory handed out and back, events.
TEST_F(DriverTest, DependentLaunchBehindWhatNothingWaitsForIsFound) {
  auto *begin = reinterpret_cast<decltype(&ptxsimBeginUse)>(dlsym(libraryHandle(), "ptxsimBeginUse"));
  auto *poison = reinterpret_cast<decltype(&ptxsimPoison)>(dlsym(libraryHandle(), "ptxsimPoison"));
  auto *clear = reinterpret_cast<decltype(&ptxsimClearFindings)>(dlsym(libraryHandle(), "ptxsimClearFindings"));
  auto *findings = reinterpret_cast<decltype(&ptxsimFindings)>(dlsym(libraryHandle(), "ptxsimFindings"));
  enum Between { OtherMemory, SameMemory, Poisoned, Freed, Recorded, ForeignEvent, OwnEvent, JoinedEvent, HostFunction };
  for (Between between :
       {OtherMemory, SameMemory, Poisoned, Freed, Recorded, ForeignEvent, OwnEvent, JoinedEvent, HostFunction}) {
    SCOPED_TRACE(between);
    module = nullptr;
    CUstream stream, second;
    CUevent event;
    CUdeviceptr data, other;
    ASSERT_EQ(cu::cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cu::cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cu::cuEventCreate(&event, 0), CUDA_SUCCESS);
    ASSERT_EQ(cu::cuMemAlloc_v2(&data, 400), CUDA_SUCCESS);
    ASSERT_EQ(cu::cuMemAlloc_v2(&other, 400), CUDA_SUCCESS);
    ASSERT_EQ(cu::cuMemsetD32Async(data, 7, 100, stream), CUDA_SUCCESS);
    ASSERT_EQ(scale(data, 6, 100, stream), CUDA_SUCCESS);
    bool isOrdered = false;
    switch (between) {
    case OtherMemory:
      ASSERT_EQ(begin(other, 400, stream), CUDA_SUCCESS);
      // What the note leaves behind is no access of a kernel.
      ASSERT_EQ(scaleEarly(other, 2, 100, stream), CUDA_SUCCESS);
      break;
    case SameMemory:
      ASSERT_EQ(begin(data, 400, stream), CUDA_SUCCESS);
      break;
    case Poisoned:
      ASSERT_EQ(poison(data, 400, stream), CUDA_SUCCESS);
      break;
    case Freed:
      ASSERT_EQ(cu::cuMemFreeAsync(other, stream), CUDA_SUCCESS);
      break;
    case Recorded:
      ASSERT_EQ(cu::cuEventRecord(event, stream), CUDA_SUCCESS);
      break;
    case JoinedEvent:
      ASSERT_EQ(cu::cuEventRecord(event, stream), CUDA_SUCCESS);
      ASSERT_EQ(cu::cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
      isOrdered = true;
      [[fallthrough]];
    case ForeignEvent:
      ASSERT_EQ(cu::cuEventRecord(event, second), CUDA_SUCCESS);
      ASSERT_EQ(cu::cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
      break;
    case OwnEvent:
      ASSERT_EQ(cu::cuEventRecord(event, stream), CUDA_SUCCESS);
      ASSERT_EQ(cu::cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
      isOrdered = true;
      break;
    case HostFunction:
      ASSERT_EQ(cu::cuLaunchHostFunc(stream, [](void *) {}, nullptr), CUDA_SUCCESS);
      isOrdered = true;
      break;
    }
    clear();
    EXPECT_EQ(scaleEarly(data, 6, 100, stream), CUDA_SUCCESS);
    EXPECT_EQ(cu::cuStreamSynchronize(stream), isOrdered ? CUDA_SUCCESS : CUDA_ERROR_LAUNCH_FAILED);
    char said[4096] = "";
    EXPECT_LT(findings(said, sizeof(said)), sizeof(said));
    EXPECT_EQ(std::string(said).find("on the same stream: no thread of the block has waited for it") !=
                  std::string::npos,
              !isOrdered)
        << said;
    cu::cuDevicePrimaryCtxReset_v2(0);
  }
  module = nullptr;
}

TEST_F(DriverTest, UndefinedBytesAreFoundAtTheCopy) {
  CUdeviceptr data;
  ASSERT_EQ(cu::cuMemAlloc_v2(&data, 64), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuMemsetD8_v2(data, 0, 60), CUDA_SUCCESS);
  char bytes[64];
  EXPECT_EQ(cu::cuMemcpyDtoH_v2(bytes, data, 60), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuMemcpyDtoH_v2(bytes, data, 64), CUDA_ERROR_LAUNCH_FAILED);
  cu::cuDevicePrimaryCtxReset_v2(0);
}

TEST_F(DriverTest, HostMemoryHasBoundsAndEnds) {
  void *pinned = nullptr;
  ASSERT_EQ(cu::cuMemAllocHost_v2(&pinned, 400), CUDA_SUCCESS);
  CUdeviceptr data = reinterpret_cast<CUdeviceptr>(pinned);
  EXPECT_EQ(cu::cuMemsetD8_v2(data, 0, 401), CUDA_ERROR_INVALID_VALUE);
  ASSERT_EQ(scale(data, 6, 101, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  cu::cuDevicePrimaryCtxReset_v2(0);
  module = nullptr;
  ASSERT_EQ(cu::cuMemAllocHost_v2(&pinned, 400), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuMemFreeHost(pinned), CUDA_SUCCESS);
  ASSERT_EQ(scale(reinterpret_cast<CUdeviceptr>(pinned), 6, 1, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  cu::cuDevicePrimaryCtxReset_v2(0);
}

TEST_F(DriverTest, SubBuffersHaveRedZones) {
  CUdeviceptr data;
  ASSERT_EQ(cu::cuMemAlloc_v2(&data, 1024), CUDA_SUCCESS);
  auto *define = reinterpret_cast<decltype(&ptxsimDefineSubBuffer)>(dlsym(libraryHandle(), "ptxsimDefineSubBuffer"));
  ASSERT_EQ(define(data, 400, "temporary"), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuMemsetD8_v2(data, 0, 400), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 6, 100, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuCtxSynchronize(), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 6, 101, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  cu::cuDevicePrimaryCtxReset_v2(0);
}

TEST_F(DriverTest, MemoryHandedOutAgainIsUndefined) {
  CUdeviceptr data;
  CUstream stream;
  ASSERT_EQ(cu::cuMemAlloc_v2(&data, 1024), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  auto *begin = reinterpret_cast<decltype(&ptxsimBeginUse)>(dlsym(libraryHandle(), "ptxsimBeginUse"));
  EXPECT_EQ(begin(data + 4, 4, stream), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(begin(data, 1025, stream), CUDA_ERROR_INVALID_VALUE);
  // The earlier use may still be queued when the next one begins.
  ASSERT_EQ(begin(data, 1024, stream), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuMemsetD8Async(data, 0, 1024, stream), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 6, 256, stream), CUDA_SUCCESS);
  ASSERT_EQ(begin(data, 400, stream), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuMemsetD8Async(data, 0, 400, stream), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 6, 100, stream), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuStreamSynchronize(stream), CUDA_SUCCESS);
  ASSERT_EQ(begin(data, 400, nullptr), CUDA_SUCCESS);
  char bytes[4];
  EXPECT_EQ(cu::cuMemcpyDtoH_v2(bytes, data, 4), CUDA_ERROR_LAUNCH_FAILED);
  cu::cuDevicePrimaryCtxReset_v2(0);
}

TEST_F(DriverTest, MemoryHandedOutTooEarlyIsFound) {
  CUdeviceptr data;
  CUstream first, second;
  ASSERT_EQ(cu::cuMemAlloc_v2(&data, 400), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  auto *begin = reinterpret_cast<decltype(&ptxsimBeginUse)>(dlsym(libraryHandle(), "ptxsimBeginUse"));
  ASSERT_EQ(cu::cuMemsetD8Async(data, 0, 400, first), CUDA_SUCCESS);
  auto result = static_cast<CUresult>(begin(data, 400, second));
  EXPECT_TRUE(result == CUDA_SUCCESS) << result;
  EXPECT_EQ(cu::cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  cu::cuDevicePrimaryCtxReset_v2(0);
}

/// Who waits for the earlier use alone comes too early, or too late.
TEST_F(DriverTest, MemoryUsedByThoseThatMissedItsReuseIsFound) {
  CUdeviceptr data;
  CUstream first, second;
  CUevent used;
  ASSERT_EQ(cu::cuMemAlloc_v2(&data, 400), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuEventCreate(&used, 0), CUDA_SUCCESS);
  auto *begin = reinterpret_cast<decltype(&ptxsimBeginUse)>(dlsym(libraryHandle(), "ptxsimBeginUse"));
  ASSERT_EQ(cu::cuMemsetD8Async(data, 0, 400, first), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 6, 100, first), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuEventRecord(used, first), CUDA_SUCCESS);
  ASSERT_EQ(cu::cuStreamWaitEvent(second, used, 0), CUDA_SUCCESS);
  ASSERT_EQ(begin(data, 400, first), CUDA_SUCCESS);
  ASSERT_EQ(scale(data, 6, 100, second), CUDA_SUCCESS);
  EXPECT_EQ(cu::cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  cu::cuDevicePrimaryCtxReset_v2(0);
}

/// Damage anywhere is an error, not a crash.
TEST_F(DriverTest, DamagedFatbins) {
  for (const char *name : {"plain", "lz4", "zstd"}) {
    std::ifstream file(std::string(PTXSIM_TEST_DATA) + "/programs/basics-" + name + ".fatbin", std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    std::string image = bytes.str();
    for (size_t at = 0; at < image.size(); at += 37) {
      std::string damaged = image;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
      CUmodule other;
      if (cu::cuModuleLoadData(&other, damaged.data()) == CUDA_SUCCESS)
        cu::cuModuleUnload(other);
    }
  }
}

/// A file ends where it ends, whatever its header promises, and has no pointers.
TEST_F(DriverTest, FatbinsThatAreCutOff) {
  std::ifstream file(std::string(PTXSIM_TEST_DATA) + "/programs/basics-plain.fatbin", std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  std::string image = bytes.str();
  std::string path = testing::TempDir() + "/tilewright-cut-" + std::to_string(getpid()) + ".fatbin";
  auto load = [&](const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
    CUmodule module;
    CUlibrary library;
    CUresult result = cu::cuModuleLoad(&module, path.c_str());
    EXPECT_EQ(cu::cuLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0), result);
    if (result == CUDA_SUCCESS) {
      cu::cuModuleUnload(module);
      cu::cuLibraryUnload(library);
    }
    return result;
  };
  EXPECT_EQ(load(image), CUDA_SUCCESS);
  for (size_t size : {size_t(5), size_t(15), size_t(16), size_t(70), image.size() / 2, image.size() - 1})
    EXPECT_EQ(load(image.substr(0, size)), CUDA_ERROR_INVALID_IMAGE) << size;
  // The sizes of header and entry agree; the file has 3 bytes of half a gigabyte.
  std::string huge = image.substr(0, 16 + 64) + "abc";
  uint64_t payload = 1u << 29, all = payload + 64;
  std::memcpy(&huge[8], &all, 8);
  std::memcpy(&huge[16 + 8], &payload, 8);
  EXPECT_EQ(load(huge), CUDA_ERROR_INVALID_IMAGE);
  std::string wrapper(24, '\x50');
  const uint32_t magic = 0x466243b1;
  std::memcpy(&wrapper[0], &magic, 4);
  EXPECT_NE(load(wrapper), CUDA_SUCCESS);
  std::remove(path.c_str());
}

} // namespace
