// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one submission holds until it has run, and the pool that recycles it.
//
// A batch is a command buffer with the descriptor sets, the staging memory and
// the host reads that its commands refer to. When the stream's timeline passes
// the batch's value all of it goes back to the pool; in steady state a launch
// therefore allocates nothing. One pool belongs to one stream.
#ifndef TILEWRIGHT_DRIVERS_VULKAN_VULKAN_BATCH_H
#define TILEWRIGHT_DRIVERS_VULKAN_VULKAN_BATCH_H

#include "vulkan_memory.h"

#include <map>
#include <memory>
#include <vector>

namespace tilewright::runtime::vulkan {

/// A piece of staging memory, mapped.
struct StagingSlice {
  VkBuffer buffer = VK_NULL_HANDLE;
  uint64_t offset = 0;
  uint8_t *host = nullptr;
};

/// Bytes to hand to the host once the batch has run.
struct PendingRead {
  void *target;
  const uint8_t *staged;
  uint64_t size;
};

/// Sets with this many storage buffers; `uniformKey`: one uniform buffer.
using DescriptorKey = uint32_t;
constexpr DescriptorKey uniformKey = UINT32_MAX;

/// A timestamp; the event that asked for it and the batch that writes it share
/// it, so that neither outlives what it uses.
struct TimestampQuery {
  explicit TimestampQuery(VulkanDevice &device) : device(device) {}
  ~TimestampQuery();
  VulkanDevice &device;
  VkQueryPool pool = VK_NULL_HANDLE;
};

struct Batch {
  VkCommandPool pool = VK_NULL_HANDLE;
  VkCommandBuffer commands = VK_NULL_HANDLE;
  uint64_t value = 0;    // of the timeline, when it has run
  uint32_t launches = 0; // kernels in it
  bool hasWork = false;  // anything but timestamps
  std::vector<Block> smallBlocks, chunks;
  uint64_t smallUsed = 0; // bytes of the last small block
  std::vector<std::pair<DescriptorKey, VkDescriptorSet>> sets;
  std::vector<PendingRead> reads;
  std::vector<std::shared_ptr<TimestampQuery>> timestamps;
  std::vector<std::shared_ptr<struct Timeline>> timelines; // that it waits for
};

class BatchPool {
public:
  /// Transfers are split into chunks of at most this many bytes.
  static constexpr uint64_t chunkSize = 8u << 20;

  explicit BatchPool(VulkanDevice &device) : device(device) {}
  ~BatchPool();

  /// A batch whose command buffer is recording.
  Status begin(std::unique_ptr<Batch> &result);
  /// Takes back a batch that has run: hands its reads to the host.
  void retire(std::unique_ptr<Batch> batch);

  /// Staging memory that lives until the batch retires. `size` is at most
  /// chunkSize, `alignment` a power of two.
  Status stage(Batch &batch, uint64_t size, uint64_t alignment,
               StagingSlice &result);
  /// Staging memory that batches hold at present.
  uint64_t stagedBytes() const { return staged; }

  Status descriptorSet(Batch &batch, DescriptorKey key,
                       VkDescriptorSet &result);

private:
  static constexpr uint64_t smallBlockSize = 256u << 10;
  static constexpr uint32_t setsPerPool = 64;

  Status createBatch(std::unique_ptr<Batch> &result);
  Status growSets(DescriptorKey key, std::vector<VkDescriptorSet> &free);

  VulkanDevice &device;
  std::vector<std::unique_ptr<Batch>> freeBatches;
  std::vector<Block> freeSmall, freeChunks;
  std::vector<VkDescriptorPool> descriptorPools;
  std::map<DescriptorKey, std::vector<VkDescriptorSet>> freeSets;
  uint64_t staged = 0;
};

} // namespace tilewright::runtime::vulkan

#endif // TILEWRIGHT_DRIVERS_VULKAN_VULKAN_BATCH_H
