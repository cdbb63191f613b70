// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes over a VkDevice of the caller's: what it was made with is read from its
// VkDeviceCreateInfo, since Vulkan has no function that tells.
//
// Features may stand in a struct of their own, in one of the structs that gather
// a version's, or in VkPhysicalDeviceFeatures:
//
//   VkPhysicalDeviceTimelineSemaphoreFeatures::timelineSemaphore
//   VkPhysicalDeviceVulkan12Features::timelineSemaphore
#include "vulkan_device.h"

#include "tilewright/tilewright.h"

#include <algorithm>
#include <cstring>

namespace tilewright::runtime::vulkan {

namespace {

// gather_NAME(to, from, 0): `to` becomes true where the struct `from` has a
// member NAME that is.
#define TW_VK_FEATURE(STRUCT, NAME)                                            \
  template <typename T>                                                        \
  auto gather_##NAME(VkBool32 &to, const T &from, int)                         \
      ->decltype(void(from.NAME)) {                                            \
    to |= from.NAME;                                                           \
  }                                                                            \
  template <typename T> void gather_##NAME(VkBool32 &, const T &, long) {}
#include "vulkan_features.def"

template <typename T> void gather(const void *link, FeatureChain &features) {
  const T &from = *static_cast<const T *>(link);
#define TW_VK_FEATURE(STRUCT, NAME)                                            \
  gather_##NAME(features.f##STRUCT.NAME, from, 0);
#include "vulkan_features.def"
}

void gatherBase(const VkPhysicalDeviceFeatures &from, FeatureChain &features) {
  VkPhysicalDeviceFeatures &to = features.base.features;
  to.shaderFloat64 |= from.shaderFloat64;
  to.shaderInt64 |= from.shaderInt64;
  to.shaderInt16 |= from.shaderInt16;
}

void gatherLink(const VkBaseInStructure *link, FeatureChain &features) {
  switch (link->sType) {
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2:
    return gatherBase(
        reinterpret_cast<const VkPhysicalDeviceFeatures2 *>(link)->features,
        features);
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_1_FEATURES:
    return gather<VkPhysicalDeviceVulkan11Features>(link, features);
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES:
    return gather<VkPhysicalDeviceVulkan12Features>(link, features);
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES:
    return gather<VkPhysicalDeviceVulkan13Features>(link, features);
#define TW_VK_STRUCT(STRUCT, TYPE, VERSION, EXTENSION)                         \
  case VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##TYPE:                               \
    return gather<VkPhysicalDevice##STRUCT>(link, features);
#include "vulkan_features.def"
  default:
    return; // not for kernels
  }
}

} // namespace

Status readEnabledParts(const VkDeviceCreateInfo &info, uint32_t queueFamily,
                        uint32_t queueIndex, EnabledParts &result) {
  if (info.sType != VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO)
    return invalidArgument("create_info is no VkDeviceCreateInfo: its sType is " +
                           std::to_string(int(info.sType)));
  std::memset(&result.features, 0, sizeof(result.features));
  if (info.pEnabledFeatures)
    gatherBase(*info.pEnabledFeatures, result.features);
  for (auto *link = static_cast<const VkBaseInStructure *>(info.pNext); link;
       link = link->pNext)
    gatherLink(link, result.features);
  if (info.enabledExtensionCount && !info.ppEnabledExtensionNames)
    return invalidArgument("create_info counts extensions but names none");
  for (uint32_t i = 0; i < info.enabledExtensionCount; ++i)
    if (const char *name = info.ppEnabledExtensionNames[i])
      result.extensions.insert(name);
  result.queueFamily = queueFamily;
  for (uint32_t i = 0; info.pQueueCreateInfos && i < info.queueCreateInfoCount;
       ++i) {
    const VkDeviceQueueCreateInfo &queues = info.pQueueCreateInfos[i];
    if (queues.queueFamilyIndex == queueFamily && queues.flags == 0 &&
        queueIndex < queues.queueCount)
      return Status::ok();
  }
  return invalidArgument("create_info makes no queue " +
                         std::to_string(queueIndex) + " of family " +
                         std::to_string(queueFamily) + " without flags");
}

Status VulkanDevice::adopt(std::shared_ptr<VulkanLibrary> around,
                           const tilewright_vulkan_device &theirs,
                           size_t &index,
                           std::unique_ptr<DriverDevice> &result) {
  if (!theirs.physical_device || !theirs.device || !theirs.create_info)
    return invalidArgument("the VkPhysicalDevice, the VkDevice or the "
                           "VkDeviceCreateInfo to adopt is null");
  if (!theirs.lock_queue != !theirs.unlock_queue)
    return invalidArgument("lock_queue and unlock_queue come together");
  auto physical = static_cast<VkPhysicalDevice>(theirs.physical_device);
  std::vector<VkPhysicalDevice> all;
  if (Status s = listPhysicalDevices(*around, all))
    return s;
  auto found = std::find(all.begin(), all.end(), physical);
  if (found == all.end())
    return invalidArgument("the VkPhysicalDevice is none of the VkInstance's");
  index = size_t(found - all.begin());
  EnabledParts parts;
  if (Status s = readEnabledParts(
          *static_cast<const VkDeviceCreateInfo *>(theirs.create_info),
          theirs.queue_family, theirs.queue_index, parts))
    return s;

  std::unique_ptr<VulkanDevice> device(new VulkanDevice());
  device->ownsDevice = false;
  device->library = std::move(around);
  if (Status s = queryCapabilities(*device->library, physical,
                                   device->capabilities, &parts))
    return s;
  auto handle = static_cast<VkDevice>(theirs.device);
  if (Status s = device->vk.load(*device->library, handle,
                                 device->capabilities.version))
    return s;
  device->device = handle;
  Queue &queue = device->queues.emplace_back();
  device->vk.vkGetDeviceQueue(handle, theirs.queue_family, theirs.queue_index,
                              &queue.handle);
  queue.lockTheirs = theirs.lock_queue;
  queue.unlockTheirs = theirs.unlock_queue;
  queue.user = theirs.user;
  if (Status s = device->prepare())
    return s;
  result = std::move(device);
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
