// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drivers and device names; see registry.h.

#include "core/registry.h"

#include <climits>
#include <cstdlib>
#include <dlfcn.h>
#include <unistd.h>

namespace tilewright::runtime {

namespace {

std::string orEnvironment(const std::string &given, const char *variable) {
  if (!given.empty())
    return given;
  const char *value = std::getenv(variable);
  return value ? value : "";
}

#ifdef TILEWRIGHT_WITH_CUDA

// Where this code was loaded from: a program, or libtilewright.so.
std::string ownFolder() {
  std::string path;
  char buffer[PATH_MAX];
  Dl_info info;
  if (dladdr(reinterpret_cast<void *>(&ownFolder), &info) && info.dli_fname &&
      realpath(info.dli_fname, buffer))
    path = buffer;
  else if (realpath("/proc/self/exe", buffer))
    path = buffer;
  return path.substr(0, path.rfind('/'));
}

// The simulator is installed beside the runtime, in a folder of its own so that
// nobody takes it for the real libcuda.
std::string findSimulator() {
  std::string folder = ownFolder();
  for (const char *place :
       {"/../lib/ptxsim/libcuda.so.1", "/ptxsim/libcuda.so.1",
        // Installed: seen from bin, and from libtilewright.so.
        "/../" TILEWRIGHT_INSTALL_LIBDIR "/tilewright/ptxsim/libcuda.so.1",
        "/tilewright/ptxsim/libcuda.so.1"})
    if (access((folder + place).c_str(), R_OK) == 0)
      return folder + place;
  return "";
}

#endif // TILEWRIGHT_WITH_CUDA

} // namespace

Instance::Instance(const InstanceOptions &options) {
  (void)options;
#ifdef TILEWRIGHT_WITH_CUDA
  entries.push_back(
      {"cuda",
       "cuda",
       true,
       createCudaDriver,
       {"cuda", orEnvironment(options.cudaLibrary, "TILEWRIGHT_CUDA_LIBRARY")},
       nullptr,
       {}});
#endif
#ifdef TILEWRIGHT_WITH_VULKAN
  entries.push_back({"vulkan",
                     "vulkan",
                     true,
                     createVulkanDriver,
                     {"vulkan", orEnvironment(options.vulkanLibrary,
                                              "TILEWRIGHT_VULKAN_LIBRARY")},
                     nullptr,
                     {}});
#endif
#ifdef TILEWRIGHT_WITH_CPU
  entries.push_back(
      {"cpu", "cpu", true, createCpuDriver, {"cpu", ""}, nullptr, {}});
#endif
#ifdef TILEWRIGHT_WITH_CUDA
  std::string simulator =
      orEnvironment(options.ptxsimLibrary, "TILEWRIGHT_PTXSIM_LIBRARY");
  if (simulator.empty())
    simulator = findSimulator();
  entries.push_back({"ptxsim",
                     "cuda",
                     false,
                     createCudaDriver,
                     {"ptxsim", simulator},
                     nullptr,
                     {}});
#endif
}

static const char *const kNoSimulator =
    "its libcuda.so.1 is not in ../lib/ptxsim beside this program; "
    "TILEWRIGHT_PTXSIM_LIBRARY can name it";

bool Instance::lacksSimulator(const Entry &entry) {
  // Without a library of its own the simulator would be the real driver.
  return entry.name == "ptxsim" && entry.options.libraryPath.empty();
}

void Instance::load(Entry &entry) {
  if (!entry.found.empty())
    return;
  if (lacksSimulator(entry)) {
    entry.found.push_back({"ptxsim", "PTX simulator", false, kNoSimulator});
    return;
  }
  entry.found = entry.get().enumerate();
  if (entry.found.empty())
    entry.found.push_back(
        {entry.name, entry.name, false, "the driver has no devices"});
}

std::vector<std::pair<Instance::Entry *, uint32_t>> Instance::order() {
  // A Vulkan driver on the CPU is many times slower than the driver cpu.
  std::vector<std::pair<Entry *, uint32_t>> result, emulated;
  for (Entry &entry : entries) {
    if (!entry.automatic)
      continue;
    load(entry);
    for (uint32_t i = 0; i < entry.found.size(); ++i)
      if (entry.found[i].available)
        (entry.found[i].isCpu ? emulated : result).push_back({&entry, i});
  }
  result.insert(result.end(), emulated.begin(), emulated.end());
  return result;
}

std::vector<DeviceInfo> Instance::devices() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<DeviceInfo> result;
  for (Entry &entry : entries) {
    load(entry);
    result.insert(result.end(), entry.found.begin(), entry.found.end());
  }
  int32_t place = 0;
  for (auto [entry, index] : order()) {
    ++place;
    for (DeviceInfo &info : result)
      if (info.name == entry->found[index].name)
        info.automatic = place;
  }
  return result;
}

std::vector<std::string> Instance::automatic() {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<std::string> result;
  for (auto [entry, index] : order())
    result.push_back(entry->name + ":" + std::to_string(index));
  return result;
}

Status Instance::openEntry(Entry &entry, uint32_t index,
                           std::shared_ptr<Device> &result) {
  load(entry);
  if (index >= entry.found.size())
    return notFound("device " + entry.name + ":" + std::to_string(index) +
                    (entry.found.empty()       ? ": there is none"
                     : entry.found.size() == 1 ? ": there is only " + entry.found[0].name
                                               : ": the last is " + entry.found.back().name));
  const DeviceInfo &info = entry.found[index];
  if (!info.available)
    return unavailable("device " + info.name + ": " + info.reason);
  std::unique_ptr<DriverDevice> device;
  if (Status s = entry.loaded->open(index, device))
    return std::move(s).in("device " + info.name);
  result = std::make_shared<Device>(shared_from_this(), info, entry.driver,
                                    std::move(device));
  return Status::ok();
}

std::string Instance::names() const {
  std::string text = "auto";
  for (const Entry &entry : entries)
    text += ", " + entry.name;
  return text;
}

Status Instance::adopt(const std::string &driver, const Adopt &adopt,
                       std::shared_ptr<Device> &result) {
  std::lock_guard<std::mutex> lock(mutex);
  for (Entry &entry : entries) {
    if (entry.name != driver)
      continue;
    if (lacksSimulator(entry))
      return unavailable("driver ptxsim: " + std::string(kNoSimulator));
    DeviceInfo info;
    std::unique_ptr<DriverDevice> device;
    if (Status s = adopt(entry.get(), info, device))
      return std::move(s).in("driver " + driver);
    result = std::make_shared<Device>(shared_from_this(), std::move(info),
                                      entry.driver, std::move(device));
    return Status::ok();
  }
  return notFound("driver '" + driver + "': expected one of " + names());
}

Status Instance::open(const std::string &name,
                      std::shared_ptr<Device> &result) {
  if (name == "auto") {
    std::string reasons;
    for (const std::string &candidate : automatic()) {
      Status s = open(candidate, result);
      if (s.isOk())
        return s;
      reasons += "; " + s.message();
    }
    return unavailable("no device can be opened" + reasons);
  }
  std::lock_guard<std::mutex> lock(mutex);
  size_t colon = name.find(':');
  std::string driver = name.substr(0, colon);
  uint32_t index = 0;
  if (colon != std::string::npos) {
    std::string digits = name.substr(colon + 1);
    if (digits.empty() || digits.size() > 4 ||
        digits.find_first_not_of("0123456789") != std::string::npos)
      return invalidArgument("device '" + name +
                             "': expected a number behind the colon");
    index = static_cast<uint32_t>(std::stoul(digits));
  }
  for (Entry &entry : entries) {
    if (entry.name != driver)
      continue;
    return openEntry(entry, index, result);
  }
  return notFound("device '" + name + "': expected one of " + names() +
                  ", and a number behind a colon where there are several");
}

} // namespace tilewright::runtime
