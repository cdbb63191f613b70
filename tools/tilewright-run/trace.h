// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run as a trace in the JSON format that Perfetto (ui.perfetto.dev) and
// chrome://tracing read: one process for the host with a lane per thread, one per
// device with a lane per stream. Written over tilewright/trace.h, which any
// program that embeds the runtime can use in the same way.
#ifndef TILEWRIGHT_RUN_TRACE_H
#define TILEWRIGHT_RUN_TRACE_H

#include "tilewright/trace.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace tilewright::run {

class Trace {
public:
  /// Listens to a device from here on; the trace must outlive its use.
  void attach(tilewright_device *device);
  /// What to give as `user` with `hear` for a device of that name.
  void *listener(const std::string &device);
  static void hear(void *user, const tilewright_trace_event *event);
  /// The trace as JSON.
  std::string toJson();

private:
  struct Source {
    Trace *owner;
    std::string device;
  };
  struct Slice {
    std::string name, category, arguments;
    size_t source; // number of the device
    bool onDevice;
    uint32_t lane;
    uint64_t begin, end;
  };

  std::mutex mutex;
  std::vector<std::unique_ptr<Source>> sources;
  std::vector<Slice> slices;
};

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_TRACE_H
