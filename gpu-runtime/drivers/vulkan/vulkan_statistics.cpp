// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every driver has names of its own for what it counts. All are handed on; those
// that Mesa's drivers use are also put where other devices' numbers stand.
#include "vulkan_statistics.h"

namespace tilewright::runtime::vulkan {

static double valueOf(const VkPipelineExecutableStatisticKHR &statistic) {
  switch (statistic.format) {
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
    return statistic.value.b32 != VK_FALSE;
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
    return static_cast<double>(statistic.value.i64);
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
    return static_cast<double>(statistic.value.u64);
  case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
    return statistic.value.f64;
  default:
    return 0;
  }
}

/// A member of KernelResources that stands in `unit` of a statistic; its name is
/// RADV's. Scratch memory is counted per subgroup there.
static void place(const KernelStatistic &statistic, uint32_t subgroup,
                  KernelResources &result) {
  auto value = static_cast<int64_t>(statistic.value);
  if (statistic.name == "VGPRs")
    result.registers = value;
  else if (statistic.name == "SGPRs")
    result.scalarRegisters = value;
  else if (statistic.name == "LDS size")
    result.sharedBytes = value;
  else if (statistic.name == "Code size")
    result.codeBytes = value;
  else if (statistic.name == "Scratch size" && subgroup != 0)
    result.localBytes = value / subgroup;
}

Status readStatistics(VulkanDevice &device, VkPipeline pipeline,
                      KernelResources &result) {
  auto properties = device.vk.vkGetPipelineExecutablePropertiesKHR;
  auto statistics = device.vk.vkGetPipelineExecutableStatisticsKHR;
  if (!properties || !statistics)
    return unavailable("the Vulkan device lacks the functions of "
                       "VK_KHR_pipeline_executable_properties");
  VkPipelineInfoKHR info = {VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR};
  info.pipeline = pipeline;
  uint32_t count = 0;
  if (Status s =
          device.check(properties(device.handle(), &info, &count, nullptr),
                       "vkGetPipelineExecutablePropertiesKHR"))
    return s;
  std::vector<VkPipelineExecutablePropertiesKHR> executables(
      count, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR});
  if (Status s = device.check(
          properties(device.handle(), &info, &count, executables.data()),
          "vkGetPipelineExecutablePropertiesKHR"))
    return s;
  for (uint32_t i = 0; i < count; ++i) {
    VkPipelineExecutableInfoKHR which = {
        VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR};
    which.pipeline = pipeline;
    which.executableIndex = i;
    uint32_t number = 0;
    if (Status s =
            device.check(statistics(device.handle(), &which, &number, nullptr),
                         "vkGetPipelineExecutableStatisticsKHR"))
      return s;
    std::vector<VkPipelineExecutableStatisticKHR> list(
        number, {VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR});
    if (Status s = device.check(
            statistics(device.handle(), &which, &number, list.data()),
            "vkGetPipelineExecutableStatisticsKHR"))
      return s;
    for (uint32_t k = 0; k < number; ++k) {
      result.statistics.push_back(
          {list[k].name, list[k].description, valueOf(list[k])});
      place(result.statistics.back(), executables[i].subgroupSize, result);
    }
  }
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
