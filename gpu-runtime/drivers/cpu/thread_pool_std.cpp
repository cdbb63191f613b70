// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ThreadPool of std::thread, for machines without pthreadpool and OpenMP: a
// shared counter hands out pieces. Between two jobs threads look for the next one
// for a while before they sleep, and let others have the processor as they do: the
// thread that waits for the job and makes the next one is one more than there are
// processors.

#include "thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

namespace tilewright::runtime {

namespace {

// Longer than it takes to be woken, and than most hosts take between two launches.
constexpr std::chrono::microseconds kLook(100);

template <typename Done> bool lookFor(Done done) {
  auto end = std::chrono::steady_clock::now() + kLook;
  do {
    if (done())
      return true;
    std::this_thread::yield();
  } while (std::chrono::steady_clock::now() < end);
  return done();
}

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
    stop = true;
    begin();
    for (std::thread &thread : threads)
      thread.join();
  }

  void run(uint64_t count, uint64_t chunk, RangeFunction function,
           void *data) override {
    std::lock_guard<std::mutex> turn(turns);
    job = {function, data, count, chunk};
    next = 0;
    inside &= ~kClosed;
    begin();
    takePieces();
    // Who has not begun by now has nothing to do: nobody waits for a thread to wake.
    inside |= kClosed;
    auto left = [this] { return inside == kClosed; };
    if (lookFor(left))
      return;
    std::unique_lock<std::mutex> lock(mutex);
    done.wait(lock, left);
  }
  const char *name() const override { return "std::thread pool"; }

private:
  struct Job {
    RangeFunction function;
    void *data;
    uint64_t count, chunk;
  };

  /// Whoever waits for a job finds that there is another.
  void begin() {
    {
      std::lock_guard<std::mutex> lock(mutex);
      ++generation;
    }
    wake.notify_all();
  }

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
    auto begun = [&] { return generation != seen; };
    for (;;) {
      if (!lookFor(begun)) {
        std::unique_lock<std::mutex> lock(mutex);
        wake.wait(lock, begun);
      }
      seen = generation;
      if (stop)
        return;
      // Too late for a job that is closed, whose words may be the next one's already.
      if (!(inside++ & kClosed))
        takePieces();
      if (--inside == kClosed) {
        std::lock_guard<std::mutex> lock(mutex);
        done.notify_one();
      }
    }
  }

  static constexpr uint64_t kClosed = uint64_t(1) << 63;

  std::mutex turns, mutex;
  std::condition_variable wake, done;
  Job job{};
  std::atomic<uint64_t> next{0};
  std::atomic<uint64_t> inside{kClosed}; // threads at the job, and whether more may come
  std::atomic<uint64_t> generation{0};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
};

} // namespace

std::unique_ptr<ThreadPool> ThreadPool::create(unsigned threads) {
  return std::make_unique<StdThreadPool>(threads);
}

} // namespace tilewright::runtime
