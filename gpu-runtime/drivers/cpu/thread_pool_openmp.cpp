// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ThreadPool on OpenMP, for machines without pthreadpool.

#include "thread_pool.h"

#include <algorithm>
#include <mutex>
#include <omp.h>

namespace tilewright::runtime {

namespace {

class OpenMPThreadPool : public ThreadPool {
public:
  explicit OpenMPThreadPool(unsigned threads) : threads(threads) {}

  void run(uint64_t count, uint64_t chunk, RangeFunction function,
           void *data) override {
    // One team at a time: each calling thread would get a team of its own.
    std::lock_guard<std::mutex> lock(mutex);
    int64_t pieces = static_cast<int64_t>((count + chunk - 1) / chunk);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads)
    for (int64_t piece = 0; piece < pieces; ++piece)
      function(data, piece * chunk,
               std::min<uint64_t>((piece + 1) * chunk, count));
  }
  const char *name() const override { return "OpenMP"; }

private:
  unsigned threads;
  std::mutex mutex;
};

} // namespace

std::unique_ptr<ThreadPool> ThreadPool::create(unsigned threads) {
  return std::make_unique<OpenMPThreadPool>(threads);
}

} // namespace tilewright::runtime
