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
  void load(const std::string &name) { ASSERT_TRUE(device.load(readTestFile("programs/" + name))) << device.message; }
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

std::vector<int> counting(int n) {
  std::vector<int> values(n);
  for (int i = 0; i < n; ++i)
    values[i] = i * 7 % 101 - 30;
  return values;
}

int total(const std::vector<int> &values) {
  int sum = 0;
  for (int value : values)
    sum += value;
  return sum;
}

TEST_P(Programs, Saxpy) {
  load("classics.ptx");
  std::vector<float> x(1000), y(1000);
  for (int i = 0; i < 1000; ++i) {
    x[i] = static_cast<float>(i);
    y[i] = static_cast<float>(2 * i);
  }
  uint64_t xs = device.upload(x), ys = device.upload(y);
  ASSERT_TRUE(device.launch("saxpy", {4}, {256}, ys, xs, 3.0f, 1000)) << device.report();
  std::vector<float> result = device.download<float>(ys, 1000);
  for (int i = 0; i < 1000; ++i)
    ASSERT_EQ(result[i], 5.0f * static_cast<float>(i));
}

TEST_P(Programs, ReduceSum) {
  load("classics.ptx");
  std::vector<int> in = counting(3000);
  uint64_t input = device.upload(in), out = device.upload(std::vector<int>{0});
  ASSERT_TRUE(device.launch("reduceSum", {3}, {256}, input, out, 3000)) << device.report();
  EXPECT_EQ(device.download<int>(out, 1)[0], total(in));
}

TEST_P(Programs, ReduceTree) {
  load("classics.ptx");
  std::vector<int> in = counting(512);
  uint64_t input = device.upload(in), out = device.allocate(8);
  ASSERT_TRUE(device.launch("reduceTree", {2}, {256}, input, out)) << device.report();
  std::vector<int> sums = device.download<int>(out, 2);
  EXPECT_EQ(sums[0] + sums[1], total(in));
}

TEST_P(Programs, MatmulTiled) {
  load("classics.ptx");
  const int n = 48;
  std::vector<float> a(n * n), b(n * n);
  for (int i = 0; i < n * n; ++i) {
    a[i] = static_cast<float>(i % 5 - 2);
    b[i] = static_cast<float>(i % 7 - 3);
  }
  uint64_t as = device.upload(a), bs = device.upload(b), cs = device.allocate(n * n * 4);
  ASSERT_TRUE(device.launch("matmulTiled", {3, 3}, {16, 16}, as, bs, cs, n)) << device.report();
  std::vector<float> c = device.download<float>(cs, n * n);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k)
        sum += a[i * n + k] * b[k * n + j];
      ASSERT_EQ(c[i * n + j], sum);
    }
}

TEST_P(Programs, PrefixScan) {
  load("classics.ptx");
  std::vector<int> data = counting(256);
  uint64_t buffer = device.upload(data);
  ASSERT_TRUE(device.launch("prefixScan", {1}, {256}, buffer)) << device.report();
  std::vector<int> result = device.download<int>(buffer, 256);
  int sum = 0;
  for (int i = 0; i < 256; ++i)
    ASSERT_EQ(result[i], sum += data[i]);
}

TEST_P(Programs, Histogram) {
  load("classics.ptx");
  std::vector<uint8_t> in(5000);
  std::vector<unsigned> expected(256);
  for (int i = 0; i < 5000; ++i)
    ++expected[in[i] = static_cast<uint8_t>(i * i % 97)];
  uint64_t input = device.upload(in), bins = device.upload(std::vector<unsigned>(256));
  ASSERT_TRUE(device.launch("histogram", {4}, {128}, input, bins, 5000)) << device.report();
  EXPECT_EQ(device.download<unsigned>(bins, 256), expected);
}

TEST_P(Programs, WarpReverse) {
  load("classics.ptx");
  std::vector<int> data = counting(256);
  uint64_t buffer = device.upload(data);
  ASSERT_TRUE(device.launch("warpReverse", {1}, {256}, buffer)) << device.report();
  std::vector<int> result = device.download<int>(buffer, 256);
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(result[i], data[i - i % 32 + 31 - i % 32]);
}

TEST_P(Programs, LastBlockSum) {
  load("classics.ptx");
  std::vector<int> in = counting(20 * 32);
  uint64_t input = device.upload(in), partial = device.allocate(80), out = device.allocate(4);
  ASSERT_TRUE(device.launch("lastBlockSum", {20}, {32}, input, partial, out)) << device.report();
  EXPECT_EQ(device.download<int>(out, 1)[0], total(in));
}

TEST_P(Programs, SpinLock) {
  load("classics.ptx");
  uint64_t lock = device.upload(std::vector<int>{0}), counter = device.upload(std::vector<int>{0});
  ASSERT_TRUE(device.launch("spinLock", {3}, {64}, lock, counter)) << device.report();
  EXPECT_EQ(device.download<int>(counter, 1)[0], 192);
}

TEST_P(Programs, Persistent) {
  load("classics.ptx");
  const int count = 100;
  uint64_t next = device.upload(std::vector<int>{0}), items = device.allocate(count * 4);
  uint64_t barrier = device.upload(std::vector<int>{0}), sum = device.allocate(4);
  ASSERT_TRUE(device.launch("persistent", {8}, {64}, next, items, count, barrier, sum)) << device.report();
  EXPECT_EQ(device.download<int>(sum, 1)[0], 328350);
}

TEST_P(Programs, ProducerConsumer) {
  load("classics.ptx");
  uint64_t out = device.allocate(128 * 4);
  ASSERT_TRUE(device.launch("producerConsumer", {1}, {64}, out)) << device.report();
  std::vector<int> result = device.download<int>(out, 128);
  for (int i = 0; i < 128; ++i)
    EXPECT_EQ(result[i], i / 32 * 100 + i % 32);
}

INSTANTIATE_TEST_SUITE_P(Modes, Programs, ::testing::Values(true, false),
                         [](const auto &info) { return info.param ? "Checked" : "Fast"; });

} // namespace
