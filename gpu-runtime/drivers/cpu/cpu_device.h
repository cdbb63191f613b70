// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device of the cpu driver, its streams' threads and its buffers share: the thread pool, and
// whether the device is lost.
#ifndef TILEWRIGHT_DRIVERS_CPU_CPU_DEVICE_H
#define TILEWRIGHT_DRIVERS_CPU_CPU_DEVICE_H

#include "core/driver.h"
#include "thread_pool.h"

#include <atomic>
#include <mutex>

namespace tilewright::runtime {

struct CpuDeviceState {
  CpuDeviceState();
  ~CpuDeviceState();

  std::unique_ptr<ThreadPool> pool;
  unsigned threads = 1;
  std::atomic<bool> lost{false};
  /// Lost because this is a child of the process that made it, which alone has the
  /// threads; what they held when it forked, locks too, is held for ever.
  std::atomic<bool> forked{false};
  /// How many launches are handed out to the pool.
  std::atomic<unsigned> handedOut{0};

  /// Nobody spins beside the pool's threads.
  bool poolSpins() const { return handedOut > 0 || (pool && pool->spins()); }

  /// The first reason stays.
  void lose(const std::string &reason);
  Status check();
  /// In a process that fork made.
  void noteFork();

private:
  std::mutex mutex;
  std::string reason;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_DRIVERS_CPU_CPU_DEVICE_H
