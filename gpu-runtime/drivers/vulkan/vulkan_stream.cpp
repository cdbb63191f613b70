// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streams: recording, submitting, waiting. Transfers are in
// vulkan_transfer.cpp, launches in vulkan_launch.cpp.
#include "vulkan_stream.h"

#include "vulkan_device.h"

#include <algorithm>

namespace tilewright::runtime::vulkan {

constexpr VkPipelineStageFlags workStages =
    VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT | VK_PIPELINE_STAGE_TRANSFER_BIT;

Timeline::~Timeline() {
  if (!device.isLost())
    device.vk.vkDestroySemaphore(device.handle(), semaphore, nullptr);
}

Status Timeline::reached(uint64_t value, bool &done) {
  if (Status s = device.lost())
    return s;
  uint64_t now = 0;
  if (Status s = device.check(device.vk.vkGetSemaphoreCounterValue(
                                  device.handle(), semaphore, &now),
                              "vkGetSemaphoreCounterValue"))
    return s;
  done = now >= value;
  return Status::ok();
}

Status VulkanStream::create(VulkanDevice &device, Queue &queue,
                            std::unique_ptr<DriverStream> &result) {
  if (Status s = device.lost())
    return s;
  std::unique_ptr<VulkanStream> stream(new VulkanStream(device, queue));
  stream->timeline = std::make_shared<Timeline>(device);
  VkSemaphoreTypeCreateInfo type = {
      VK_STRUCTURE_TYPE_SEMAPHORE_TYPE_CREATE_INFO};
  type.semaphoreType = VK_SEMAPHORE_TYPE_TIMELINE;
  VkSemaphoreCreateInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_CREATE_INFO};
  info.pNext = &type;
  if (Status s = device.check(
          device.vk.vkCreateSemaphore(device.handle(), &info, nullptr,
                                      &stream->timeline->semaphore),
          "vkCreateSemaphore"))
    return s;
  result = std::move(stream);
  return Status::ok();
}

VulkanStream::~VulkanStream() {
  // Work that was given to the stream is done even if nobody waits for it.
  if (!device.isLost() && timeline->semaphore)
    ignoringErrors([&] { return synchronize(timeoutNs); });
}

Status VulkanStream::open() {
  if (Status s = device.lost())
    return s;
  if (current)
    return Status::ok();
  if (Status s = collect())
    return s;
  while (inFlight.size() >= maxInFlight)
    if (Status s = retireOldest())
      return s;
  if (Status s = pool.begin(current))
    return s;
  current->value = timeline->submitted.load() + 1;
  before.clear();
  next.clear();
  barrier(workStages, workStages);
  return Status::ok();
}

void VulkanStream::barrier(VkPipelineStageFlags from, VkPipelineStageFlags to) {
  VkMemoryBarrier memory = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  memory.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT | VK_ACCESS_TRANSFER_WRITE_BIT;
  memory.dstAccessMask =
      to == VK_PIPELINE_STAGE_HOST_BIT
          ? VK_ACCESS_HOST_READ_BIT | VK_ACCESS_HOST_WRITE_BIT
          : VK_ACCESS_SHADER_READ_BIT | VK_ACCESS_SHADER_WRITE_BIT |
                VK_ACCESS_TRANSFER_READ_BIT | VK_ACCESS_TRANSFER_WRITE_BIT |
                VK_ACCESS_UNIFORM_READ_BIT;
  device.vk.vkCmdPipelineBarrier(current->commands, from, to, 0, 1, &memory, 0,
                                 nullptr, 0, nullptr);
}

void VulkanStream::touch(const VulkanBuffer &buffer, bool written) {
  next.push_back({&buffer, written});
}

void VulkanStream::orderCommand() {
  auto conflicts = [](const Access &a, const Access &b) {
    return a.buffer == b.buffer && (a.written || b.written);
  };
  bool mustWait = false;
  for (const Access &a : next)
    for (const Access &b : before)
      mustWait |= conflicts(a, b);
  if (mustWait || before.size() > 256) {
    barrier(workStages, workStages);
    before.clear();
  }
  before.insert(before.end(), next.begin(), next.end());
  next.clear();
  current->hasWork = true;
}

Status VulkanStream::submit() {
  if (!current && waits.empty())
    return Status::ok();
  if (Status s = open())
    return s;
  barrier(workStages, VK_PIPELINE_STAGE_HOST_BIT);
  std::unique_ptr<Batch> batch = std::move(current);
  VkResult r = device.vk.vkEndCommandBuffer(batch->commands);
  if (r == VK_SUCCESS) {
    std::vector<VkSemaphore> semaphores;
    std::vector<uint64_t> values;
    for (const Wait &wait : waits) {
      batch->timelines.push_back(wait.timeline);
      semaphores.push_back(wait.timeline->semaphore);
      values.push_back(wait.value);
    }
    std::vector<VkPipelineStageFlags> stages(waits.size(), workStages);
    VkTimelineSemaphoreSubmitInfo timelineInfo = {
        VK_STRUCTURE_TYPE_TIMELINE_SEMAPHORE_SUBMIT_INFO};
    timelineInfo.waitSemaphoreValueCount = static_cast<uint32_t>(values.size());
    timelineInfo.pWaitSemaphoreValues = values.data();
    timelineInfo.signalSemaphoreValueCount = 1;
    timelineInfo.pSignalSemaphoreValues = &batch->value;
    VkSubmitInfo info = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
    info.pNext = &timelineInfo;
    info.waitSemaphoreCount = static_cast<uint32_t>(semaphores.size());
    info.pWaitSemaphores = semaphores.data();
    info.pWaitDstStageMask = stages.data();
    info.commandBufferCount = 1;
    info.pCommandBuffers = &batch->commands;
    info.signalSemaphoreCount = 1;
    info.pSignalSemaphores = &timeline->semaphore;
    std::lock_guard<Queue> lock(queue);
    r = device.vk.vkQueueSubmit(queue.handle, 1, &info, VK_NULL_HANDLE);
  }
  waits.clear();
  if (r != VK_SUCCESS) {
    // Its commands are gone, and with them what later work stands on.
    device.lose("submitting commands failed: " + resultName(r));
    return device.lost();
  }
  timeline->submitted.store(batch->value);
  freshStart &= !batch->hasWork;
  inFlight.push_back(std::move(batch));
  launchLimit = std::min(2 * launchLimit, maxLaunches);
  return Status::ok();
}

Status VulkanStream::collect() {
  while (!inFlight.empty()) {
    bool done = false;
    if (Status s = timeline->reached(inFlight.front()->value, done))
      return s;
    if (!done)
      return Status::ok();
    pool.retire(std::move(inFlight.front()));
    inFlight.pop_front();
  }
  launchLimit = 1;
  return Status::ok();
}

Status VulkanStream::retireOldest() {
  if (Status s = device.waitTimeline(timeline->semaphore,
                                     inFlight.front()->value, timeoutNs,
                                     "work did not finish"))
    return s;
  pool.retire(std::move(inFlight.front()));
  inFlight.pop_front();
  return Status::ok();
}

bool VulkanStream::isIdle() {
  return !current && waits.empty() && collect().isOk() && inFlight.empty();
}

Status VulkanStream::flush() {
  if (Status s = device.lost())
    return s;
  return submit();
}

Status VulkanStream::synchronize(uint64_t deadlineNs) {
  auto wait = [&]() -> Status {
    if (Status s = device.lost())
      return s;
    if (Status s = submit())
      return s;
    if (inFlight.empty())
      return Status::ok();
    if (Status s =
            device.waitTimeline(timeline->semaphore, inFlight.back()->value,
                                deadlineNs, "work did not finish"))
      return s;
    freshStart = true;
    return collect();
  };
  Status status = wait();
  if (!status.isOk()) {
    // The caller's memory for the reads may be gone when their bytes arrive.
    for (std::unique_ptr<Batch> &batch : inFlight)
      batch->reads.clear();
    if (current)
      current->reads.clear();
  }
  return status;
}

Status VulkanStream::record(DriverEvent &driverEvent) {
  auto &event = static_cast<VulkanEvent &>(driverEvent);
  if (Status s = device.lost())
    return s;
  bool hasWork = (current && current->hasWork) || !waits.empty();
  bool timed = event.queries != nullptr;
  if (timed || hasWork)
    if (Status s = open())
      return s;
  // The timestamp in front of all work, a measurement's first, goes along with that
  // work. One behind work that has been submitted goes by itself.
  bool submits = hasWork || (timed && (!freshStart || !current->timestamps.empty()));
  VulkanEvent::Point point;
  point.timeline = timeline;
  point.number = ++timeline->recorded;
  point.value = timeline->submitted.load() + submits;
  if (timed) {
    point.timestampValue = current->value;
    device.vk.vkCmdResetQueryPool(current->commands, event.queries->pool,
                                  0, 1);
    device.vk.vkCmdWriteTimestamp(current->commands,
                                  VK_PIPELINE_STAGE_BOTTOM_OF_PIPE_BIT,
                                  event.queries->pool, 0);
    current->timestamps.push_back(event.queries);
  }
  {
    std::lock_guard<std::mutex> lock(event.mutex);
    event.recorded = std::move(point);
  }
  if (submits)
    if (Status s = submit())
      return s;
  freshStart |= timed;
  return Status::ok();
}

Status VulkanStream::waitFor(DriverEvent &driverEvent) {
  VulkanEvent::Point point = static_cast<VulkanEvent &>(driverEvent).point();
  if (Status s = device.lost())
    return s;
  if (!point.timeline || point.timeline == timeline)
    return Status::ok();
  bool done = false;
  if (Status s = point.timeline->reached(point.value, done))
    return s;
  if (done)
    return Status::ok();
  if (current && current->hasWork)
    if (Status s = submit())
      return s;
  waits.push_back({point.timeline, point.value});
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
