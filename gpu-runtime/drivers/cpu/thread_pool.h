// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The threads that run blocks. One of thread_pool_*.cpp is in a build.
#ifndef TILEWRIGHT_DRIVERS_CPU_THREAD_POOL_H
#define TILEWRIGHT_DRIVERS_CPU_THREAD_POOL_H

#include <cstdint>
#include <memory>
#include <string>

namespace tilewright::runtime {

/// Runs ranges on all threads. Calls from several threads take turns.
class ThreadPool {
public:
  using RangeFunction = void (*)(void *data, uint64_t begin, uint64_t end);

  virtual ~ThreadPool() = default;
  /// Calls the function on pieces of at most `chunk` that cover [0, count), and
  /// returns when all have returned. The calling thread takes part. Threads may spin
  /// until the next call, or rest().
  virtual void run(uint64_t count, uint64_t chunk, RangeFunction function,
                   void *data) = 0;
  /// No other call follows soon: nobody spins.
  virtual void rest() {}
  /// Whether threads spin between calls: they have the processors for themselves.
  virtual bool spins() const { return false; }
  /// "pthreadpool"
  virtual const char *name() const = 0;

  /// Null if no thread can be made.
  static std::unique_ptr<ThreadPool> create(unsigned threads);
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_DRIVERS_CPU_THREAD_POOL_H
