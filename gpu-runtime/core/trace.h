// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices of time for tilewright/trace.h.
//
//   TraceSlice slice(device, "transfer", "write");   // begins
//   slice.add("bytes", size);
//                                                    // reported at the end
//
// Without a tracer a slice is a null pointer: nothing is measured or allocated.
#ifndef TILEWRIGHT_CORE_TRACE_H
#define TILEWRIGHT_CORE_TRACE_H

#include "core/status.h"
#include "tilewright/trace.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::runtime {

class Device;
class Event;
class Stream;

/// The caller's function.
struct Tracer {
  tilewright_trace_function function;
  void *user;

  void report(const std::string &name, const char *category,
              const std::string &arguments, bool onDevice, uint32_t lane,
              uint64_t begin, uint64_t end) const;
};

/// Nanoseconds of CLOCK_MONOTONIC.
uint64_t traceClock();

/// A JSON object as it grows.
class TraceArguments {
public:
  void add(const char *key, std::string_view value);
  void add(const char *key, uint64_t value);
  void add(const char *key, const uint32_t (&values)[3]);
  std::string text() const { return "{" + members + "}"; }

private:
  void key(const char *name);
  std::string members;
};

/// From construction to destruction, on the lane of the calling thread.
class TraceSlice {
public:
  /// `name` must live as long as the slice.
  TraceSlice(const Device &device, const char *category, std::string_view name);
  ~TraceSlice();
  TraceSlice(const TraceSlice &) = delete;
  TraceSlice &operator=(const TraceSlice &) = delete;

  explicit operator bool() const { return tracer; }
  template <typename T> void add(const char *key, const T &value) {
    if (tracer)
      arguments.add(key, value);
  }

private:
  const Tracer *tracer;
  const char *category = nullptr;
  std::string_view name;
  TraceArguments arguments;
  uint64_t begin = 0;
};

/// What a stream's device did, between pairs of timed events. Used under the
/// stream's mutex.
class StreamTrace {
public:
  /// Records the event in front of the work. Work whose device gives no events
  /// goes untraced.
  void begin(Stream &stream, const char *category, std::string name,
             std::string arguments);
  /// Records the one behind it.
  void end(Stream &stream);
  /// The stream has been waited for: reports all.
  void report(const Tracer &tracer);

private:
  struct Slice {
    const char *category;
    std::string name, arguments;
    std::shared_ptr<Event> begin, end;
  };
  bool findAnchor(Stream &stream);

  std::vector<Slice> slices;
  bool open = false;
  /// A point in time on both clocks.
  std::shared_ptr<Event> anchor;
  uint64_t anchorTime = 0;
  bool noEvents = false;
  uint32_t lane = 0;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_TRACE_H
