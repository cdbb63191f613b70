// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices of time; see trace.h.

#include "core/trace.h"

#include "core/api_handles.h"
#include "core/device.h"

#include <atomic>
#include <ctime>

namespace tilewright::runtime {

namespace {

/// Slices that a stream keeps until it is synchronised; more make it wait.
constexpr size_t kMaxSlices = 4096;

uint32_t threadLane() {
  static std::atomic<uint32_t> lanes{0};
  thread_local uint32_t lane = ++lanes;
  return lane;
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      result += '\\';
    result += static_cast<unsigned char>(c) < 32 ? '?' : c;
  }
  return result + "\"";
}

} // namespace

uint64_t traceClock() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1000000000 + uint64_t(now.tv_nsec);
}

void Tracer::report(const std::string &name, const char *category,
                    const std::string &arguments, bool onDevice, uint32_t lane,
                    uint64_t begin, uint64_t end) const {
  tilewright_trace_event event = {
      name.c_str(), category, arguments.c_str(), onDevice, lane, begin, end};
  function(user, &event);
}

void TraceArguments::key(const char *name) {
  members += (members.empty() ? "" : ",") + quoted(name) + ":";
}
void TraceArguments::add(const char *name, std::string_view value) {
  key(name);
  members += quoted(value);
}
void TraceArguments::add(const char *name, uint64_t value) {
  key(name);
  members += std::to_string(value);
}
void TraceArguments::add(const char *name, const uint32_t (&values)[3]) {
  key(name);
  members += "[" + std::to_string(values[0]) + "," + std::to_string(values[1]) +
             "," + std::to_string(values[2]) + "]";
}

TraceSlice::TraceSlice(const Device &device, const char *category,
                       std::string_view name)
    : tracer(device.tracer.load(std::memory_order_acquire)) {
  if (!tracer)
    return;
  this->category = category;
  this->name = name;
  begin = traceClock();
}

TraceSlice::~TraceSlice() {
  if (!tracer)
    return;
  // Without memory a slice is missing, and nothing else.
  ignoringErrors([&] {
    tracer->report(std::string(name), category, arguments.text(),
                   /*onDevice=*/false, threadLane(), begin, traceClock());
    return Status::ok();
  });
}

//===----------------------------------------------------------------------===//
// Streams
//===----------------------------------------------------------------------===//

bool StreamTrace::findAnchor(Stream &stream) {
  if (anchor || noEvents)
    return !noEvents;
  static std::atomic<uint32_t> lanes{0};
  lane = ++lanes;
  // Reached right before the clock is read, with nothing in front of it.
  std::shared_ptr<Event> event;
  Status status = stream.wait();
  if (status.isOk())
    status = stream.device()->createEvent(true, event);
  if (status.isOk())
    status = stream.record(*event);
  if (status.isOk())
    status = stream.flush();
  if (status.isOk())
    status = event->wait(stream.timeout());
  noEvents = !status.isOk();
  if (noEvents)
    return false;
  anchorTime = traceClock();
  anchor = std::move(event);
  return true;
}

void StreamTrace::begin(Stream &stream, const char *category, std::string name,
                        std::string arguments) {
  open = false;
  if (!findAnchor(stream))
    return;
  if (slices.size() >= kMaxSlices && stream.wait())
    return; // the work that follows meets the error again
  Slice slice{category, std::move(name), std::move(arguments), nullptr, nullptr};
  if (stream.device()->createEvent(true, slice.begin) ||
      stream.device()->createEvent(true, slice.end) ||
      stream.record(*slice.begin))
    return;
  slices.push_back(std::move(slice));
  open = true;
}

void StreamTrace::end(Stream &stream) {
  if (open && stream.record(*slices.back().end))
    slices.pop_back();
  open = false;
}

void StreamTrace::report(const Tracer &tracer) {
  std::vector<Slice> reached = std::move(slices);
  slices.clear();
  for (const Slice &slice : reached) {
    uint64_t begin = 0, end = 0;
    if (slice.begin->elapsedSince(*anchor, begin) ||
        slice.end->elapsedSince(*anchor, end))
      continue; // no timestamps
    tracer.report(slice.name, slice.category, slice.arguments,
                  /*onDevice=*/true, lane, anchorTime + begin,
                  anchorTime + end);
  }
}

} // namespace tilewright::runtime

using namespace tilewright::runtime;

tilewright_status *
tilewright_device_set_trace(tilewright_device *device,
                            tilewright_trace_function function, void *user) {
  return apiCall([&]() -> Status {
    TILEWRIGHT_REQUIRE(device);
    device->object->setTracer(function, user);
    return Status::ok();
  });
}
