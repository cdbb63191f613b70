// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks a physical device for its limits, features, extensions and facts.
#include "vulkan_capabilities.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tilewright::runtime::vulkan {

static const char *typeName(VkPhysicalDeviceType type) {
  switch (type) {
  case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
    return "discrete";
  case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
    return "integrated";
  case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
    return "virtual";
  case VK_PHYSICAL_DEVICE_TYPE_CPU:
    return "cpu";
  default:
    return "other";
  }
}

static std::string versionName(uint32_t version) {
  return std::to_string(VK_API_VERSION_MAJOR(version)) + "." +
         std::to_string(VK_API_VERSION_MINOR(version)) + "." +
         std::to_string(VK_API_VERSION_PATCH(version));
}

std::string Capabilities::description() const {
  char memorySize[32];
  std::snprintf(memorySize, sizeof(memorySize), "%.1f GiB",
                static_cast<double>(fact("memory")) / (1024.0 * 1024 * 1024));
  std::string text = properties.deviceName;
  if (!driver.empty())
    text += ", " + driver;
  return text + ", Vulkan " + versionName(properties.apiVersion) + ", " +
         typeName(properties.deviceType) + ", " + memorySize;
}

std::string Capabilities::target() const {
  uint32_t minor = std::min<uint32_t>(VK_API_VERSION_MINOR(version), 3);
  const std::string plain = "vulkan:1." + std::to_string(minor);
  std::string text = plain;
  // What is not as the compiler assumes it: larger tiles fit, or only smaller ones do.
  if (uint32_t shared = limits().maxComputeSharedMemorySize; shared != 32768)
    text += "+shared_memory=" + std::to_string(std::min(shared, 1u << 20));
  if (uint32_t threads = limits().maxComputeWorkGroupInvocations; threads < 1024)
    text += "+max_threads=" + std::to_string(threads);
  if (int64_t count = fact("multiprocessors"))
    text += "+multiprocessors=" + std::to_string(std::min<int64_t>(count, 1024));
  for (const std::string &shape : shapes)
    text += "+coopmat=" + shape;
  return text == plain ? "" : text;
}

Status listPhysicalDevices(const VulkanLibrary &library,
                           std::vector<VkPhysicalDevice> &result) {
  uint32_t count = 0;
  VkResult r = library.vkEnumeratePhysicalDevices(library.instance, &count,
                                                  nullptr);
  if (r != VK_SUCCESS)
    return unavailable("vkEnumeratePhysicalDevices failed: " + resultName(r));
  std::vector<VkPhysicalDevice> devices(count);
  r = library.vkEnumeratePhysicalDevices(library.instance, &count,
                                         devices.data());
  if (r != VK_SUCCESS && r != VK_INCOMPLETE)
    return unavailable("vkEnumeratePhysicalDevices failed: " + resultName(r));
  devices.resize(count);
  auto rank = [&](VkPhysicalDevice device) {
    VkPhysicalDeviceProperties properties;
    library.vkGetPhysicalDeviceProperties(device, &properties);
    switch (properties.deviceType) {
    case VK_PHYSICAL_DEVICE_TYPE_DISCRETE_GPU:
      return 0;
    case VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU:
      return 1;
    case VK_PHYSICAL_DEVICE_TYPE_VIRTUAL_GPU:
      return 2;
    case VK_PHYSICAL_DEVICE_TYPE_CPU:
      return 3;
    default:
      return 4;
    }
  };
  std::stable_sort(devices.begin(), devices.end(),
                   [&](VkPhysicalDevice a, VkPhysicalDevice b) {
                     return rank(a) < rank(b);
                   });
  result = std::move(devices);
  return Status::ok();
}

static Status queryQueues(const VulkanLibrary &library, Capabilities &caps,
                          const EnabledParts *only) {
  uint32_t count = 0;
  library.vkGetPhysicalDeviceQueueFamilyProperties(caps.physical, &count,
                                                   nullptr);
  std::vector<VkQueueFamilyProperties> families(count);
  library.vkGetPhysicalDeviceQueueFamilyProperties(caps.physical, &count,
                                                   families.data());
  if (only) {
    if (only->queueFamily >= count ||
        !(families[only->queueFamily].queueFlags & VK_QUEUE_COMPUTE_BIT))
      return invalidArgument("queue family " +
                             std::to_string(only->queueFamily) +
                             " of this device runs no compute shaders");
    caps.queueFamily = only->queueFamily;
    caps.queueCount = 1;
    caps.timestampBits = families[only->queueFamily].timestampValidBits;
  }
  // The first family with compute that can be timed, else any with compute.
  for (bool wantTimestamps : {true, false})
    for (uint32_t i = 0; i < count && caps.queueCount == 0; ++i)
      if ((families[i].queueFlags & VK_QUEUE_COMPUTE_BIT) &&
          (families[i].timestampValidBits != 0 || !wantTimestamps)) {
        caps.queueFamily = i;
        caps.queueCount = families[i].queueCount;
        caps.timestampBits = families[i].timestampValidBits;
      }
  caps.timestamps =
      caps.timestampBits != 0 && caps.limits().timestampPeriod > 0;
  return Status::ok();
}

static Status queryExtensions(const VulkanLibrary &library, Capabilities &caps,
                              const EnabledParts *only) {
  uint32_t count = 0;
  VkResult r = library.vkEnumerateDeviceExtensionProperties(
      caps.physical, nullptr, &count, nullptr);
  std::vector<VkExtensionProperties> extensions(count);
  if (r == VK_SUCCESS)
    r = library.vkEnumerateDeviceExtensionProperties(caps.physical, nullptr,
                                                     &count, extensions.data());
  if (r != VK_SUCCESS && r != VK_INCOMPLETE)
    return unavailable("vkEnumerateDeviceExtensionProperties failed: " +
                       resultName(r));
  for (uint32_t i = 0; i < count; ++i)
    caps.extensions.insert(extensions[i].extensionName);
  if (only) {
    for (const std::string &name : only->extensions)
      if (!caps.extensions.count(name))
        return invalidArgument("the create info enables extension " + name +
                               ", which this device does not list");
    caps.extensions = only->extensions;
  }
  for (const std::string &name : caps.extensions)
    caps.facts["extension:" + name] = 1;
  return Status::ok();
}

/// Fills `enabled` with every listed feature that the device has, chained.
static Status queryFeatures(const VulkanLibrary &library, Capabilities &caps,
                            const EnabledParts *only) {
  FeatureChain available;
  std::memset(&available, 0, sizeof(available));
  std::memset(&caps.enabled, 0, sizeof(caps.enabled));
  available.base.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2;
  caps.enabled.base.sType = available.base.sType;
  void **queryEnd = &available.base.pNext;
  void **enableEnd = &caps.enabled.base.pNext;
  auto chain = [&](auto &query, auto &enable, VkStructureType type,
                   uint32_t version, const char *extension) {
    bool inCore = version != 0 && caps.version >= version;
    if (!inCore && !caps.extensions.count(extension))
      return;
    if (!inCore)
      caps.enabledExtensions.push_back(extension);
    query.sType = enable.sType = type;
    *queryEnd = &query, queryEnd = &query.pNext;
    *enableEnd = &enable, enableEnd = &enable.pNext;
  };
#define TW_VK_STRUCT(STRUCT, TYPE, VERSION, EXTENSION)                         \
  chain(available.f##STRUCT, caps.enabled.f##STRUCT,                           \
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_##TYPE, VERSION, EXTENSION);
#include "vulkan_features.def"
  library.vkGetPhysicalDeviceFeatures2(caps.physical, &available.base);

  std::string lacking;
  auto choose = [&](const char *name, VkBool32 has, VkBool32 wanted,
                    VkBool32 &enabled) {
    if (only && wanted && !has)
      lacking += std::string(lacking.empty() ? "" : ", ") + name;
    enabled = has && (!only || wanted);
    caps.facts[std::string("feature:") + name] = enabled != VK_FALSE;
  };
#define TW_VK_FEATURE(STRUCT, NAME)                                            \
  choose(#NAME, available.f##STRUCT.NAME,                                      \
         only ? only->features.f##STRUCT.NAME : VK_TRUE,                       \
         caps.enabled.f##STRUCT.NAME);
#include "vulkan_features.def"
#define TW_VK_FEATURE_10(NAME)                                                 \
  choose(#NAME, available.base.features.NAME,                                  \
         only ? only->features.base.features.NAME : VK_TRUE,                   \
         caps.enabled.base.features.NAME);
  TW_VK_FEATURE_10(shaderFloat64)
  TW_VK_FEATURE_10(shaderInt64)
  TW_VK_FEATURE_10(shaderInt16)
#undef TW_VK_FEATURE_10
  // Extensions without features that later SPIR-V versions stand on.
  for (const char *name :
       {"VK_KHR_storage_buffer_storage_class", "VK_KHR_spirv_1_4",
        "VK_KHR_shader_float_controls"})
    if (caps.extensions.count(name) && caps.version < VK_API_VERSION_1_2)
      caps.enabledExtensions.push_back(name);
  if (!lacking.empty())
    return invalidArgument("the create info enables features that this device "
                           "lacks, or whose extension it does not enable: " +
                           lacking);
  return Status::ok();
}

static void querySubgroups(const VulkanLibrary &library, Capabilities &caps) {
  VkPhysicalDeviceProperties2 properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceSubgroupProperties subgroup = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
  VkPhysicalDeviceSubgroupSizeControlProperties control = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_SIZE_CONTROL_PROPERTIES};
  VkPhysicalDeviceMaintenance3Properties maintenance3 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_MAINTENANCE_3_PROPERTIES};
  VkPhysicalDeviceDriverProperties driver = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceIDProperties identity = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES};
  properties.pNext = &subgroup;
  subgroup.pNext = &maintenance3;
  maintenance3.pNext = &identity;
  bool hasControl = caps.feature("subgroupSizeControl");
  if (hasControl) {
    control.pNext = properties.pNext;
    properties.pNext = &control;
  }
  bool hasDriver = caps.version >= VK_API_VERSION_1_2 ||
                   caps.extensions.count("VK_KHR_driver_properties");
  if (hasDriver) {
    driver.pNext = properties.pNext;
    properties.pNext = &driver;
  }
  library.vkGetPhysicalDeviceProperties2(caps.physical, &properties);
  std::copy_n(identity.deviceUUID, VK_UUID_SIZE, caps.uuid.begin());

  if (hasDriver && driver.driverID == VK_DRIVER_ID_MESA_LLVMPIPE)
    caps.facts["max_loop_iterations"] = 65535;
  if (hasDriver)
    caps.driver = std::string(driver.driverName) + " " + driver.driverInfo;
  caps.maxAllocation = maintenance3.maxMemoryAllocationSize;
  caps.subgroupSize = caps.minSubgroupSize = caps.maxSubgroupSize =
      subgroup.subgroupSize;
  if (hasControl &&
      (control.requiredSubgroupSizeStages & VK_SHADER_STAGE_COMPUTE_BIT)) {
    caps.canRequireSubgroupSize = true;
    caps.minSubgroupSize = control.minSubgroupSize;
    caps.maxSubgroupSize = control.maxSubgroupSize;
    caps.maxSubgroupsPerGroup = control.maxComputeWorkgroupSubgroups;
  }
  if (subgroup.supportedStages & VK_SHADER_STAGE_COMPUTE_BIT) {
    const std::pair<const char *, VkSubgroupFeatureFlagBits> operations[] = {
        {"basic", VK_SUBGROUP_FEATURE_BASIC_BIT},
        {"vote", VK_SUBGROUP_FEATURE_VOTE_BIT},
        {"arithmetic", VK_SUBGROUP_FEATURE_ARITHMETIC_BIT},
        {"ballot", VK_SUBGROUP_FEATURE_BALLOT_BIT},
        {"shuffle", VK_SUBGROUP_FEATURE_SHUFFLE_BIT},
        {"shuffle_relative", VK_SUBGROUP_FEATURE_SHUFFLE_RELATIVE_BIT},
        {"clustered", VK_SUBGROUP_FEATURE_CLUSTERED_BIT},
        {"quad", VK_SUBGROUP_FEATURE_QUAD_BIT}};
    for (const auto &[name, bit] : operations)
      caps.facts[std::string("subgroup:") + name] =
          (subgroup.supportedOperations & bit) != 0;
  }
}

/// How many multiprocessors there are, by whichever vendor's extension says so; else 0.
static uint32_t countMultiprocessors(const VulkanLibrary &library, const Capabilities &caps) {
  VkPhysicalDeviceProperties2 properties = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2};
  VkPhysicalDeviceShaderSMBuiltinsPropertiesNV nvidia = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_SM_BUILTINS_PROPERTIES_NV};
  VkPhysicalDeviceShaderCorePropertiesAMD amd = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_AMD};
  VkPhysicalDeviceShaderCoreProperties2AMD active = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_PROPERTIES_2_AMD};
  VkPhysicalDeviceShaderCoreBuiltinsPropertiesARM arm = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_CORE_BUILTINS_PROPERTIES_ARM};
  auto ask = [&](auto &answer, const char *extension) {
    if (!caps.extensions.count(extension))
      return;
    answer.pNext = properties.pNext;
    properties.pNext = &answer;
  };
  ask(nvidia, "VK_NV_shader_sm_builtins");
  ask(amd, "VK_AMD_shader_core_properties");
  ask(active, "VK_AMD_shader_core_properties2");
  ask(arm, "VK_ARM_shader_core_builtins");
  if (!properties.pNext)
    return 0;
  library.vkGetPhysicalDeviceProperties2(caps.physical, &properties);
  uint32_t all = amd.shaderEngineCount * amd.shaderArraysPerEngineCount *
                 amd.computeUnitsPerShaderArray;
  for (uint32_t count : {nvidia.shaderSMCount, active.activeComputeUnitCount, all,
                         arm.shaderCoreCount})
    if (count)
      return count;
  return 0;
}

static const char *componentName(VkComponentTypeKHR type) {
  if (type == VK_COMPONENT_TYPE_BFLOAT16_KHR)
    return "bf16";
  static const char *const names[] = {"f16", "f32", "f64", "s8",  "s16", "s32",
                                      "s64", "u8",  "u16", "u32", "u64"};
  return type < std::size(names) ? names[type] : "other";
}

/// Whether the compiler has matrix instructions of these types: of one for both
/// operands, of another for sums. `--target=` refuses others.
static bool isCompiled(VkComponentTypeKHR operand, VkComponentTypeKHR sum) {
  switch (operand) {
  case VK_COMPONENT_TYPE_FLOAT16_KHR:
    return sum == VK_COMPONENT_TYPE_FLOAT32_KHR ||
           sum == VK_COMPONENT_TYPE_FLOAT16_KHR;
  case VK_COMPONENT_TYPE_BFLOAT16_KHR:
    return sum == VK_COMPONENT_TYPE_FLOAT32_KHR;
  case VK_COMPONENT_TYPE_SINT8_KHR:
    return sum == VK_COMPONENT_TYPE_SINT32_KHR;
  case VK_COMPONENT_TYPE_UINT8_KHR:
    return sum == VK_COMPONENT_TYPE_UINT32_KHR ||
           sum == VK_COMPONENT_TYPE_SINT32_KHR;
  default:
    return false;
  }
}

static void queryCooperativeMatrices(const VulkanLibrary &library,
                                     Capabilities &caps) {
  auto query = library.vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR;
  if (!caps.feature("cooperativeMatrix") || !query)
    return;
  uint32_t count = 0;
  if (query(caps.physical, &count, nullptr) != VK_SUCCESS)
    return;
  VkCooperativeMatrixPropertiesKHR empty = {
      VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR};
  std::vector<VkCooperativeMatrixPropertiesKHR> list(count, empty);
  if (query(caps.physical, &count, list.data()) < 0)
    return;
  for (uint32_t i = 0; i < count && i < list.size(); ++i) {
    const VkCooperativeMatrixPropertiesKHR &p = list[i];
    if (p.scope != VK_SCOPE_SUBGROUP_KHR || p.saturatingAccumulation)
      continue;
    std::string shape = std::to_string(p.MSize) + "x" +
                        std::to_string(p.NSize) + "x" +
                        std::to_string(p.KSize) + ":" + componentName(p.AType);
    caps.facts["cooperative_matrix:" + shape + "," + componentName(p.BType) +
               "," + componentName(p.CType) + "," +
               componentName(p.ResultType)] = 1;
    if (p.AType == p.BType && p.CType == p.ResultType &&
        isCompiled(p.AType, p.CType))
      caps.shapes.push_back(shape + ":" + componentName(p.CType));
  }
}

static void fillFacts(Capabilities &caps) {
  const VkPhysicalDeviceLimits &limits = caps.limits();
  auto &facts = caps.facts;
  uint32_t minor = VK_API_VERSION_MINOR(caps.version);
  facts["vulkan"] = 10 * VK_API_VERSION_MAJOR(caps.version) + minor;
  bool spirv14 = caps.extensions.count("VK_KHR_spirv_1_4") != 0;
  facts["spirv"] = minor >= 3 ? 16 : minor >= 2 ? 15 : spirv14 ? 14 : 13;
  facts["subgroup_size"] = caps.subgroupSize;
  facts["min_subgroup_size"] = caps.minSubgroupSize;
  facts["max_subgroup_size"] = caps.maxSubgroupSize;
  facts["subgroup_size_control"] = caps.canRequireSubgroupSize;
  facts["shared_memory"] = limits.maxComputeSharedMemorySize;
  const char *const axes[] = {"x", "y", "z"};
  for (int i = 0; i < 3; ++i) {
    facts[std::string("max_grid_") + axes[i]] =
        limits.maxComputeWorkGroupCount[i];
    facts[std::string("max_block_") + axes[i]] =
        limits.maxComputeWorkGroupSize[i];
  }
  facts["max_threads"] = limits.maxComputeWorkGroupInvocations;
  facts["max_binding"] = limits.maxStorageBufferRange;
  facts["max_push_constants"] = limits.maxPushConstantsSize;
  facts["max_buffers"] = std::min(limits.maxPerStageDescriptorStorageBuffers,
                                  limits.maxDescriptorSetStorageBuffers);
  facts["timestamps"] = caps.timestamps;
  uint64_t memory = 0;
  for (uint32_t i = 0; i < caps.memory.memoryHeapCount; ++i)
    if (caps.memory.memoryHeaps[i].flags & VK_MEMORY_HEAP_DEVICE_LOCAL_BIT)
      memory = std::max<uint64_t>(memory, caps.memory.memoryHeaps[i].size);
  facts["memory"] = static_cast<int64_t>(memory);
}

Status queryCapabilities(const VulkanLibrary &library,
                         VkPhysicalDevice physical, Capabilities &result,
                         const EnabledParts *only) {
  Capabilities &caps = result;
  caps.physical = physical;
  library.vkGetPhysicalDeviceProperties(physical, &caps.properties);
  caps.version = std::min(library.apiVersion, caps.properties.apiVersion);
  library.vkGetPhysicalDeviceMemoryProperties(physical, &caps.memory);
  const char *staging = std::getenv("TILEWRIGHT_VULKAN_STAGING");
  VkPhysicalDeviceType type = caps.properties.deviceType;
  caps.sharesMemory = (type == VK_PHYSICAL_DEVICE_TYPE_CPU ||
                       type == VK_PHYSICAL_DEVICE_TYPE_INTEGRATED_GPU) &&
                      !(staging && std::strcmp(staging, "1") == 0);
  fillFacts(caps);
  if (caps.version < VK_API_VERSION_1_1)
    return unavailable("this device speaks Vulkan " +
                       versionName(caps.properties.apiVersion) +
                       "; 1.1 or later is needed");
  if (Status s = queryQueues(library, caps, only))
    return s;
  if (caps.queueCount == 0)
    return unavailable("no queue family of this device runs compute shaders");
  if (Status s = queryExtensions(library, caps, only))
    return s;
  if (Status s = queryFeatures(library, caps, only))
    return s;
  querySubgroups(library, caps);
  caps.facts["multiprocessors"] = countMultiprocessors(library, caps);
  queryCooperativeMatrices(library, caps);
  fillFacts(caps);
  if (!caps.feature("timelineSemaphore") && only)
    return unsupported("the VkDevice to adopt was made without the feature "
                       "timelineSemaphore, which streams and events stand on");
  if (!caps.feature("timelineSemaphore"))
    return unavailable("this device has no timeline semaphores (Vulkan 1.2 or "
                       "VK_KHR_timeline_semaphore is needed)");
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
