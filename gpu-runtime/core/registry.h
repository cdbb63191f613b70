// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The drivers of this build, and devices by name.
//
//   cuda      NVIDIA GPUs, through libcuda.so.1
//   vulkan    every Vulkan device, through libvulkan.so.1
//   cpu       this machine
//   ptxsim    the PTX simulator: driver cuda on the simulator's own libcuda
//
// A driver is looked for when a device of it is first asked for, so that a
// program on cpu never touches the GPU drivers.
#ifndef TILEWRIGHT_CORE_REGISTRY_H
#define TILEWRIGHT_CORE_REGISTRY_H

#include "core/device.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::runtime {

/// Shared libraries to use instead of the usual ones; empty: the environment
/// variable, then the usual place.
struct InstanceOptions {
  std::string cudaLibrary;   // TILEWRIGHT_CUDA_LIBRARY
  std::string vulkanLibrary; // TILEWRIGHT_VULKAN_LIBRARY
  std::string ptxsimLibrary; // TILEWRIGHT_PTXSIM_LIBRARY
};

/// Thread-safe.
class Instance : public std::enable_shared_from_this<Instance> {
public:
  explicit Instance(const InstanceOptions &options);

  /// Every device of every driver, and drivers that have none, with reasons.
  std::vector<DeviceInfo> devices();
  /// "auto" (the first of cuda, vulkan on a GPU, cpu, vulkan on the CPU that
  /// opens), "cuda", "cuda:1", …
  Status open(const std::string &name, std::shared_ptr<Device> &result);
  /// A device over what the caller has: `adopt` makes it with the driver.
  using Adopt = std::function<Status(Driver &, DeviceInfo &,
                                     std::unique_ptr<DriverDevice> &)>;
  Status adopt(const std::string &driver, const Adopt &adopt,
               std::shared_ptr<Device> &result);
  /// Names that "auto" goes through, of the devices that are there.
  std::vector<std::string> automatic();

private:
  struct Entry {
    std::string name;   // in device names
    std::string driver; // in manifests
    bool automatic;     // whether "auto" considers it
    std::unique_ptr<Driver> (*create)(const DriverOptions &);
    DriverOptions options;
    std::unique_ptr<Driver> loaded;
    std::vector<DeviceInfo> found;
    Driver &get() {
      if (!loaded)
        loaded = create(options);
      return *loaded;
    }
  };
  static bool lacksSimulator(const Entry &entry);
  void load(Entry &entry);
  /// The available devices that "auto" goes through.
  std::vector<std::pair<Entry *, uint32_t>> order();
  Status openEntry(Entry &entry, uint32_t index,
                   std::shared_ptr<Device> &result);
  std::string names() const;

  std::mutex mutex;
  std::vector<Entry> entries;
};

} // namespace tilewright::runtime

#endif // TILEWRIGHT_CORE_REGISTRY_H
