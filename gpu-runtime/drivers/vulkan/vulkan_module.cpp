// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks SPIR-V modules against manifest and device, and makes pipelines.
#include "vulkan_module.h"

#include "vulkan_device.h"
#include "vulkan_statistics.h"

#include <algorithm>

namespace tilewright::runtime::vulkan {

static uint32_t scalarSize(tw_dtype type) {
  switch (type) {
  case TW_F64:
  case TW_I64:
  case TW_INDEX:
    return 8;
  case TW_F16:
  case TW_BF16:
  case TW_I16:
    return 2;
  case TW_F8E4M3FN:
  case TW_F8E5M2:
  case TW_F8E4M3FNUZ:
  case TW_F8E5M2FNUZ:
  case TW_I8:
  case TW_I4:
  case TW_I2:
  case TW_I1:
    return 1;
  default:
    return 4;
  }
}

static uint32_t packedBytes(const KernelDesc &desc) {
  uint32_t at = 0;
  for (const KernelParam &param : desc.params) {
    if (param.isBuffer)
      continue;
    uint32_t size = scalarSize(param.scalarType);
    at = (at + size - 1) / size * size + size;
  }
  return (at + 3) / 4 * 4;
}

static std::string extentText(const Extent3 &extent) {
  return std::to_string(extent[0]) + "x" + std::to_string(extent[1]) + "x" +
         std::to_string(extent[2]);
}

Status VulkanModule::load(VulkanDevice &device, const ModuleDesc &desc,
                          std::unique_ptr<DriverModule> &result) {
  if (Status s = device.lost())
    return s;
  if (desc.kind != ModuleKind::Spirv)
    return unsupported(desc.name + ": the vulkan driver loads SPIR-V only");
  std::unique_ptr<VulkanModule> module(new VulkanModule(device));
  module->name = desc.name;
  if (Status s = readSpirv(desc.bytes, desc.size, module->spirv))
    return std::move(s).in(desc.name);
  for (const KernelDesc &kernelDesc : desc.kernels) {
    if (Status s = module->checkEntry(kernelDesc))
      return std::move(s).in(desc.name);
    Kernel &kernel = module->kernels.emplace_back();
    kernel.desc = kernelDesc;
    kernel.numBuffers = static_cast<uint32_t>(kernelDesc.numBuffers());
    kernel.scalarBytes = packedBytes(kernelDesc);
  }
  result = std::move(module);
  return Status::ok();
}

VulkanModule::~VulkanModule() {
  if (device.isLost())
    return;
  for (Kernel &kernel : kernels) {
    device.vk.vkDestroyPipeline(device.handle(), kernel.pipeline, nullptr);
    device.vk.vkDestroyPipelineLayout(device.handle(), kernel.layout, nullptr);
  }
  device.vk.vkDestroyShaderModule(device.handle(), shader, nullptr);
}

Status VulkanModule::checkEntry(const KernelDesc &desc) const {
  const SpirvEntryPoint *entry = spirv.find(desc.entry);
  if (!entry) {
    std::string known;
    for (const SpirvEntryPoint &other : spirv.entryPoints)
      known += (known.empty() ? "" : ", ") + other.name;
    return notFound("no compute entry point '" + desc.entry +
                    "'; the module has " + (known.empty() ? "none" : known));
  }
  std::string where = "kernel '" + desc.entry + "'";
  if (entry->localSize[0] != 0 && entry->localSize != desc.block)
    return invalidArgument(where + ": the module's workgroup size is " +
                           extentText(entry->localSize) +
                           " but the manifest says " + extentText(desc.block));
  // Before SPIR-V 1.4 an entry point does not tell which globals it uses.
  if (spirv.version < 14 && spirv.entryPoints.size() > 1)
    return Status::ok();
  for (const SpirvBinding &binding : entry->bindings) {
    bool scalars = binding.set == 1 && binding.binding == 0 &&
                   desc.scalarsInUniform && binding.isUniform;
    bool tensor = binding.set == 0 && binding.binding < desc.numBuffers() &&
                  !binding.isUniform;
    if (!scalars && !tensor)
      return invalidArgument(
          where + ": the module uses binding " +
          std::to_string(binding.binding) + " of descriptor set " +
          std::to_string(binding.set) + "; the manifest has " +
          std::to_string(desc.numBuffers()) + " storage buffers in set 0" +
          (desc.scalarsInUniform ? " and a uniform buffer in set 1" : ""));
  }
  if (entry->usesPushConstants &&
      (desc.numScalars() == 0 || desc.scalarsInUniform))
    return invalidArgument(where + ": the module reads push constants but the "
                                   "manifest passes no scalars in them");
  return Status::ok();
}

Status VulkanModule::checkDevice(const Kernel &kernel) const {
  const Capabilities &caps = device.caps();
  const VkPhysicalDeviceLimits &limits = caps.limits();
  const KernelDesc &desc = kernel.desc;
  if (spirv.version > static_cast<uint64_t>(caps.fact("spirv")))
    return unsupported("the module is SPIR-V 1." +
                       std::to_string(spirv.version - 10) +
                       "; this device accepts up to 1." +
                       std::to_string(caps.fact("spirv") - 10));
  for (uint32_t capability : spirv.capabilities) {
    const char *capabilityName;
    const char *fact = factOfCapability(capability, capabilityName);
    if (fact && caps.fact(fact) == 0)
      return unsupported("the module needs SPIR-V capability " +
                         std::string(capabilityName) +
                         ", which this device lacks (" + fact + ")");
  }
  for (int i = 0; i < 3; ++i)
    if (desc.block[i] > limits.maxComputeWorkGroupSize[i])
      return unsupported("the workgroup size " + extentText(desc.block) +
                         " exceeds this device's " +
                         extentText({limits.maxComputeWorkGroupSize[0],
                                     limits.maxComputeWorkGroupSize[1],
                                     limits.maxComputeWorkGroupSize[2]}));
  uint64_t threads = uint64_t(desc.block[0]) * desc.block[1] * desc.block[2];
  if (threads > limits.maxComputeWorkGroupInvocations)
    return unsupported(
        "a workgroup has " + std::to_string(threads) +
        " invocations; this device runs at most " +
        std::to_string(limits.maxComputeWorkGroupInvocations));
  if (desc.shared != 0)
    return unsupported("dynamic shared memory (" + std::to_string(desc.shared) +
                       " bytes) does not exist in Vulkan; it is declared in "
                       "the module");
  uint64_t shared = spirv.find(desc.entry)->sharedBytes;
  if (shared > limits.maxComputeSharedMemorySize)
    return unsupported(
        "it uses " + std::to_string(shared) +
        " bytes of shared memory; this device has " +
        std::to_string(limits.maxComputeSharedMemorySize) + " per workgroup");
  if (kernel.numBuffers > caps.fact("max_buffers"))
    return unsupported("it has " + std::to_string(kernel.numBuffers) +
                       " buffers; this device binds at most " +
                       std::to_string(caps.fact("max_buffers")));
  if (desc.scalarsInUniform &&
      kernel.scalarBytes > limits.maxUniformBufferRange)
    return unsupported("its scalars take " +
                       std::to_string(kernel.scalarBytes) +
                       " bytes; this device's uniform buffers have at most " +
                       std::to_string(limits.maxUniformBufferRange));
  if (!desc.scalarsInUniform &&
      kernel.scalarBytes > limits.maxPushConstantsSize)
    return unsupported("its scalars take " +
                       std::to_string(kernel.scalarBytes) +
                       " bytes; this device has " +
                       std::to_string(limits.maxPushConstantsSize) +
                       " bytes of push constants (\"scalars_in\": \"uniform\" "
                       "passes more)");
  if (desc.subgroup == 0)
    return Status::ok();
  bool power = (desc.subgroup & (desc.subgroup - 1)) == 0;
  if (!power || desc.subgroup < caps.minSubgroupSize ||
      desc.subgroup > caps.maxSubgroupSize)
    return unsupported("it requires subgroups of " +
                       std::to_string(desc.subgroup) +
                       "; this device has subgroups of " +
                       std::to_string(caps.minSubgroupSize) +
                       (caps.minSubgroupSize == caps.maxSubgroupSize
                            ? std::string()
                            : " to " + std::to_string(caps.maxSubgroupSize)));
  uint64_t subgroups = (threads + desc.subgroup - 1) / desc.subgroup;
  if (subgroups > caps.maxSubgroupsPerGroup)
    return unsupported("a workgroup has " + std::to_string(subgroups) +
                       " subgroups of " + std::to_string(desc.subgroup) +
                       "; this device runs at most " +
                       std::to_string(caps.maxSubgroupsPerGroup));
  return Status::ok();
}

Status VulkanModule::createLayout(Kernel &kernel) {
  VkDescriptorSetLayout sets[2];
  uint32_t numSets = 0;
  bool uniform = kernel.desc.scalarsInUniform && kernel.scalarBytes != 0;
  if (kernel.numBuffers != 0 || uniform)
    if (Status s = device.storageLayout(kernel.numBuffers, sets[numSets++]))
      return s;
  if (uniform)
    if (Status s = device.uniformLayout(sets[numSets++]))
      return s;
  VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0,
                               kernel.scalarBytes};
  VkPipelineLayoutCreateInfo info = {
      VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
  info.setLayoutCount = numSets;
  info.pSetLayouts = sets;
  info.pushConstantRangeCount = kernel.scalarBytes != 0 && !uniform;
  info.pPushConstantRanges = &range;
  return device.check(device.vk.vkCreatePipelineLayout(device.handle(), &info,
                                                       nullptr, &kernel.layout),
                      "vkCreatePipelineLayout");
}

Status VulkanModule::createPipeline(Kernel &kernel,
                                    VkPipelineCreateFlags flags,
                                    VkPipeline &pipeline) {
  if (!shader) {
    VkShaderModuleCreateInfo info = {
        VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    info.codeSize = spirv.words.size() * 4;
    info.pCode = spirv.words.data();
    if (Status s = device.check(
            device.vk.vkCreateShaderModule(device.handle(), &info, nullptr,
                                           &shader),
            "vkCreateShaderModule"))
      return s;
  }
  const Capabilities &caps = device.caps();
  VkComputePipelineCreateInfo info = {
      VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
  info.flags = flags;
  info.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
  info.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
  info.stage.module = shader;
  info.stage.pName = kernel.desc.entry.c_str();
  info.layout = kernel.layout;
  VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
      VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
  if (kernel.desc.subgroup != 0 && caps.canRequireSubgroupSize) {
    subgroup.requiredSubgroupSize = kernel.desc.subgroup;
    info.stage.pNext = &subgroup;
    if (caps.feature("computeFullSubgroups") &&
        kernel.desc.block[0] % kernel.desc.subgroup == 0)
      info.stage.flags =
          VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
  }
  return device.check(
      device.vk.vkCreateComputePipelines(device.handle(),
                                         device.pipelineCache(), 1, &info,
                                         nullptr, &pipeline),
      "vkCreateComputePipelines");
}

Status VulkanModule::build(Kernel &kernel, VkPipelineCreateFlags flags,
                           VkPipeline &pipeline) {
  if (Status s = checkDevice(kernel))
    return s;
  if (!kernel.layout)
    if (Status s = createLayout(kernel))
      return s;
  return createPipeline(kernel, flags, pipeline);
}

Status VulkanModule::checkNumber(uint32_t index) const {
  if (index < kernels.size())
    return Status::ok();
  return invalidArgument(name + ": kernel number " + std::to_string(index) +
                         " of " + std::to_string(kernels.size()));
}

Status VulkanModule::resources(uint32_t index, KernelResources &result) {
  if (Status s = checkNumber(index))
    return s;
  if (!device.caps().feature("pipelineExecutableInfo"))
    return unsupported("this device does not say what its kernels take (it "
                       "lacks VK_KHR_pipeline_executable_properties)");
  Kernel &kernel = kernels[index];
  VkPipeline pipeline = VK_NULL_HANDLE;
  {
    std::lock_guard<std::mutex> lock(mutex);
    // One of its own: drivers may compile another way when they are asked to
    // keep statistics.
    if (Status s = build(
            kernel, VK_PIPELINE_CREATE_CAPTURE_STATISTICS_BIT_KHR, pipeline))
      return std::move(s).in("kernel '" + kernel.desc.entry + "'");
  }
  Status status = readStatistics(device, pipeline, result);
  if (result.sharedBytes < 0)
    result.sharedBytes =
        static_cast<int64_t>(spirv.find(kernel.desc.entry)->sharedBytes);
  device.vk.vkDestroyPipeline(device.handle(), pipeline, nullptr);
  return status;
}

Status VulkanModule::kernel(uint32_t index, const Kernel *&result) {
  if (Status s = checkNumber(index))
    return s;
  Kernel &kernel = kernels[index];
  if (!kernel.ready.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> lock(mutex);
    if (!kernel.ready.load(std::memory_order_relaxed)) {
      if (Status s = build(kernel, 0, kernel.pipeline))
        return std::move(s).in("kernel '" + kernel.desc.entry + "'");
      kernel.ready.store(true, std::memory_order_release);
    }
  }
  result = &kernel;
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
