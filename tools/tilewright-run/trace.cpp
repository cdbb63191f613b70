// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects slices and writes them; see trace.h.

#include "trace.h"

#include "session.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace tilewright::run {

using nlohmann::json;

void *Trace::listener(const std::string &device) {
  std::lock_guard<std::mutex> lock(mutex);
  sources.push_back(std::make_unique<Source>(Source{this, device}));
  return sources.back().get();
}

void Trace::attach(tilewright_device *device) {
  check(tilewright_device_set_trace(device, hear,
                                    listener(tilewright_device_name(device))));
}

void Trace::hear(void *user, const tilewright_trace_event *event) {
  auto &source = *static_cast<Source *>(user);
  Trace &trace = *source.owner;
  std::lock_guard<std::mutex> lock(trace.mutex);
  // A device that was opened twice is one process.
  size_t number = 0;
  while (trace.sources[number]->device != source.device)
    ++number;
  trace.slices.push_back({event->name, event->category, event->arguments,
                          number, event->on_device != 0, event->lane,
                          event->begin, event->end});
}

std::string Trace::toJson() {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t first = UINT64_MAX;
  for (const Slice &slice : slices)
    first = std::min(first, slice.begin);
  // Outer slices before those that they contain.
  std::sort(slices.begin(), slices.end(), [](const Slice &a, const Slice &b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
  std::map<std::pair<uint64_t, uint32_t>, bool> lanes;
  json events = json::array();
  for (const Slice &slice : slices) {
    // Process 1 is the host, device i is process 2 + i.
    uint64_t process = slice.onDevice ? 2 + slice.source : 1;
    lanes[{process, slice.lane}] = slice.onDevice;
    json arguments = json::parse(slice.arguments, nullptr, false);
    if (!slice.onDevice && arguments.is_object())
      arguments["device"] = sources[slice.source]->device;
    events.push_back({{"name", slice.name},
                      {"cat", slice.category},
                      {"ph", "X"},
                      {"pid", process},
                      {"tid", slice.lane},
                      {"ts", double(slice.begin - first) * 1e-3},
                      {"dur", double(slice.end - slice.begin) * 1e-3},
                      {"args", std::move(arguments)}});
  }
  auto name = [&](const char *what, uint64_t process, uint32_t lane,
                  const std::string &text) {
    events.push_back({{"name", what},
                      {"ph", "M"},
                      {"pid", process},
                      {"tid", lane},
                      {"args", {{"name", text}}}});
  };
  uint64_t last = 0;
  for (const auto &[place, onDevice] : lanes) {
    auto [process, lane] = place;
    if (process != last)
      name("process_name", process, 0,
           onDevice ? "device " + sources[process - 2]->device : "host");
    last = process;
    name("thread_name", process, lane,
         (onDevice ? "stream " : "thread ") + std::to_string(lane));
  }
  return nlohmann::json{{"displayTimeUnit", "ns"},
                        {"traceEvents", std::move(events)}}
             .dump(1) +
         "\n";
}

} // namespace tilewright::run
