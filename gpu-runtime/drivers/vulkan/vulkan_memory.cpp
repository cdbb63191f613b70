// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses memory types, makes blocks and cuts small buffers from shared ones.
#include "vulkan_memory.h"

#include "vulkan_device.h"

#include <algorithm>

namespace tilewright::runtime::vulkan {

constexpr uint32_t minSizeClass = 8;  // 256 bytes, the alignment promised
constexpr uint32_t maxSizeClass = 18; // 256 KiB
constexpr uint64_t piecesPerSlab = 32;
constexpr uint64_t minSlab = 64 * 1024;

VulkanBuffer::~VulkanBuffer() {
  if (owner)
    owner->recycle(*this);
}

Memory::Memory(VulkanDevice &device) : device(device) {}

Memory::~Memory() {
  if (device.isLost())
    return;
  for (Block &slab : slabs)
    destroyBlock(slab);
}

int32_t Memory::pickType(uint32_t allowed, MemoryUse use) const {
  const VkPhysicalDeviceMemoryProperties &memory = device.caps().memory;
  constexpr VkMemoryPropertyFlags shared =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags unusable =
      VK_MEMORY_PROPERTY_LAZILY_ALLOCATED_BIT |
      VK_MEMORY_PROPERTY_PROTECTED_BIT |
      VK_MEMORY_PROPERTY_DEVICE_COHERENT_BIT_AMD;
  bool inPlace = device.caps().sharesMemory;
  int32_t best = -1;
  uint64_t bestScore = 0;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    if (!(allowed & (1u << i)) || (flags & unusable))
      continue;
    bool visible = (flags & shared) == shared;
    bool cached = (flags & VK_MEMORY_PROPERTY_HOST_CACHED_BIT) != 0;
    bool local = (flags & VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT) != 0;
    if (use == MemoryUse::Staging && !visible)
      continue;
    // The heap decides between equals: some devices show the host a small
    // window of their memory as a heap of its own.
    uint64_t score =
        1 + memory.memoryHeaps[memory.memoryTypes[i].heapIndex].size / 4;
    auto prefer = [&](bool condition, int rank) {
      if (condition)
        score += uint64_t(1) << (58 + rank);
    };
    if (use == MemoryUse::Staging) {
      prefer(cached, 1);
      prefer(!local, 0);
    } else {
      prefer(local, 2);
      prefer(inPlace ? visible && cached : !visible, 1);
    }
    if (score > bestScore) {
      bestScore = score;
      best = static_cast<int32_t>(i);
    }
  }
  return best;
}

Status Memory::createBlock(uint64_t size, MemoryUse use, Block &result) {
  if (Status s = device.lost())
    return s;
  const char *kind = use == MemoryUse::Device ? "device" : "staging";
  std::string what = "allocating " + std::to_string(size) + " bytes of " +
                     kind + " memory";
  if (size > device.caps().maxAllocation)
    return outOfMemory(what + " failed: one allocation of this device has at "
                              "most " +
                       std::to_string(device.caps().maxAllocation) + " bytes");
  if (numBlocks.load() >= device.caps().limits().maxMemoryAllocationCount)
    return outOfMemory(
        what + " failed: this device allows " +
        std::to_string(device.caps().limits().maxMemoryAllocationCount) +
        " allocations at a time, and all are in use");

  Block block;
  block.size = (size + 15) / 16 * 16;
  VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
  info.size = block.size;
  info.usage =
      VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
      (use == MemoryUse::Device ? VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
                                : VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT);
  info.sharingMode = VK_SHARING_MODE_EXCLUSIVE;
  VkResult r = device.vk.vkCreateBuffer(device.handle(), &info, nullptr,
                                        &block.buffer);
  if (r != VK_SUCCESS)
    return device.check(r, "vkCreateBuffer").in(what);
  auto fail = [&](Status status) {
    if (block.memory)
      device.vk.vkFreeMemory(device.handle(), block.memory, nullptr);
    device.vk.vkDestroyBuffer(device.handle(), block.buffer, nullptr);
    return std::move(status).in(what);
  };

  VkMemoryRequirements requirements;
  device.vk.vkGetBufferMemoryRequirements(device.handle(), block.buffer,
                                          &requirements);
  int32_t type = pickType(requirements.memoryTypeBits, use);
  if (type < 0)
    return fail(unsupported("this device has no fitting memory type"));
  const VkMemoryType &memoryType = device.caps().memory.memoryTypes[type];
  uint64_t heap = device.caps().memory.memoryHeaps[memoryType.heapIndex].size;
  if (requirements.size > heap)
    return fail(outOfMemory("its heap has " + std::to_string(heap) +
                            " bytes in all"));
  VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
  allocation.allocationSize = requirements.size;
  allocation.memoryTypeIndex = static_cast<uint32_t>(type);
  r = device.vk.vkAllocateMemory(device.handle(), &allocation, nullptr,
                                 &block.memory);
  if (r != VK_SUCCESS)
    return fail(device.check(r, "vkAllocateMemory"));
  r = device.vk.vkBindBufferMemory(device.handle(), block.buffer, block.memory,
                                   0);
  if (r != VK_SUCCESS)
    return fail(device.check(r, "vkBindBufferMemory"));

  constexpr VkMemoryPropertyFlags coherent =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  constexpr VkMemoryPropertyFlags inPlace =
      coherent | VK_MEMORY_PROPERTY_HOST_CACHED_BIT;
  VkMemoryPropertyFlags wanted =
      use == MemoryUse::Staging ? coherent : inPlace;
  bool map = use == MemoryUse::Staging || device.caps().sharesMemory;
  if (map && (memoryType.propertyFlags & wanted) == wanted) {
    void *address = nullptr;
    r = device.vk.vkMapMemory(device.handle(), block.memory, 0, VK_WHOLE_SIZE,
                              0, &address);
    if (r != VK_SUCCESS)
      return fail(device.check(r, "vkMapMemory"));
    block.mapped = static_cast<uint8_t *>(address);
  }
  ++numBlocks;
  result = block;
  return Status::ok();
}

void Memory::destroyBlock(Block &block) {
  if (!block.buffer || device.isLost())
    return;
  device.vk.vkDestroyBuffer(device.handle(), block.buffer, nullptr);
  device.vk.vkFreeMemory(device.handle(), block.memory, nullptr);
  block = Block();
  --numBlocks;
}

Status Memory::allocate(uint64_t size, std::unique_ptr<DriverBuffer> &result) {
  uint32_t sizeClass = minSizeClass;
  while (sizeClass <= maxSizeClass && (uint64_t(1) << sizeClass) < size)
    ++sizeClass;
  if (sizeClass <= maxSizeClass)
    return allocatePiece(sizeClass, size, result);
  if (size > UINT64_MAX - 16)
    return outOfMemory("allocating " + std::to_string(size) +
                       " bytes is more than any device has");
  Block block;
  if (Status s = createBlock(size, MemoryUse::Device, block))
    return s;
  result = std::make_unique<VulkanBuffer>(this, block, 0, block.size, 0);
  return Status::ok();
}

Status Memory::allocatePiece(uint32_t sizeClass, uint64_t size,
                             std::unique_ptr<DriverBuffer> &result) {
  if (Status s = device.lost())
    return s;
  Piece piece;
  {
    std::lock_guard<std::mutex> lock(mutex);
    std::vector<Piece> &pieces = freePieces[sizeClass];
    if (pieces.empty()) {
      uint64_t pieceSize = uint64_t(1) << sizeClass;
      uint64_t slabSize = std::max(minSlab, pieceSize * piecesPerSlab);
      Block slab;
      if (Status s = createBlock(slabSize, MemoryUse::Device, slab))
        return std::move(s).in("allocating " + std::to_string(size) +
                               " bytes");
      try {
        slabs.reserve(slabs.size() + 1);
        // All of them can come back without asking for memory.
        pieces.reserve(++slabsOf[sizeClass] * (slabSize / pieceSize));
      } catch (const std::bad_alloc &) {
        destroyBlock(slab);
        throw;
      }
      slabs.push_back(slab);
      for (uint64_t at = slabSize; at >= pieceSize; at -= pieceSize)
        pieces.push_back({slab, at - pieceSize});
    }
    piece = pieces.back();
    pieces.pop_back();
  }
  // Outside the lock: this may destroy the buffer that `result` held.
  result = std::make_unique<VulkanBuffer>(
      this, piece.block, piece.offset, (size + 15) / 16 * 16, sizeClass);
  return Status::ok();
}

void Memory::recycle(VulkanBuffer &buffer) {
  if (device.isLost())
    return;
  if (buffer.sizeClass == 0) {
    destroyBlock(buffer.block);
    return;
  }
  std::lock_guard<std::mutex> lock(mutex);
  freePieces[buffer.sizeClass].push_back({buffer.block, buffer.base});
}

} // namespace tilewright::runtime::vulkan
