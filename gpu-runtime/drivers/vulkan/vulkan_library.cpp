// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens the Vulkan loader and fills the tables of functions.
#include "vulkan_library.h"

#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <pthread.h>

namespace tilewright::runtime::vulkan {

uint32_t HomeProcess::current() {
  static std::atomic<uint32_t> forks{0};
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1); });
  (void)registered;
  return forks.load(std::memory_order_relaxed);
}

Status VulkanLibrary::open(const std::string &path,
                           std::shared_ptr<VulkanLibrary> &result) {
  std::shared_ptr<VulkanLibrary> library(new VulkanLibrary());
  if (Status s = library->load(path))
    return s;
  if (Status s = library->createInstance())
    return s;
  result = std::move(library);
  return Status::ok();
}

Status VulkanLibrary::adopt(const std::string &path,
                            PFN_vkGetInstanceProcAddr entry,
                            VkInstance instance, uint32_t apiVersion,
                            std::shared_ptr<VulkanLibrary> &result) {
  std::shared_ptr<VulkanLibrary> library(new VulkanLibrary());
  library->ownsInstance = false;
  library->vkGetInstanceProcAddr = entry;
  if (!entry)
    if (Status s = library->load(path))
      return s;
  library->instance = instance;
  if (apiVersion < VK_API_VERSION_1_1)
    return unavailable("the VkInstance to adopt was made for Vulkan 1.0; "
                       "VkApplicationInfo::apiVersion must be 1.1 or later");
  if (Status s = library->useInstance(apiVersion))
    return s;
  result = std::move(library);
  return Status::ok();
}

VulkanLibrary::~VulkanLibrary() {
  if (keepOpen || !home.isHere())
    return;
  if (instance && ownsInstance)
    vkDestroyInstance(instance, nullptr);
  if (handle)
    dlclose(handle);
}

Status VulkanLibrary::load(const std::string &path) {
  std::string file = path.empty() ? "libvulkan.so.1" : path;
  handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *why = dlerror();
    return unavailable("no Vulkan loader: " +
                       std::string(why ? why : file.c_str()) +
                       " (install libvulkan1 or set TILEWRIGHT_VULKAN_LIBRARY)");
  }
  vkGetInstanceProcAddr = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
      dlsym(handle, "vkGetInstanceProcAddr"));
  if (!vkGetInstanceProcAddr)
    return unavailable(file + " is no Vulkan loader: it does not export "
                              "vkGetInstanceProcAddr");
#define TW_VK_GLOBAL(NAME)                                                     \
  NAME = reinterpret_cast<PFN_##NAME>(vkGetInstanceProcAddr(nullptr, #NAME));  \
  if (!NAME)                                                                   \
    return unavailable(file + " lacks " #NAME);
#include "vulkan_symbols.def"
  vkEnumerateInstanceVersion =
      reinterpret_cast<PFN_vkEnumerateInstanceVersion>(
          vkGetInstanceProcAddr(nullptr, "vkEnumerateInstanceVersion"));
  return Status::ok();
}

/// Without the patch, and at most what this driver was written for.
static uint32_t knownVersion(uint32_t version) {
  return std::min<uint32_t>(
      VK_MAKE_API_VERSION(0, VK_API_VERSION_MAJOR(version),
                          VK_API_VERSION_MINOR(version), 0),
      VK_API_VERSION_1_3);
}

Status VulkanLibrary::createInstance() {
  apiVersion = VK_API_VERSION_1_0;
  if (vkEnumerateInstanceVersion)
    vkEnumerateInstanceVersion(&apiVersion);
  if (apiVersion < VK_API_VERSION_1_1)
    return unavailable("the Vulkan loader speaks version 1.0; 1.1 or later is "
                       "needed");
  uint32_t version = knownVersion(apiVersion);
  VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
  application.pApplicationName = "tilewright";
  application.pEngineName = "tilewright";
  application.apiVersion = version;
  VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
  info.pApplicationInfo = &application;
  VkResult result = vkCreateInstance(&info, nullptr, &instance);
  if (result == VK_ERROR_INCOMPATIBLE_DRIVER)
    return unavailable("the Vulkan loader found no driver (no ICD is "
                       "installed, or VK_DRIVER_FILES hides them)");
  if (result != VK_SUCCESS) {
    instance = VK_NULL_HANDLE;
    return unavailable("vkCreateInstance failed: " + resultName(result));
  }
  return useInstance(version);
}

Status VulkanLibrary::useInstance(uint32_t version) {
  apiVersion = knownVersion(version);
#define TW_VK_INSTANCE(NAME)                                                   \
  NAME = reinterpret_cast<PFN_##NAME>(vkGetInstanceProcAddr(instance, #NAME)); \
  if (!NAME)                                                                   \
    return unavailable("the Vulkan instance lacks " #NAME);
#include "vulkan_symbols.def"
  vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR = reinterpret_cast<
      PFN_vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR>(
      vkGetInstanceProcAddr(
          instance, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR"));
  return Status::ok();
}

Status DeviceTable::load(const VulkanLibrary &library, VkDevice device,
                         uint32_t version) {
#define TW_VK_DEVICE(NAME)                                                     \
  NAME = reinterpret_cast<PFN_##NAME>(                                         \
      library.vkGetDeviceProcAddr(device, #NAME));                             \
  if (!NAME)                                                                   \
    return unavailable("the Vulkan device lacks " #NAME);
#define TW_VK_DEVICE_12(NAME)                                                  \
  NAME = reinterpret_cast<PFN_##NAME>(library.vkGetDeviceProcAddr(             \
      device, version >= VK_API_VERSION_1_2 ? #NAME : #NAME "KHR"));           \
  if (!NAME)                                                                   \
    return unavailable("the Vulkan device lacks " #NAME);
#define TW_VK_OPTIONAL(NAME)                                                   \
  NAME = reinterpret_cast<PFN_##NAME>(                                         \
      library.vkGetDeviceProcAddr(device, #NAME));
#include "vulkan_symbols.def"
  return Status::ok();
}

std::string resultName(VkResult result) {
  switch (result) {
#define TW_NAME(NAME)                                                          \
  case NAME:                                                                   \
    return #NAME;
    TW_NAME(VK_SUCCESS)
    TW_NAME(VK_NOT_READY)
    TW_NAME(VK_TIMEOUT)
    TW_NAME(VK_INCOMPLETE)
    TW_NAME(VK_ERROR_OUT_OF_HOST_MEMORY)
    TW_NAME(VK_ERROR_OUT_OF_DEVICE_MEMORY)
    TW_NAME(VK_ERROR_INITIALIZATION_FAILED)
    TW_NAME(VK_ERROR_DEVICE_LOST)
    TW_NAME(VK_ERROR_MEMORY_MAP_FAILED)
    TW_NAME(VK_ERROR_LAYER_NOT_PRESENT)
    TW_NAME(VK_ERROR_EXTENSION_NOT_PRESENT)
    TW_NAME(VK_ERROR_FEATURE_NOT_PRESENT)
    TW_NAME(VK_ERROR_INCOMPATIBLE_DRIVER)
    TW_NAME(VK_ERROR_TOO_MANY_OBJECTS)
    TW_NAME(VK_ERROR_FRAGMENTED_POOL)
    TW_NAME(VK_ERROR_OUT_OF_POOL_MEMORY)
    TW_NAME(VK_ERROR_INVALID_SHADER_NV)
    TW_NAME(VK_ERROR_UNKNOWN)
#undef TW_NAME
  default:
    return "VkResult " + std::to_string(static_cast<int>(result));
  }
}

Status makeStatus(VkResult result, const std::string &what) {
  std::string message = what + " failed: " + resultName(result);
  switch (result) {
  case VK_SUCCESS:
    return Status::ok();
  case VK_ERROR_OUT_OF_HOST_MEMORY:
  case VK_ERROR_OUT_OF_DEVICE_MEMORY:
  case VK_ERROR_FRAGMENTED_POOL:
  case VK_ERROR_OUT_OF_POOL_MEMORY:
  case VK_ERROR_TOO_MANY_OBJECTS:
    return outOfMemory(message);
  case VK_ERROR_DEVICE_LOST:
    return deviceLost(message);
  case VK_ERROR_FEATURE_NOT_PRESENT:
  case VK_ERROR_EXTENSION_NOT_PRESENT:
    return unsupported(message);
  default:
    return internalError(message);
  }
}

} // namespace tilewright::runtime::vulkan
