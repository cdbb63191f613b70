// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caching allocator; see allocator.h.

#include "core/allocator.h"

#include <algorithm>
#include <iterator>

namespace tilewright::runtime {

namespace {

// Eight classes between two powers of two, so that at most an eighth is wasted;
// multiples of 256 bytes below 2 KiB.
uint64_t sizeClass(uint64_t size) {
  if (size <= 2048)
    return size == 0 ? 256 : (size + 255) / 256 * 256;
  int log = 63 - __builtin_clzll(size - 1);
  uint64_t step = uint64_t(1) << (log - 3);
  return (size + step - 1) / step * step;
}

} // namespace

bool Allocator::Block::isFree(const StreamClock *clock) const {
  return std::all_of(uses.begin(), uses.end(), [&](const MemoryUse &use) {
    return use.clock.get() == clock || use.clock->completed >= use.ticket;
  });
}

Status Allocator::allocate(uint64_t size, const StreamClock *clock,
                           std::unique_ptr<DriverBuffer> &result) {
  if (size > uint64_t(1) << 62)
    return outOfMemory("an allocation of " + std::to_string(size) +
                       " bytes is impossible");
  uint64_t rounded = sizeClass(size);
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto end = cache.upper_bound(rounded + rounded / 4);
    for (auto it = cache.lower_bound(rounded); it != end; ++it) {
      std::vector<Block> &blocks = it->second;
      // Newest first: it is warm.
      for (size_t i = blocks.size(); i-- > 0;) {
        if (!blocks[i].isFree(clock))
          continue;
        result = std::move(blocks[i].memory);
        blocks.erase(blocks.begin() + i);
        if (blocks.empty())
          cache.erase(it);
        return Status::ok();
      }
    }
  }
  return device.allocate(rounded, result);
}

std::vector<Allocator::Block> Allocator::takeRetired() {
  std::vector<Block> done;
  auto inUse = std::partition(retired.begin(), retired.end(), [](Block &b) {
    return !b.isFree(nullptr);
  });
  std::move(inUse, retired.end(), std::back_inserter(done));
  retired.erase(inUse, retired.end());
  return done;
}

void Allocator::releaseAdopted() {
  std::vector<Block> done;
  std::lock_guard<std::mutex> lock(mutex);
  if (!retired.empty())
    done = takeRetired();
}

void Allocator::abandonAdopted() {
  // For ever, and in sight of leak detectors: it is meant.
  static std::mutex abandonedMutex;
  static auto *abandoned = new std::vector<std::shared_ptr<void>>();
  std::lock_guard<std::mutex> lock(mutex);
  std::lock_guard<std::mutex> abandonedLock(abandonedMutex);
  for (Block &block : retired)
    if (block.keep && !block.isFree(nullptr))
      abandoned->push_back(std::move(block.keep));
}

void Allocator::give(std::unique_ptr<DriverBuffer> memory,
                     std::vector<MemoryUse> uses, bool reusable,
                     std::shared_ptr<void> keep) {
  std::vector<Block> done; // destroyed behind the lock
  std::lock_guard<std::mutex> lock(mutex);
  Block block{nullptr, std::move(memory), std::move(uses)};
  if (reusable) {
    // Memory may be larger than its class when the driver rounds up; file it
    // under the class that was asked for, which never exceeds its size.
    uint64_t size = block.memory->size();
    uint64_t key = sizeClass(size);
    if (key > size)
      key = size;
    cache[key].push_back(std::move(block));
  } else {
    block.keep = std::move(keep);
    retired.push_back(std::move(block));
  }
  if (!retired.empty())
    done = takeRetired();
}

void Allocator::trim() {
  releaseAdopted();
  std::lock_guard<std::mutex> lock(mutex);
  auto sweep = [](std::vector<Block> &blocks) {
    blocks.erase(
        std::remove_if(blocks.begin(), blocks.end(),
                       [](const Block &b) { return b.isFree(nullptr); }),
        blocks.end());
  };
  for (auto it = cache.begin(); it != cache.end();) {
    sweep(it->second);
    it = it->second.empty() ? cache.erase(it) : std::next(it);
  }
}

uint64_t Allocator::cachedBytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t total = 0;
  for (const auto &[size, blocks] : cache)
    total += size * blocks.size();
  return total;
}

} // namespace tilewright::runtime
