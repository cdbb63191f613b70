// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A libcuda in front of the simulator's; see fake_driver.h. It offers the getter of
// CUDA 12 alone.

#include "fake_driver.h"

#include "drivers/cuda/cuda_api.h"

#include <dlfcn.h>

using namespace tilewright::cuda;

TW_FAKE_EXPORT FakeDriver fakeDriver;
FakeDriver fakeDriver;

namespace {

// Objects by the functions that make and end them.
struct Kind {
  const char *kind, *maker, *ender;
};
const Kind kinds[] = {
    {"contexts", "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRelease"},
    {"memory", "cuMemAlloc", "cuMemFree"},
    {"pinned memory", "cuMemHostAlloc", "cuMemFreeHost"},
    {"modules", "cuModuleLoadDataEx", "cuModuleUnload"},
    {"streams", "cuStreamCreate", "cuStreamDestroy"},
    {"events", "cuEventCreate", "cuEventDestroy"},
    {"pushed contexts", "cuCtxPushCurrent", "cuCtxPopCurrent"}};

bool canFail(const char *name) {
  for (const Kind &kind : kinds)
    if (!std::strcmp(name, kind.ender))
      return false;
  // It only moves a pointer.
  return std::strcmp(name, "cuCtxPushCurrent") &&
         std::strncmp(name, "cuGetError", 10);
}

CUresult answer(const char *name, CUresult result) {
  if (result != CUDA_SUCCESS)
    return result;
  for (const Kind &kind : kinds)
    if (!std::strcmp(name, kind.maker))
      fakeDriver.count(kind.kind, 1);
    else if (!std::strcmp(name, kind.ender))
      fakeDriver.count(kind.kind, -1);
  return result;
}

template <typename Name, typename Function> struct Thunk;
template <typename Name, typename... Arguments>
struct Thunk<Name, CUresult(Arguments...)> {
  static inline CUresult (*real)(Arguments...) = nullptr;
  static CUresult call(Arguments... arguments) {
    if (canFail(Name::text))
      if (int result = fakeDriver.before(Name::text))
        return static_cast<CUresult>(result);
    return answer(Name::text, real(arguments...));
  }
};

#define TW_CUDA_SYMBOL(NAME, VERSION, PARAMETERS)                              \
  struct Name_##NAME {                                                         \
    static constexpr const char *text = #NAME;                                 \
  };
#include "drivers/cuda/cuda_symbols.def"

/// The function that stands in front of `real`; `real` where none does.
void *inFront(const char *name, void *real) {
#define TW_CUDA_SYMBOL(NAME, VERSION, PARAMETERS)                              \
  if (!std::strcmp(name, #NAME)) {                                             \
    using Front = Thunk<Name_##NAME, CUresult PARAMETERS>;                     \
    Front::real = reinterpret_cast<decltype(Front::real)>(real);               \
    return reinterpret_cast<void *>(&Front::call);                             \
  }
#include "drivers/cuda/cuda_symbols.def"
  return real;
}

CUresult fakeVersion(int *version) {
  *version = fakeDriver.version;
  return CUDA_SUCCESS;
}
CUresult fakeCount(int *count) {
  *count = fakeDriver.devices;
  return CUDA_SUCCESS;
}

} // namespace

TW_FAKE_EXPORT CUresult cuGetProcAddress_v2(const char *name, void **address,
                                            int version, uint64_t flags,
                                            CUdriverProcAddressQueryResult *found) {
  using Get = CUresult (*)(const char *, void **, int, uint64_t,
                           CUdriverProcAddressQueryResult *);
  void *library = dlopen(fakeDriver.real.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto get = library ? reinterpret_cast<Get>(dlsym(library, "cuGetProcAddress_v2"))
                     : nullptr;
  *address = nullptr;
  if (!get || fakeDriver.lacks == name)
    return CUDA_ERROR_NOT_FOUND;
  if (CUresult result = get(name, address, version, flags, found))
    return result;
  *address = inFront(name, *address);
  if (fakeDriver.version >= 0 && !std::strcmp(name, "cuDriverGetVersion"))
    *address = reinterpret_cast<void *>(&fakeVersion);
  if (fakeDriver.devices >= 0 && !std::strcmp(name, "cuDeviceGetCount"))
    *address = reinterpret_cast<void *>(&fakeCount);
  return CUDA_SUCCESS;
}
