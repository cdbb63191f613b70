// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes, fills and recycles batches.
#include "vulkan_batch.h"

#include "vulkan_device.h"

#include <cstring>

namespace tilewright::runtime::vulkan {

TimestampQuery::~TimestampQuery() {
  if (!device.isLost())
    device.vk.vkDestroyQueryPool(device.handle(), pool, nullptr);
}

BatchPool::~BatchPool() {
  if (device.isLost())
    return;
  for (std::unique_ptr<Batch> &batch : freeBatches)
    device.vk.vkDestroyCommandPool(device.handle(), batch->pool, nullptr);
  for (std::vector<Block> *blocks : {&freeSmall, &freeChunks})
    for (Block &block : *blocks)
      device.memory().destroyBlock(block);
  for (VkDescriptorPool pool : descriptorPools)
    device.vk.vkDestroyDescriptorPool(device.handle(), pool, nullptr);
}

Status BatchPool::createBatch(std::unique_ptr<Batch> &result) {
  auto batch = std::make_unique<Batch>();
  VkCommandPoolCreateInfo poolInfo = {
      VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  poolInfo.flags = VK_COMMAND_POOL_CREATE_TRANSIENT_BIT;
  poolInfo.queueFamilyIndex = device.caps().queueFamily;
  if (Status s = device.check(
          device.vk.vkCreateCommandPool(device.handle(), &poolInfo, nullptr,
                                        &batch->pool),
          "vkCreateCommandPool"))
    return s;
  VkCommandBufferAllocateInfo info = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  info.commandPool = batch->pool;
  info.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  info.commandBufferCount = 1;
  if (Status s = device.check(device.vk.vkAllocateCommandBuffers(
                                  device.handle(), &info, &batch->commands),
                              "vkAllocateCommandBuffers")) {
    device.vk.vkDestroyCommandPool(device.handle(), batch->pool, nullptr);
    return s;
  }
  result = std::move(batch);
  return Status::ok();
}

Status BatchPool::begin(std::unique_ptr<Batch> &result) {
  std::unique_ptr<Batch> batch;
  if (!freeBatches.empty()) {
    batch = std::move(freeBatches.back());
    freeBatches.pop_back();
  } else if (Status s = createBatch(batch)) {
    return s;
  }
  VkCommandBufferBeginInfo info = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  info.flags = VK_COMMAND_BUFFER_USAGE_ONE_TIME_SUBMIT_BIT;
  if (Status s = device.check(
          device.vk.vkBeginCommandBuffer(batch->commands, &info),
          "vkBeginCommandBuffer")) {
    freeBatches.push_back(std::move(batch));
    return s;
  }
  result = std::move(batch);
  return Status::ok();
}

void BatchPool::retire(std::unique_ptr<Batch> batch) {
  for (const PendingRead &read : batch->reads)
    std::memcpy(read.target, read.staged, read.size);
  batch->reads.clear();
  batch->timestamps.clear();
  batch->timelines.clear();
  for (auto &[key, set] : batch->sets)
    freeSets[key].push_back(set);
  batch->sets.clear();
  for (Block &block : batch->smallBlocks) {
    staged -= block.size;
    freeSmall.push_back(block);
  }
  for (Block &block : batch->chunks) {
    staged -= block.size;
    freeChunks.push_back(block);
  }
  batch->smallBlocks.clear();
  batch->chunks.clear();
  batch->smallUsed = 0;
  batch->launches = 0;
  batch->hasWork = false;
  // A pool that cannot be reset is dropped with its command buffer.
  if (device.vk.vkResetCommandPool(device.handle(), batch->pool, 0) ==
      VK_SUCCESS)
    freeBatches.push_back(std::move(batch));
  else
    device.vk.vkDestroyCommandPool(device.handle(), batch->pool, nullptr);
}

Status BatchPool::stage(Batch &batch, uint64_t size, uint64_t alignment,
                        StagingSlice &result) {
  bool small = size <= smallBlockSize / 4;
  uint64_t offset = (batch.smallUsed + alignment - 1) & ~(alignment - 1);
  if (small && !batch.smallBlocks.empty() && offset + size <= smallBlockSize) {
    Block &block = batch.smallBlocks.back();
    batch.smallUsed = offset + size;
    result = {block.buffer, offset, block.mapped + offset};
    return Status::ok();
  }
  std::vector<Block> &free = small ? freeSmall : freeChunks;
  std::vector<Block> &used = small ? batch.smallBlocks : batch.chunks;
  Block block;
  if (!free.empty()) {
    block = free.back();
    free.pop_back();
  } else if (Status s = device.memory().createBlock(
                 small ? smallBlockSize : chunkSize, MemoryUse::Staging,
                 block)) {
    return s;
  }
  used.push_back(block);
  staged += block.size;
  if (small)
    batch.smallUsed = size;
  result = {block.buffer, 0, block.mapped};
  return Status::ok();
}

Status BatchPool::growSets(DescriptorKey key,
                           std::vector<VkDescriptorSet> &free) {
  VkDescriptorSetLayout layout;
  if (Status s = key == uniformKey ? device.uniformLayout(layout)
                                   : device.storageLayout(key, layout))
    return s;
  VkDescriptorPoolSize size;
  size.type = key == uniformKey ? VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER
                                : VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  size.descriptorCount = setsPerPool * (key == uniformKey ? 1 : key);
  VkDescriptorPoolCreateInfo poolInfo = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  poolInfo.maxSets = setsPerPool;
  poolInfo.poolSizeCount = 1;
  poolInfo.pPoolSizes = &size;
  VkDescriptorPool pool;
  if (Status s = device.check(device.vk.vkCreateDescriptorPool(
                                  device.handle(), &poolInfo, nullptr, &pool),
                              "vkCreateDescriptorPool"))
    return s;
  std::vector<VkDescriptorSetLayout> layouts(setsPerPool, layout);
  VkDescriptorSetAllocateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  info.descriptorSetCount = setsPerPool;
  info.pSetLayouts = layouts.data();
  std::vector<VkDescriptorSet> sets(setsPerPool);
  if (Status s = device.check(device.vk.vkAllocateDescriptorSets(
                                  device.handle(), &info, sets.data()),
                              "vkAllocateDescriptorSets")) {
    device.vk.vkDestroyDescriptorPool(device.handle(), pool, nullptr);
    return s;
  }
  descriptorPools.push_back(pool);
  free.insert(free.end(), sets.begin(), sets.end());
  return Status::ok();
}

Status BatchPool::descriptorSet(Batch &batch, DescriptorKey key,
                                VkDescriptorSet &result) {
  std::vector<VkDescriptorSet> &free = freeSets[key];
  if (free.empty())
    if (Status s = growSets(key, free))
      return s;
  result = free.back();
  free.pop_back();
  batch.sets.emplace_back(key, result);
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
