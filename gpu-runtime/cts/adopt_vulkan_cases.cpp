// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A caller's Vulkan: instance, device, queue and buffers made here through the
// loader, as another program would.
#include "api.h"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#define VK_NO_PROTOTYPES
#include <vulkan/vulkan_core.h>

namespace tilewright::cts {

namespace {

/// A VkDevice with what kernels of this suite need, a queue, a mapped buffer.
struct Theirs {
  PFN_vkGetInstanceProcAddr entry = nullptr;
  VkInstance instance = VK_NULL_HANDLE;
  VkPhysicalDevice physical = VK_NULL_HANDLE;
  VkDevice device = VK_NULL_HANDLE;
  VkBuffer buffer = VK_NULL_HANDLE;
  VkDeviceMemory memory = VK_NULL_HANDLE;
  uint32_t *mapped = nullptr;
  int locked = 0, submissions = 0;

  // What the device is made with.
  float priority = 1;
  VkDeviceQueueCreateInfo queues = {VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO};
  VkPhysicalDeviceVulkan12Features features12 = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_VULKAN_1_2_FEATURES};
  VkPhysicalDeviceFeatures2 features = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2};
  VkDeviceCreateInfo info = {VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO};

  template <typename Function> Function find(const char *name) const {
    return reinterpret_cast<Function>(entry(instance, name));
  }
#define TW_THEIRS(NAME) find<PFN_##NAME>(#NAME)

  Status create(const std::string &name) {
    const char *set = std::getenv("TILEWRIGHT_VULKAN_LIBRARY");
    void *library =
        dlopen(set && *set ? set : "libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library)
      entry = reinterpret_cast<PFN_vkGetInstanceProcAddr>(
          dlsym(library, "vkGetInstanceProcAddr"));
    if (!entry)
      return unavailable("no Vulkan loader");
    VkApplicationInfo application = {VK_STRUCTURE_TYPE_APPLICATION_INFO};
    application.apiVersion = VK_API_VERSION_1_2;
    VkInstanceCreateInfo instanceInfo = {
        VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO};
    instanceInfo.pApplicationInfo = &application;
    if (TW_THEIRS(vkCreateInstance)(&instanceInfo, nullptr, &instance))
      return internalError("vkCreateInstance");
    // The device under test: the only one, or the one of its kind in order.
    std::vector<VkPhysicalDevice> all(16);
    uint32_t count = 16;
    TW_THEIRS(vkEnumeratePhysicalDevices)(instance, &count, all.data());
    if (count != 1 || name != "vulkan:0")
      return unavailable("the test looks at machines with one Vulkan device");
    physical = all[0];
    return createDevice();
  }

  Status createDevice() {
    features12.timelineSemaphore = VK_TRUE;
    features12.vulkanMemoryModel = VK_TRUE;
    features.pNext = &features12;
    features.features.shaderInt64 = VK_TRUE;
    queues.queueCount = 1;
    queues.pQueuePriorities = &priority;
    info.pNext = &features;
    info.queueCreateInfoCount = 1;
    info.pQueueCreateInfos = &queues;
    if (TW_THEIRS(vkCreateDevice)(physical, &info, nullptr, &device))
      return internalError("vkCreateDevice");
    return createBuffer();
  }

  Status createBuffer() {
    VkBufferCreateInfo bufferInfo = {VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO};
    bufferInfo.size = 512;
    bufferInfo.usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT |
                       VK_BUFFER_USAGE_TRANSFER_DST_BIT |
                       VK_BUFFER_USAGE_STORAGE_BUFFER_BIT;
    TW_THEIRS(vkCreateBuffer)(device, &bufferInfo, nullptr, &buffer);
    VkMemoryRequirements needs;
    TW_THEIRS(vkGetBufferMemoryRequirements)(device, buffer, &needs);
    VkPhysicalDeviceMemoryProperties types;
    TW_THEIRS(vkGetPhysicalDeviceMemoryProperties)(physical, &types);
    constexpr VkMemoryPropertyFlags wanted =
        VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT |
        VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    VkMemoryAllocateInfo allocation = {VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO};
    allocation.allocationSize = needs.size;
    while (!(needs.memoryTypeBits >> allocation.memoryTypeIndex & 1) ||
           (types.memoryTypes[allocation.memoryTypeIndex].propertyFlags &
            wanted) != wanted)
      if (++allocation.memoryTypeIndex == types.memoryTypeCount)
        return internalError("no memory type that the host sees");
    TW_THEIRS(vkAllocateMemory)(device, &allocation, nullptr, &memory);
    TW_THEIRS(vkBindBufferMemory)(device, buffer, memory, 0);
    void *address = nullptr;
    if (TW_THEIRS(vkMapMemory)(device, memory, 0, 512, 0, &address))
      return internalError("vkMapMemory");
    mapped = static_cast<uint32_t *>(address);
    return Status::ok();
  }

  tilewright_vulkan_device describe() {
    tilewright_vulkan_device result = {};
    result.get_instance_proc_addr = reinterpret_cast<void *>(entry);
    result.instance = instance;
    result.api_version = VK_API_VERSION_1_2;
    result.physical_device = physical;
    result.device = device;
    result.create_info = &info;
    result.lock_queue = [](void *user) {
      ++static_cast<Theirs *>(user)->locked;
    };
    result.unlock_queue = [](void *user) {
      --static_cast<Theirs *>(user)->locked;
      ++static_cast<Theirs *>(user)->submissions;
    };
    result.user = this;
    return result;
  }

  ~Theirs() {
    if (device) {
      TW_THEIRS(vkDestroyBuffer)(device, buffer, nullptr);
      TW_THEIRS(vkFreeMemory)(device, memory, nullptr);
      TW_THEIRS(vkDestroyDevice)(device, nullptr);
    }
    if (instance)
      TW_THEIRS(vkDestroyInstance)(instance, nullptr);
  }
};

#define TW_VULKAN_OF(THEIRS)                                                   \
  Theirs THEIRS;                                                               \
  if (Status status = THEIRS.create(context.name());                           \
      status.code() == StatusCode::Unavailable)                                \
    return context.skip(status.message());                                     \
  else                                                                         \
    TW_OK(status)

void deviceAndBuffer(Context &context) {
  TW_VULKAN_OF(theirs);
  InstanceHandle instance;
  DeviceHandle device;
  StreamHandle stream;
  BufferHandle buffer, own;
  TW_API_OK(tilewright_instance_create(nullptr, instance.out()));
  tilewright_vulkan_device with = theirs.describe();
  TW_API_OK(tilewright_device_adopt_vulkan(instance, &with, device.out()));
  // Only what was enabled is there, though the device has more.
  TW_CHECK(tilewright_device_fact(device, "feature:shaderInt64") == 1 &&
               tilewright_device_fact(device, "feature:timelineSemaphore") == 1,
           "enabled features are facts");
  TW_CHECK(tilewright_device_fact(device, "feature:shaderFloat64") == 0 &&
               tilewright_device_fact(device, "feature:shaderInt8") == 0,
           "others are not");
  TW_CHECK(tilewright_device_fact(device, "vulkan") == 12, "version 1.2");
  TW_API_OK(tilewright_stream_create(device, stream.out()));
  auto native = reinterpret_cast<uintptr_t>(theirs.buffer);
  TW_API_OK(tilewright_buffer_import(device, native, 512, buffer.out()));
  for (int i = 0; i < 128; ++i)
    theirs.mapped[i] = 5;
  TW_OK(increment(context, device, stream, buffer, 2));
  TW_CHECK(theirs.mapped[0] == 17 && theirs.mapped[63] == 17 &&
               theirs.mapped[64] == 5,
           std::to_string(theirs.mapped[0]));
  TW_CHECK(theirs.locked == 0 && theirs.submissions > 0,
           "submissions happen under the caller's lock");
  // What the runtime allocates can be found by the caller.
  ViewHandle view;
  int64_t dims[] = {64};
  TW_API_OK(tilewright_view_allocate(device, TW_I32, 1, dims, view.out()));
  uint64_t handle = 0, offset = 1;
  TW_API_OK(tilewright_view_native(view, &handle, &offset));
  TW_CHECK(handle != 0 && offset % 16 == 0, "a VkBuffer and a place in it");
  stream.reset();
  buffer.reset();
  view.reset();
  device.reset();
  instance.reset();
  TW_CHECK(theirs.mapped[3] == 17, "the buffer outlives the adoption");
  // And so do the device and the instance: they are used by ~Theirs.
}

void refuses(Context &context) {
  TW_VULKAN_OF(theirs);
  InstanceHandle instance;
  DeviceHandle device, own;
  BufferHandle buffer;
  constexpr auto invalid = StatusCode::InvalidArgument;
  TW_API_OK(tilewright_instance_create(nullptr, instance.out()));
  const tilewright_vulkan_device good = theirs.describe();
  auto adopt = [&](auto change) {
    tilewright_vulkan_device with = good;
    change(with);
    return take(tilewright_device_adopt_vulkan(instance, &with, device.out()));
  };
  using D = tilewright_vulkan_device;
  TW_FAILS(adopt([](D &d) { d.instance = nullptr; }), invalid);
  TW_FAILS(adopt([](D &d) { d.physical_device = nullptr; }), invalid);
  TW_FAILS(adopt([](D &d) { d.device = nullptr; }), invalid);
  TW_FAILS(adopt([](D &d) { d.create_info = nullptr; }), invalid);
  TW_FAILS(adopt([](D &d) { d.unlock_queue = nullptr; }), invalid);
  TW_FAILS(adopt([](D &d) { d.queue_index = 1; }), invalid);
  TW_FAILS(adopt([](D &d) { d.queue_family = 77; }), invalid);
  TW_FAILS(adopt([](D &d) { d.api_version = 0; }), StatusCode::Unavailable);
  int other = 0;
  TW_FAILS(adopt([&](D &d) { d.physical_device = &other; }), invalid);
  VkDeviceCreateInfo info = theirs.info;
  auto asMadeWith = [&](D &d) { d.create_info = &info; };
  info.pNext = nullptr;
  TW_FAILS(adopt(asMadeWith), StatusCode::Unsupported); // timelineSemaphore
  info = theirs.info;
  info.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO;
  TW_FAILS(adopt(asMadeWith), invalid);
  info = theirs.info;
  const char *unknown = "VK_TW_no_such_extension";
  info.enabledExtensionCount = 1;
  info.ppEnabledExtensionNames = &unknown;
  TW_FAILS(adopt(asMadeWith), invalid);
  // A feature whose extension is not enabled.
  info = theirs.info;
  VkPhysicalDeviceShaderAtomicFloatFeaturesEXT atomics = {
      VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_SHADER_ATOMIC_FLOAT_FEATURES_EXT,
      const_cast<void *>(theirs.info.pNext)};
  atomics.shaderBufferFloat32Atomics = VK_TRUE;
  info.pNext = &atomics;
  TW_FAILS(adopt(asMadeWith), invalid);

  auto native = reinterpret_cast<uintptr_t>(theirs.buffer);
  TW_OK(adopt([](D &) {}));
  TW_API_FAILS(tilewright_buffer_import(device, native, 1 << 20, buffer.out()),
               invalid);
  TW_API_FAILS(tilewright_buffer_import(device, 0, 512, buffer.out()), invalid);
  // A device of the runtime's own cannot have buffers of another.
  TW_API_OK(tilewright_device_open(instance, "vulkan:0", own.out()));
  TW_API_FAILS(tilewright_buffer_import(own, native, 512, buffer.out()),
               invalid);
}

void dlpack(Context &context) {
  TW_VULKAN_OF(theirs);
  InstanceHandle instance;
  DeviceHandle device;
  StreamHandle stream;
  ViewHandle view;
  TW_API_OK(tilewright_instance_create(nullptr, instance.out()));
  tilewright_vulkan_device with = theirs.describe();
  TW_API_OK(tilewright_device_adopt_vulkan(instance, &with, device.out()));
  TW_API_OK(tilewright_stream_create(device, stream.out()));
  int64_t shape[] = {4};
  int deleted = 0;
  DLManagedTensor tensor = {};
  tensor.dl_tensor.data = theirs.buffer;
  tensor.dl_tensor.device = {kDLVulkan, 0};
  tensor.dl_tensor.ndim = 1;
  tensor.dl_tensor.dtype = {kDLInt, 32, 1};
  tensor.dl_tensor.shape = shape;
  tensor.dl_tensor.byte_offset = 256;
  tensor.manager_ctx = &deleted;
  tensor.deleter = [](DLManagedTensor *self) {
    ++*static_cast<int *>(self->manager_ctx);
  };
  TW_API_OK(tilewright_view_from_dlpack(device, &tensor, 0, view.out()));
  theirs.mapped[64] = 41;
  int32_t out[4] = {};
  TW_API_OK(tilewright_view_read(view, stream, 16, out));
  TW_API_OK(tilewright_stream_synchronize(stream, kForever));
  TW_CHECK(out[0] == 41, std::to_string(out[0]));
  view.reset();
  TW_CHECK(deleted == 1, "the deleter was called once");
}

} // namespace

std::vector<Case> adoptVulkanCases() {
  return {{"adopt.vulkan_device", deviceAndBuffer, false, OnVulkan},
          {"adopt.vulkan_refuses", refuses, false, OnVulkan},
          {"adopt.vulkan_dlpack", dlpack, false, OnVulkan}};
}

} // namespace tilewright::cts
