// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timing; see bench.h.

#include "bench.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unistd.h>

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

/// Twice the last cache of the device, so that nothing of it is left; for those
/// that do not say, more than any has.
uint64_t flushBytes(const Session &session) {
  constexpr uint64_t unknown = uint64_t(256) << 20;
  int64_t bytes = session.fact("l2_cache");
  if (session.deviceName() == "cpu")
    bytes = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return bytes > 0 ? (2 * static_cast<uint64_t>(bytes) + 255) / 256 * 256
                   : unknown;
}

/// One launch after the other, as the device's timestamps tell of them.
struct Launches {
  std::mutex mutex;
  // By the name and the variant, in the order in which they first appear.
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, std::vector<double>> seconds;

  static void hear(void *user, const tilewright_trace_event *event) {
    if (!event->on_device || std::strcmp(event->category, "kernel") != 0)
      return;
    auto &self = *static_cast<Launches *>(user);
    nlohmann::json arguments =
        nlohmann::json::parse(event->arguments, nullptr, false);
    std::string variant;
    if (arguments.is_object())
      variant = arguments.value("variant", "");
    std::lock_guard<std::mutex> lock(self.mutex);
    auto [known, isNew] = self.seconds.try_emplace({event->name, variant});
    if (isNew)
      self.order.push_back(known->first);
    known->second.push_back(double(event->end - event->begin) * 1e-9);
  }
};

std::vector<KernelTime> timeKernels(Session &session, size_t function,
                                    const DeviceValues &arguments,
                                    int64_t calls) {
  Launches launches;
  session.listen(&Launches::hear, &launches);
  for (int64_t i = 0; i < calls; ++i) {
    DeviceValues results = session.call(function, arguments);
    session.synchronize();
  }
  session.listen(nullptr, nullptr);
  std::vector<KernelTime> result;
  for (const auto &name : launches.order) {
    std::vector<double> &samples = launches.seconds[name];
    std::sort(samples.begin(), samples.end());
    KernelTime &kernel = result.emplace_back();
    kernel.kernel = name.first;
    kernel.variant = name.second;
    kernel.medianSeconds = percentile(samples, 0.5);
    kernel.minSeconds = samples.front();
    kernel.launchesPerCall = double(samples.size()) / double(calls);
    kernel.secondsPerCall =
        std::accumulate(samples.begin(), samples.end(), 0.0) / double(calls);
  }
  return result;
}

} // namespace

BenchResult bench(Session &session, size_t function,
                  const std::vector<HostTensor> &inputs,
                  const BenchRequest &request) {
  BenchResult result;
  DeviceValues arguments = session.upload(function, inputs);
  std::vector<int64_t> reductions;
  tilewright_work work = session.estimate(function, arguments, reductions);
  session.synchronize();

  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  int64_t moved = 0;
  for (int i = 0; i < 50; ++i) {
    ++result.warmUpCalls;
    DeviceValues results = session.call(function, arguments);
    session.synchronize();
    moved = bytesOf(arguments) + bytesOf(results);
    if (i >= 2 && Clock::now() - begin > std::chrono::milliseconds(300))
      break;
  }

  Handle<tilewright_event> start = session.createEvent();
  Handle<tilewright_event> end = session.createEvent();
  Handle<tilewright_buffer> flushed;
  if (request.flushCache) {
    result.cacheFlushBytes = flushBytes(session);
    flushed = session.allocate(result.cacheFlushBytes);
  }
  std::vector<double> samples;
  for (int64_t i = 0;
       i < request.count || result.measuredSeconds < request.seconds; ++i) {
    if (flushed)
      session.fill(flushed.get(), result.cacheFlushBytes,
                   static_cast<uint32_t>(i));
    session.record(start.get());
    DeviceValues results = session.call(function, arguments);
    session.record(end.get());
    session.synchronize();
    uint64_t nanoseconds = 0;
    check(tilewright_event_elapsed(start.get(), end.get(), &nanoseconds));
    // An event's clock can be too coarse for an empty call.
    samples.push_back(std::max(static_cast<double>(nanoseconds) * 1e-9, 1e-9));
    result.measuredSeconds += samples.back();
    constexpr int64_t most = 1000000;
    if (i >= most)
      break;
  }
  std::sort(samples.begin(), samples.end());

  // Long calls would take long, and their launches do not matter.
  if (percentile(samples, 0.5) < 10e-3)
    result.enqueueSeconds = enqueueTime(session, function, arguments);
  result.count = static_cast<int64_t>(samples.size());
  result.kernels = timeKernels(session, function, arguments,
                               std::min<int64_t>(result.count, 20));
  result.minSeconds = samples.front();
  result.medianSeconds = percentile(samples, 0.5);
  double seconds = result.medianSeconds;
  result.spread =
      (percentile(samples, 0.9) - percentile(samples, 0.1)) / seconds;
  if (work.flops >= 0)
    result.flopsPerSecond = static_cast<double>(work.flops) / seconds;
  result.bytesPerSecond =
      static_cast<double>(work.bytes >= 0 ? work.bytes : moved) / seconds;
  return result;
}

} // namespace tilewright::run
