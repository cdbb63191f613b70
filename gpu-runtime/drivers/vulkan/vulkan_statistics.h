// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a driver's compiler says of a pipeline
// (VK_KHR_pipeline_executable_properties).
#ifndef TILEWRIGHT_DRIVERS_VULKAN_VULKAN_STATISTICS_H
#define TILEWRIGHT_DRIVERS_VULKAN_VULKAN_STATISTICS_H

#include "vulkan_device.h"

namespace tilewright::runtime::vulkan {

/// Statistics of a compute pipeline that was made to keep them. The device has
/// the feature pipelineExecutableInfo.
Status readStatistics(VulkanDevice &device, VkPipeline pipeline,
                      KernelResources &result);

} // namespace tilewright::runtime::vulkan

#endif // TILEWRIGHT_DRIVERS_VULKAN_VULKAN_STATISTICS_H
