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

/// A kernel of two blocks of 32 threads around `word` of shared memory; thread 0 of block 0 runs the body, which leaves
/// results in %r0 to %r3.
std::string twoBlocks(const std::string &body, const std::string &end = "barrier.cluster.arrive; barrier.cluster.wait;") {
  return ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) .reqnctapercluster 2 {\n"
         "  .shared .align 8 .b8 word[8];\n  .reg .b32 %r<8>, %rank, %own;\n  .reg .b64 %g<8>, %out;\n"
         "  .reg .pred %me, %first, %p, %q;\n  ld.param.u64 %out, [out];\n  mov.u32 %rank, %cluster_ctarank;\n"
         "  mov.u32 %r0, %tid.x;\n  setp.eq.u32 %first, %r0, 0;\n  setp.eq.and.u32 %me, %rank, 0, %first;\n"
         "  mad.lo.u32 %r1, %rank, 100, 7;\n  @%first st.shared.b32 [word], %r1;\n"
         "  mov.u32 %own, word;\n  barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
         "  @!%me bra END;\n  mov.b32 %r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0;\n" +
         body + "\n  st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};\nEND:\n" + end + "\n  ret;\n}\n";
}

TEST(Cluster, AddressesOfEveryKind) {
  struct {
    const char *body;
    std::vector<uint32_t> expected;
  } cases[] = {
      {"cvta.shared.u64 %g0, word; mapa.u64 %g1, %g0, 1; ld.b32 %r0, [%g1]; getctarank.u64 %r1, %g1;"
       "isspacep.shared::cluster %p, %g1; selp.b32 %r2, 1, 0, %p; isspacep.shared::cta %q, %g1; selp.b32 %r3, 1, 0, %q;",
       {107, 1, 1, 0}},
      {"mapa.shared::cluster.u32 %r4, %own, 0; ld.shared::cluster.b32 %r0, [%r4]; ld.shared::cluster.b32 %r1, [%own];"
       "cvt.u64.u32 %g2, %r4; cvta.shared::cluster.u64 %g0, %g2; isspacep.shared::cta %p, %g0; selp.b32 %r2, 1, 0, %p;"
       "getctarank.shared::cluster.u32 %r3, %own;",
       {7, 7, 1, 0}},
      {"mapa.shared::cluster.u32 %r4, word, 1; atom.relaxed.cluster.shared::cluster.add.u32 %r0, [%r4], 3;"
       "red.relaxed.cluster.shared::cluster.max.u32 [%r4], 500; ld.shared::cluster.b32 %r1, [%r4];"
       "st.shared::cluster.b32 [%r4+4], 9; ld.shared::cluster.b32 %r2, [%r4+4];",
       {107, 500, 9, 0}},
  };
  for (const auto &one : cases)
    for (bool checks : {true, false}) {
      TestDevice device(hopper(1, checks));
      ASSERT_TRUE(device.load(twoBlocks(one.body))) << device.message;
      device.cluster = {2, 1, 1};
      uint64_t out = device.allocate(16);
      ASSERT_TRUE(device.launch("k", {2}, {32}, out)) << one.body << device.report();
      EXPECT_EQ(device.download<uint32_t>(out, 4), one.expected) << one.body;
    }
}

TEST(Cluster, MisuseIsFound) {
  struct {
    std::string text;
    FindingKind expected;
  } cases[] = {
      {twoBlocks("mapa.shared::cluster.u32 %r4, word, 2;"), FindingKind::ClusterMisuse},
      {twoBlocks("mov.b32 %r4, 0x03000400; ld.shared::cluster.b32 %r0, [%r4];"), FindingKind::OutOfBounds},
      {twoBlocks("mapa.shared::cluster.u32 %r4, word, 1; ld.shared::cluster.b32 %r0, [%r4+2000];"), FindingKind::OutOfBounds},
      // The other block may have ended.
      {twoBlocks("mapa.shared::cluster.u32 %r4, word, 1; ld.shared::cluster.b32 %r0, [%r4];", ""), FindingKind::ClusterMisuse},
      {twoBlocks("barrier.cluster.wait;"), FindingKind::BarrierMisuse},
      {twoBlocks("barrier.cluster.arrive; barrier.cluster.arrive;"), FindingKind::BarrierMisuse},
      {twoBlocks("barrier.cluster.arrive.aligned;"), FindingKind::BarrierDivergence},
      // One block waits for ever, the other has gone round twice.
      {twoBlocks("", "setp.eq.u32 %p, %rank, 0;\nLOOP: @%p bra LOOP2; bra OUT;\nLOOP2: bar.sync 1, 64;\nOUT:"),
       FindingKind::Deadlock},
      {twoBlocks("mbarrier.init.shared.b64 [word], 1; mapa.shared::cluster.u32 %r4, word, 1;"
                 "mbarrier.arrive.shared::cluster.b64 _, [%r4];"),
       FindingKind::MbarrierMisuse},
  };
  for (const auto &one : cases)
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      TestDevice device(hopper(seed));
      ASSERT_TRUE(device.load(one.text)) << device.message << one.text;
      device.cluster = {2, 1, 1};
      EXPECT_FALSE(device.launch("k", {2}, {32}, device.allocate(16))) << one.text;
      EXPECT_TRUE(device.found(one.expected)) << one.text << device.report();
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
