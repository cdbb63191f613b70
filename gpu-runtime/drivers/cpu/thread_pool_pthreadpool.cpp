// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ThreadPool on pthreadpool, which balances by stealing. Its threads sleep between calls:
// where they spin they take the processor of whoever waits for a launch and makes the next.

#include "thread_pool.h"

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
    Job job{function, data};
    pthreadpool_parallelize_1d_tile_1d(
        pool,
        [](void *context, size_t begin, size_t size) {
          Job *job = static_cast<Job *>(context);
          job->function(job->data, begin, begin + size);
        },
        &job, count, chunk, PTHREADPOOL_FLAG_YIELD_WORKERS);
  }
  const char *name() const override { return "pthreadpool"; }

private:
  pthreadpool_t pool;
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
