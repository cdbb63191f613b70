// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What kernels take of a device, asked through the C API without a stream.

#include "device_program.h"
#include "fake_driver.h"

#include <dlfcn.h>
#include <map>

using namespace tilewright::test;

namespace {

constexpr int vulkanInitializationFailed = -3;

class ResourcesTest : public testing::Test {
protected:
  /// The device with its program; "" or why not. A stream that cannot be made
  /// is no matter.
  std::string open(const std::string &device,
                   const tilewright_instance_options *options = nullptr) {
    opened.close();
    std::string why = opened.open(device, options);
    if (!opened.device || opened.program)
      return why;
    artifact = deviceArtifact(opened.driver);
    tilewright_program_options chosen = {};
    chosen.without_constants = 1;
    return take(tilewright_program_load(opened.device, artifact.data(),
                                        artifact.size(), &chosen,
                                        &opened.program));
  }
  std::string ask(size_t kernel) {
    found = {};
    return take(
        tilewright_program_kernel_resources(opened.program, kernel, &found));
  }

  Opened opened;
  std::string artifact;
  tilewright_kernel_resources found = {};
};

} // namespace

TEST_F(ResourcesTest, SimulatorSaysWhatPtxDeclares) {
  ASSERT_EQ(open("ptxsim"), "");
  EXPECT_EQ(tilewright_program_kernel_count(opened.program), 5u);
  ASSERT_EQ(ask(2), "");
  EXPECT_STREQ(found.dispatch, "increment");
  EXPECT_STREQ(found.variant, "increment");
  EXPECT_EQ(found.shared_bytes, 0);
  EXPECT_EQ(found.dynamic_shared_bytes, 0);
  EXPECT_GE(found.max_threads, 64);
  EXPECT_EQ(found.registers, -1);
  EXPECT_EQ(found.local_bytes, -1);
  EXPECT_EQ(found.num_statistics, 0u);
  // It has been asked for, and still runs.
  EXPECT_EQ(opened.check(), "");
}

TEST_F(ResourcesTest, ErrorsNameTheKernel) {
  ASSERT_EQ(open("cpu"), "");
  EXPECT_PRED2(contains, ask(0), "this device does not say what its kernels take");
  EXPECT_NE(found.dispatch, nullptr);
  ASSERT_NE(found.variant, nullptr);
  std::string variant = found.variant;
  size_t count = tilewright_program_kernel_count(opened.program);
  EXPECT_PRED2(contains, ask(count),
               "kernel " + std::to_string(count) + " of " + std::to_string(count));
  EXPECT_FAILS(tilewright_program_kernel_resources(opened.program, 0, nullptr),
               "argument 'resources' is null");
  EXPECT_FAILS(tilewright_program_kernel_resources(nullptr, 0, &found),
               "argument 'program' is null");
  EXPECT_EQ(tilewright_program_kernel_count(nullptr), 0u);
  EXPECT_STREQ(tilewright_program_kernel_variant(opened.program, 0), variant.c_str());
  EXPECT_EQ(tilewright_program_kernel_variant(opened.program, count), nullptr);
  EXPECT_EQ(tilewright_program_kernel_variant(nullptr, 0), nullptr);
}

// Of two variants the guard of the first asks for a fact that no device has.
TEST_F(ResourcesTest, KernelsForOtherDevicesHaveACodeOfTheirOwn) {
  ASSERT_EQ(open("ptxsim"), "");
  for (size_t kernel = 0; kernel < tilewright_program_kernel_count(opened.program); ++kernel) {
    tilewright_status *status =
        tilewright_program_kernel_resources(opened.program, kernel, &found);
    bool isNever = std::string(found.variant) == "never";
    EXPECT_EQ(tilewright_status_code(status), isNever ? TILEWRIGHT_GUARD_FALSE : TILEWRIGHT_OK)
        << found.variant;
    if (isNever)
      EXPECT_PRED2(contains, tilewright_status_message(status), "its guard is false");
    tilewright_status_release(status);
  }
}

TEST_F(ResourcesTest, WithoutConstantsNothingIsCalled) {
  ASSERT_EQ(open("ptxsim"), "");
  tilewright_program_options chosen = {};
  chosen.without_constants = 1;
  std::string bytes = deviceArtifact("cuda");
  tilewright_program_release(opened.program);
  ASSERT_OK(tilewright_program_load(opened.device, bytes.data(), bytes.size(),
                                    &chosen, &opened.program));
  EXPECT_EQ(ask(2), "");
  EXPECT_PRED2(contains, opened.run("inplace"),
               "function 'inplace': the program was loaded without its constants");
}

TEST_F(ResourcesTest, VulkanHandsOnWhatItsDriverSays) {
  void *library = dlopen(TEST_FAKE_VULKAN, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto *driver = static_cast<FakeDriver *>(dlsym(library, "fakeDriver"));
  ASSERT_NE(driver, nullptr);
  driver->reset();
  driver->real = "libvulkan.so.1";
  tilewright_instance_options options = {nullptr, TEST_FAKE_VULKAN, nullptr};
  if (std::string why = open("vulkan:0", &options); !why.empty())
    GTEST_SKIP() << why;
  // lavapipe lacks the extension.
  if (std::string why = ask(2); !why.empty())
    EXPECT_PRED2(contains, why, "lacks VK_KHR_pipeline_executable_properties");

  // Nothing of this needs a stream.
  opened.close();
  driver->reset();
  driver->saysResources = true;
  driver->failing = "vkCreateSemaphore";
  driver->failingWith = vulkanInitializationFailed;
  ASSERT_EQ(open("vulkan:0", &options), "");
  EXPECT_EQ(opened.stream, nullptr);
  ASSERT_EQ(ask(2), "");
  EXPECT_STREQ(found.variant, "increment");
  EXPECT_EQ(found.registers, 96);
  EXPECT_EQ(found.scalar_registers, 128);
  EXPECT_EQ(found.shared_bytes, 512);
  EXPECT_EQ(found.code_bytes, 11184);
  // 256 bytes of a subgroup of 32.
  EXPECT_EQ(found.local_bytes, 8);
  EXPECT_EQ(found.max_threads, -1);
  std::map<std::string, double> all;
  for (size_t i = 0; i < found.num_statistics; ++i)
    all[found.statistics[i].name] = found.statistics[i].value;
  EXPECT_EQ(all.size(), 8u);
  EXPECT_EQ(all["Instructions"], 1521);
  EXPECT_EQ(all["Loops"], -3);
  EXPECT_EQ(all["Share"], 0.5);
  EXPECT_STREQ(found.statistics[0].description, "of the fake");
  // What was said once stays, whatever the driver says now.
  const tilewright_statistic *first = found.statistics;
  driver->failing = "vkGetPipelineExecutableStatisticsKHR";
  EXPECT_EQ(ask(2), "");
  EXPECT_EQ(found.statistics, first);
  EXPECT_PRED2(contains, ask(1), "vkGetPipelineExecutableStatisticsKHR failed");
  opened.close();
  EXPECT_EQ(driver->leaks(), "");
  driver->reset();
}
