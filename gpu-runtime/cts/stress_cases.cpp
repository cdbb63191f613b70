// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Many launches, many threads: no growth, no races.
#include "kernels.h"

#include <algorithm>
#include <cstdio>
#include <thread>
#include <unistd.h>

namespace tilewright::cts {

// The address sanitizer does, to find its uses.
#if defined(__has_feature)
constexpr bool keepsFreedMemory = __has_feature(address_sanitizer) ||
                                  __has_feature(thread_sanitizer);
#else
constexpr bool keepsFreedMemory = false;
#endif

static size_t residentBytes() {
  size_t pages = 0, resident = 0;
  if (std::FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%zu %zu", &pages, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  return resident * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

static void manyLaunches(Context &context) {
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  std::unique_ptr<DriverModule> module;
  TW_OK(context.device().createStream(stream));
  TW_OK(context.device().allocate(256, buffer));
  TW_OK(testModule(context, "increment").load(context, module));
  uint32_t expected = 1;
  auto burst = [&](uint32_t count) {
    for (uint32_t k = 0; k < count; ++k) {
      expected = expected * 3 + k;
      if (Status s = Arguments()
                         .write(*buffer)
                         .i32(static_cast<int32_t>(k))
                         .launch(*stream, *module, {1, 1, 1}))
        return s;
    }
    return stream->synchronize(kForever);
  };
  TW_OK(stream->fill(*buffer, 0, 256, 1, 4));
  TW_OK(burst(2000));
  // What is lost at each launch grows in every burst; what a driver sets aside grows in some.
  constexpr uint32_t kBursts = 3, kLaunches = 4000, kLeastLeak = 400; // bytes per launch
  size_t least = SIZE_MAX;
  for (uint32_t k = 0; k < kBursts; ++k) {
    size_t before = residentBytes();
    TW_OK(burst(kLaunches));
    size_t after = residentBytes();
    least = std::min(least, after > before ? after - before : 0);
  }
  if (!keepsFreedMemory)
    TW_CHECK(least < size_t{kLaunches} * kLeastLeak,
             "memory grew by " + std::to_string(least) +
                 " bytes or more in each " + std::to_string(kLaunches) +
                 " launches");
  uint32_t out[64] = {};
  TW_OK(stream->read(out, *buffer, 0, 256));
  TW_OK(stream->synchronize(kForever));
  TW_CHECK(out[0] == expected && out[63] == expected, std::to_string(out[0]));
}

static void oneThread(Context &context, uint32_t seed) {
  std::unique_ptr<DriverStream> stream;
  std::unique_ptr<DriverBuffer> buffer;
  TW_OK(context.device().createStream(stream));
  for (uint32_t round = 0; round < 5; ++round) {
    std::unique_ptr<DriverModule> module;
    TW_OK(context.device().allocate(256, buffer));
    TW_OK(testModule(context, "increment").load(context, module));
    uint32_t expected = seed, out[64] = {};
    TW_OK(stream->fill(*buffer, 0, 256, seed, 4));
    for (uint32_t k = 0; k < 20; ++k) {
      expected = expected * 3 + k;
      TW_OK(Arguments()
                .write(*buffer)
                .i32(static_cast<int32_t>(k))
                .launch(*stream, *module, {1, 1, 1}));
    }
    TW_OK(stream->read(out, *buffer, 0, 256));
    TW_OK(stream->synchronize(kForever));
    TW_CHECK(out[0] == expected && out[63] == expected,
             "thread " + std::to_string(seed));
  }
}

static void threads(Context &context) {
  std::vector<std::thread> workers;
  for (uint32_t i = 0; i < 16; ++i)
    workers.emplace_back([&context, i] { oneThread(context, i); });
  for (std::thread &worker : workers)
    worker.join();
}

/// One module, launched from all threads while its pipeline is first made.
static void sharedModule(Context &context) {
  std::unique_ptr<DriverModule> module;
  TW_OK(testModule(context, "increment").load(context, module));
  auto work = [&](uint32_t seed) {
    std::unique_ptr<DriverStream> stream;
    std::unique_ptr<DriverBuffer> buffer;
    TW_OK(context.device().createStream(stream));
    TW_OK(context.device().allocate(256, buffer));
    uint32_t expected = seed, out[64] = {};
    TW_OK(stream->fill(*buffer, 0, 256, seed, 4));
    for (uint32_t k = 0; k < 50; ++k) {
      expected = expected * 3 + k;
      TW_OK(Arguments()
                .write(*buffer)
                .i32(static_cast<int32_t>(k))
                .launch(*stream, *module, {1, 1, 1}));
    }
    TW_OK(stream->read(out, *buffer, 0, 256));
    TW_OK(stream->synchronize(kForever));
    TW_CHECK(out[0] == expected, "thread " + std::to_string(seed));
  };
  std::vector<std::thread> workers;
  for (uint32_t i = 0; i < 16; ++i)
    workers.emplace_back(work, i);
  for (std::thread &worker : workers)
    worker.join();
}

static void openClose(Context &context) {
  for (int round = 0; round < 10; ++round) {
    std::shared_ptr<Device> device;
    TW_OK(context.reopen(device));
    std::unique_ptr<DriverStream> stream;
    std::unique_ptr<DriverBuffer> buffer;
    TW_OK(device->driver().createStream(stream));
    TW_OK(device->driver().allocate(64, buffer));
    TW_OK(stream->fill(*buffer, 0, 64, 0, 1));
    // The stream goes first, with its work perhaps unfinished.
    stream.reset();
  }
}

std::vector<Case> stressCases() {
  return {{"stress.many_launches", manyLaunches},
          {"stress.threads_load_and_unload", threads},
          {"stress.threads_share_a_module", sharedModule},
          {"stress.open_and_close", openClose}};
}

} // namespace tilewright::cts
