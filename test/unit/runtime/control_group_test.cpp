// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "drivers/cpu/control_group.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

using namespace tilewright::runtime;

namespace {

/// A machine whose /proc and /sys are files of the test.
class ControlGroupTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/tilewright-cgroup-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
  }
  void TearDown() override { std::filesystem::remove_all(root); }
  void put(const std::string &path, const std::string &text) {
    std::filesystem::path file = root + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  std::string root;
};

TEST_F(ControlGroupTest, NothingLimitsNothing) {
  ControlGroupLimits limits = controlGroupLimits(root);
  EXPECT_EQ(limits.processors, UINT32_MAX);
  EXPECT_EQ(limits.memory, UINT64_MAX);
}

TEST_F(ControlGroupTest, VersionTwoTakesTheLeastOfAGroupAndThoseAround) {
  put("/proc/self/cgroup", "0::/jobs/17\n");
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  put("/sys/fs/cgroup/jobs/cpu.max", "250000 100000\n");
  put("/sys/fs/cgroup/jobs/memory.max", "1000000\n");
  put("/sys/fs/cgroup/jobs/17/cpu.max", "max 100000\n");
  put("/sys/fs/cgroup/jobs/17/memory.max", "4000000\n");
  ControlGroupLimits limits = controlGroupLimits(root);
  EXPECT_EQ(limits.processors, 3u); // of two and a half
  EXPECT_EQ(limits.memory, 1000000u);
}

TEST_F(ControlGroupTest, VersionTwoInAContainer) {
  put("/proc/self/cgroup", "0::/\n");
  put("/sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  put("/sys/fs/cgroup/cpu.max", "20000 100000\n");
  put("/sys/fs/cgroup/memory.max", "max\n");
  ControlGroupLimits limits = controlGroupLimits(root);
  EXPECT_EQ(limits.processors, 1u);
  EXPECT_EQ(limits.memory, UINT64_MAX);
}

TEST_F(ControlGroupTest, VersionOneWithAPathOfTheHost) {
  put("/proc/self/cgroup", "4:memory:/docker/abc\n1:cpu,cpuacct:/docker/abc\n0::/\n");
  put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "123456789\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "50000\n");
  ControlGroupLimits limits = controlGroupLimits(root);
  EXPECT_EQ(limits.processors, 4u);
  EXPECT_EQ(limits.memory, 123456789u);
  put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
  EXPECT_EQ(controlGroupLimits(root).processors, UINT32_MAX);
}

} // namespace
