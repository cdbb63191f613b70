// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A complete matrix product, programs/gemm.cu: exact on small integers, free of findings, and with bugs planted into its
// PTX, each of which must be found or give a wrong result.

#include "Harness.h"

#include "arithmetic/Half.h"

using namespace tilewright::ptxsim;

namespace {

struct Outcome {
  bool completed = false;
  bool correct = false;
};

Outcome multiply(TestDevice &device, int m, int n, int k) {
  std::vector<uint16_t> a(m * k), b(n * k);
  auto value = [](size_t i) { return static_cast<int>(i * 2654435761u >> 20) % 7 - 3; };
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<uint16_t>(doubleToSmall(value(i), f16Format));
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<uint16_t>(doubleToSmall(value(i + 77), f16Format));
  uint64_t c = device.allocate(size_t(m) * n * 4);
  Outcome outcome;
  outcome.completed = device.launch("gemm", {uint32_t(n / 64), uint32_t(m / 64)}, {128}, device.upload(a),
                                    device.upload(b), c, n, k) &&
                      (!device.options.checks || device.copyOut(c, size_t(m) * n * 4));
  std::vector<float> got = device.download<float>(c, size_t(m) * n);
  outcome.correct = true;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int x = 0; x < k; ++x)
        sum += value(size_t(i) * k + x) * value(size_t(j) * k + x + 77);
      outcome.correct &= got[size_t(i) * n + j] == static_cast<float>(sum);
    }
  return outcome;
}

TEST(Gemm, IsExactOnIntegers) {
  for (bool checks : {true, false})
    for (uint64_t seed : {1, 2, 3}) {
      MachineOptions options = TestDevice::defaults();
      options.checks = checks;
      options.seed = seed;
      TestDevice device(options);
      ASSERT_TRUE(device.load(readTestFile("programs/gemm.ptx"))) << device.message;
      Outcome outcome = multiply(device, 128, 64, 160);
      EXPECT_TRUE(outcome.completed) << device.report();
      EXPECT_TRUE(outcome.correct);
      EXPECT_EQ(device.findings.size(), 0u) << device.report();
    }
}

struct Bug {
  const char *name, *from, *to;
  /// Nothing where only the result is wrong.
  std::vector<FindingKind> expected;
  /// A second place.
  const char *alsoFrom = "", *alsoTo = "";
};

const Bug bugs[] = {
    {"WaitDropped", "cp.async.wait_group 1;", "", {FindingKind::Race, FindingKind::Undefined}},
    {"WaitForOneGroupTooFew", "cp.async.wait_group 1;", "cp.async.wait_group 2;", {FindingKind::Race, FindingKind::Undefined}},
    {"BarrierDropped", "bar.sync \t0;", "", {FindingKind::Race, FindingKind::Undefined}},
    {"BarrierBeforeTheWait", "bar.sync \t0;", "cp.async.wait_group 1;", {FindingKind::Race, FindingKind::Undefined},
     "cp.async.wait_group 1;", "bar.sync 0;"},
    {"SwappedFragmentRegisters", "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r", "ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%r", {}},
    {"CommitDropped", "cp.async.commit_group;", "", {FindingKind::Race, FindingKind::Undefined}},
};

class GemmBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(GemmBugs, AreSeen) {
  const Bug &bug = GetParam();
  std::string text = readTestFile("programs/gemm.ptx");
  size_t at = text.find(bug.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(bug.from).size(), bug.to);
  text.replace(text.find(bug.alsoFrom), std::string(bug.alsoFrom).size(), bug.alsoTo);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    MachineOptions options = TestDevice::defaults();
    options.seed = seed;
    TestDevice device(options);
    ASSERT_TRUE(device.load(text)) << device.message;
    Outcome outcome = multiply(device, 64, 64, 160);
    if (bug.expected.empty() && outcome.completed) {
      EXPECT_FALSE(outcome.correct) << "seed " << seed;
      continue;
    }
    EXPECT_FALSE(outcome.completed) << "seed " << seed;
    bool asExpected = bug.expected.empty();
    for (FindingKind kind : bug.expected)
      asExpected |= device.found(kind);
    EXPECT_TRUE(asExpected) << device.report();
  }
}

void PrintTo(const Bug &bug, std::ostream *stream) { *stream << bug.name; }

INSTANTIATE_TEST_SUITE_P(Planted, GemmBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
