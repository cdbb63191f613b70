// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program of an artifact on a device, over the C API, with host tensors in
// and out. Errors are thrown as RunError.
#ifndef TILEWRIGHT_RUN_SESSION_H
#define TILEWRIGHT_RUN_SESSION_H

#include "host_tensor.h"
#include "tilewright/tilewright.h"
#include "trace.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::run {

/// Throws the status as RunError, after "where: " if given.
void check(tilewright_status *status, const std::string &where = "");

// Releases a handle with its own function.
struct Releaser {
  void operator()(tilewright_instance *h) { tilewright_instance_release(h); }
  void operator()(tilewright_device *h) { tilewright_device_release(h); }
  void operator()(tilewright_stream *h) { tilewright_stream_release(h); }
  void operator()(tilewright_event *h) { tilewright_event_release(h); }
  void operator()(tilewright_program *h) { tilewright_program_release(h); }
  void operator()(tilewright_buffer *h) { tilewright_buffer_release(h); }
  void operator()(tilewright_view *h) { tilewright_view_release(h); }
};
template <typename T> using Handle = std::unique_ptr<T, Releaser>;

Handle<tilewright_instance> createInstance();

struct ProgramChoice {
  std::string device; // a device name, not "auto"
  std::string target; // of the artifact; empty: any
  bool reference = false;
  std::vector<std::string> externalLibraries;
  std::string parameters; // a file, or a folder with it
  bool verifyParameters = false;
  uint64_t timeoutNs = TILEWRIGHT_FOREVER;
  Trace *trace = nullptr; // hears of all that the device does
  bool runs = true; // false: for questions alone, without stream and constants
};

/// Arguments on the device, and the results of the last call.
struct DeviceValues {
  std::vector<Handle<tilewright_view>> views;
  std::vector<tilewright_value> values;
};

/// What a function of the oracle gives.
struct OracleValues {
  std::vector<HostTensor> outputs;
  /// Of each output, f64: by how much a right program may be off. Empty where
  /// the program has none.
  std::vector<std::shared_ptr<const HostTensor>> bounds;
};

class Session {
public:
  /// Opens the device and loads the program.
  /// `path` is the artifact's, for errors; empty: they go without.
  Session(tilewright_instance *instance, const std::string &path, const std::string &artifact,
          const ProgramChoice &choice);

  std::string deviceName() const { return tilewright_device_name(&*device); }
  std::string deviceDescription() const {
    return tilewright_device_description(&*device);
  }
  std::string target() const { return tilewright_program_target(&*program); }
  int64_t fact(const char *key) const {
    return tilewright_device_fact(&*device, key);
  }

  /// By name; empty: the only function, or main.
  size_t findFunction(const std::string &name);
  tilewright_signature signature(size_t function);

  DeviceValues upload(size_t function, const std::vector<HostTensor> &inputs);
  /// Enqueues one call.
  DeviceValues call(size_t function, const DeviceValues &arguments);
  void synchronize();

  /// One call from host tensors to host tensors: results, then the inputs that
  /// are written in place. What is never written comes back as NaN or -1.
  std::vector<HostTensor> run(size_t function,
                              const std::vector<HostTensor> &inputs);

  /// Of a reference program: the same of a function and its error bounds.
  OracleValues runOracle(const std::string &function,
                         const std::vector<HostTensor> &inputs);

  tilewright_work estimate(size_t function, const DeviceValues &arguments,
                           std::vector<int64_t> &reductions);

  /// Of kernel number `kernel`; `reason` is set where the device does not say.
  tilewright_kernel_resources resources(size_t kernel, std::string &reason, bool &isOther);
  size_t kernelCount() const {
    return tilewright_program_kernel_count(&*program);
  }

  Handle<tilewright_event> createEvent();
  void record(tilewright_event *event);

  /// Hears of all that the device does; null: what the session was opened with.
  void listen(tilewright_trace_function function, void *user);
  /// At least this many bytes of the device, to be overwritten by `fill`.
  Handle<tilewright_buffer> allocate(uint64_t bytes);
  /// Enqueues overwriting all of a buffer.
  void fill(tilewright_buffer *buffer, uint64_t bytes, uint32_t pattern);

  /// Launches since the last call of this, one line each.
  std::vector<std::string> takeTrace();
  void setTracing(bool on);

private:
  /// A tensor for an argument that has strides: with gaps, so that they matter;
  /// `aligned` puts rows at multiples of 64 elements.
  Handle<tilewright_view> makeStrided(const tilewright_type &type,
                                      tw_dtype dtype,
                                      const std::vector<int64_t> &dims,
                                      bool aligned, const std::string &where);
  HostTensor downloadView(tilewright_view *view);

  uint64_t timeoutNs;
  Trace *listener;
  std::vector<std::string> trace;
  // Released from the last to the first.
  Handle<tilewright_device> device;
  Handle<tilewright_stream> stream;
  Handle<tilewright_program> program;
};

/// "4x?xf32", "scalar i64", "buffer ?xf32".
std::string typeText(const tilewright_type &type);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_SESSION_H
