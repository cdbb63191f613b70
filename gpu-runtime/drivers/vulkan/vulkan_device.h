// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One opened Vulkan device: its queues, memory, descriptor layouts, pipeline
// cache, and whether it is lost.
//
// All streams of a device share its queues (at most four, in turn) and one
// timeline semaphore each tells how far a stream is. Device loss is sticky: the
// first reason is kept, every later call answers with it, and from then on
// nothing is destroyed, because the device may still be writing to it and
// Vulkan stops no kernel: a lost device keeps its memory until the process ends.
#ifndef TILEWRIGHT_DRIVERS_VULKAN_VULKAN_DEVICE_H
#define TILEWRIGHT_DRIVERS_VULKAN_VULKAN_DEVICE_H

#include "core/driver.h"
#include "vulkan_capabilities.h"
#include "vulkan_memory.h"

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace tilewright::runtime::vulkan {

/// A queue with its lock: Vulkan wants submissions serialised. A queue of the
/// caller's has the caller's lock behind our own.
struct Queue {
  VkQueue handle = VK_NULL_HANDLE;
  std::mutex mutex;
  void (*lockTheirs)(void *) = nullptr;
  void (*unlockTheirs)(void *) = nullptr;
  void *user = nullptr;

  void lock() {
    mutex.lock();
    if (lockTheirs)
      lockTheirs(user);
  }
  void unlock() {
    if (unlockTheirs)
      unlockTheirs(user);
    mutex.unlock();
  }
};

class VulkanDevice final : public DriverDevice {
public:
  static Status open(std::shared_ptr<VulkanLibrary> library,
                     VkPhysicalDevice physical,
                     std::unique_ptr<DriverDevice> &result);
  /// Over the caller's VkDevice; `index` becomes the place of its physical
  /// device in listPhysicalDevices.
  static Status adopt(std::shared_ptr<VulkanLibrary> library,
                      const tilewright_vulkan_device &theirs, size_t &index,
                      std::unique_ptr<DriverDevice> &result);
  ~VulkanDevice() override;

  // DriverDevice.
  int64_t fact(std::string_view key) const override;
  Status checkRequirement(std::string_view key, int64_t value) const override;
  Status allocate(uint64_t size,
                  std::unique_ptr<DriverBuffer> &result) override;
  Status checkImport(uint64_t native, uint64_t size) override;
  Status importBuffer(uint64_t native, uint64_t size,
                      std::unique_ptr<DriverBuffer> &result) override;
  Status loadModule(const ModuleDesc &desc,
                    std::unique_ptr<DriverModule> &result) override;
  Status createStream(std::unique_ptr<DriverStream> &result) override;
  Status createEvent(bool timing,
                     std::unique_ptr<DriverEvent> &result) override;

  // For the other parts of the driver.
  const Capabilities &caps() const { return capabilities; }
  VkDevice handle() const { return device; }
  VkPipelineCache pipelineCache() const { return cache; }
  Memory &memory() { return *memoryPool; }
  DeviceTable vk;

  /// Ok, or DeviceLost with the first reason.
  Status lost() const override;
  bool isLost() const {
    return lostFlag.load(std::memory_order_acquire) || !home.isHere();
  }
  /// Gives the device up; the first reason stays.
  void lose(const std::string &reason) override;
  /// Ok for VK_SUCCESS; VK_ERROR_DEVICE_LOST also gives the device up.
  Status check(VkResult result, const char *what);

  /// Waits until the timeline reaches `value`. Ends soon after any thread lost
  /// the device; a deadline that passes loses it, and `what` ("work did not
  /// finish") says so.
  Status waitTimeline(VkSemaphore timeline, uint64_t value, uint64_t timeoutNs,
                      const char *what);

  /// Layout of a set with `count` storage buffers at bindings 0 … count-1.
  Status storageLayout(uint32_t count, VkDescriptorSetLayout &result);
  /// Layout of a set with one uniform buffer at binding 0.
  Status uniformLayout(VkDescriptorSetLayout &result);

private:
  VulkanDevice() = default;
  Status initialize(std::shared_ptr<VulkanLibrary> library,
                    VkPhysicalDevice physical);
  /// What any device needs, once `device` and `capabilities` are there.
  Status prepare();
  Status createLayout(uint32_t count, VkDescriptorType type,
                      VkDescriptorSetLayout &result);

  const HomeProcess home;
  std::shared_ptr<VulkanLibrary> library;
  Capabilities capabilities;
  VkDevice device = VK_NULL_HANDLE;
  bool ownsDevice = true;
  VkPipelineCache cache = VK_NULL_HANDLE;
  std::deque<Queue> queues;
  std::atomic<uint32_t> nextQueue{0};
  std::unique_ptr<Memory> memoryPool;

  std::mutex layoutMutex;
  std::map<uint32_t, VkDescriptorSetLayout> storageLayouts;
  VkDescriptorSetLayout uniform = VK_NULL_HANDLE;

  std::atomic<bool> lostFlag{false};
  mutable std::mutex lostMutex;
  std::string lostReason;
};

} // namespace tilewright::runtime::vulkan

#endif // TILEWRIGHT_DRIVERS_VULKAN_VULKAN_DEVICE_H
