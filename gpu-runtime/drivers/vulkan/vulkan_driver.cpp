// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The Vulkan driver: finds the loader and lists its devices.
#include "vulkan_device.h"

#include "core/hex.h"
#include "tilewright/tilewright.h"

#include <mutex>

namespace tilewright::runtime {

namespace {

class VulkanDriver final : public Driver {
public:
  explicit VulkanDriver(const DriverOptions &options)
      : driverName(options.name.empty() ? "vulkan" : options.name),
        path(options.libraryPath) {}

  const std::string &name() const override { return driverName; }

  std::vector<DeviceInfo> enumerate() override {
    std::shared_ptr<vulkan::VulkanLibrary> opened;
    std::vector<VkPhysicalDevice> devices;
    Status status = list(opened, devices);
    if (status || devices.empty()) {
      DeviceInfo none;
      none.name = driverName;
      none.available = false;
      none.reason = status ? status.message() : "Vulkan has no devices here";
      return {none};
    }
    std::vector<DeviceInfo> result;
    for (VkPhysicalDevice physical : devices) {
      vulkan::Capabilities caps;
      Status usable = queryCapabilities(*opened, physical, caps);
      DeviceInfo &info = result.emplace_back();
      info.name = driverName + ":" + std::to_string(result.size() - 1);
      info.description = caps.description();
      info.uuid = toHex(caps.uuid.data(), caps.uuid.size());
      info.target = caps.target();
      info.isCpu =
          caps.properties.deviceType == VK_PHYSICAL_DEVICE_TYPE_CPU;
      info.available = usable.isOk();
      info.reason = usable.message();
    }
    return result;
  }

  Status open(uint32_t index, std::unique_ptr<DriverDevice> &result) override {
    std::shared_ptr<vulkan::VulkanLibrary> opened;
    std::vector<VkPhysicalDevice> devices;
    if (Status s = list(opened, devices))
      return s;
    if (index >= devices.size())
      return notFound("there is no device " + driverName + ":" +
                      std::to_string(index) + "; Vulkan has " +
                      std::to_string(devices.size()) + " here");
    return vulkan::VulkanDevice::open(std::move(opened), devices[index],
                                      result)
        .in(driverName + ":" + std::to_string(index));
  }

  Status adoptVulkan(const tilewright_vulkan_device &theirs, DeviceInfo &info,
                     std::unique_ptr<DriverDevice> &result) override {
    std::shared_ptr<vulkan::VulkanLibrary> around;
    if (!theirs.instance)
      return invalidArgument("the VkInstance to adopt is null");
    if (Status s = vulkan::VulkanLibrary::adopt(
            path,
            reinterpret_cast<PFN_vkGetInstanceProcAddr>(
                theirs.get_instance_proc_addr),
            static_cast<VkInstance>(theirs.instance), theirs.api_version,
            around))
      return s;
    size_t index = 0;
    std::unique_ptr<DriverDevice> device;
    if (Status s =
            vulkan::VulkanDevice::adopt(around, theirs, index, device))
      return s;
    const auto &caps = static_cast<vulkan::VulkanDevice &>(*device).caps();
    info.name = driverName + ":" + std::to_string(index);
    info.description = caps.description() + ", the caller's VkDevice";
    info.target = caps.target();
    result = std::move(device);
    return Status::ok();
  }

private:
  Status list(std::shared_ptr<vulkan::VulkanLibrary> &opened,
              std::vector<VkPhysicalDevice> &devices) {
    std::lock_guard<std::mutex> lock(mutex);
    if (library && !library->home.isHere())
      return unavailable("this process is a fork of one that uses Vulkan, which cannot "
                         "be used on both sides of a fork");
    if (!library)
      if (Status s = vulkan::VulkanLibrary::open(path, library))
        return s;
    opened = library;
    return vulkan::listPhysicalDevices(*library, devices);
  }

  std::string driverName, path;
  std::mutex mutex;
  std::shared_ptr<vulkan::VulkanLibrary> library;
};

} // namespace

std::unique_ptr<Driver> createVulkanDriver(const DriverOptions &options) {
  return std::make_unique<VulkanDriver>(options);
}

} // namespace tilewright::runtime
