// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events of the cpu driver: points that a stream comes to; see cpu_stream.h.

#include "cpu_stream.h"
#include "cpu_wait.h"

namespace tilewright::runtime {

Status CpuEvent::query(bool &done) {
  if (Status s = device->check())
    return s;
  std::lock_guard<std::mutex> lock(state->mutex);
  done = state->reached == state->recorded;
  return Status::ok();
}

Status CpuEvent::wait(uint64_t timeoutNs) {
  if (Status s = device->check())
    return s;
  std::unique_lock<std::mutex> lock(state->mutex);
  uint64_t wanted = state->recorded;
  if (waitUntil(state->reachedAgain, lock, timeoutNs, *device,
                [&] { return state->reached >= wanted; }))
    return Status::ok();
  return missed(*device, "the event was not reached", timeoutNs);
}

Status CpuEvent::elapsedSince(DriverEvent &start, uint64_t &nanoseconds) {
  Clock::time_point times[2];
  CpuEvent *events[2] = {static_cast<CpuEvent *>(&start), this};
  for (int i = 0; i < 2; ++i) {
    State &event = *events[i]->state;
    std::lock_guard<std::mutex> lock(event.mutex);
    if (event.recorded == 0 || event.reached != event.recorded)
      return invalidArgument("elapsed time: the event has not been reached");
    times[i] = event.time;
  }
  if (times[1] < times[0])
    return invalidArgument("elapsed time: the events are in the wrong order");
  nanoseconds = static_cast<uint64_t>(
      std::chrono::nanoseconds(times[1] - times[0]).count());
  return Status::ok();
}

} // namespace tilewright::runtime
