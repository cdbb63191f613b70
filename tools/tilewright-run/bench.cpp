// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timing; see bench.h.

#include "bench.h"

#include <algorithm>
#include <chrono>

namespace tilewright::run {

namespace {

// Linear between the two nearest samples; `sorted` is not empty.
double percentile(const std::vector<double> &sorted, double p) {
  double at = p * static_cast<double>(sorted.size() - 1);
  size_t below = static_cast<size_t>(at);
  size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - double(below)) * (sorted[above] - sorted[below]);
}

int64_t bytesOf(const DeviceValues &values) {
  int64_t total = 0;
  for (const Handle<tilewright_view> &view : values.views)
    total += static_cast<int64_t>(tilewright_view_size(view.get()));
  return total;
}

// Median of bursts of 16 calls, each into an empty queue; what the calls do
// overlaps where the device lets it.
double enqueueTime(Session &session, size_t function,
                   const DeviceValues &arguments) {
  using Clock = std::chrono::steady_clock;
  constexpr int burst = 16;
  std::vector<double> samples;
  for (int i = 0; i < 9; ++i) {
    std::vector<DeviceValues> results;
    Clock::time_point begin = Clock::now();
    for (int call = 0; call < burst; ++call)
      results.push_back(session.call(function, arguments));
    std::chrono::duration<double> taken = Clock::now() - begin;
    session.synchronize();
    samples.push_back(taken.count() / burst);
  }
  std::sort(samples.begin(), samples.end());
  return percentile(samples, 0.5);
}

} // namespace

BenchResult bench(Session &session, size_t function,
                  const std::vector<HostTensor> &inputs, int64_t count) {
  DeviceValues arguments = session.upload(function, inputs);
  std::vector<int64_t> reductions;
  tilewright_work work = session.estimate(function, arguments, reductions);
  session.synchronize();

  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  int64_t moved = 0;
  for (int i = 0; i < 50; ++i) {
    DeviceValues results = session.call(function, arguments);
    session.synchronize();
    moved = bytesOf(arguments) + bytesOf(results);
    if (i >= 2 && Clock::now() - begin > std::chrono::milliseconds(300))
      break;
  }

  Handle<tilewright_event> start = session.createEvent();
  Handle<tilewright_event> end = session.createEvent();
  std::vector<double> samples;
  for (int64_t i = 0; i < count; ++i) {
    session.record(start.get());
    DeviceValues results = session.call(function, arguments);
    session.record(end.get());
    session.synchronize();
    uint64_t nanoseconds = 0;
    check(tilewright_event_elapsed(start.get(), end.get(), &nanoseconds));
    samples.push_back(static_cast<double>(nanoseconds) * 1e-9);
  }
  std::sort(samples.begin(), samples.end());

  BenchResult result;
  // Long calls would take long, and their launches do not matter.
  if (percentile(samples, 0.5) < 10e-3)
    result.enqueueSeconds = enqueueTime(session, function, arguments);
  result.count = count;
  result.minSeconds = samples.front();
  result.medianSeconds = percentile(samples, 0.5);
  // An event's clock can be too coarse for an empty call.
  double seconds = std::max(result.medianSeconds, 1e-9);
  result.spread =
      (percentile(samples, 0.9) - percentile(samples, 0.1)) / seconds;
  if (work.flops >= 0)
    result.flopsPerSecond = static_cast<double>(work.flops) / seconds;
  result.bytesPerSecond =
      static_cast<double>(work.bytes >= 0 ? work.bytes : moved) / seconds;
  return result;
}

} // namespace tilewright::run
