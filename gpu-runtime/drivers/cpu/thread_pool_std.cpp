// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ThreadPool of std::thread, for machines without pthreadpool and OpenMP: a
// shared counter hands out pieces.

#include "thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright::runtime {

namespace {

class StdThreadPool : public ThreadPool {
public:
  explicit StdThreadPool(unsigned count) {
    threads.reserve(count);
    try {
      for (unsigned i = 1; i < count; ++i)
        threads.emplace_back([this] { work(); });
    } catch (const std::exception &) {
      // Fewer threads than asked for still do all the work.
    }
  }
  ~StdThreadPool() override {
    {
      std::lock_guard<std::mutex> lock(mutex);
      stop = true;
    }
    wake.notify_all();
    for (std::thread &thread : threads)
      thread.join();
  }

  void run(uint64_t count, uint64_t chunk, RangeFunction function,
           void *data) override {
    std::lock_guard<std::mutex> turn(turns);
    {
      std::lock_guard<std::mutex> lock(mutex);
      job = {function, data, count, chunk};
      next = 0;
      busy = threads.size();
      ++generation;
    }
    wake.notify_all();
    takePieces();
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, [this] { return busy == 0; });
  }
  const char *name() const override { return "std::thread pool"; }

private:
  struct Job {
    RangeFunction function;
    void *data;
    uint64_t count, chunk;
  };

  void takePieces() {
    for (;;) {
      uint64_t begin = next.fetch_add(job.chunk);
      if (begin >= job.count)
        return;
      job.function(job.data, begin, std::min(begin + job.chunk, job.count));
    }
  }

  void work() {
    uint64_t seen = 0;
    for (;;) {
      {
        std::unique_lock<std::mutex> lock(mutex);
        wake.wait(lock, [&] { return stop || generation != seen; });
        if (stop)
          return;
        seen = generation;
      }
      takePieces();
      std::lock_guard<std::mutex> lock(mutex);
      if (--busy == 0)
        done.notify_one();
    }
  }

  std::mutex turns, mutex;
  std::condition_variable wake, done;
  Job job{};
  std::atomic<uint64_t> next{0};
  size_t busy = 0;
  uint64_t generation = 0;
  bool stop = false;
  std::vector<std::thread> threads;
};

} // namespace

std::unique_ptr<ThreadPool> ThreadPool::create(unsigned threads) {
  return std::make_unique<StdThreadPool>(threads);
}

} // namespace tilewright::runtime
