// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caching allocator; see allocator.h.

#include "core/allocator.h"

#include <algorithm>
#include <iterator>
#include <new>

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

bool MemoryBlock::isFree(const StreamClock *clock) const {
  return std::all_of(uses.begin(), uses.end(), [&](const MemoryUse &use) {
    return use.clock.get() == clock || use.clock->completed >= use.ticket;
  });
}

BlockNode Allocator::newBlock() {
  BlockMap one;
  return one.extract(one.emplace(0, MemoryBlock()));
}

Status Allocator::allocate(uint64_t size, const StreamClock *clock,
                           BlockNode &result) {
  if (size > uint64_t(1) << 62)
    return outOfMemory("an allocation of " + std::to_string(size) +
                       " bytes is impossible");
  uint64_t rounded = sizeClass(size);
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto end = cache.upper_bound(rounded + rounded / 4);
    for (auto it = cache.lower_bound(rounded); it != end;) {
      auto next = cache.upper_bound(it->first);
      // Newest first: it is warm.
      for (auto block = next; block != it;)
        if ((--block)->second.isFree(clock)) {
          result = cache.extract(block);
          return Status::ok();
        }
      it = next;
    }
  }
  BlockNode block = newBlock();
  if (Status s = device.allocate(rounded, block.mapped().memory))
    return s;
  block.key() = rounded;
  result = std::move(block);
  return Status::ok();
}

BlockMap Allocator::takeRetired() {
  BlockMap done;
  for (auto it = retired.begin(); it != retired.end();) {
    auto block = it++;
    if (block->second.isFree(nullptr))
      done.insert(retired.extract(block));
  }
  return done;
}

void Allocator::releaseAdopted() {
  BlockMap done;
  std::lock_guard<std::mutex> lock(mutex);
  if (!retired.empty())
    done = takeRetired();
}

void Allocator::abandonAdopted() noexcept {
  // For ever, and in sight of leak detectors: it is meant.
  static std::mutex abandonedMutex;
  alignas(BlockMap) static char place[sizeof(BlockMap)];
  static BlockMap *abandoned = new (place) BlockMap();
  std::lock_guard<std::mutex> lock(mutex);
  std::lock_guard<std::mutex> abandonedLock(abandonedMutex);
  for (auto it = retired.begin(); it != retired.end();) {
    auto block = it++;
    if (block->second.keep && !block->second.isFree(nullptr)) {
      block->second.memory.reset();
      abandoned->insert(retired.extract(block));
    }
  }
}

void Allocator::give(BlockNode block, bool reusable) noexcept {
  BlockMap done; // destroyed behind the lock
  std::lock_guard<std::mutex> lock(mutex);
  if (reusable) {
    // Under the class that was asked for, though the driver may have rounded it
    // up by more than a class: the next of that class is to find it.
    cache.insert(std::move(block));
  } else {
    retired.insert(std::move(block));
  }
  if (!retired.empty())
    done = takeRetired();
}

void Allocator::trim() {
  releaseAdopted();
  std::lock_guard<std::mutex> lock(mutex);
  for (auto it = cache.begin(); it != cache.end();)
    it = it->second.isFree(nullptr) ? cache.erase(it) : std::next(it);
}

uint64_t Allocator::cachedBytes() const {
  std::lock_guard<std::mutex> lock(mutex);
  uint64_t total = 0;
  for (const auto &[size, block] : cache)
    total += size;
  return total;
}

} // namespace tilewright::runtime
