// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Events: a value of a timeline, and a timestamp where timing was asked for.
#include "vulkan_device.h"
#include "vulkan_stream.h"

namespace tilewright::runtime::vulkan {

Status VulkanEvent::create(VulkanDevice &device, bool timing,
                           std::unique_ptr<DriverEvent> &result) {
  if (Status s = device.lost())
    return s;
  std::unique_ptr<VulkanEvent> event(new VulkanEvent(device));
  if (timing && device.caps().timestamps) {
    VkQueryPoolCreateInfo info = {VK_STRUCTURE_TYPE_QUERY_POOL_CREATE_INFO};
    info.queryType = VK_QUERY_TYPE_TIMESTAMP;
    info.queryCount = 1;
    event->queries = std::make_shared<TimestampQuery>(device);
    if (Status s = device.check(
            device.vk.vkCreateQueryPool(device.handle(), &info, nullptr,
                                        &event->queries->pool),
            "vkCreateQueryPool"))
      return s;
  }
  result = std::move(event);
  return Status::ok();
}

VulkanEvent::Point VulkanEvent::point() {
  std::lock_guard<std::mutex> lock(mutex);
  return recorded;
}

Status VulkanEvent::query(bool &done) {
  Point p = point();
  if (!p.timeline) {
    done = true;
    return device.lost();
  }
  return p.timeline->reached(p.value, done);
}

Status VulkanEvent::wait(uint64_t timeoutNs) {
  if (Status s = device.lost())
    return s;
  Point p = point();
  if (!p.timeline)
    return Status::ok();
  return device.waitTimeline(p.timeline->semaphore, p.value, timeoutNs,
                             "the event was not reached");
}

Status VulkanEvent::timestamp(const Point &p, uint64_t &ticks) {
  if (!queries)
    return unsupported(device.caps().timestamps
                           ? "the event was created without timing"
                           : "this device's queue has no timestamps");
  if (!p.timeline)
    return invalidArgument("the event was never recorded");
  bool done = false;
  if (Status s = p.timeline->reached(p.timestampValue, done))
    return s;
  if (!done)
    return invalidArgument("the event has not been reached; wait for it, or "
                           "flush its stream");
  return device.check(device.vk.vkGetQueryPoolResults(
                          device.handle(), queries->pool, 0, 1, sizeof(ticks), &ticks,
                          sizeof(ticks),
                          VK_QUERY_RESULT_64_BIT | VK_QUERY_RESULT_WAIT_BIT),
                      "vkGetQueryPoolResults");
}

Status VulkanEvent::elapsedSince(DriverEvent &start, uint64_t &nanoseconds) {
  auto &first = static_cast<VulkanEvent &>(start);
  Point from = first.point(), to = point();
  uint64_t begin = 0, end = 0;
  if (Status s = first.timestamp(from, begin))
    return std::move(s).in("start");
  if (Status s = timestamp(to, end))
    return std::move(s).in("end");
  uint32_t bits = device.caps().timestampBits;
  uint64_t mask = bits >= 64 ? UINT64_MAX : (uint64_t(1) << bits) - 1;
  uint64_t ticks = (end - begin) & mask;
  // Ticks start again at 0 when their bits are full: between two streams, which have no
  // order of their own, the nearer of the two ways is taken.
  bool reversed = from.timeline == to.timeline ? to.number < from.number : ticks > mask / 2;
  if (reversed)
    return invalidArgument("elapsed time: the events are in the wrong order");
  nanoseconds = static_cast<uint64_t>(
      static_cast<double>(ticks) *
      static_cast<double>(device.caps().limits().timestampPeriod));
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
