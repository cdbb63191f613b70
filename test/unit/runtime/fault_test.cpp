// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Drivers that are missing, old, broken, or fail at any one of their calls: one
// clear status, nothing left behind, and the next run works.

#include "fake_driver.h"

#include "device_program.h"

#include <dlfcn.h>
#include <fstream>

using namespace tilewright::test;

namespace {

// As in drivers/cuda/cuda_api.h and Vulkan's headers.
constexpr int cudaOutOfMemory = 2, cudaNoDevice = 100, cudaLaunchFailed = 719;
constexpr int cudaSystemNotReady = 802;
constexpr int vulkanOutOfMemory = -2, vulkanDeviceLost = -4;
constexpr int vulkanIncompatible = -9;

struct Fake {
  const char *device, *path, *real;
  int outOfMemory, lost;
};
const Fake fakes[] = {{"cuda:0", TEST_FAKE_CUDA, TEST_PTXSIM, cudaOutOfMemory,
                       cudaLaunchFailed},
                      {"vulkan:0", TEST_FAKE_VULKAN, "libvulkan.so.1",
                       vulkanOutOfMemory, vulkanDeviceLost}};

class FaultTest : public testing::Test {
protected:
  void use(const Fake &which) {
    fake = &which;
    void *library = dlopen(which.path, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    driver = static_cast<FakeDriver *>(dlsym(library, "fakeDriver"));
    ASSERT_NE(driver, nullptr);
    driver->reset();
    driver->real = which.real;
  }
  void TearDown() override {
    if (driver)
      driver->reset();
  }
  bool works() {
    Opened opened;
    return opened.open(fake->device, &options()).empty();
  }
  const tilewright_instance_options &options() {
    static tilewright_instance_options chosen;
    bool isCuda = fake == &fakes[0];
    chosen = {isCuda ? fake->path : nullptr, isCuda ? nullptr : fake->path,
              nullptr};
    return chosen;
  }
  /// Opens the device, and the status that gave.
  std::string open() {
    Opened opened;
    return opened.open(fake->device, &options());
  }
  /// A whole run, with its first error; what happened after it is not asked.
  std::string run() {
    Opened opened;
    std::string why = opened.open(fake->device, &options());
    return why.empty() ? opened.check() : why;
  }

  const Fake *fake = nullptr;
  FakeDriver *driver = nullptr;
};

TEST_F(FaultTest, CudaThatIsMissingOldOrBroken) {
  use(fakes[0]);
  if (!works())
    GTEST_SKIP() << open();
  driver->lacks = "cuMemHostAlloc";
  EXPECT_PRED2(contains, open(), "lacks cuMemHostAlloc of CUDA 2.2");
  driver->reset();
  driver->failing = "cuInit", driver->failingWith = cudaNoDevice;
  EXPECT_EQ(open(), "3: device cuda: the CUDA driver finds no device");
  driver->failingWith = cudaSystemNotReady;
  EXPECT_PRED2(contains, open(), "3: device cuda: cuInit failed: CUDA_ERROR_SYSTEM");
  driver->reset();
  driver->devices = 0;
  EXPECT_EQ(open(), "3: device cuda: the CUDA driver finds no device");
  driver->reset();
  driver->failing = "cuDeviceGetCount", driver->failingWith = cudaOutOfMemory;
  EXPECT_PRED2(contains, open(), "cuDeviceGetCount failed");
  driver->reset();
  // Every function by itself: the message names it, and none is a crash.
  for (const char *name : {"cuDriverGetVersion", "cuDeviceGet", "cuDeviceGetName",
                           "cuDeviceGetAttribute", "cuDeviceTotalMem",
                           "cuDevicePrimaryCtxRetain"}) {
    driver->failing = name, driver->failingWith = cudaOutOfMemory;
    std::string why = open();
    if (std::string(name) != "cuDeviceGetName") // a name is not needed
      EXPECT_PRED2(contains, why, name);
    driver->reset();
  }
  // A driver of CUDA 11.4 compiles PTX 7.4 and no later.
  driver->version = 11040;
  Opened old;
  EXPECT_EQ(old.open(fake->device, &options()), "");
  EXPECT_EQ(tilewright_device_fact(old.device, "ptx"), 74);
  old.close();
  driver->reset();
  EXPECT_TRUE(works());
}

TEST_F(FaultTest, LibrariesThatAreNoDrivers) {
  auto open = [](const char *device, const tilewright_instance_options &options) {
    Opened opened;
    return opened.open(device, &options);
  };
  std::string text = testing::TempDir() + "tilewright-no-library.so";
  std::ofstream(text) << "no library";
  for (const char *path : {"/nowhere/libdriver.so", text.c_str()}) {
    tilewright_instance_options options = {path, path, path};
    EXPECT_PRED2(contains, open("cuda", options), "3: device cuda: no CUDA driver");
    EXPECT_PRED2(contains, open("vulkan", options),
                 "3: device vulkan: no Vulkan loader");
    EXPECT_PRED2(contains, open("ptxsim", options),
                 "3: device ptxsim: no PTX simulator");
    EXPECT_PRED2(contains, open("ptxsim", options),
                 "(TILEWRIGHT_PTXSIM_LIBRARY can name another)");
  }
  // A library that is another one.
  tilewright_instance_options crossed = {TEST_FAKE_VULKAN, TEST_FAKE_CUDA,
                                         TEST_FAKE_CUDA};
  EXPECT_PRED2(contains, open("cuda", crossed), "exports no cuGetProcAddress");
  EXPECT_PRED2(contains, open("vulkan", crossed), "is no Vulkan loader");
  EXPECT_PRED2(contains, open("ptxsim", crossed), "is not the PTX simulator");
  // What works is still there, and auto finds it.
  EXPECT_EQ(open("cpu", crossed), "");
  tilewright_instance *instance = nullptr;
  tilewright_device *device = nullptr;
  ASSERT_OK(tilewright_instance_create(&crossed, &instance));
  ASSERT_OK(tilewright_device_open(instance, "auto", &device));
  EXPECT_EQ(std::string(tilewright_device_name(device)), "cpu");
  tilewright_device_release(device);
  tilewright_instance_release(instance);
}

TEST_F(FaultTest, TargetsOfDevicesAreWhatTheCompilerTakes) {
  use(fakes[1]);
  if (!works())
    GTEST_SKIP() << open();
  driver->listsMatrices = true;
  tilewright_instance *instance = nullptr;
  ASSERT_OK(tilewright_instance_create(&options(), &instance));
  size_t count = 0;
  ASSERT_OK(tilewright_instance_devices(instance, 0, nullptr, &count));
  std::vector<tilewright_device_info> infos(count);
  ASSERT_OK(tilewright_instance_devices(instance, count, infos.data(), &count));
  std::string target;
  for (const tilewright_device_info &info : infos)
    if (std::string(info.name) == "vulkan:0")
      target = info.target;
  // Not s8 into u32, nor f32 into f32, which the driver lists as well.
  std::string shapes = "+coopmat=16x16x16:f16:f16+coopmat=16x16x16:f16:f32"
                       "+coopmat=16x16x16:u8:u32+coopmat=16x16x16:u8:s32"
                       "+coopmat=16x16x16:s8:s32";
  EXPECT_EQ(target.substr(std::min(target.find("+coopmat"), target.size())),
            shapes);
  tilewright_instance_release(instance);
}

TEST_F(FaultTest, AutomaticTakesVulkanOnTheCpuLast) {
  tilewright_instance *instance = nullptr;
  ASSERT_OK(tilewright_instance_create(nullptr, &instance));
  size_t count = 0;
  ASSERT_OK(tilewright_instance_devices(instance, 0, nullptr, &count));
  std::vector<tilewright_device_info> infos(count);
  ASSERT_OK(tilewright_instance_devices(instance, count, infos.data(), &count));
  std::string first;
  int32_t cpu = 0, emulated = 0;
  for (const tilewright_device_info &info : infos) {
    std::string name = info.name, description = info.description;
    if (info.automatic == 1)
      first = name;
    if (name == "cpu")
      cpu = info.automatic;
    if (name.rfind("vulkan", 0) == 0 && contains(description, "llvmpipe"))
      emulated = info.automatic;
    if (name.rfind("ptxsim", 0) == 0 || !info.available) {
      EXPECT_EQ(info.automatic, 0) << name;
    }
    if (name == "ptxsim:0") {
      EXPECT_EQ(std::string(info.uuid), "74696c657772696768742f707478736d");
    }
  }
  EXPECT_GT(cpu, 0);
  EXPECT_TRUE(emulated == 0 || emulated > cpu) << emulated << " " << cpu;
  tilewright_device *device = nullptr;
  ASSERT_OK(tilewright_device_open(instance, "auto", &device));
  EXPECT_EQ(std::string(tilewright_device_name(device)), first);
  tilewright_device_release(device);
  tilewright_instance_release(instance);
}

TEST_F(FaultTest, VulkanThatIsMissingOldOrBroken) {
  use(fakes[1]);
  if (!works())
    GTEST_SKIP() << open();
  driver->lacks = "vkCreateInstance";
  EXPECT_PRED2(contains, open(), "lacks vkCreateInstance");
  driver->lacks = "vkGetPhysicalDeviceFeatures2";
  EXPECT_PRED2(contains, open(), "lacks vkGetPhysicalDeviceFeatures2");
  driver->lacks = "vkQueueSubmit";
  EXPECT_PRED2(contains, open(), "lacks vkQueueSubmit");
  driver->reset();
  driver->version = 1 << 22; // 1.0
  EXPECT_PRED2(contains, open(), "the Vulkan loader speaks version 1.0");
  driver->reset();
  driver->failing = "vkCreateInstance", driver->failingWith = vulkanIncompatible;
  EXPECT_PRED2(contains, open(), "the Vulkan loader found no driver");
  driver->reset();
  driver->devices = 0;
  EXPECT_EQ(open(), "3: device vulkan: Vulkan has no devices here");
  driver->reset();
  driver->failing = "vkCreateDevice", driver->failingWith = vulkanOutOfMemory;
  EXPECT_PRED2(contains, open(), "vkCreateDevice failed");
  driver->reset();
  EXPECT_TRUE(works());
}

/// Every call of a whole run fails once: with no memory, and as if the device had
/// been lost. `step` leaves calls out where a run takes long.
void everyCallFails(FakeDriver &driver, const Fake &fake, long step,
                    const std::function<std::string()> &run) {
  ASSERT_EQ(run(), "");
  EXPECT_EQ(driver.leaks(), "");
  long calls = driver.calls;
  ASSERT_GT(calls, 20);
  for (int with : {fake.outOfMemory, fake.lost})
    for (long k = 1; k <= calls; k += step) {
      driver.reset();
      driver.failAt = k, driver.failWith = with, driver.stays = with == fake.lost;
      std::string why = run();
      std::string where = "call " + std::to_string(k) + ", " + driver.failed;
      // A failure that nobody needs to hear of is none.
      if (!why.empty())
        EXPECT_TRUE(why.find("failed") != std::string::npos ||
                    why.find("lost") != std::string::npos ||
                    why.find("no device") != std::string::npos ||
                    why.find("lacks") != std::string::npos)
            << where << ": " << why;
      // Commands that were not submitted cost the device, which keeps what it has.
      bool isLost = driver.failed == "vkEndCommandBuffer" ||
                    driver.failed == "vkQueueSubmit";
      if (with == fake.outOfMemory && !isLost)
        EXPECT_EQ(driver.leaks(), "") << where << ": " << why;
    }
  driver.reset();
  EXPECT_EQ(run(), "");
}

TEST_F(FaultTest, EveryCallOfCudaFails) {
  use(fakes[0]);
  if (!works())
    GTEST_SKIP() << open();
  driver->reset();
  everyCallFails(*driver, *fake, 1, [&] { return run(); });
}

TEST_F(FaultTest, EveryCallOfVulkanFails) {
  use(fakes[1]);
  if (!works())
    GTEST_SKIP() << open();
  driver->reset();
  everyCallFails(*driver, *fake, 1, [&] { return run(); });
}

} // namespace
