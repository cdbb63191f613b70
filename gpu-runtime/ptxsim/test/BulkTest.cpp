// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers and bulk copies: programs/bulk.cu, right and with planted bugs, and the rules of mbarriers one by one.

#include "Harness.h"

#include <numeric>

using namespace tilewright::ptxsim;

namespace {

MachineOptions hopper(uint64_t seed, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  // Bugs that make threads wait for ever are found as such; this is a way out should they not be.
  options.instructionLimit = 2'000'000;
  return options;
}

/// Whether the pipeline ran to its end, found nothing, and gave the right values.
bool runPipeline(TestDevice &device, int tiles, bool &correct) {
  std::vector<int> in(2 * tiles * 256);
  std::iota(in.begin(), in.end(), 0);
  uint64_t out = device.allocate(in.size() * 4);
  bool ok = device.launch("pipeline", {2}, {256}, device.upload(in), out, tiles) &&
            (!device.options.checks || device.copyOut(out, in.size() * 4));
  std::vector<int> got = device.download<int>(out, in.size());
  correct = true;
  for (size_t i = 0; i < in.size(); ++i)
    correct &= got[i] == 3 * in[i] + 1;
  return ok;
}

TEST(Bulk, Pipeline) {
  for (bool checks : {true, false})
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      TestDevice device(hopper(seed, checks));
      ASSERT_TRUE(device.load(readTestFile("programs/bulk.ptx"))) << device.message;
      bool correct = false;
      EXPECT_TRUE(runPipeline(device, 5, correct)) << device.report();
      EXPECT_TRUE(correct);
      EXPECT_EQ(device.findings.size(), 0u) << device.report();
    }
}

TEST(Bulk, ArriveWhenCopiesAreDone) {
  for (bool checks : {true, false})
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      TestDevice device(hopper(seed, checks));
      ASSERT_TRUE(device.load(readTestFile("programs/bulk.ptx"))) << device.message;
      std::vector<int> in(384);
      std::iota(in.begin(), in.end(), 0);
      uint64_t out = device.allocate(in.size() * 4);
      EXPECT_TRUE(device.launch("copyThenArrive", {1}, {128}, device.upload(in), out)) << device.report();
      for (int &value : in)
        ++value;
      EXPECT_EQ(device.download<int>(out, in.size()), in);
      EXPECT_EQ(device.findings.size(), 0u) << device.report();
    }
}

struct Bug {
  const char *name, *from;
  int occurrence;
  const char *to;
  std::vector<FindingKind> expected;
};

const Bug bugs[] = {
    {"WaitDropped", "@!done bra again;", 0, "", {FindingKind::Race, FindingKind::Undefined}},
    {"WrongParity", "mbarrier.try_wait.parity.shared::cta.b64 done, [%r30], %r31;", 0,
     "xor.b32 %r31, %r31, 1; mbarrier.try_wait.parity.shared::cta.b64 done, [%r30], %r31; xor.b32 %r31, %r31, 1;",
     {FindingKind::Race, FindingKind::Undefined, FindingKind::Deadlock, FindingKind::MbarrierMisuse}},
    {"ExpectDropped", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], %r13;", 0, "",
     {FindingKind::Deadlock}},
    {"ExpectsTooMuch", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], %r13;", 0,
     "add.u32 %r13, %r13, 16; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], %r13; sub.u32 %r13, %r13, 16;",
     {FindingKind::Deadlock}},
    {"ExpectsNothing", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r10], %r13;", 0,
     "mbarrier.arrive.shared::cta.b64 _, [%r10];", {FindingKind::Race, FindingKind::Undefined, FindingKind::Deadlock}},
    {"InitDropped", "mbarrier.init.shared::cta.b64 [%r8], 1;", 0, "", {FindingKind::MbarrierMisuse}},
    {"BarrierAfterInitDropped", "bar.sync \t0;", 0, "", {FindingKind::Race, FindingKind::MbarrierMisuse}},
    {"BarrierBeforeOverwritingDropped", "bar.sync \t0;", 1, "", {FindingKind::Race}},
    {"BarrierBeforeSendingDropped", "bar.sync \t0;", 2, "", {FindingKind::Race, FindingKind::Undefined}},
    {"WaitForTheSourceDropped", "cp.async.bulk.wait_group.read 0;", 0, "", {FindingKind::Race}},
    {"TwoArrivals", "mbarrier.init.shared::cta.b64 [%r8], 1;", 0, "mbarrier.init.shared::cta.b64 [%r8], 2;",
     {FindingKind::Deadlock}},
    {"ProxyFenceDropped", "fence.proxy.async.shared::cta;", 0, "", {FindingKind::ProxyOrder}},
    {"MisalignedSlot", "mov.u32 \t%r13, 1024;", 0, "mov.u32 \t%r13, 1020;", {FindingKind::Misaligned}},
};

class BulkBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(BulkBugs, AreFound) {
  const Bug &bug = GetParam();
  std::string text = readTestFile("programs/bulk.ptx");
  size_t at = text.find(bug.from);
  for (int i = 0; i < bug.occurrence && at != std::string::npos; ++i)
    at = text.find(bug.from, at + 1);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(bug.from).size(), bug.to);
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    TestDevice device(hopper(seed));
    ASSERT_TRUE(device.load(text)) << device.message;
    bool correct = false;
    EXPECT_FALSE(runPipeline(device, 5, correct)) << "seed " << seed;
    bool asExpected = false;
    for (FindingKind kind : bug.expected)
      asExpected |= device.found(kind);
    EXPECT_TRUE(asExpected) << "seed " << seed << ": " << device.report();
  }
}

void PrintTo(const Bug &bug, std::ostream *stream) { *stream << bug.name; }

INSTANTIATE_TEST_SUITE_P(Planted, BulkBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

/// Two copies by one thread, each with an mbarrier of its own: who waits for the second may not read the first.
TEST(Bulk, ACopySaysNothingOfAnother) {
  const std::string wait = "AGAIN0: mbarrier.try_wait.parity.shared::cta.b64 %p, [%first], 0; @!%p bra AGAIN0;";
  const std::string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out) {
  .reg .b32 %t, %v, %a, %first, %second;
  .reg .b64 %in, %out, %o;
  .reg .pred %p, %q;
  .shared .align 16 .b8 data[256];
  .shared .align 8 .b8 bars[16];
  ld.param.u64 %in, [in];
  ld.param.u64 %out, [out];
  mov.u32 %t, %tid.x;
  mov.u32 %first, bars;
  add.u32 %second, %first, 8;
  mov.u32 %a, data;
  setp.ne.u32 %q, %t, 0;
  @%q bra SHARE;
  mbarrier.init.shared::cta.b64 [%first], 1;
  mbarrier.init.shared::cta.b64 [%second], 1;
  fence.mbarrier_init.release.cluster;
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%first], 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a], [%in], 128, [%first];
  mbarrier.arrive.expect_tx.shared::cta.b64 _, [%second], 128;
  cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%a + 128], [%in + 128], 128, [%second];
SHARE:
  bar.sync 0;
  )" + wait + R"(
AGAIN1:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%second], 0;
  @!%p bra AGAIN1;
  shl.b32 %v, %t, 2;
  add.u32 %a, %a, %v;
  cvt.u64.u32 %o, %v;
  add.u64 %out, %out, %o;
  ld.shared.u32 %v, [%a];
  st.global.u32 [%out], %v;
  ret;
}
)";
  for (bool waits : {true, false})
    for (uint64_t seed = 1; seed <= 8; ++seed) {
      std::string kernel = text;
      if (!waits)
        kernel.erase(kernel.find(wait), wait.size());
      TestDevice device(hopper(seed));
      ASSERT_TRUE(device.load(kernel)) << device.message;
      std::vector<int> in(64, 7);
      uint64_t out = device.allocate(128);
      EXPECT_EQ(device.launch("k", {1}, {32}, device.upload(in), out), waits) << "seed " << seed << device.report();
      EXPECT_EQ(device.found(FindingKind::Race) || device.found(FindingKind::Undefined), !waits)
          << "seed " << seed << device.report();
    }
}

TEST(Bulk, AMissingFenceAfterInitIsAWarning) {
  std::string text = readTestFile("programs/bulk.ptx");
  const std::string fence = "fence.mbarrier_init.release.cluster;";
  text.replace(text.find(fence), fence.size(), "");
  TestDevice device(hopper(1));
  ASSERT_TRUE(device.load(text)) << device.message;
  bool correct = false;
  EXPECT_TRUE(runPipeline(device, 5, correct)) << device.report();
  EXPECT_TRUE(correct);
  EXPECT_TRUE(device.found(FindingKind::ProxyOrder)) << device.report();
}

/// One thread, one barrier with a count of 2; the words stored are what test_wait said, and pending counts.
const char *const rules = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry rules(.param .u64 out) {
  .shared .align 8 .b64 bar;
  .reg .b32 %r<16>, %a;
  .reg .b64 %rd<8>;
  .reg .pred %p<8>;
  ld.param.u64 %rd1, [out];
  mov.u32 %a, bar;
  mbarrier.init.shared.b64 [%a], 2;
  mbarrier.test_wait.parity.shared.b64 %p1, [%a], 0;
  mbarrier.test_wait.parity.shared.b64 %p2, [%a], 1;
  mbarrier.arrive.shared.b64 %rd2, [%a];
  mbarrier.pending_count.b64 %r1, %rd2;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%a], 64;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%a], 64;
  mbarrier.test_wait.shared.b64 %p3, [%a], %rd2;
  mbarrier.arrive.shared.b64 %rd3, [%a];
  mbarrier.pending_count.b64 %r2, %rd3;
  mbarrier.test_wait.shared.b64 %p4, [%a], %rd2;
  mbarrier.test_wait.parity.shared.b64 %p5, [%a], 0;
  mbarrier.arrive_drop.shared.b64 %rd4, [%a];
  mbarrier.arrive.shared.b64 %rd4, [%a];
  mbarrier.arrive.shared.b64 %rd4, [%a];
  mbarrier.pending_count.b64 %r3, %rd4;
  mbarrier.test_wait.parity.shared.b64 %p6, [%a], 0;
  mbarrier.inval.shared.b64 [%a];
  selp.u32 %r4, 1, 0, %p1;
  selp.u32 %r5, 1, 0, %p2;
  selp.u32 %r6, 1, 0, %p3;
  selp.u32 %r7, 1, 0, %p4;
  selp.u32 %r8, 1, 0, %p5;
  selp.u32 %r9, 1, 0, %p6;
  st.global.v4.u32 [%rd1], {%r1, %r2, %r3, %r4};
  st.global.v4.u32 [%rd1+16], {%r5, %r6, %r7, %r8};
  st.global.u32 [%rd1+32], %r9;
  ret;
}
)";

TEST(Bulk, RulesOfMbarriers) {
  TestDevice device(hopper(1));
  ASSERT_TRUE(device.load(rules)) << device.message;
  uint64_t out = device.allocate(36);
  ASSERT_TRUE(device.launch("rules", {1}, {1}, out)) << device.report();
  // Pending counts before the first, the second arrival, and before the one after the drop (one thread is expected then);
  // phase 0 incomplete; the phase before it complete; incomplete after one of two arrivals; complete after both, by
  // state and by parity; after two more phases the parity of the first looks incomplete, then complete again.
  EXPECT_EQ(device.download<uint32_t>(out, 9), (std::vector<uint32_t>{2, 1, 1, 0, 1, 0, 1, 1, 1}));
  EXPECT_EQ(device.findings.size(), 0u) << device.report();
}

} // namespace
