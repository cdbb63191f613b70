// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Opens a device with every listed feature it has, and keeps what its streams
// and modules share.
#include "vulkan_device.h"

#include "core/number_text.h"
#include "vulkan_module.h"
#include "vulkan_stream.h"

#include <algorithm>
#include <chrono>

namespace tilewright::runtime::vulkan {

constexpr uint32_t maxQueues = 4;
/// How long a wait may overlook that another thread lost the device.
constexpr uint64_t waitSliceNs = 50'000'000;

Status VulkanDevice::open(std::shared_ptr<VulkanLibrary> library,
                          VkPhysicalDevice physical,
                          std::unique_ptr<DriverDevice> &result) {
  std::unique_ptr<VulkanDevice> device(new VulkanDevice());
  if (Status s = device->initialize(std::move(library), physical))
    return s;
  result = std::move(device);
  return Status::ok();
}

Status VulkanDevice::initialize(std::shared_ptr<VulkanLibrary> opened,
                                VkPhysicalDevice physical) {
  library = std::move(opened);
  if (Status s = queryCapabilities(*library, physical, capabilities))
    return s;
  uint32_t numQueues = std::min(capabilities.queueCount, maxQueues);
  std::vector<float> priorities(numQueues, 1.0f);
  VkDeviceQueueCreateInfo queueInfo = {
      VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  queueInfo.queueFamilyIndex = capabilities.queueFamily;
  queueInfo.queueCount = numQueues;
  queueInfo.pQueuePriorities = priorities.data();
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};
  info.pNext = &capabilities.enabled.base;
  info.queueCreateInfoCount = 1;
  info.pQueueCreateInfos = &queueInfo;
  info.enabledExtensionCount =
      static_cast<uint32_t>(capabilities.enabledExtensions.size());
  info.ppEnabledExtensionNames = capabilities.enabledExtensions.data();
  VkResult r = library->vkCreateDevice(physical, &info, nullptr, &device);
  if (r != VK_SUCCESS) {
    device = VK_NULL_HANDLE;
    return unavailable("vkCreateDevice failed: " + resultName(r));
  }
  if (Status s = vk.load(*library, device, capabilities.version)) {
    // Without its table it cannot be destroyed properly, except like this.
    if (vk.vkDestroyDevice)
      vk.vkDestroyDevice(device, nullptr);
    device = VK_NULL_HANDLE;
    return s;
  }
  for (uint32_t i = 0; i < numQueues; ++i)
    vk.vkGetDeviceQueue(device, capabilities.queueFamily, i,
                        &queues.emplace_back().handle);
  return prepare();
}

Status VulkanDevice::prepare() {
  memoryPool = std::make_unique<Memory>(*this);
  VkPipelineCacheCreateInfo cacheInfo = {
      VK_STRUCTURE_TYPE_PIPELINE_CACHE_CREATE_INFO};
  return check(vk.vkCreatePipelineCache(device, &cacheInfo, nullptr, &cache),
               "vkCreatePipelineCache");
}

VulkanDevice::~VulkanDevice() {
  if (!device)
    return;
  if (isLost()) {
    library->keepOpen = true;
    return;
  }
  memoryPool.reset();
  for (auto &[count, layout] : storageLayouts)
    vk.vkDestroyDescriptorSetLayout(device, layout, nullptr);
  vk.vkDestroyDescriptorSetLayout(device, uniform, nullptr);
  vk.vkDestroyPipelineCache(device, cache, nullptr);
  if (ownsDevice)
    vk.vkDestroyDevice(device, nullptr);
}

//===----------------------------------------------------------------------===//
// Loss and waiting
//===----------------------------------------------------------------------===//

Status VulkanDevice::lost() const {
  if (!isLost())
    return Status::ok();
  if (!home.isHere()) // first: a thread of the parent may have held the lock
    return deviceLost("the Vulkan device is lost: this process is a fork of the one "
                      "that opened it");
  std::lock_guard<std::mutex> lock(lostMutex);
  return deviceLost("the Vulkan device is lost: " + lostReason);
}

void VulkanDevice::lose(const std::string &reason) {
  if (!home.isHere())
    return;
  std::lock_guard<std::mutex> lock(lostMutex);
  if (lostFlag.load())
    return;
  lostFlag.store(true, std::memory_order_release);
  lostReason = reason; // last: there may be no memory for it
}

Status VulkanDevice::check(VkResult result, const char *what) {
  if (result == VK_SUCCESS)
    return Status::ok();
  if (result != VK_ERROR_DEVICE_LOST)
    return makeStatus(result, what);
  lose(std::string(what) + " answered VK_ERROR_DEVICE_LOST (a kernel faulted, "
                           "or ran longer than the system allows)");
  return lost();
}

Status VulkanDevice::waitTimeline(VkSemaphore timeline, uint64_t value,
                                  uint64_t timeoutNs, const char *what) {
  VkSemaphoreWaitInfo info = {VK_STRUCTURE_TYPE_SEMAPHORE_WAIT_INFO};
  info.semaphoreCount = 1;
  info.pSemaphores = &timeline;
  info.pValues = &value;
  using Clock = std::chrono::steady_clock;
  auto start = Clock::now();
  while (true) {
    if (Status s = lost())
      return s;
    uint64_t waited = static_cast<uint64_t>(
        std::chrono::nanoseconds(Clock::now() - start).count());
    uint64_t left = timeoutNs > waited ? timeoutNs - waited : 0;
    VkResult r = vk.vkWaitSemaphores(device, &info, std::min(left, waitSliceNs));
    if (r != VK_TIMEOUT)
      return check(r, "vkWaitSemaphores");
    if (timeoutNs == kForever || left > waitSliceNs)
      continue;
    return loseByDeadline(*this, [&] {
      return std::string(what) + " within its deadline of " +
             numberText(static_cast<double>(timeoutNs) * 1e-6) + " ms";
    });
  }
}

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

int64_t VulkanDevice::fact(std::string_view key) const {
  return capabilities.fact(key);
}

Status VulkanDevice::checkRequirement(std::string_view key,
                                      int64_t value) const {
  std::string name(key);
  if (key == "subgroup" || key == "subgroup_size") {
    if (value >= capabilities.minSubgroupSize &&
        value <= capabilities.maxSubgroupSize)
      return Status::ok();
    return unsupported("the program requires subgroups of " +
                       std::to_string(value) + "; this device has " +
                       std::to_string(capabilities.minSubgroupSize) + " to " +
                       std::to_string(capabilities.maxSubgroupSize));
  }
  int64_t have = fact(key);
  if (have >= value)
    return Status::ok();
  if (key == "vulkan" || key == "spirv") {
    auto version = [](int64_t v) {
      return std::to_string(v / 10) + "." + std::to_string(v % 10);
    };
    return unsupported(
        std::string("the program requires ") +
        (key == "vulkan" ? "Vulkan " : "SPIR-V ") + version(value) +
        "; this device has " + version(have));
  }
  if (value == 1)
    return unsupported("the program requires " + name +
                       ", which this device lacks");
  return unsupported("the program requires " + name + " of at least " +
                     std::to_string(value) + "; this device has " +
                     std::to_string(have));
}

//===----------------------------------------------------------------------===//
// Objects
//===----------------------------------------------------------------------===//

Status VulkanDevice::allocate(uint64_t size,
                              std::unique_ptr<DriverBuffer> &result) {
  return memoryPool->allocate(size, result);
}

Status VulkanDevice::checkImport(uint64_t native, uint64_t size) {
  if (Status s = lost())
    return s;
  if (ownsDevice)
    return invalidArgument("a VkBuffer belongs to one VkDevice, and this one is "
                           "the runtime's own; open the device over yours with "
                           "tilewright_device_adopt_vulkan");
  VkMemoryRequirements requirements;
  vk.vkGetBufferMemoryRequirements(device, reinterpret_cast<VkBuffer>(native),
                                   &requirements);
  if (size > requirements.size)
    return invalidArgument("cannot adopt " + std::to_string(size) +
                           " bytes of a VkBuffer with memory of " +
                           std::to_string(requirements.size));
  return Status::ok();
}

Status VulkanDevice::importBuffer(uint64_t native, uint64_t size,
                                  std::unique_ptr<DriverBuffer> &result) {
  if (native == 0)
    return invalidArgument("the VkBuffer to adopt is null");
  Block block;
  block.buffer = reinterpret_cast<VkBuffer>(native);
  block.size = size;
  result = std::make_unique<VulkanBuffer>(nullptr, block, 0, size, 0);
  return Status::ok();
}

Status VulkanDevice::loadModule(const ModuleDesc &desc,
                                std::unique_ptr<DriverModule> &result) {
  return VulkanModule::load(*this, desc, result);
}

Status VulkanDevice::createStream(std::unique_ptr<DriverStream> &result) {
  uint32_t index = nextQueue.fetch_add(1, std::memory_order_relaxed);
  return VulkanStream::create(*this, queues[index % queues.size()], result);
}

Status VulkanDevice::createEvent(bool timing,
                                 std::unique_ptr<DriverEvent> &result) {
  return VulkanEvent::create(*this, timing, result);
}

Status VulkanDevice::createLayout(uint32_t count, VkDescriptorType type,
                                  VkDescriptorSetLayout &result) {
  std::vector<VkDescriptorSetLayoutBinding> bindings(count);
  for (uint32_t i = 0; i < count; ++i) {
    bindings[i].binding = i;
    bindings[i].descriptorType = type;
    bindings[i].descriptorCount = 1;
    bindings[i].stageFlags = VK_SHADER_STAGE_COMPUTE_BIT;
  }
  VkDescriptorSetLayoutCreateInfo info = {
      VK_STRUCTURE_TYPE_DESCRIPTOR_SET_LAYOUT_CREATE_INFO};
  info.bindingCount = count;
  info.pBindings = bindings.data();
  return check(vk.vkCreateDescriptorSetLayout(device, &info, nullptr, &result),
               "vkCreateDescriptorSetLayout");
}

Status VulkanDevice::storageLayout(uint32_t count,
                                   VkDescriptorSetLayout &result) {
  std::lock_guard<std::mutex> lock(layoutMutex);
  auto it = storageLayouts.find(count);
  if (it == storageLayouts.end()) {
    VkDescriptorSetLayout layout;
    if (Status s =
            createLayout(count, VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, layout))
      return s;
    it = storageLayouts.emplace(count, layout).first;
  }
  result = it->second;
  return Status::ok();
}

Status VulkanDevice::uniformLayout(VkDescriptorSetLayout &result) {
  std::lock_guard<std::mutex> lock(layoutMutex);
  if (!uniform) {
    VkDescriptorSetLayout layout;
    if (Status s = createLayout(1, VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER, layout))
      return s;
    uniform = layout;
  }
  result = uniform;
  return Status::ok();
}

} // namespace tilewright::runtime::vulkan
