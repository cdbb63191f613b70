// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Vulkan loader in front of the real one; see fake_driver.h.

#include "fake_driver.h"

#include "drivers/vulkan/vulkan_library.h"

#include <dlfcn.h>
#include <iterator>
#include <utility>
#include <vector>

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

// Extensions that the driver behind lacks.

constexpr const char *kExtension = "VK_KHR_pipeline_executable_properties";
constexpr const char *kMatrixExtension = "VK_KHR_cooperative_matrix";
constexpr const char *kMatrices =
    "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR";
constexpr VkStructureType kFeature =
    VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PIPELINE_EXECUTABLE_PROPERTIES_FEATURES_KHR;
constexpr const char *kExecutables = "vkGetPipelineExecutablePropertiesKHR";
constexpr const char *kStatistics = "vkGetPipelineExecutableStatisticsKHR";

PFN_vkEnumerateDeviceExtensionProperties realExtensions = nullptr;
VKAPI_ATTR VkResult VKAPI_CALL extensions(VkPhysicalDevice device,
                                          const char *layer, uint32_t *count,
                                          VkExtensionProperties *list) {
  std::vector<const char *> more;
  if (fakeDriver.saysResources)
    more.push_back(kExtension);
  if (fakeDriver.listsMatrices)
    more.push_back(kMatrixExtension);
  auto added = static_cast<uint32_t>(more.size());
  uint32_t real = list ? *count - added : 0;
  VkResult result = realExtensions(device, layer, &real, list);
  for (uint32_t i = 0; list && i < added; ++i) {
    list[real + i] = {};
    std::strcpy(list[real + i].extensionName, more[i]);
  }
  *count = real + added;
  return result;
}

PFN_vkGetPhysicalDeviceFeatures2 realFeatures = nullptr;
VKAPI_ATTR void VKAPI_CALL features(VkPhysicalDevice device,
                                    VkPhysicalDeviceFeatures2 *chain) {
  realFeatures(device, chain);
  for (auto *link = reinterpret_cast<VkBaseOutStructure *>(chain); link;
       link = link->pNext)
    if (link->sType ==
            VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_COOPERATIVE_MATRIX_FEATURES_KHR &&
        fakeDriver.listsMatrices)
      reinterpret_cast<VkPhysicalDeviceCooperativeMatrixFeaturesKHR *>(link)
          ->cooperativeMatrix = VK_TRUE;
    else if (link->sType == kFeature && fakeDriver.saysResources)
      reinterpret_cast<VkPhysicalDevicePipelineExecutablePropertiesFeaturesKHR *>(
          link)
          ->pipelineExecutableInfo = VK_TRUE;
}

/// The driver behind need not know what it is asked to enable.
PFN_vkCreateDevice realCreateDevice = nullptr;
VKAPI_ATTR VkResult VKAPI_CALL createDevice(VkPhysicalDevice physical,
                                            const VkDeviceCreateInfo *info,
                                            const VkAllocationCallbacks *memory,
                                            VkDevice *device) {
  VkDeviceCreateInfo known = *info;
  std::vector<const char *> names;
  for (uint32_t i = 0; i < info->enabledExtensionCount; ++i)
    if (std::strcmp(info->ppEnabledExtensionNames[i], kExtension) != 0)
      names.push_back(info->ppEnabledExtensionNames[i]);
  known.enabledExtensionCount = static_cast<uint32_t>(names.size());
  known.ppEnabledExtensionNames = names.data();
  // Nor the feature: it is taken out of the chain, and put back.
  auto *link = reinterpret_cast<VkBaseOutStructure *>(&known);
  while (link->pNext && link->pNext->sType != kFeature)
    link = link->pNext;
  VkBaseOutStructure *feature = link->pNext;
  if (feature)
    link->pNext = feature->pNext;
  VkResult result = realCreateDevice(physical, &known, memory, device);
  link->pNext = feature;
  if (result == VK_SUCCESS)
    counted("vkCreateDevice", nullptr);
  return result;
}

VKAPI_ATTR VkResult VKAPI_CALL executables(
    VkDevice, const VkPipelineInfoKHR *, uint32_t *count,
    VkPipelineExecutablePropertiesKHR *list) {
  if (int result = fakeDriver.before(kExecutables))
    return static_cast<VkResult>(result);
  *count = 1;
  if (list)
    list->subgroupSize = 32;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL statistics(
    VkDevice, const VkPipelineExecutableInfoKHR *, uint32_t *count,
    VkPipelineExecutableStatisticKHR *list) {
  if (int result = fakeDriver.before(kStatistics))
    return static_cast<VkResult>(result);
  const std::pair<const char *, uint64_t> numbers[] = {
      {"VGPRs", 96}, {"SGPRs", 128},         {"LDS size", 512},
      {"Code size", 11184}, {"Scratch size", 256}, {"Instructions", 1521}};
  constexpr uint32_t all = 8;
  if (!list) {
    *count = all;
    return VK_SUCCESS;
  }
  for (uint32_t i = 0; i < all; ++i) {
    std::strcpy(list[i].name, i < 6   ? numbers[i].first
                              : i == 6 ? "Loops"
                                       : "Share");
    std::strcpy(list[i].description, "of the fake");
    list[i].format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR;
    list[i].value.u64 = i < 6 ? numbers[i].second : 0;
  }
  list[6].format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR;
  list[6].value.i64 = -3;
  list[7].format = VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR;
  list[7].value.f64 = 0.5;
  return VK_SUCCESS;
}

VKAPI_ATTR VkResult VKAPI_CALL
matrices(VkPhysicalDevice, uint32_t *count,
         VkCooperativeMatrixPropertiesKHR *list) {
  constexpr auto f16 = VK_COMPONENT_TYPE_FLOAT16_KHR,
                 f32 = VK_COMPONENT_TYPE_FLOAT32_KHR,
                 s8 = VK_COMPONENT_TYPE_SINT8_KHR,
                 u8 = VK_COMPONENT_TYPE_UINT8_KHR,
                 s32 = VK_COMPONENT_TYPE_SINT32_KHR,
                 u32 = VK_COMPONENT_TYPE_UINT32_KHR;
  const std::pair<VkComponentTypeKHR, VkComponentTypeKHR> types[] = {
      {f16, f16}, {f16, f32}, {u8, u32}, {u8, s32},
      {s8, u32},  {s8, s32},  {f32, f32}};
  *count = static_cast<uint32_t>(std::size(types));
  for (uint32_t i = 0; list && i < *count; ++i) {
    VkCooperativeMatrixPropertiesKHR &one = list[i];
    one.MSize = one.NSize = one.KSize = 16;
    one.AType = one.BType = types[i].first;
    one.CType = one.ResultType = types[i].second;
    one.saturatingAccumulation = VK_FALSE;
    one.scope = VK_SCOPE_SUBGROUP_KHR;
  }
  return VK_SUCCESS;
}

/// What stands in front of `name`; null: what always does.
PFN_vkVoidFunction withExtensions(const char *name, PFN_vkVoidFunction real) {
  if (!std::strcmp(name, "vkEnumerateDeviceExtensionProperties")) {
    realExtensions =
        reinterpret_cast<PFN_vkEnumerateDeviceExtensionProperties>(real);
    return erased(&extensions);
  }
  if (!std::strcmp(name, "vkGetPhysicalDeviceFeatures2")) {
    realFeatures = reinterpret_cast<PFN_vkGetPhysicalDeviceFeatures2>(real);
    return erased(&features);
  }
  if (!std::strcmp(name, "vkCreateDevice")) {
    realCreateDevice = reinterpret_cast<PFN_vkCreateDevice>(real);
    return erased(&createDevice);
  }
  if (!std::strcmp(name, kMatrices))
    return erased(&matrices);
  if (!std::strcmp(name, kExecutables))
    return erased(&executables);
  if (!std::strcmp(name, kStatistics))
    return erased(&statistics);
  return nullptr;
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
  if (fakeDriver.saysResources || fakeDriver.listsMatrices)
    if (PFN_vkVoidFunction front = withExtensions(name, real))
      return front;
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
