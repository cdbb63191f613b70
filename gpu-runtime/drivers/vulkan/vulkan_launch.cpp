// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches: limits checked, buffers and scalars bound, the grid dispatched.
#include "vulkan_device.h"
#include "vulkan_stream.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace tilewright::runtime::vulkan {

Status VulkanStream::checkLaunch(const Kernel &kernel,
                                 const LaunchArgs &args) const {
  const VkPhysicalDeviceLimits &limits = device.caps().limits();
  if (args.numBuffers != kernel.numBuffers)
    return invalidArgument("it takes " + std::to_string(kernel.numBuffers) +
                           " buffers, not " + std::to_string(args.numBuffers));
  if ((args.packedSize + 3) / 4 * 4 != kernel.scalarBytes)
    return invalidArgument("it takes " + std::to_string(kernel.scalarBytes) +
                           " bytes of scalars, not " +
                           std::to_string(args.packedSize));
  for (int i = 0; i < 3; ++i)
    if (args.grid[i] > limits.maxComputeWorkGroupCount[i])
      return unsupported(
          std::string("the grid has ") + std::to_string(args.grid[i]) +
          " workgroups in " + "xyz"[i] + "; this device launches at most " +
          std::to_string(limits.maxComputeWorkGroupCount[i]));
  for (size_t i = 0; i < args.numBuffers; ++i) {
    const BufferBinding &binding = args.buffers[i];
    std::string where = "buffer parameter " + std::to_string(i);
    if (!binding.buffer)
      return invalidArgument(where + " is null");
    if (binding.size > limits.maxStorageBufferRange)
      return unsupported(where + " spans " + std::to_string(binding.size) +
                         " bytes; this device binds at most " +
                         std::to_string(limits.maxStorageBufferRange) +
                         " (maxStorageBufferRange)");
    if (binding.offset % limits.minStorageBufferOffsetAlignment != 0)
      return unsupported(
          where + " begins " + std::to_string(binding.offset) +
          " bytes into its allocation; this device binds at multiples of " +
          std::to_string(limits.minStorageBufferOffsetAlignment) +
          " (minStorageBufferOffsetAlignment)");
  }
  return Status::ok();
}

Status VulkanStream::bindBuffers(const Kernel &kernel, const LaunchArgs &args) {
  constexpr size_t inlineBuffers = 32;
  std::array<VkDescriptorBufferInfo, inlineBuffers> inlineInfos;
  std::vector<VkDescriptorBufferInfo> moreInfos;
  VkDescriptorBufferInfo *infos = inlineInfos.data();
  if (args.numBuffers > inlineBuffers) {
    moreInfos.resize(args.numBuffers);
    infos = moreInfos.data();
  }
  for (size_t i = 0; i < args.numBuffers; ++i) {
    const BufferBinding &binding = args.buffers[i];
    auto &buffer = static_cast<VulkanBuffer &>(*binding.buffer);
    // A range may not be empty: an operand without elements gets the first
    // bytes of its buffer, which no kernel reads.
    uint64_t offset = binding.size == 0 ? 0 : binding.offset;
    uint64_t range = std::max<uint64_t>((binding.size + 3) / 4 * 4, 4);
    range = std::min(range, buffer.size() - offset);
    infos[i] = {buffer.buffer(), buffer.offset() + offset, range};
    touch(buffer, binding.written);
  }
  VkDescriptorSet set;
  if (Status s = pool.descriptorSet(*current, kernel.numBuffers, set))
    return s;
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set;
  write.descriptorCount = kernel.numBuffers;
  write.descriptorType = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
  write.pBufferInfo = infos;
  device.vk.vkUpdateDescriptorSets(device.handle(), 1, &write, 0, nullptr);
  device.vk.vkCmdBindDescriptorSets(current->commands,
                                    VK_PIPELINE_BIND_POINT_COMPUTE,
                                    kernel.layout, 0, 1, &set, 0, nullptr);
  return Status::ok();
}

Status VulkanStream::bindScalars(const Kernel &kernel, const LaunchArgs &args) {
  if (!kernel.desc.scalarsInUniform) {
    // Push constants come in whole words.
    uint64_t words[64] = {};
    std::vector<uint8_t> more;
    void *bytes = words;
    if (kernel.scalarBytes > sizeof(words)) {
      more.resize(kernel.scalarBytes);
      bytes = more.data();
    }
    std::memcpy(bytes, args.packedScalars, args.packedSize);
    device.vk.vkCmdPushConstants(current->commands, kernel.layout,
                                 VK_SHADER_STAGE_COMPUTE_BIT, 0,
                                 kernel.scalarBytes, bytes);
    return Status::ok();
  }
  uint64_t alignment = std::max<uint64_t>(
      16, device.caps().limits().minUniformBufferOffsetAlignment);
  uint64_t size = (kernel.scalarBytes + 15) / 16 * 16;
  StagingSlice slice;
  if (Status s = pool.stage(*current, size, alignment, slice))
    return s;
  std::memcpy(slice.host, args.packedScalars, args.packedSize);
  VkDescriptorSet set;
  if (Status s = pool.descriptorSet(*current, uniformKey, set))
    return s;
  VkDescriptorBufferInfo info = {slice.buffer, slice.offset, size};
  VkWriteDescriptorSet write = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
  write.dstSet = set;
  write.descriptorCount = 1;
  write.descriptorType = VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
  write.pBufferInfo = &info;
  device.vk.vkUpdateDescriptorSets(device.handle(), 1, &write, 0, nullptr);
  device.vk.vkCmdBindDescriptorSets(current->commands,
                                    VK_PIPELINE_BIND_POINT_COMPUTE,
                                    kernel.layout, 1, 1, &set, 0, nullptr);
  return Status::ok();
}

Status VulkanStream::launch(DriverModule &driverModule, uint32_t index,
                            const LaunchArgs &args) {
  auto &module = static_cast<VulkanModule &>(driverModule);
  if (Status s = device.lost())
    return s;
  const Kernel *kernel = nullptr;
  if (Status s = module.kernel(index, kernel))
    return s;
  auto where = [&] { return "kernel '" + kernel->desc.entry + "'"; };
  if (Status s = checkLaunch(*kernel, args))
    return std::move(s).in(where());
  if (Status s = open())
    return s;
  next.clear();
  if (kernel->numBuffers != 0)
    if (Status s = bindBuffers(*kernel, args))
      return std::move(s).in(where());
  if (kernel->scalarBytes != 0)
    if (Status s = bindScalars(*kernel, args))
      return std::move(s).in(where());
  orderCommand();
  device.vk.vkCmdBindPipeline(current->commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                              kernel->pipeline);
  device.vk.vkCmdDispatch(current->commands, args.grid[0], args.grid[1],
                          args.grid[2]);
  if (++current->launches >= launchLimit)
    return submit();
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
