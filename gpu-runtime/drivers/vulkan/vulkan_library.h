// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Vulkan loader, opened at run time, and the functions found in it.
//
// Addresses come in three layers (loader, instance, device), one table each,
// filled from vulkan_symbols.def. Device functions are asked of the device, so
// that calls do not pass through the loader's dispatch.
#ifndef TILEWRIGHT_DRIVERS_VULKAN_VULKAN_LIBRARY_H
#define TILEWRIGHT_DRIVERS_VULKAN_VULKAN_LIBRARY_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include "core/status.h"

#include <vulkan/vulkan_core.h>

#include "cooperative_matrix.h"

#include <memory>
#include <string>

namespace tilewright::runtime::vulkan {

/// The process that something was made in. A child of it by fork has neither the
/// threads nor the work of Vulkan's drivers: there it is lost, and nothing of it may
/// be called, its destruction least.
class HomeProcess {
public:
  bool isHere() const { return number == current(); }

private:
  /// How many forks led to this process, from the first one that asked.
  static uint32_t current();
  uint32_t number = current();
};

/// The opened shared library with an instance made from it. Thread-safe once
/// open; lives until its last user (driver, device) is gone.
class VulkanLibrary {
public:
  /// `path`: the library to open; empty: libvulkan.so.1. Errors are Unavailable and name what was tried.
  static Status open(const std::string &path,
                     std::shared_ptr<VulkanLibrary> &result);
  /// Around an instance of the caller's, which speaks `apiVersion` and outlives
  /// this. `entry` is its vkGetInstanceProcAddr; null: the one of the library
  /// that `open` would open.
  static Status adopt(const std::string &path, PFN_vkGetInstanceProcAddr entry,
                      VkInstance instance, uint32_t apiVersion,
                      std::shared_ptr<VulkanLibrary> &result);
  ~VulkanLibrary();

  const HomeProcess home;
  VkInstance instance = VK_NULL_HANDLE;
  /// Version the instance speaks, VK_MAKE_API_VERSION(0, 1, x, 0).
  uint32_t apiVersion = 0;
  /// Set when a device was lost: destroying an instance could then block.
  bool keepOpen = false;

#define TW_VK_GLOBAL(NAME) PFN_##NAME NAME = nullptr;
#define TW_VK_INSTANCE(NAME) PFN_##NAME NAME = nullptr;
#include "vulkan_symbols.def"
  PFN_vkGetInstanceProcAddr vkGetInstanceProcAddr = nullptr;
  PFN_vkEnumerateInstanceVersion vkEnumerateInstanceVersion = nullptr;
  /// Null on loaders that do not know the extension; not null means nothing:
  /// look at the device's extensions first.
  PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR
      vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = nullptr;

private:
  VulkanLibrary() = default;
  Status load(const std::string &path);
  Status createInstance();
  /// Takes the older of `version` and the newest one that we know, and fills the
  /// table of instance functions.
  Status useInstance(uint32_t version);

  void *handle = nullptr;
  bool ownsInstance = true;
};

/// The functions of one VkDevice.
struct DeviceTable {
#define TW_VK_DEVICE(NAME) PFN_##NAME NAME = nullptr;
#define TW_VK_DEVICE_12(NAME) PFN_##NAME NAME = nullptr;
#define TW_VK_OPTIONAL(NAME) PFN_##NAME NAME = nullptr;
#include "vulkan_symbols.def"

  /// `version`: what the device and the instance both speak.
  Status load(const VulkanLibrary &library, VkDevice device, uint32_t version);
};

/// "VK_ERROR_OUT_OF_DEVICE_MEMORY", or "VkResult -42".
std::string resultName(VkResult result);

/// "vkFoo failed: VK_ERROR_…" with the code that fits the result.
Status makeStatus(VkResult result, const std::string &what);

} // namespace tilewright::runtime::vulkan

#endif // TILEWRIGHT_DRIVERS_VULKAN_VULKAN_LIBRARY_H
