// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stands behind the handles of the C API, and the guard that every
// fallible function of it runs in: exceptions (no memory, in practice) become a
// status, a Status becomes a tilewright_status.
#ifndef TILEWRIGHT_CORE_API_HANDLES_H
#define TILEWRIGHT_CORE_API_HANDLES_H

#include "core/program.h"
#include "core/registry.h"
#include "tilewright/tilewright.h"

#include <atomic>
#include <map>
#include <mutex>
#include <new>

/// A counted reference to a shared object of core.
template <typename T> struct TilewrightHandle {
  explicit TilewrightHandle(std::shared_ptr<T> object)
      : object(std::move(object)) {}
  std::atomic<int64_t> references{1};
  std::shared_ptr<T> object;
};

struct tilewright_status {
  tilewright::runtime::Status status;
  bool isStatic; // the one for "no memory for a status"
};
struct tilewright_instance : TilewrightHandle<tilewright::runtime::Instance> {
  using TilewrightHandle::TilewrightHandle;
  std::mutex mutex;
  std::vector<tilewright::runtime::DeviceInfo> devices;
};
struct tilewright_device : TilewrightHandle<tilewright::runtime::Device> {
  using TilewrightHandle::TilewrightHandle;
};
struct tilewright_stream : TilewrightHandle<tilewright::runtime::Stream> {
  using TilewrightHandle::TilewrightHandle;
};
struct tilewright_event : TilewrightHandle<tilewright::runtime::Event> {
  using TilewrightHandle::TilewrightHandle;
};
struct tilewright_buffer : TilewrightHandle<tilewright::runtime::Buffer> {
  using TilewrightHandle::TilewrightHandle;
};
struct tilewright_view : TilewrightHandle<const tilewright::runtime::View> {
  using TilewrightHandle::TilewrightHandle;
};
struct tilewright_program : TilewrightHandle<tilewright::runtime::Program> {
  explicit tilewright_program(
      std::shared_ptr<tilewright::runtime::Program> object);
  struct Signature {
    std::vector<tilewright_type> inputs, results;
  };
  std::vector<Signature> signatures;

  /// What kernels take, as long as the program lives.
  struct Resources {
    tilewright::runtime::KernelResources found;
    std::vector<tilewright_statistic> statistics;
  };
  std::mutex mutex;
  std::map<size_t, Resources> resources; // by number of the kernel
};

namespace tilewright::runtime {

template <typename T> void retainHandle(T *handle) {
  if (handle)
    handle->references.fetch_add(1, std::memory_order_relaxed);
}
template <typename T> void releaseHandle(T *handle) {
  if (handle && handle->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    delete handle;
}

/// Null for ok.
tilewright_status *toApi(Status status) noexcept;

template <typename Body> tilewright_status *apiCall(Body body) noexcept {
  try {
    return toApi(body());
  } catch (const std::bad_alloc &) {
    return toApi(Status(StatusCode::OutOfMemory, "no host memory"));
  } catch (const std::exception &) {
    // Words short enough to need no memory, as above.
    return toApi(Status(StatusCode::Internal, "unexpected"));
  }
}

/// The error for a null argument.
inline Status nullArgument(const char *name) {
  return invalidArgument(std::string("argument '") + name + "' is null");
}

// Leaves the enclosing apiCall body when an argument is null.
#define TILEWRIGHT_REQUIRE(argument)                                           \
  do {                                                                         \
    if (!(argument))                                                           \
      return nullArgument(#argument);                                          \
  } while (false)
// The same for an array of `count` elements.
#define TILEWRIGHT_REQUIRE_ARRAY(argument, count)                              \
  do {                                                                         \
    if (!(argument) && (count))                                                \
      return nullArgument(#argument);                                          \
  } while (false)

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_API_HANDLES_H
