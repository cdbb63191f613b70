// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes, reads, fills and copies.
//
// Where the host sees the tensor's memory and the stream is idle, transfers are
// plain copies in place. Otherwise they pass through staging memory in chunks;
// past 128 MiB of them the stream waits for its oldest batch.
#include "vulkan_device.h"
#include "vulkan_stream.h"

#include <algorithm>
#include <cstring>

namespace tilewright::runtime::vulkan {

Status VulkanStream::stageChunk(uint64_t size, StagingSlice &slice) {
  if (pool.stagedBytes() > maxStaged) {
    if (Status s = submit())
      return s;
    while (pool.stagedBytes() > maxStaged / 2 && !inFlight.empty())
      if (Status s = retireOldest())
        return s;
  }
  if (Status s = open())
    return s;
  return pool.stage(*current, size, 16, slice);
}

Status VulkanStream::writeChunk(const VulkanBuffer &target, uint64_t offset,
                                const void *source, uint64_t size) {
  StagingSlice slice;
  if (Status s = stageChunk(size, slice))
    return s;
  std::memcpy(slice.host, source, size);
  touch(target, true);
  orderCommand();
  VkBufferCopy region = {slice.offset, target.offset() + offset, size};
  device.vk.vkCmdCopyBuffer(current->commands, slice.buffer, target.buffer(), 1,
                            &region);
  return Status::ok();
}

Status VulkanStream::write(DriverBuffer &driverTarget, uint64_t offset,
                           const void *source, uint64_t size) {
  auto &target = static_cast<VulkanBuffer &>(driverTarget);
  if (Status s = device.lost())
    return s;
  if (target.hostPointer() && isIdle()) {
    std::memcpy(static_cast<uint8_t *>(target.hostPointer()) + offset, source,
                size);
    return Status::ok();
  }
  auto *bytes = static_cast<const uint8_t *>(source);
  for (uint64_t at = 0; at < size; at += BatchPool::chunkSize)
    if (Status s = writeChunk(target, offset + at, bytes + at,
                              std::min(BatchPool::chunkSize, size - at)))
      return s;
  return Status::ok();
}

Status VulkanStream::read(void *target, DriverBuffer &driverSource,
                          uint64_t offset, uint64_t size) {
  auto &source = static_cast<VulkanBuffer &>(driverSource);
  if (Status s = device.lost())
    return s;
  if (source.hostPointer() && isIdle()) {
    std::memcpy(target,
                static_cast<const uint8_t *>(source.hostPointer()) + offset,
                size);
    return Status::ok();
  }
  auto *bytes = static_cast<uint8_t *>(target);
  for (uint64_t at = 0; at < size; at += BatchPool::chunkSize) {
    uint64_t length = std::min(BatchPool::chunkSize, size - at);
    StagingSlice slice;
    if (Status s = stageChunk(length, slice))
      return s;
    touch(source, false);
    orderCommand();
    VkBufferCopy region = {source.offset() + offset + at, slice.offset, length};
    device.vk.vkCmdCopyBuffer(current->commands, source.buffer(), slice.buffer,
                              1, &region);
    current->reads.push_back({bytes + at, slice.host, length});
  }
  return Status::ok();
}

Status VulkanStream::fill(DriverBuffer &driverTarget, uint64_t offset,
                          uint64_t size, uint32_t pattern,
                          uint32_t patternSize) {
  auto &target = static_cast<VulkanBuffer &>(driverTarget);
  if (patternSize != 1 && patternSize != 2 && patternSize != 4)
    return invalidArgument("a fill pattern has 1, 2 or 4 bytes, not " +
                           std::to_string(patternSize));
  if (patternSize == 1)
    pattern = (pattern & 0xff) * 0x01010101u;
  else if (patternSize == 2)
    pattern = (pattern & 0xffff) * 0x00010001u;
  // Vulkan fills whole words; the bytes before and after are written. Offsets
  // are multiples of the pattern, so each of them begins a repetition.
  uint8_t bytes[4];
  std::memcpy(bytes, &pattern, 4);
  uint64_t end = offset + size;
  uint64_t first = std::min(end, (offset + 3) / 4 * 4);
  uint64_t last = std::max(first, end / 4 * 4);
  if (offset < first)
    if (Status s = write(target, offset, bytes, first - offset))
      return s;
  if (first < last) {
    if (Status s = open())
      return s;
    touch(target, true);
    orderCommand();
    device.vk.vkCmdFillBuffer(current->commands, target.buffer(),
                              target.offset() + first, last - first, pattern);
  }
  if (last < end)
    if (Status s = write(target, last, bytes, end - last))
      return s;
  return Status::ok();
}

Status VulkanStream::copy(DriverBuffer &driverTarget, uint64_t targetOffset,
                          DriverBuffer &driverSource, uint64_t sourceOffset,
                          uint64_t size) {
  auto &target = static_cast<VulkanBuffer &>(driverTarget);
  auto &source = static_cast<VulkanBuffer &>(driverSource);
  if (Status s = open())
    return s;
  touch(target, true);
  touch(source, false);
  orderCommand();
  VkBufferCopy region = {source.offset() + sourceOffset,
                         target.offset() + targetOffset, size};
  device.vk.vkCmdCopyBuffer(current->commands, source.buffer(), target.buffer(),
                            1, &region);
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
