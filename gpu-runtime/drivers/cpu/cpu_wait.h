// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How threads of the cpu driver wait for each other: they look for a while before they sleep.
#ifndef TILEWRIGHT_DRIVERS_CPU_CPU_WAIT_H
#define TILEWRIGHT_DRIVERS_CPU_CPU_WAIT_H

#include "core/number_text.h"
#include "cpu_device.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <thread>

namespace tilewright::runtime {

using Clock = std::chrono::steady_clock;

/// How often a waiting thread looks before it sleeps: waking takes longer than
/// most small kernels.
constexpr int kSpins = 2000, kSpinsToYield = 16;

inline void pauseProcessor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

/// Looks until `done`, unless looking has become `futile`; whether it is done.
template <typename Done, typename Futile>
bool spinUntil(Done done, Futile futile) {
  for (int i = 0; i < kSpins && !futile(); ++i) {
    if (done())
      return true;
    // Now and then others have the processor: who is woken on it need not wait for the end.
    if (i % kSpinsToYield == kSpinsToYield - 1)
      std::this_thread::yield();
    else
      pauseProcessor();
  }
  return done();
}

/// What is done under a queue's lock is short: whoever finds it taken looks a few times
/// more, since going to sleep and being woken takes far longer.
inline std::unique_lock<std::mutex> lockSoon(std::mutex &mutex) {
  constexpr int tries = 100;
  std::unique_lock<std::mutex> lock(mutex, std::try_to_lock);
  for (int i = 0; i < tries && !lock; ++i) {
    pauseProcessor();
    (void)lock.try_lock();
  }
  if (!lock)
    lock.lock();
  return lock;
}

/// Waits on a condition variable for some nanoseconds. It looks up now and then
/// in case the device is lost under it.
template <typename Done>
bool waitUntil(std::condition_variable &condition,
               std::unique_lock<std::mutex> &lock, uint64_t timeoutNs,
               const CpuDeviceState &device, Done done) {
  constexpr std::chrono::milliseconds slice(50);
  Clock::time_point start = Clock::now();
  while (!done()) {
    if (device.lost)
      return false;
    uint64_t waited = static_cast<uint64_t>(
        std::chrono::nanoseconds(Clock::now() - start).count());
    if (waited >= timeoutNs)
      return false;
    condition.wait_for(lock,
                       std::min<std::chrono::nanoseconds>(
                           slice, std::chrono::nanoseconds(std::min<uint64_t>(
                                      timeoutNs - waited, INT64_MAX))));
  }
  return true;
}

/// What a wait that ended unsuccessfully says: the first to do so loses the
/// device.
inline Status missed(CpuDeviceState &device, const char *what, uint64_t timeoutNs) {
  if (Status s = device.check())
    return s;
  return loseByDeadline(device, [&] {
    return std::string(what) + " within " +
           numberText(static_cast<double>(timeoutNs) * 1e-9) + " s";
  });
}

} // namespace tilewright::runtime

#endif // TILEWRIGHT_DRIVERS_CPU_CPU_WAIT_H
