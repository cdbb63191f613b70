// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What cases that go through the C API share: owned handles, statuses, a kernel
// on a buffer.
#ifndef TILEWRIGHT_CTS_API_H
#define TILEWRIGHT_CTS_API_H

#include "core/api_handles.h"
#include "core/dlpack.h"
#include "kernels.h"
#include "tilewright/tilewright.h"

namespace tilewright::cts {

/// One reference of the C API.
template <typename T, void (*Release)(T *)> class Owned {
public:
  Owned() = default;
  ~Owned() { Release(handle); }
  Owned(const Owned &) = delete;
  Owned &operator=(const Owned &) = delete;
  operator T *() const { return handle; }
  T *operator->() const { return handle; }
  /// For an out-parameter.
  T **out() {
    reset();
    return &handle;
  }
  void reset() {
    Release(handle);
    handle = nullptr;
  }

private:
  T *handle = nullptr;
};
using InstanceHandle = Owned<tilewright_instance, tilewright_instance_release>;
using DeviceHandle = Owned<tilewright_device, tilewright_device_release>;
using StreamHandle = Owned<tilewright_stream, tilewright_stream_release>;
using BufferHandle = Owned<tilewright_buffer, tilewright_buffer_release>;
using ViewHandle = Owned<tilewright_view, tilewright_view_release>;

/// The status of a C call, which it releases.
inline Status take(tilewright_status *status) {
  Status result = status ? status->status : Status::ok();
  tilewright_status_release(status);
  return result;
}

/// Runs increment (x = 3 x + k, 64 numbers) on a buffer, and waits.
inline Status increment(Context &context, tilewright_device *device,
                        tilewright_stream *stream, tilewright_buffer *buffer,
                        int32_t k) {
  std::unique_ptr<DriverModule> module;
  if (Status s = device->object->driver().loadModule(
          testModule(context, "increment").desc, module))
    return s;
  Buffer *touched = buffer->object.get();
  BufferBinding binding = {&touched->driver(), 0, 256, true};
  uint64_t slot = static_cast<uint64_t>(int64_t(k));
  LaunchArgs args;
  args.buffers = &binding;
  args.numBuffers = 1;
  args.scalars = &slot;
  args.numScalars = 1;
  args.packedScalars = reinterpret_cast<const uint8_t *>(&k);
  args.packedSize = 4;
  if (Status s = stream->object->launch(*module, 0, args, &touched, 1, "increment",
                                        nullptr))
    return s;
  return stream->object->synchronize(kForever);
}

} // namespace tilewright::cts

#define TW_API_OK(CALL) TW_OK(take(CALL))
#define TW_API_FAILS(CALL, CODE) TW_FAILS(take(CALL), CODE)

#endif // TILEWRIGHT_CTS_API_H
