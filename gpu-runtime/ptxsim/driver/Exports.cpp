// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The symbols of the library and the table behind cuGetProcAddress, both from Implemented.def and Missing.def. An
// exported function takes the lock, refuses before cuInit, and lets no exception out.

#include "driver/State.h"

#include <chrono>
#include <cstdio>
#include <new>
#include <string_view>

#define PTXSIM_EXPORT __attribute__((visibility("default")))

namespace tilewright::ptxsim {
namespace {

class PerThreadScope {
public:
  explicit PerThreadScope(bool value) : before(perThreadDefault()) { perThreadDefault() = value; }
  ~PerThreadScope() { perThreadDefault() = before; }

private:
  bool before;
};

bool worksBeforeInit(std::string_view symbol) {
  return symbol == "cuInit" || symbol == "cuDriverGetVersion" || symbol == "cuGetErrorName" ||
         symbol == "cuGetErrorString" || symbol == "cuGetProcAddress" || symbol == "cuGetProcAddress_v2";
}

template <typename Callable> CUresult guarded(const char *symbol, bool perThread, Callable callable) {
  try {
    std::unique_lock<std::recursive_timed_mutex> lock(driver().mutex, std::defer_lock);
    using Clock = std::chrono::steady_clock;
    // The stack of contexts is the thread's own: leaving one waits for nobody.
    if (std::string_view(symbol).substr(0, 15) == "cuCtxPopCurrent" && driver().initialised)
      return callable();
    if (uint64_t deadline = threadDeadline()) {
      if (!lock.try_lock_until(Clock::time_point(std::chrono::nanoseconds(deadline))))
        return CUDA_ERROR_NOT_READY;
    } else {
      lock.lock();
    }
    if (!driver().initialised && !worksBeforeInit(symbol))
      return CUDA_ERROR_NOT_INITIALIZED;
    PerThreadScope scope(perThread);
    return callable();
  } catch (const std::bad_alloc &) {
    return CUDA_ERROR_OUT_OF_MEMORY;
  } catch (...) {
    return CUDA_ERROR_UNKNOWN;
  }
}

CUresult missing(const char *symbol) {
  std::fprintf(stderr, "ptxsim: %s is not implemented\n", symbol);
  return CUDA_ERROR_NOT_SUPPORTED;
}

} // namespace
} // namespace tilewright::ptxsim

extern "C" {

#define PTXSIM_DEFINE(symbol, implementation, perThread, params, args)                                                 \
  PTXSIM_EXPORT CUresult symbol params {                                                                               \
    return tilewright::ptxsim::guarded(#implementation, perThread,                                                     \
                                       [&]() { return tilewright::ptxsim::api::implementation args; });                \
  }
#define PTXSIM_API_NONE(name, symbol, version, params, args) PTXSIM_DEFINE(symbol, symbol, false, params, args)
#define PTXSIM_API_PTDS(name, symbol, version, params, args)                                                           \
  PTXSIM_DEFINE(symbol, symbol, false, params, args)                                                                   \
  PTXSIM_DEFINE(symbol##_ptds, symbol, true, params, args)
#define PTXSIM_API_PTSZ(name, symbol, version, params, args)                                                           \
  PTXSIM_DEFINE(symbol, symbol, false, params, args)                                                                   \
  PTXSIM_DEFINE(symbol##_ptsz, symbol, true, params, args)
#include "driver/Implemented.def"

#define PTXSIM_DEFINE_MISSING(symbol)                                                                                  \
  PTXSIM_EXPORT CUresult symbol() { return tilewright::ptxsim::missing(#symbol); }
#define PTXSIM_MISSING_NONE(name, symbol, version) PTXSIM_DEFINE_MISSING(symbol)
#define PTXSIM_MISSING_PTDS(name, symbol, version)                                                                     \
  PTXSIM_DEFINE_MISSING(symbol)                                                                                        \
  PTXSIM_DEFINE_MISSING(symbol##_ptds)
#define PTXSIM_MISSING_PTSZ(name, symbol, version)                                                                     \
  PTXSIM_DEFINE_MISSING(symbol)                                                                                        \
  PTXSIM_DEFINE_MISSING(symbol##_ptsz)
#include "driver/Missing.def"

} // extern "C"

namespace tilewright::ptxsim {
namespace {

struct Entry {
  std::string_view name;
  int version;
  void *function;
  /// The variant with a default stream per thread, or null.
  void *perThread;
};

const Entry entries[] = {
#define PTXSIM_ADDRESS(symbol) reinterpret_cast<void *>(&::symbol)
#define PTXSIM_API_NONE(name, symbol, version, params, args) {#name, version, PTXSIM_ADDRESS(symbol), nullptr},
#define PTXSIM_API_PTDS(name, symbol, version, params, args)                                                           \
  {#name, version, PTXSIM_ADDRESS(symbol), PTXSIM_ADDRESS(symbol##_ptds)},
#define PTXSIM_API_PTSZ(name, symbol, version, params, args)                                                           \
  {#name, version, PTXSIM_ADDRESS(symbol), PTXSIM_ADDRESS(symbol##_ptsz)},
#include "driver/Implemented.def"
#define PTXSIM_MISSING_NONE(name, symbol, version) {#name, version, PTXSIM_ADDRESS(symbol), nullptr},
#define PTXSIM_MISSING_PTDS(name, symbol, version)                                                                     \
  {#name, version, PTXSIM_ADDRESS(symbol), PTXSIM_ADDRESS(symbol##_ptds)},
#define PTXSIM_MISSING_PTSZ(name, symbol, version)                                                                     \
  {#name, version, PTXSIM_ADDRESS(symbol), PTXSIM_ADDRESS(symbol##_ptsz)},
#include "driver/Missing.def"
};

/// The newest variant that the asked version knows.
CUdriverProcAddressQueryResult lookUp(std::string_view name, int version, bool perThread, void *&function) {
  const Entry *best = nullptr;
  bool isKnown = false;
  for (const Entry &entry : entries) {
    if (entry.name != name)
      continue;
    isKnown = true;
    if (entry.version <= version && (!best || entry.version > best->version))
      best = &entry;
  }
  function = best ? perThread && best->perThread ? best->perThread : best->function : nullptr;
  return best      ? CU_GET_PROC_ADDRESS_SUCCESS
         : isKnown ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                   : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
}

} // namespace

namespace api {

CUresult cuGetProcAddress_v2(const char *symbol, void **function, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
  if (!symbol || !function || flags > 3)
    return CUDA_ERROR_INVALID_VALUE;
  bool perThread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  std::string_view name = symbol;
  CUdriverProcAddressQueryResult result = lookUp(name, cudaVersion, perThread, *function);
  if (status)
    *status = result;
  return result == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

CUresult cuGetProcAddress(const char *symbol, void **function, int cudaVersion, cuuint64_t flags) {
  return api::cuGetProcAddress_v2(symbol, function, cudaVersion, flags, nullptr);
}

} // namespace api
} // namespace tilewright::ptxsim
