// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Vulkan loader in front of the real one; see fake_driver.h.

#include "fake_driver.h"

#include "drivers/vulkan/vulkan_library.h"

#include <dlfcn.h>

TW_FAKE_EXPORT FakeDriver fakeDriver;
FakeDriver fakeDriver;

namespace {

/// "Buffer" for vkCreateBuffer and vkDestroyBuffer; "" for neither.
std::string kindOf(const std::string &name, const char *prefix) {
  size_t length = std::strlen(prefix);
  return name.compare(0, length, prefix) == 0 ? name.substr(length) : "";
}

void counted(const std::string &name, const void *ended) {
  std::string made = kindOf(name, "vkCreate");
  if (made == "ComputePipelines")
    made = "Pipeline";
  if (name == "vkAllocateMemory")
    made = "Memory";
  if (!made.empty())
    fakeDriver.count(made, 1);
  std::string over = kindOf(name, "vkDestroy");
  if (name == "vkFreeMemory")
    over = "Memory";
  if (!over.empty() && ended)
    fakeDriver.count(over, -1);
}

template <typename Function> PFN_vkVoidFunction erased(Function *function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

template <typename Name, typename Function> struct Thunk;
template <typename Name, typename Result, typename... Arguments>
struct Thunk<Name, Result (*)(Arguments...)> {
  static inline Result (*real)(Arguments...) = nullptr;
  static Result call(Arguments... arguments) {
    if constexpr (std::is_void_v<Result>) {
      // What is destroyed is the last but one.
      const void *pointers[] = {toPointer(arguments)...};
      counted(Name::text, sizeof...(Arguments) >= 2
                              ? pointers[sizeof...(Arguments) - 2]
                              : nullptr);
      real(arguments...);
    } else if constexpr (std::is_same_v<Result, VkResult>) {
      if (int result = fakeDriver.before(Name::text))
        return static_cast<VkResult>(result);
      VkResult result = real(arguments...);
      if (result == VK_SUCCESS)
        counted(Name::text, nullptr);
      return result;
    } else {
      return real(arguments...);
    }
  }
  template <typename T> static const void *toPointer(T value) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<const void *>(value);
    else
      return nullptr;
  }
};

PFN_vkVoidFunction inFront(const char *name, PFN_vkVoidFunction real);

PFN_vkGetDeviceProcAddr realDeviceGetter = nullptr;
VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL deviceGetter(VkDevice device,
                                                      const char *name) {
  return fakeDriver.lacks == name ? nullptr
                                  : inFront(name, realDeviceGetter(device, name));
}

VKAPI_ATTR VkResult VKAPI_CALL fakeVersion(uint32_t *version) {
  *version = static_cast<uint32_t>(fakeDriver.version);
  return VK_SUCCESS;
}
VKAPI_ATTR VkResult VKAPI_CALL noDevices(VkInstance, uint32_t *count,
                                         VkPhysicalDevice *) {
  *count = 0;
  return VK_SUCCESS;
}

#define TW_NAME(NAME)                                                          \
  struct Name_##NAME {                                                         \
    static constexpr const char *text = #NAME;                                 \
  };
#define TW_VK_GLOBAL TW_NAME
#define TW_VK_INSTANCE TW_NAME
#define TW_VK_DEVICE TW_NAME
#define TW_VK_DEVICE_12 TW_NAME
#include "drivers/vulkan/vulkan_symbols.def"

PFN_vkVoidFunction inFront(const char *name, PFN_vkVoidFunction real) {
  if (!real)
    return nullptr;
  if (!std::strcmp(name, "vkGetDeviceProcAddr")) {
    realDeviceGetter = reinterpret_cast<PFN_vkGetDeviceProcAddr>(real);
    return erased(&deviceGetter);
  }
  if (fakeDriver.version >= 0 && !std::strcmp(name, "vkEnumerateInstanceVersion"))
    return erased(&fakeVersion);
  if (fakeDriver.devices == 0 && !std::strcmp(name, "vkEnumeratePhysicalDevices"))
    return erased(&noDevices);
#define TW_FRONT(NAME)                                                         \
  if (!std::strcmp(name, #NAME)) {                                             \
    using Front = Thunk<Name_##NAME, PFN_##NAME>;                              \
    Front::real = reinterpret_cast<PFN_##NAME>(real);                          \
    return erased(&Front::call);                                               \
  }
#define TW_VK_GLOBAL TW_FRONT
#define TW_VK_INSTANCE TW_FRONT
#define TW_VK_DEVICE TW_FRONT
#define TW_VK_DEVICE_12(NAME) TW_FRONT(NAME)
#include "drivers/vulkan/vulkan_symbols.def"
  return real;
}

} // namespace

TW_FAKE_EXPORT PFN_vkVoidFunction vkGetInstanceProcAddr(VkInstance instance,
                                                        const char *name) {
  void *library = dlopen(fakeDriver.real.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto get = library ? reinterpret_cast<PFN_vkGetInstanceProcAddr>(
                           dlsym(library, "vkGetInstanceProcAddr"))
                     : nullptr;
  if (!get || fakeDriver.lacks == name)
    return nullptr;
  return inFront(name, get(instance, name));
}
