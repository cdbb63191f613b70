// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cpu driver: this machine as one device. Blocks run on a thread pool,
// kernels are functions of the host program, memory is host memory.

#include "control_group.h"
#include "cpu_features.h"
#include "cpu_stream.h"

#include <algorithm>
#include <cstdlib>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

namespace tilewright::runtime {

namespace {

constexpr uint64_t kAlignment = 256;
constexpr uint64_t kHugePage = 2 << 20;

// Of this machine, or what the process's control group allows of it.
uint64_t usableMemory() {
  static const uint64_t bytes =
      std::min(uint64_t(sysconf(_SC_PHYS_PAGES)) * uint64_t(sysconf(_SC_PAGESIZE)),
               controlGroupLimits().memory);
  return bytes;
}

// The processors this process may run on, as many as it may have the time of;
// TILEWRIGHT_CPU_THREADS overrides. 0, with a reason: what it says is no number of
// threads.
unsigned threadCount(std::string &reason) {
  if (const char *text = std::getenv("TILEWRIGHT_CPU_THREADS"); text && *text) {
    char *end;
    long count = std::strtol(text, &end, 10);
    if (*end == 0 && count >= 1 && count <= 4096)
      return static_cast<unsigned>(count);
    reason = "TILEWRIGHT_CPU_THREADS is '" + std::string(text) +
             "'; expected a number from 1 to 4096";
    return 0;
  }
  unsigned quota = controlGroupLimits().processors;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
    return std::min(static_cast<unsigned>(CPU_COUNT(&set)), quota);
  return std::min(std::max(1u, std::thread::hardware_concurrency()), quota);
}

class CpuDevice : public DriverDevice {
public:
  explicit CpuDevice(std::shared_ptr<CpuDeviceState> state)
      : state(std::move(state)) {}

  int64_t fact(std::string_view key) const override {
    if (key == "multiprocessors")
      return state->threads;
    if (key == "subgroup_size")
      return 1;
    if (key == "memory")
      return static_cast<int64_t>(usableMemory());
    if (key == "max_grid_x" || key == "max_grid_y" || key == "max_grid_z")
      return INT32_MAX;
    if (key.substr(0, 8) == "x86-64-v" && key.size() == 9)
      return cpuLevel() > 0 && key[8] >= '1' && key[8] <= '0' + cpuLevel();
#if defined(__aarch64__)
    if (key == "aarch64")
      return 1;
#endif
    if (key == "sve_bits")
      return sveBits();
    if (key.substr(0, 8) == "feature:")
      return hasCpuFeature(key.substr(8));
    return 0;
  }

  Status checkRequirement(std::string_view key, int64_t value) const override {
    if (fact(key) >= value)
      return Status::ok();
    std::string name(key);
    if (key.substr(0, 8) == "feature:")
      name = "the processor feature " + name.substr(8);
    else if (key.substr(0, 8) == "x86-64-v")
      name = "a processor of level " + name;
    else if (key == "aarch64")
      name = "an AArch64 processor";
    else if (key == "sve_bits")
      name = "SVE vectors of " + std::to_string(value) + " bits";
    else
      name += " " + std::to_string(value);
    // Tile registers are the kernel's to give.
    std::string who = key.substr(0, 12) == "feature:amx-" ? ", or its operating system," : "";
    return unsupported("the program requires " + name + ", which " + cpuName() + who +
                       (key == "aarch64" ? " is not" : " lacks"));
  }

  Status lost() const override { return state->check(); }
  void lose(const std::string &reason) override { state->lose(reason); }

  Status allocate(uint64_t size,
                  std::unique_ptr<DriverBuffer> &result) override {
    if (Status s = state->check())
      return s;
    // Linux promises more than it has and kills later: refuse what cannot be.
    if (size > usableMemory())
      return outOfMemory("no room for " + std::to_string(size) +
                         " bytes; this process may have " +
                         std::to_string(usableMemory()));
    uint64_t alignment = size >= 2 * kHugePage ? kHugePage : kAlignment;
    uint64_t rounded = (size + alignment - 1) / alignment * alignment;
    std::shared_ptr<char> memory(
        static_cast<char *>(std::aligned_alloc(alignment, rounded)), std::free);
    if (!memory)
      return outOfMemory("no room for " + std::to_string(size) + " bytes");
    if (alignment == kHugePage)
      madvise(memory.get(), rounded, MADV_HUGEPAGE);
    result = std::make_unique<CpuBuffer>(std::move(memory), rounded);
    return Status::ok();
  }

  Status checkImport(uint64_t, uint64_t) override { return state->check(); }
  Status importBuffer(uint64_t native, uint64_t size,
                      std::unique_ptr<DriverBuffer> &result) override {
    std::shared_ptr<char> memory(reinterpret_cast<char *>(native),
                                 [](char *) {}); // the caller's
    result = std::make_unique<CpuBuffer>(std::move(memory), size);
    return Status::ok();
  }

  Status loadModule(const ModuleDesc &desc,
                    std::unique_ptr<DriverModule> &result) override {
    if (desc.kind != ModuleKind::Native ||
        desc.nativeKernels.size() != desc.kernels.size())
      return unsupported("the cpu runs functions of the host program only");
    auto module = std::make_unique<CpuModule>();
    for (tw_cpu_kernel function : desc.nativeKernels) {
      module->kernels.push_back(std::make_shared<CpuModule::Kernel>());
      module->kernels.back()->function = function;
      module->kernels.back()->code = desc.nativeCode;
    }
    result = std::move(module);
    return Status::ok();
  }

  Status createStream(std::unique_ptr<DriverStream> &result) override {
    if (Status s = state->check())
      return s;
    return CpuStream::create(state, result);
  }

  Status createEvent(bool, std::unique_ptr<DriverEvent> &result) override {
    result = std::make_unique<CpuEvent>(state);
    return Status::ok();
  }

private:
  std::shared_ptr<CpuDeviceState> state;
};

class CpuDriver : public Driver {
public:
  explicit CpuDriver(const DriverOptions &options)
      : driverName(options.name.empty() ? "cpu" : options.name) {
    state = std::make_shared<CpuDeviceState>();
    state->threads = threadCount(reason);
    if (state->threads)
      state->pool = ThreadPool::create(state->threads);
  }

  const std::string &name() const override { return driverName; }

  std::vector<DeviceInfo> enumerate() override {
    DeviceInfo info;
    info.name = driverName;
    info.available = state->pool != nullptr;
    if (!info.available)
      info.reason = reason.empty() ? "its threads cannot be created" : reason;
    info.description = cpuName();
    if (cpuLevel() > 0)
      info.description += ", x86-64-v" + std::to_string(cpuLevel());
    info.description += ", " + std::to_string(state->threads) +
                        (state->threads == 1 ? " thread" : " threads");
    if (state->pool)
      info.description += std::string(" (") + state->pool->name() + ")";
    return {info};
  }

  Status open(uint32_t, std::unique_ptr<DriverDevice> &result) override {
    // Devices share the pool, but not the fate: one that is lost stays lost
    // alone, and the next gets threads of its own.
    if (state->lost) {
      auto fresh = std::make_shared<CpuDeviceState>();
      fresh->threads = state->threads;
      fresh->pool = ThreadPool::create(fresh->threads);
      if (!fresh->pool)
        return outOfMemory("its threads cannot be created");
      state = fresh;
    }
    result = std::make_unique<CpuDevice>(state);
    return Status::ok();
  }

private:
  std::string driverName;
  std::string reason; // why it has no threads
  std::shared_ptr<CpuDeviceState> state;
};

} // namespace

std::unique_ptr<Driver> createCpuDriver(const DriverOptions &options) {
  return std::make_unique<CpuDriver>(options);
}

} // namespace tilewright::runtime
