// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a physical device is and can do, asked once.
//
// Facts that kernels and guards may ask for (`["device", name]`; sizes in
// bytes, booleans 0 or 1, unknown names 0):
//
//   vulkan                10 * major + minor: 13 is Vulkan 1.3
//   spirv                 the newest SPIR-V accepted, likewise: 16
//   subgroup_size         the size a kernel gets that asks for none
//   min_subgroup_size, max_subgroup_size   the sizes it can ask for; equal to
//                         subgroup_size where it cannot ask
//   subgroup_size_control a kernel can require a size
//   shared_memory         workgroup memory of one workgroup
//   max_grid_x/y/z, max_block_x/y/z, max_threads
//   max_binding           largest range of a storage buffer parameter
//   max_push_constants    bytes of scalars before a uniform buffer is needed
//   max_buffers           storage buffers of one kernel
//   memory                device-local heap
//   multiprocessors       where an extension of NVIDIA's, AMD's or Arm's tells (else 0)
//   max_loop_iterations   what one invocation may run through, all its loops
//                         together, before the driver silently ends them (Mesa's
//                         lavapipe: 65535; 0: no limit)
//   timestamps            events can be timed
//   feature:<name>        a feature of vulkan_features.def, or shaderFloat64,
//                         shaderInt64, shaderInt16
//   extension:<name>      the device lists this extension
//   subgroup:<operation>  basic vote arithmetic ballot shuffle
//                         shuffle_relative clustered quad, in compute shaders
//   cooperative_matrix:<M>x<N>x<K>:<A>,<B>,<C>,<Result>
//                         subgroup scope, not saturating; types f16 f32 f64 s8
//                         s16 s32 s64 u8 u16 u32 u64 bf16
#ifndef TILEWRIGHT_DRIVERS_VULKAN_VULKAN_CAPABILITIES_H
#define TILEWRIGHT_DRIVERS_VULKAN_VULKAN_CAPABILITIES_H

#include "vulkan_library.h"

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tilewright::runtime::vulkan {

/// All optional feature structs, chained for a query or for vkCreateDevice.
struct FeatureChain {
  VkPhysicalDeviceFeatures2 base;
#define TW_VK_STRUCT(STRUCT, TYPE, VERSION, EXTENSION)                         \
  VkPhysicalDevice##STRUCT f##STRUCT;
#include "vulkan_features.def"
};

struct Capabilities {
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkPhysicalDeviceProperties properties;
  VkPhysicalDeviceMemoryProperties memory;
  uint32_t version = 0; // min(instance, device)
  std::string driver;   // "llvmpipe Mesa 22.3.6"
  std::array<uint8_t, VK_UUID_SIZE> uuid = {};
  std::set<std::string, std::less<>> extensions; // listed by the device

  uint32_t queueFamily = 0; // the one we use
  uint32_t queueCount = 0;  // how many queues it has; 0: no compute at all
  bool timestamps = false;
  uint32_t timestampBits = 0;

  uint32_t subgroupSize = 0;
  uint32_t minSubgroupSize = 0, maxSubgroupSize = 0;
  bool canRequireSubgroupSize = false;
  uint32_t maxSubgroupsPerGroup = UINT32_MAX;
  uint64_t maxAllocation = 0; // bytes of one VkDeviceMemory

  FeatureChain enabled; // what vkCreateDevice is given
  std::vector<const char *> enabledExtensions;
  std::map<std::string, int64_t, std::less<>> facts;
  /// Cooperative matrices in the form of target text: "16x16x16:f16:f32".
  std::vector<std::string> shapes;

  const VkPhysicalDeviceLimits &limits() const { return properties.limits; }
  int64_t fact(std::string_view name) const {
    auto it = facts.find(name);
    return it == facts.end() ? 0 : it->second;
  }
  bool feature(std::string_view name) const {
    return fact("feature:" + std::string(name)) != 0;
  }
  /// The device's memory is the host's: tensors are mapped and transfers are
  /// made in place. TILEWRIGHT_VULKAN_STAGING=1 says no, so that the paths of
  /// a discrete GPU can be tried anywhere.
  bool sharesMemory = false;
  /// "llvmpipe (LLVM 15), llvmpipe Mesa 22.3.6, Vulkan 1.3, cpu, 2.0 GiB".
  std::string description() const;
  /// What `tilewright-compile --target=` is given for this device:
  /// "vulkan:1.3+coopmat=16x16x16:f16:f32"; empty where it can do no more than
  /// the compiler takes for granted.
  std::string target() const;
};

/// What a VkDevice was made with, read from its VkDeviceCreateInfo.
struct EnabledParts {
  std::set<std::string, std::less<>> extensions;
  FeatureChain features; // VK_TRUE where enabled; the rest means nothing
  uint32_t queueFamily = 0;
};
/// Fails where the text contradicts itself, or has no queue number `queueIndex`
/// of `queueFamily`.
Status readEnabledParts(const VkDeviceCreateInfo &info, uint32_t queueFamily,
                        uint32_t queueIndex, EnabledParts &result);

/// Asks everything. Unavailable, with the reason, when the device cannot serve
/// (older than 1.1, no compute queue, no timeline semaphores).
/// `result` is filled as far as known in either case. Not movable afterwards:
/// `enabled` is a chain of pointers into itself. With `only`, for a device that
/// exists already: what that device was made with, and no more.
Status queryCapabilities(const VulkanLibrary &library,
                         VkPhysicalDevice physical, Capabilities &result,
                         const EnabledParts *only = nullptr);

/// Every physical device: discrete, integrated, virtual, cpu, others.
Status listPhysicalDevices(const VulkanLibrary &library,
                           std::vector<VkPhysicalDevice> &result);

} // namespace tilewright::runtime::vulkan

#endif // TILEWRIGHT_DRIVERS_VULKAN_VULKAN_CAPABILITIES_H
