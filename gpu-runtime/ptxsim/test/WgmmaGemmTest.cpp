// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix product by wgmma, cp.async and mbarriers (programs/wgmma.cu): exact on small integers, within its bound on
// random numbers, and with planted bugs.

#include "Harness.h"
#include "arithmetic/Half.h"

#include <cmath>
#include <functional>
#include <random>

using namespace tilewright::ptxsim;

namespace {

struct Outcome {
  bool completed = false;
  /// The largest error, in units of the sum of absolute products.
  double error = 0;
};

constexpr int m = 128, n = 64, k = 192;

Outcome multiply(TestDevice &device, const std::function<double()> &value) {
  std::vector<double> x(m * k), y(n * k);
  std::vector<uint16_t> a(x.size()), b(y.size());
  auto fill = [&](std::vector<double> &values, std::vector<uint16_t> &halves) {
    for (size_t i = 0; i < values.size(); ++i) {
      halves[i] = static_cast<uint16_t>(doubleToSmall(value(), f16Format));
      values[i] = halfToDouble(halves[i]);
    }
  };
  fill(x, a);
  fill(y, b);
  uint64_t c = device.allocate(m * n * 4);
  Outcome outcome;
  outcome.completed = device.launch("gemm", {n / 64, m / 64}, {128}, device.upload(a), device.upload(b), c, n, k) &&
                      (!device.options.checks || device.copyOut(c, m * n * 4));
  std::vector<float> got = device.download<float>(c, m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0, absolute = 0;
      for (int l = 0; l < k; ++l) {
        sum += x[i * k + l] * y[j * k + l];
        absolute += std::fabs(x[i * k + l] * y[j * k + l]);
      }
      double error = std::fabs(got[i * n + j] - sum);
      outcome.error = std::max(outcome.error, error == 0 ? 0 : error / absolute);
    }
  return outcome;
}

MachineOptions hopper(uint64_t seed, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  return options;
}

std::function<double()> smallIntegers() {
  auto random = std::make_shared<std::mt19937>(5);
  return [random] { return static_cast<double>((*random)() % 7) - 3; };
}

TEST(WgmmaGemm, IsRight) {
  for (bool checks : {true, false})
    for (uint64_t seed : {1, 2, 3}) {
      TestDevice device(hopper(seed, checks));
      ASSERT_TRUE(device.load(readTestFile("programs/wgmma.ptx"))) << device.message;
      Outcome exact = multiply(device, smallIntegers());
      EXPECT_TRUE(exact.completed) << device.report();
      EXPECT_EQ(exact.error, 0);
      std::mt19937 random(9);
      Outcome rounded = multiply(device, [&] { return std::ldexp(static_cast<double>(random()), -31) - 1; });
      EXPECT_TRUE(rounded.completed) << device.report();
      // Each of k/16 instructions rounds once to 24 bits.
      EXPECT_LE(rounded.error, k / 16 * 0x1p-24);
      EXPECT_GT(rounded.error, 0);
    }
}

struct Bug {
  const char *name, *from, *to;
  /// Empty where only the result is wrong.
  std::vector<FindingKind> expected;
};

const Bug bugs[] = {
    {"FenceDropped", "wgmma.fence.sync.aligned;", "", {FindingKind::WgmmaMisuse}},
    {"WaitDropped", "wgmma.wait_group.sync.aligned 0;", "", {FindingKind::WgmmaMisuse, FindingKind::Race}},
    {"StageOverwrittenEarly", "wgmma.wait_group.sync.aligned 0;", "wgmma.wait_group.sync.aligned 1;",
     {FindingKind::WgmmaMisuse, FindingKind::Race}},
    {"CopiesDoNotArrive", "cp.async.mbarrier.arrive.noinc.shared::cta.b64", "mbarrier.arrive.shared::cta.b64 _,",
     {FindingKind::Race, FindingKind::Undefined}},
    {"MbarrierCountTooLarge", ", 128;", ", 129;", {FindingKind::Deadlock}},
    {"WrongElementType", "m64n64k16.f32.f16.f16", "m64n64k16.f32.bf16.bf16", {}},
};

class WgmmaGemmBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(WgmmaGemmBugs, AreSeen) {
  const Bug &bug = GetParam();
  std::string text = readTestFile("programs/wgmma.ptx");
  size_t at = std::string(bug.from) == ", 128;" ? text.find(bug.from, text.find("mbarrier.init")) : text.find(bug.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::strlen(bug.from), bug.to);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    TestDevice device(hopper(seed));
    ASSERT_TRUE(device.load(text)) << device.message;
    Outcome outcome = multiply(device, smallIntegers());
    if (bug.expected.empty()) {
      EXPECT_GT(outcome.error, 0);
      continue;
    }
    EXPECT_FALSE(outcome.completed) << "seed " << seed;
    bool asExpected = false;
    for (FindingKind kind : bug.expected)
      asExpected |= device.found(kind);
    EXPECT_TRUE(asExpected) << "seed " << seed << device.report();
  }
}

void PrintTo(const Bug &bug, std::ostream *stream) { *stream << bug.name; }

INSTANTIATE_TEST_SUITE_P(Planted, WgmmaGemmBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
