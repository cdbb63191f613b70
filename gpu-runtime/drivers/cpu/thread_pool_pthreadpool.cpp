// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ThreadPool on pthreadpool, which balances by stealing. Its threads spin between calls, since
// being woken takes as long as a small kernel, and a woken thread may find the processor of
// its waker first. rest() makes them sleep: they would take the processor of others.

#include "thread_pool.h"

#include <atomic>
#include <cerrno>
#include <new>
#include <pthreadpool.h>

namespace tilewright::runtime {

namespace {

struct Job {
  ThreadPool::RangeFunction function;
  void *data;
};

class PthreadpoolThreadPool : public ThreadPool {
public:
  explicit PthreadpoolThreadPool(pthreadpool_t pool) : pool(pool) {}
  ~PthreadpoolThreadPool() override { pthreadpool_destroy(pool); }

  void run(uint64_t count, uint64_t chunk, RangeFunction function,
           void *data) override {
    spinning = true;
    call(count, chunk, function, data, /*flags=*/0);
  }
  void rest() override {
    if (spinning.exchange(false))
      call(pthreadpool_get_threads_count(pool), 1, [](void *, uint64_t, uint64_t) {}, nullptr,
           PTHREADPOOL_FLAG_YIELD_WORKERS);
  }
  bool spins() const override { return spinning; }
  const char *name() const override { return "pthreadpool"; }

private:
  void call(uint64_t count, uint64_t chunk, RangeFunction function, void *data,
            uint32_t flags) {
    Job job{function, data};
    pthreadpool_parallelize_1d_tile_1d(
        pool,
        [](void *context, size_t begin, size_t size) {
          Job *job = static_cast<Job *>(context);
          job->function(job->data, begin, begin + size);
        },
        &job, count, chunk, flags);
  }

  pthreadpool_t pool;
  std::atomic<bool> spinning{false};
};

} // namespace

std::unique_ptr<ThreadPool> ThreadPool::create(unsigned threads) {
  errno = 0;
  std::unique_ptr<pthreadpool, void (*)(pthreadpool_t)> pool(
      pthreadpool_create(threads), pthreadpool_destroy);
  if (!pool && errno == ENOMEM)
    throw std::bad_alloc(); // there may be memory the next time
  if (!pool)
    return nullptr;
  auto result = std::make_unique<PthreadpoolThreadPool>(pool.get());
  pool.release();
  return result;
}

} // namespace tilewright::runtime
