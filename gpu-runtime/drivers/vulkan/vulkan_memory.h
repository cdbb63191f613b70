// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Device memory.
//
// A block is one VkBuffer on one VkDeviceMemory, mapped for its whole life
// where the host can see it. Vulkan limits the number of memory allocations (to
// 4096 on common drivers), so buffers of up to 256 KiB are cut from shared
// blocks of one size class each; larger ones get a block of their own.
//
// Where the device's memory is the host's (CPUs, integrated GPUs), tensors lie
// in coherent, cached, mapped memory and are read and written in place.
// Elsewhere transfers go through staging blocks, see vulkan_staging.h.
#ifndef TILEWRIGHT_DRIVERS_VULKAN_VULKAN_MEMORY_H
#define TILEWRIGHT_DRIVERS_VULKAN_VULKAN_MEMORY_H

#include "core/driver.h"
#include "vulkan_library.h"

#include <atomic>
#include <map>
#include <mutex>
#include <vector>

namespace tilewright::runtime::vulkan {

class VulkanDevice;

/// Memory with a buffer over all of it.
struct Block {
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint64_t size = 0;
  uint8_t *mapped = nullptr; // null where the host cannot see it
};

enum class MemoryUse {
  Device, // tensors
  Staging // host-visible, coherent, cached if there is such
};

class Memory;

/// A tensor's memory: all of a block, a piece of a shared one, or a VkBuffer
/// of the caller's.
class VulkanBuffer final : public DriverBuffer {
public:
  VulkanBuffer(Memory *owner, const Block &block, uint64_t base, uint64_t bytes,
               uint32_t sizeClass)
      : owner(owner), block(block), base(base), bytes(bytes),
        sizeClass(sizeClass) {}
  ~VulkanBuffer() override;

  uint64_t size() const override { return bytes; }
  void *hostPointer() const override {
    return block.mapped ? block.mapped + base : nullptr;
  }

  uint64_t native() const override {
    return reinterpret_cast<uintptr_t>(block.buffer);
  }
  uint64_t nativeOffset() const override { return base; }

  VkBuffer buffer() const { return block.buffer; }
  /// Where the tensor begins in buffer().
  uint64_t offset() const { return base; }

private:
  friend class Memory;
  Memory *owner; // null: the caller's buffer
  Block block;
  uint64_t base, bytes;
  uint32_t sizeClass; // log2 of the piece; 0: the whole block
};

/// Makes and recycles blocks; thread-safe.
class Memory {
public:
  explicit Memory(VulkanDevice &device);
  ~Memory();

  Status allocate(uint64_t size, std::unique_ptr<DriverBuffer> &result);
  Status createBlock(uint64_t size, MemoryUse use, Block &result);
  void destroyBlock(Block &block);

private:
  friend class VulkanBuffer;
  struct Piece {
    Block block;
    uint64_t offset;
  };
  Status allocatePiece(uint32_t sizeClass, uint64_t size,
                       std::unique_ptr<DriverBuffer> &result);
  void recycle(VulkanBuffer &buffer);
  /// The best memory type among `allowed`, or -1.
  int32_t pickType(uint32_t allowed, MemoryUse use) const;

  VulkanDevice &device;
  std::mutex mutex;
  std::map<uint32_t, std::vector<Piece>> freePieces; // by size class
  std::map<uint32_t, uint64_t> slabsOf;              // the same
  std::vector<Block> slabs;
  std::atomic<uint32_t> numBlocks{0};
};

} // namespace tilewright::runtime::vulkan

#endif // TILEWRIGHT_DRIVERS_VULKAN_VULKAN_MEMORY_H
