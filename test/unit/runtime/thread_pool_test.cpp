// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "drivers/cpu/thread_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

using namespace tilewright::runtime;

namespace {

double processorSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec + now.tv_nsec * 1e-9;
}

void runOnce(ThreadPool &pool, uint64_t count, uint64_t chunk) {
  std::vector<std::atomic<int>> calls(count);
  pool.run(
      count, chunk,
      [](void *data, uint64_t begin, uint64_t end) {
        for (uint64_t i = begin; i < end; ++i)
          ++(*static_cast<std::vector<std::atomic<int>> *>(data))[i];
      },
      &calls);
  for (uint64_t i = 0; i < count; ++i)
    ASSERT_EQ(calls[i], 1) << i << " of " << count << " by " << chunk;
}

TEST(ThreadPoolTest, EveryIndexOnce) {
  std::unique_ptr<ThreadPool> pool = ThreadPool::create(3);
  ASSERT_TRUE(pool);
  for (int round = 0; round < 5; ++round)
    for (uint64_t count : {1, 2, 7, 1000})
      for (uint64_t chunk : {1, 3, 2000}) {
        runOnce(*pool, count, chunk);
        if ((round + count + chunk) % 3 == 0)
          pool->rest();
      }
}

// Threads that may spin between two calls take no time once they are told to rest.
TEST(ThreadPoolTest, RestsWhenTold) {
  std::unique_ptr<ThreadPool> pool = ThreadPool::create(2);
  ASSERT_TRUE(pool);
  if (std::string(pool->name()) == "OpenMP")
    GTEST_SKIP() << "OMP_WAIT_POLICY says how long its threads spin";
  for (int round = 0; round < 2; ++round) {
    runOnce(*pool, 100, 1);
    pool->rest();
    EXPECT_FALSE(pool->spins());
    // What looks for a call for a short while has ended then.
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    double before = processorSeconds();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_LT(processorSeconds() - before, 0.004);
  }
}

} // namespace
