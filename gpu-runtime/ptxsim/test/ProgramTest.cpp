// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA C++ programs as nvcc compiled them (programs/*.cu and the .ptx beside each), run with checks and without.

#include "Harness.h"

using namespace tilewright::ptxsim;

namespace {

/// Every program runs with checks, and in speed mode; findings are failures.
class Programs : public ::testing::TestWithParam<bool> {
protected:
  Programs() : device(options()) {}
  MachineOptions options() {
    MachineOptions result = TestDevice::defaults();
    result.checks = GetParam();
    return result;
  }
  void load(const std::string &name) {
    ASSERT_TRUE(device.load(readTestFile("programs/" + name))) << device.message;
  }
  void TearDown() override { EXPECT_EQ(device.report(), ""); }
  TestDevice device;
};

TEST_P(Programs, Recursion) {
  load("basics.ptx");
  uint64_t out = device.allocate(32 * 4);
  ASSERT_TRUE(device.launch("fibonacciPerThread", {1}, {8}, out, 3));
  EXPECT_EQ(device.download<int>(out, 8), (std::vector<int>{2, 3, 5, 8, 13, 21, 34, 55}));
}

TEST_P(Programs, WeightedSum) {
  load("basics.ptx");
  std::vector<float> in(1000);
  float expected = 0;
  for (int i = 0; i < 1000; ++i) {
    in[i] = static_cast<float>(i % 7);
    expected += in[i] * static_cast<float>(i % 4 + 1);
  }
  uint64_t input = device.upload(in), out = device.upload(std::vector<float>{0});
  ASSERT_TRUE(device.launch("weightedSum", {3}, {128}, input, out, 1000)) << device.report();
  EXPECT_EQ(device.download<float>(out, 1)[0], expected);
}

TEST_P(Programs, Switches) {
  load("basics.ptx");
  std::vector<int> data(32);
  for (int i = 0; i < 32; ++i)
    data[i] = i % 7;
  uint64_t buffer = device.upload(data);
  device.dynamicShared = 128;
  ASSERT_TRUE(device.launch("switches", {1}, {32}, buffer, 21)) << device.report();
  std::vector<int> result = device.download<int>(buffer, 32);
  const int expected[7] = {105, 8, 42, 22, 5, 3, 6};
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(result[i], expected[(i ^ 1) % 7]) << i;
}

TEST_P(Programs, IndirectCalls) {
  load("basics.ptx");
  uint64_t out = device.allocate(32 * 4);
  ASSERT_TRUE(device.launch("indirectCalls", {1}, {32}, out)) << device.report();
  std::vector<int> result = device.download<int>(out, 32);
  for (int i = 0; i < 32; ++i)
    EXPECT_EQ(result[i], i & 1 ? i * 3 : i + 3);
}

INSTANTIATE_TEST_SUITE_P(Modes, Programs, ::testing::Values(true, false),
                         [](const auto &info) { return info.param ? "Checked" : "Fast"; });

} // namespace
