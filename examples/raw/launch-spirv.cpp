// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launches SPIR-V with plain Vulkan 1.3; all that is known of the kernel is what
// the manifest says. See README.md.
//
//   launch-spirv matmul.json FOLDER

#include "manifest.h"
#include "product.h"

#include <vulkan/vulkan.h>

#include <cstdio>

static void check(VkResult result, const char *what) {
  if (result != VK_SUCCESS)
    throw std::runtime_error(std::string(what) + ": VkResult " +
                             std::to_string(result));
}
#define CHECK(call) check(call, #call)

/// A device with one compute queue, and what the manifest asks of it.
struct Device {
  VkInstance instance;
  VkPhysicalDevice physical = nullptr;
  VkDevice device;
  VkQueue queue;
  uint32_t family = 0;
  manifest::json facts;

  explicit Device(const manifest::json &required) {
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_3;
    VkInstanceCreateInfo info = {VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    info.pApplicationInfo = &application;
    CHECK(vkCreateInstance(&info, nullptr, &instance));
    uint32_t count = 1; // the first device
    vkEnumeratePhysicalDevices(instance, &count, &physical);
    if (!physical)
      throw std::runtime_error("no Vulkan device");
    checkRequirements(required);
    findQueue();

    // Kernels are made for one size of subgroup each and say so.
    VkPhysicalDeviceVulkan13Features features = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_3_FEATURES};
    features.subgroupSizeControl = VK_TRUE;
    features.computeFullSubgroups = VK_TRUE;
    float priority = 1;
    VkDeviceQueueCreateInfo queues = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
    queues.queueFamilyIndex = family;
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    VkDeviceCreateInfo create = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
    create.pNext = &features;
    create.queueCreateInfoCount = 1;
    create.pQueueCreateInfos = &queues;
    CHECK(vkCreateDevice(physical, &create, nullptr, &device));
    vkGetDeviceQueue(device, family, 0, &queue);
  }
  ~Device() {
    vkDestroyDevice(device, nullptr);
    vkDestroyInstance(instance, nullptr);
  }

private:
  /// Fills `facts`, refuses what this example or the device does not give.
  void checkRequirements(const manifest::json &required) {
    VkPhysicalDeviceSubgroupProperties subgroup = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SUBGROUP_PROPERTIES};
    VkPhysicalDeviceProperties2 properties = {
        VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, &subgroup};
    vkGetPhysicalDeviceProperties2(physical, &properties);
    const VkPhysicalDeviceLimits &limits = properties.properties.limits;
    uint32_t api = properties.properties.apiVersion;
    facts = {{"subgroup_size", subgroup.subgroupSize},
             {"max_grid_x", limits.maxComputeWorkGroupCount[0]},
             {"shared_memory", limits.maxComputeSharedMemorySize},
             {"vulkan", VK_API_VERSION_MAJOR(api) * 10 + VK_API_VERSION_MINOR(api)},
             {"subgroup:basic", 1},
             {"subgroup:shuffle", subgroup.supportedOperations &
                                          VK_SUBGROUP_FEATURE_SHUFFLE_BIT
                                      ? 1
                                      : 0}};
    // A kernel that needs more names the feature: "feature:shaderInt64" is a
    // member of VkPhysicalDeviceFeatures to enable.
    for (const auto &[name, value] : required.items())
      if (facts.value(name, int64_t(0)) < value.get<int64_t>())
        throw std::runtime_error("the program requires " + name + " " +
                                 value.dump() + ", which this has not enabled");
  }

  void findQueue() {
    uint32_t count = 0;
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, nullptr);
    std::vector<VkQueueFamilyProperties> families(count);
    vkGetPhysicalDeviceQueueFamilyProperties(physical, &count, families.data());
    while (family < count &&
           !(families[family].queueFlags & VK_QUEUE_COMPUTE_BIT))
      ++family;
    if (family == count)
      throw std::runtime_error("the device has no compute queue");
  }
};

/// Memory that host and device share, bound to one buffer, mapped.
struct Buffer {
  const Device &device;
  VkBuffer buffer;
  VkDeviceMemory memory;
  void *data;

  Buffer(const Device &device, size_t size, VkBufferUsageFlags usage,
         const void *contents)
      : device(device) {
    VkBufferCreateInfo info = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    info.size = (size + 3) / 4 * 4;
    info.usage = usage;
    CHECK(vkCreateBuffer(device.device, &info, nullptr, &buffer));
    VkMemoryRequirements needs;
    vkGetBufferMemoryRequirements(device.device, buffer, &needs);
    VkPhysicalDeviceMemoryProperties types;
    vkGetPhysicalDeviceMemoryProperties(device.physical, &types);
    const VkMemoryPropertyFlags wanted = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
                                         VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryAllocateInfo allocate = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocate.allocationSize = needs.size;
    // Vulkan promises one such type to every buffer.
    while (!(needs.memoryTypeBits >> allocate.memoryTypeIndex & 1) ||
           (types.memoryTypes[allocate.memoryTypeIndex].propertyFlags &
            wanted) != wanted)
      ++allocate.memoryTypeIndex;
    CHECK(vkAllocateMemory(device.device, &allocate, nullptr, &memory));
    CHECK(vkBindBufferMemory(device.device, buffer, memory, 0));
    CHECK(vkMapMemory(device.device, memory, 0, VK_WHOLE_SIZE, 0, &data));
    std::memcpy(data, contents, size);
  }
  Buffer(const Buffer &) = delete;
  ~Buffer() {
    vkDestroyBuffer(device.device, buffer, nullptr);
    vkFreeMemory(device.device, memory, nullptr);
  }
};

/// A pipeline, and the layouts that the kernel ABI gives it: set 0 holds the
/// buffers, binding by binding; scalars are push constants, or, where the
/// manifest says so, a uniform buffer at set 1, binding 0.
struct Pipeline {
  VkDescriptorSetLayout sets[2];
  VkPipelineLayout layout;
  VkPipeline pipeline;

  Pipeline(const Device &device, const manifest::Launch &launch,
           const std::string &spirv, uint32_t scalarBytes) {
    sets[0] = makeSet(device, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                      uint32_t(launch.buffers));
    sets[1] = makeSet(device, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1);
    VkPushConstantRange range = {VK_SHADER_STAGE_COMPUTE_BIT, 0, scalarBytes};
    VkPipelineLayoutCreateInfo info = {
        VK_STRUCTURE_TYPE_PIPELINE_LAYOUT_CREATE_INFO};
    info.setLayoutCount = 2;
    info.pSetLayouts = sets;
    info.pushConstantRangeCount = scalarBytes && !launch.uniform;
    info.pPushConstantRanges = &range;
    CHECK(vkCreatePipelineLayout(device.device, &info, nullptr, &layout));

    VkShaderModuleCreateInfo code = {VK_STRUCTURE_TYPE_SHADER_MODULE_CREATE_INFO};
    std::vector<uint32_t> words(spirv.size() / 4);
    std::memcpy(words.data(), spirv.data(), words.size() * 4);
    code.codeSize = words.size() * 4;
    code.pCode = words.data();
    VkShaderModule module;
    CHECK(vkCreateShaderModule(device.device, &code, nullptr, &module));

    VkPipelineShaderStageRequiredSubgroupSizeCreateInfo subgroup = {
        VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_REQUIRED_SUBGROUP_SIZE_CREATE_INFO};
    subgroup.requiredSubgroupSize = launch.subgroup;
    VkComputePipelineCreateInfo create = {
        VK_STRUCTURE_TYPE_COMPUTE_PIPELINE_CREATE_INFO};
    create.layout = layout;
    create.stage.sType = VK_STRUCTURE_TYPE_PIPELINE_SHADER_STAGE_CREATE_INFO;
    create.stage.stage = VK_SHADER_STAGE_COMPUTE_BIT;
    create.stage.module = module;
    create.stage.pName = launch.name.c_str();
    if (launch.subgroup) {
      create.stage.pNext = &subgroup;
      create.stage.flags =
          VK_PIPELINE_SHADER_STAGE_CREATE_REQUIRE_FULL_SUBGROUPS_BIT;
    }
    CHECK(vkCreateComputePipelines(device.device, VK_NULL_HANDLE, 1, &create,
                                   nullptr, &pipeline));
    vkDestroyShaderModule(device.device, module, nullptr);
  }

private:
  static VkDescriptorSetLayout makeSet(const Device &device,
                                       VkDescriptorType type, uint32_t count) {
    std::vector<VkDescriptorSetLayoutBinding> bindings(count);
    for (uint32_t i = 0; i < count; ++i)
      bindings[i] = {i, type, 1, VK_SHADER_STAGE_COMPUTE_BIT, nullptr};
    VkDescriptorSetLayoutCreateInfo info = {
        VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
    info.bindingCount = count;
    info.pBindings = bindings.data();
    VkDescriptorSetLayout set;
    CHECK(vkCreateDescriptorSetLayout(device.device, &info, nullptr, &set));
    return set;
  }
};

/// Descriptor sets that name the buffers.
static void bind(const Device &device, VkDescriptorPool pool,
                 VkCommandBuffer commands, const Pipeline &pipeline,
                 const std::vector<VkBuffer> &buffers, VkBuffer uniform) {
  VkDescriptorSet sets[2];
  VkDescriptorSetAllocateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO};
  info.descriptorPool = pool;
  info.descriptorSetCount = 2;
  info.pSetLayouts = pipeline.sets;
  CHECK(vkAllocateDescriptorSets(device.device, &info, sets));
  auto write = [&](uint32_t set, uint32_t binding, VkDescriptorType type,
                   VkBuffer buffer) {
    VkDescriptorBufferInfo range = {buffer, 0, VK_WHOLE_SIZE};
    VkWriteDescriptorSet update = {VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET};
    update.dstSet = sets[set];
    update.dstBinding = binding;
    update.descriptorCount = 1;
    update.descriptorType = type;
    update.pBufferInfo = &range;
    vkUpdateDescriptorSets(device.device, 1, &update, 0, nullptr);
  };
  for (uint32_t i = 0; i < buffers.size(); ++i)
    write(0, i, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, buffers[i]);
  write(1, 0, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, uniform);
  vkCmdBindDescriptorSets(commands, VK_PIPELINE_BIND_POINT_COMPUTE,
                          pipeline.layout, 0, 2, sets, 0, nullptr);
}

/// Records one dispatch and waits for it.
static void submit(const Device &device, const Pipeline &pipeline,
                   const manifest::Launch &launch,
                   const std::vector<uint8_t> &scalars,
                   const std::vector<VkBuffer> &buffers, VkBuffer uniform) {
  VkDescriptorPoolSize sizes[] = {
      {VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, uint32_t(buffers.size())},
      {VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, 1}};
  VkDescriptorPoolCreateInfo poolInfo = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO};
  poolInfo.maxSets = 2;
  poolInfo.poolSizeCount = 2;
  poolInfo.pPoolSizes = sizes;
  VkDescriptorPool descriptors;
  CHECK(vkCreateDescriptorPool(device.device, &poolInfo, nullptr, &descriptors));
  VkCommandPoolCreateInfo commandInfo = {
      VK_STRUCTURE_TYPE_COMMAND_POOL_CREATE_INFO};
  commandInfo.queueFamilyIndex = device.family;
  VkCommandPool pool;
  CHECK(vkCreateCommandPool(device.device, &commandInfo, nullptr, &pool));
  VkCommandBufferAllocateInfo allocate = {
      VK_STRUCTURE_TYPE_COMMAND_BUFFER_ALLOCATE_INFO};
  allocate.commandPool = pool;
  allocate.level = VK_COMMAND_BUFFER_LEVEL_PRIMARY;
  allocate.commandBufferCount = 1;
  VkCommandBuffer commands;
  CHECK(vkAllocateCommandBuffers(device.device, &allocate, &commands));

  VkCommandBufferBeginInfo begin = {VK_STRUCTURE_TYPE_COMMAND_BUFFER_BEGIN_INFO};
  CHECK(vkBeginCommandBuffer(commands, &begin));
  vkCmdBindPipeline(commands, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline.pipeline);
  bind(device, descriptors, commands, pipeline, buffers, uniform);
  if (!launch.uniform && !scalars.empty())
    vkCmdPushConstants(commands, pipeline.layout, VK_SHADER_STAGE_COMPUTE_BIT, 0,
                       uint32_t(scalars.size()), scalars.data());
  vkCmdDispatch(commands, launch.grid[0], launch.grid[1], launch.grid[2]);
  VkMemoryBarrier barrier = {VK_STRUCTURE_TYPE_MEMORY_BARRIER};
  barrier.srcAccessMask = VK_ACCESS_SHADER_WRITE_BIT;
  barrier.dstAccessMask = VK_ACCESS_HOST_READ_BIT;
  vkCmdPipelineBarrier(commands, VK_PIPELINE_STAGE_COMPUTE_SHADER_BIT,
                       VK_PIPELINE_STAGE_HOST_BIT, 0, 1, &barrier, 0, nullptr, 0,
                       nullptr);
  CHECK(vkEndCommandBuffer(commands));

  VkSubmitInfo submission = {VK_STRUCTURE_TYPE_SUBMIT_INFO};
  submission.commandBufferCount = 1;
  submission.pCommandBuffers = &commands;
  CHECK(vkQueueSubmit(device.queue, 1, &submission, VK_NULL_HANDLE));
  CHECK(vkQueueWaitIdle(device.queue));
  vkDestroyCommandPool(device.device, pool, nullptr);
  vkDestroyDescriptorPool(device.device, descriptors, nullptr);
}

static void run(const std::string &manifestFile, const std::string &folder) {
  manifest::json program = manifest::load(manifestFile, "vulkan");
  Device device(program.at("requires"));
  Product product;
  manifest::Launch launch(program, 0, product.shapes(), device.facts);
  std::vector<uint8_t> scalars = launch.pack();
  Pipeline pipeline(device, launch,
                    manifest::readFile(folder + "/" + launch.file),
                    uint32_t(scalars.size()));

  std::vector<std::vector<uint8_t>> operands = product.operands();
  auto make = [&](const std::vector<uint8_t> &bytes) {
    return Buffer(device, bytes.size(), VK_BUFFER_USAGE_STORAGE_BUFFER_BIT,
                  bytes.data());
  };
  Buffer a = make(operands[0]), b = make(operands[1]), c = make(operands[2]);
  std::vector<uint8_t> padded = scalars; // as std140 ends a block
  padded.resize((scalars.size() + 16) / 16 * 16);
  Buffer uniform(device, padded.size(), VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT,
                 padded.data());
  submit(device, pipeline, launch, scalars, {a.buffer, b.buffer, c.buffer},
         uniform.buffer);

  std::vector<uint8_t> result(operands[2].size());
  std::memcpy(result.data(), c.data, result.size());
  vkDestroyPipeline(device.device, pipeline.pipeline, nullptr);
  vkDestroyPipelineLayout(device.device, pipeline.layout, nullptr);
  for (VkDescriptorSetLayout set : pipeline.sets)
    vkDestroyDescriptorSetLayout(device.device, set, nullptr);
  if (int64_t wrong = product.countWrong(result))
    throw std::runtime_error(std::to_string(wrong) + " elements are wrong");
  std::printf("%s on %u blocks of %u threads: every element is right\n",
              launch.name.c_str(), launch.grid[0], launch.block[0]);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: launch-spirv MANIFEST.json FOLDER\n");
    return 2;
  }
  try {
    run(argv[1], argv[2]);
  } catch (const std::exception &error) {
    std::fprintf(stderr, "launch-spirv: %s\n", error.what());
    return 1;
  }
}
