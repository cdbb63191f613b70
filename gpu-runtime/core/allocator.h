// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The caching allocator between tensors and a driver's device memory.
//
// Freed memory is kept by size class and handed out again without asking the
// driver. It may still be in use by work that was enqueued before it was freed,
// so every block remembers, per stream, how many operations that stream had
// been given:
//
//   stream clock   submitted 17, completed 12
//   block          {stream A: ticket 15}
//
// On stream A itself the block can be reused at once, since a stream runs in
// order. Elsewhere it has to wait until A has completed ticket 15, which a
// synchronisation of A tells.
//
// A block is a node of the cache from the beginning on, also while a tensor has
// it: giving it back moves the node and asks for no host memory, so destructors
// cannot fail.
#ifndef TILEWRIGHT_CORE_ALLOCATOR_H
#define TILEWRIGHT_CORE_ALLOCATOR_H

#include "core/driver.h"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace tilewright::runtime {

/// Progress of one stream, which may outlive it.
struct StreamClock {
  std::atomic<uint64_t> submitted{0}; // operations given to the stream
  std::atomic<uint64_t> completed{0}; // of those, known to be done
};

/// "This stream may touch the memory until it has completed `ticket`."
struct MemoryUse {
  std::shared_ptr<StreamClock> clock;
  uint64_t ticket = 0;
};

/// Device memory and who may still touch it.
struct MemoryBlock {
  std::shared_ptr<void> keep; // the owner of adopted memory; goes last
  std::unique_ptr<DriverBuffer> memory;
  std::vector<MemoryUse> uses;

  /// Whether its users have finished or are ahead in the stream of `clock`.
  bool isFree(const StreamClock *clock) const;
};
using BlockMap = std::multimap<uint64_t, MemoryBlock>; // by size class
using BlockNode = BlockMap::node_type;

/// Thread-safe.
class Allocator {
public:
  explicit Allocator(DriverDevice &device) : device(device) {}

  /// A block of its own, in no cache.
  static BlockNode newBlock();
  /// Memory of at least `size` bytes, whose last users have finished or are
  /// ahead of the caller in the stream of `clock` (null: no stream).
  Status allocate(uint64_t size, const StreamClock *clock, BlockNode &result);
  /// Takes memory back; `reusable` is false for adopted memory, which is only
  /// let go when its users have finished, and its owner behind it.
  void give(BlockNode block, bool reusable) noexcept;
  /// Lets adopted memory go whose users have finished.
  void releaseAdopted();
  /// Never lets adopted memory go that is still in use: the device is lost.
  void abandonAdopted() noexcept;
  /// Returns to the driver all memory that nothing uses.
  void trim();
  /// Bytes held but not in use.
  uint64_t cachedBytes() const;

private:
  DriverDevice &device;
  mutable std::mutex mutex;
  BlockMap cache;
  BlockMap retired; // adopted memory; the key says nothing
  /// Takes what is free out of `retired`. Its owners' functions may call the
  /// runtime: the caller destroys it without the lock.
  BlockMap takeRetired();
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_ALLOCATOR_H
