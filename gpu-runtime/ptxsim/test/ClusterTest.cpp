// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clusters: programs/cluster.cu, right and with planted bugs.

#include "Harness.h"

#include <numeric>

using namespace tilewright::ptxsim;

namespace {

MachineOptions hopper(uint64_t seed, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  options.instructionLimit = 2'000'000;
  return options;
}

struct Outcome {
  bool completed = false, correct = false;
};

/// Six blocks in clusters of three; `multicast` goes five rounds.
Outcome run(TestDevice &device, const std::string &kernel) {
  constexpr int blocks = 6, size = 3, rounds = 5;
  device.cluster = {size, 1, 1};
  std::vector<int> in(rounds * 256), expected;
  std::iota(in.begin(), in.end(), 1000);
  uint64_t input = device.upload(in);
  auto next = [](int at) { return at / 64 % size == size - 1 ? at - 64 * (size - 1) : at + 64; };
  auto previous = [](int at) { return at / 64 % size == 0 ? at + 64 * (size - 1) : at - 64; };
  if (kernel == "ring")
    for (int at = 0; at < blocks * 64; ++at)
      expected.push_back(3 * next(at) + 1);
  if (kernel == "multicast")
    for (int i = 0; i < blocks * rounds * 256; ++i)
      expected.push_back(in[i % (rounds * 256)] + i / (rounds * 256) % size);
  if (kernel == "send")
    for (int at = 0; at < blocks * 64; ++at) {
      int from = previous(at), first = from / 64 * 64;
      expected.insert(expected.end(), {7 * from, 5 * from, 64 * first + 63 * 32});
    }
  uint64_t out = device.allocate(expected.size() * 4);
  Outcome outcome;
  outcome.completed = kernel == "multicast" ? device.launch(kernel, {blocks}, {64}, input, out, int(rounds))
                                            : device.launch(kernel, {blocks}, {64}, out);
  if (outcome.completed && device.options.checks)
    outcome.completed = device.copyOut(out, expected.size() * 4);
  outcome.correct = device.download<int>(out, expected.size()) == expected;
  return outcome;
}

TEST(Cluster, KernelsRunRight) {
  for (const char *kernel : {"ring", "multicast", "send"})
    for (uint64_t seed = 1; seed <= 10; ++seed)
      for (bool checks : {true, false}) {
        TestDevice device(hopper(seed, checks));
        ASSERT_TRUE(device.load(readTestFile("programs/cluster.ptx"))) << device.message;
        Outcome outcome = run(device, kernel);
        EXPECT_TRUE(outcome.completed) << kernel << " seed " << seed << device.report();
        EXPECT_TRUE(outcome.correct) << kernel << " seed " << seed;
        EXPECT_EQ(device.findings.size(), 0u) << kernel << " seed " << seed << device.report();
      }
}

TEST(Cluster, Places) {
  TestDevice device(hopper(1));
  ASSERT_TRUE(device.load(readTestFile("programs/cluster.ptx"))) << device.message;
  EXPECT_EQ(device.module->kernel("places")->kernel->requiredCluster[1], 2u);
  device.cluster = {2, 2, 1};
  uint64_t out = device.allocate(12 * 24 * 4);
  ASSERT_TRUE(device.launch("places", {6, 4, 1}, {1}, out)) << device.report();
  std::vector<int> got = device.download<int>(out, 12 * 24);
  for (int y = 0; y < 4; ++y)
    for (int x = 0; x < 6; ++x) {
      std::vector<int> expected = {x % 2, y % 2, x % 2 + y % 2 * 2, 2, 2, 4, x / 2, y / 2, 3, 2, 1, 3};
      auto mine = got.begin() + 12 * (6 * y + x);
      EXPECT_EQ(std::vector<int>(mine, mine + 12), expected);
    }
}

struct Bug {
  const char *name, *kernel, *from;
  int occurrence;
  const char *to;
  std::vector<FindingKind> expected;
};

constexpr FindingKind race = FindingKind::Race, misuse = FindingKind::ClusterMisuse, deadlock = FindingKind::Deadlock,
                      undefined = FindingKind::Undefined, barrier = FindingKind::BarrierMisuse,
                      mbarrier = FindingKind::MbarrierMisuse;

const Bug bugs[] = {
    {"NoMeetingBeforeReading", "ring", "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", 0, "", {race, undefined}},
    {"NoMeetingBeforeTheEnd", "ring", "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", 1, "", {misuse}},
    {"ArrivalRelaxed", "ring", "barrier.cluster.arrive.release.aligned", 0, "barrier.cluster.arrive.relaxed.aligned", {race}},
    {"WaitMissing", "ring", "barrier.cluster.wait.acquire.aligned;", 0, "", {race, barrier}},
    {"ArrivalMissing", "ring", "barrier.cluster.arrive.release.aligned;", 0, "", {barrier}},
    {"RankTooLarge", "ring", "rem.u32", 0, "add.u32", {misuse}},
    {"NotMapped", "ring", "ld.shared::cluster.u32", 0, "ld.shared::cta.u32", {misuse}},
    {"NobodyExpects", "multicast", "mbarrier.arrive.expect_tx.shared::cta.b64 _", 0, "// ", {deadlock}},
    {"RemoteSideExpectsTooMuch", "send", "768", 0, "772", {deadlock}},
    {"RemoteSideExpectsTooLittle", "send", "768", 0, "512", {race, undefined, mbarrier, misuse}},
    {"ConsumersDoNotSayThatTheyAreDone", "multicast", "mbarrier.arrive.release.cluster.shared::cluster.b64 _", 0, "// ", {deadlock}},
    {"ArrivalOfTheOwnBlockOnly", "multicast", "mbarrier.arrive.release.cluster.shared::cluster.b64 _", 0, "mbarrier.arrive.release.cta.shared::cluster.b64 _", {race, misuse}},
    {"ProducerDoesNotWait", "multicast", "@!done bra again;", 0, "", {race, mbarrier, undefined, deadlock}},
    {"ProducerParityFlipped", "multicast", "not.b32", 0, "mov.b32", {race, mbarrier, undefined, deadlock}},
    {"MaskHasABlockTooMany", "multicast", "not.b16", 0, "xor.b16 %rs2, %rs2, 16; not.b16", {misuse}},
    {"MaskLacksABlock", "multicast", "not.b16", 0, "xor.b16 %rs2, %rs2, 2; not.b16", {deadlock}},
    {"NoMeetingAfterInit", "multicast", "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", 0, "bar.sync 0;", {race, mbarrier, FindingKind::ProxyOrder}},
    {"MbarrierOfAnotherBlock", "send", "[%r37], [%r10], %r42, [%r19];", 0, "[%r37], [%r10], %r42, [_ZZ4sendE4full];", {mbarrier}},
};

class ClusterBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(ClusterBugs, AreFound) {
  const Bug &bug = GetParam();
  std::string text = readTestFile("programs/cluster.ptx");
  size_t at = text.find(std::string(".entry ") + bug.kernel) - 1;
  for (int i = 0; i <= bug.occurrence; ++i) {
    at = text.find(bug.from, at + 1);
    ASSERT_NE(at, std::string::npos);
  }
  text.replace(at, std::strlen(bug.from), bug.to);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    TestDevice device(hopper(seed));
    ASSERT_TRUE(device.load(text)) << device.message;
    EXPECT_FALSE(run(device, bug.kernel).completed) << "seed " << seed;
    bool asExpected = false;
    for (FindingKind kind : bug.expected)
      asExpected |= device.found(kind);
    EXPECT_TRUE(asExpected) << "seed " << seed << device.report();
  }
}

void PrintTo(const Bug &bug, std::ostream *stream) { *stream << bug.name; }

INSTANTIATE_TEST_SUITE_P(Planted, ClusterBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
