// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A SPIR-V module and its pipelines.
//
// Loading checks what the words themselves tell: structure, entry points,
// workgroup sizes, bindings. What depends on the device (capabilities, subgroup
// size, limits) is checked when a kernel is first launched, and its pipeline is
// made then: a module may hold variants for other devices, behind guards.
#ifndef TILEWRIGHT_DRIVERS_VULKAN_VULKAN_MODULE_H
#define TILEWRIGHT_DRIVERS_VULKAN_VULKAN_MODULE_H

#include "core/driver.h"
#include "spirv_reader.h"
#include "vulkan_library.h"

#include <atomic>
#include <deque>
#include <mutex>

namespace tilewright::runtime::vulkan {

class VulkanDevice;

/// One kernel, ready to launch.
struct Kernel {
  KernelDesc desc;
  uint32_t numBuffers = 0;
  uint32_t scalarBytes = 0; // packed, a multiple of 4
  std::atomic<bool> ready{false};
  VkPipeline pipeline = VK_NULL_HANDLE;
  VkPipelineLayout layout = VK_NULL_HANDLE;
};

class VulkanModule final : public DriverModule {
public:
  static Status load(VulkanDevice &device, const ModuleDesc &desc,
                     std::unique_ptr<DriverModule> &result);
  ~VulkanModule() override;

  /// Kernel number `index`, with its pipeline made; thread-safe.
  Status kernel(uint32_t index, const Kernel *&result);
  Status resources(uint32_t index, KernelResources &result) override;

private:
  explicit VulkanModule(VulkanDevice &device) : device(device) {}
  Status checkEntry(const KernelDesc &desc) const;
  Status checkDevice(const Kernel &kernel) const;
  Status checkNumber(uint32_t index) const;
  Status build(Kernel &kernel, VkPipelineCreateFlags flags,
               VkPipeline &pipeline);
  Status createLayout(Kernel &kernel);
  Status createPipeline(Kernel &kernel, VkPipelineCreateFlags flags,
                        VkPipeline &pipeline);

  VulkanDevice &device;
  std::string name;
  SpirvModule spirv;
  std::deque<Kernel> kernels;
  std::mutex mutex;
  VkShaderModule shader = VK_NULL_HANDLE;
};

} // namespace tilewright::runtime::vulkan

#endif // TILEWRIGHT_DRIVERS_VULKAN_VULKAN_MODULE_H
