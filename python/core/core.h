// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright._core: the runtime's C API as Python objects, one to one. Handles
// are owned, statuses become the exceptions of tilewright._errors, and the
// interpreter runs on while the runtime works or waits. What is convenient for
// people is Python, in the package beside it.
#ifndef TILEWRIGHT_PYTHON_CORE_H
#define TILEWRIGHT_PYTHON_CORE_H

#include "tilewright/tilewright.h"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

namespace tilewright::python {

namespace nb = nanobind;

/// Raises what the status says, and releases it; nothing for success. With the
/// GIL.
void check(tilewright_status *status);

/// Runs a call of the C API without the GIL, then `check`.
template <typename Call> void unlocked(Call call) {
  tilewright_status *status;
  {
    nb::gil_scoped_release release;
    status = call();
  }
  check(status);
}

/// One reference to an object of the C API. `Waits`: its last release may wait
/// for the device.
template <typename T, void (*Release)(T *), bool Waits = false> class Handle {
public:
  Handle() = default;
  Handle(Handle &&other) : handle(std::exchange(other.handle, nullptr)) {}
  Handle &operator=(Handle &&other) {
    std::swap(handle, other.handle);
    return *this;
  }
  ~Handle() {
    if (!handle)
      return;
    if constexpr (Waits) {
      nb::gil_scoped_release release;
      Release(handle);
    } else {
      Release(handle);
    }
  }
  T *get() const { return handle; }
  T **out() { return &handle; }

private:
  T *handle = nullptr;
};

struct Device {
  Handle<tilewright_device, tilewright_device_release> handle;
};
struct Stream {
  Handle<tilewright_stream, tilewright_stream_release, true> handle;
  /// Whether kernels of its device stop when that is lost, so that Ctrl-C can end them.
  bool stops = false;
};
struct View {
  Handle<tilewright_view, tilewright_view_release> handle;
};
struct Program {
  Handle<tilewright_program, tilewright_program_release, true> handle;
};

/// As long as it lives, Ctrl-C in the main thread ends a call that works on the stream, by
/// the loss of the device. Made with the GIL.
class Interruptible {
public:
  explicit Interruptible(const Stream &stream);
  Interruptible(const Interruptible &) = delete;
  ~Interruptible() { end(); }
  /// Whether the device was given up. Better without the GIL: who gives it up may need it.
  bool end();

private:
  bool isArmed = false, isGivenUp = false;
};

/// Raises KeyboardInterrupt, or what else a signal raises, where a call failed while one
/// came, and releases the status. With the GIL.
void raiseInterrupt(tilewright_status *status, bool isGivenUp);

/// Whether Ctrl-C has given a device up in this process.
bool anyGivenUp();

/// As `unlocked`, for what works or waits on the stream until Ctrl-C, where it can be stopped.
template <typename Call> void unlockedOn(const Stream &stream, Call call) {
  if (!stream.stops)
    return unlocked(call);
  tilewright_status *status;
  bool isGivenUp;
  {
    Interruptible interruptible(stream);
    nb::gil_scoped_release release;
    status = call();
    isGivenUp = interruptible.end();
  }
  raiseInterrupt(status, isGivenUp);
  check(status);
}

void bindDevices(nb::module_ &module);
void bindViews(nb::module_ &module);
void bindPrograms(nb::module_ &module);

} // namespace tilewright::python

#endif // TILEWRIGHT_PYTHON_CORE_H
