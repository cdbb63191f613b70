// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarrier, cp.async.mbarrier.arrive, fences between proxies, griddepcontrol, elect, setmaxnreg: what they do, what
// is refused, and bugs planted into kernels that use them.

#include "Harness.h"

using namespace tilewright::ptxsim;

namespace {

MachineOptions hopper(uint64_t seed = 1, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  return options;
}

struct Outcome {
  bool completed = false;
  bool correct = false;
};

/// Launches a kernel of programs/mbarrier.ptx.
Outcome run(TestDevice &device, const std::string &kernel) {
  Outcome outcome;
  constexpr int rows = 9;
  std::vector<int> in(rows * 32);
  for (size_t i = 0; i < in.size(); ++i)
    in[i] = static_cast<int>(i * i % 101);
  std::vector<int> expected(kernel == "pipeline" ? 32 : 64);
  uint64_t input = device.upload(in), out = device.allocate(expected.size() * 4);
  if (kernel == "pipeline") {
    for (int i = 0; i < rows * 32; ++i)
      expected[31 - i % 32] += in[i];
    outcome.completed = device.launch(kernel, {1}, {64}, input, out, rows);
  } else if (kernel == "copies") {
    for (int i = 0; i < 64; ++i)
      expected[i] = in[i ^ 33];
    outcome.completed = device.launch(kernel, {1}, {64}, input, out);
  } else {
    for (int i = 0; i < 64; ++i)
      expected[i] = i ^ 33;
    outcome.completed = device.launch(kernel, {1}, {64}, out);
  }
  if (outcome.completed && device.options.checks)
    outcome.completed = device.copyOut(out, expected.size() * 4);
  outcome.correct = device.download<int>(out, expected.size()) == expected;
  return outcome;
}

TEST(Mbarrier, KernelsRunRight) {
  for (const char *kernel : {"pipeline", "copies", "transactions"})
    for (uint64_t seed = 1; seed <= 12; ++seed)
      for (bool checks : {true, false}) {
        TestDevice device(hopper(seed, checks));
        ASSERT_TRUE(device.load(readTestFile("programs/mbarrier.ptx"))) << device.message;
        Outcome outcome = run(device, kernel);
        EXPECT_TRUE(outcome.completed) << kernel << " seed " << seed << device.report();
        EXPECT_TRUE(outcome.correct) << kernel << " seed " << seed;
      }
}

struct Bug {
  const char *name, *kernel, *from, *to;
  std::vector<FindingKind> expected;
};

constexpr FindingKind race = FindingKind::Race, undefined = FindingKind::Undefined, deadlock = FindingKind::Deadlock,
                      misuse = FindingKind::MbarrierMisuse;

const Bug bugs[] = {
    {"ConsumerParityFlipped", "pipeline", "CONSUME:\n  and.b32 %parity, %i, 1;", "CONSUME:\n  and.b32 %parity, %i, 1; xor.b32 %parity, %parity, 1;", {race, undefined, deadlock}},
    {"ProducerParityFlipped", "pipeline", "xor.b32 %parity, %parity, 1;", "", {deadlock}},
    {"ParityNeverChanges", "pipeline", "CONSUME:\n  and.b32 %parity, %i, 1;", "CONSUME:\n  mov.b32 %parity, 0;", {race, deadlock, misuse}},
    {"EmptyArrivalMissing", "pipeline", "mbarrier.arrive.shared::cta.b64 _, [empty];", "", {deadlock}},
    {"ConsumerDoesNotWait", "pipeline", "@!%q bra WAIT_FULL;", "", {race, undefined}},
    {"ProducerDoesNotWait", "pipeline", "@!%q bra WAIT_EMPTY;", "", {race, misuse}},
    {"CountTooSmall", "pipeline", "[full], 32;", "[full], 31;", {race, misuse}},
    {"CountTooLarge", "pipeline", "[full], 32;", "[full], 33;", {deadlock}},
    {"NotInitialised", "pipeline", "mbarrier.init.shared::cta.b64 [full], 32;", "", {misuse}},
    {"InitialisationNotOrdered", "pipeline", "bar.sync 0;", "", {race, misuse}},
    {"ArrivalBeforeTheData", "pipeline", "st.shared.u32 [%slot], %value;\n  mbarrier.arrive.shared::cta.b64 _, [full];", "mbarrier.arrive.shared::cta.b64 _, [full];\n  st.shared.u32 [%slot], %value;", {race, undefined}},
    {"ArrivalRelaxed", "pipeline", "mbarrier.arrive.shared::cta.b64 _, [full];", "mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [full];", {race}},
    {"WaitRelaxed", "pipeline", "mbarrier.try_wait.parity.shared::cta.b64 %q, [full]", "mbarrier.try_wait.parity.relaxed.cta.shared::cta.b64 %q, [full]", {race}},
    {"Overwritten", "pipeline", "mov.u32 %i, 0;", "mov.u32 %i, 0; .reg .b64 %z; mov.b64 %z, 5; @!%p st.shared.b64 [full], %z;", {misuse, race}},
    {"CopyWithoutArrival", "copies", "cp.async.mbarrier.arrive.noinc.shared.b64 [done];", "", {deadlock}},
    {"ArrivalBeforeTheCopy", "copies", "cp.async.ca.shared.global [%slot], [%in], 4;\n  cp.async.mbarrier.arrive.noinc.shared.b64 [done];", "cp.async.mbarrier.arrive.noinc.shared.b64 [done];\n  cp.async.ca.shared.global [%slot], [%in], 4;", {race, undefined}},
    {"NoWaitForTheCopies", "copies", "@!%q bra WAIT;", "", {race, undefined}},
    {"ArrivalCountedTwice", "copies", "[done], 128;", "[done], 64;", {race, undefined, misuse, deadlock}},
    {"ExpectTxMissing", "transactions", "@!%p mbarrier.expect_tx.relaxed.cta.shared.b64 [done], 128;", "", {deadlock, race, misuse}},
    {"TooManyBytesExpected", "transactions", "[done], 128;", "[done], 132;", {deadlock}},
};

class MbarrierBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(MbarrierBugs, AreFound) {
  const Bug &bug = GetParam();
  std::string text = readTestFile("programs/mbarrier.ptx");
  size_t at = text.find(bug.from, text.find(std::string(".entry ") + bug.kernel));
  ASSERT_NE(at, std::string::npos);
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

INSTANTIATE_TEST_SUITE_P(Planted, MbarrierBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

/// A kernel of one warp around an mbarrier; the body leaves results in %r0 to %r3 and lane 0 stores them.
std::string oneWarp(const std::string &body, const std::string &version = "8.6", const std::string &target = "sm_90") {
  return ".version " + version + "\n.target " + target +
         "\n.address_size 64\n.visible .entry k(.param .u64 out) {\n  .shared .align 8 .b8 bar[64];\n"
         "  .reg .b32 %r<8>, %lane;\n  .reg .b64 %s<8>, %out;\n  .reg .pred %p, %q, %first;\n"
         "  ld.param.u64 %out, [out];\n  mov.u32 %lane, %laneid;\n  setp.eq.u32 %first, %lane, 0;\n"
         "  mov.b32 %r0, 0; mov.b32 %r1, 0; mov.b32 %r2, 0; mov.b32 %r3, 0;\n" +
         body +
         "\n  @%first st.global.v4.b32 [%out], {%r0, %r1, %r2, %r3};\n  ret;\n}\n";
}

std::vector<uint32_t> results(const std::string &body) {
  TestDevice device(hopper());
  EXPECT_TRUE(device.load(oneWarp(body))) << device.message;
  if (!device.module)
    return {};
  uint64_t out = device.allocate(16);
  EXPECT_TRUE(device.launch("k", {1}, {32}, out)) << body << device.report();
  return device.download<uint32_t>(out, 4);
}

using Values = std::vector<uint32_t>;

/// Though the lane that has initialised it was the last to use it.
TEST(Mbarrier, EachUseIsOrderedWithTheInit) {
  for (const char *order : {"", "bar.warp.sync -1;\n"})
    for (uint64_t seed = 1; seed <= 4; ++seed) {
      TestDevice device(hopper(seed));
      ASSERT_TRUE(device.load(oneWarp("@!%first bra REST; mbarrier.init.shared.b64 [bar], 1;\nREST:\n" + std::string(order) +
                                      "@!%first bra WAIT; mbarrier.arrive.shared.b64 _, [bar];\nWAIT:\n"
                                      "mbarrier.try_wait.parity.shared.b64 %p, [bar], 0; @!%p bra WAIT;\n")))
          << device.message;
      EXPECT_EQ(device.launch("k", {1}, {32}, device.allocate(16)), *order != 0) << device.report();
      EXPECT_EQ(device.found(FindingKind::Race), *order == 0) << device.report();
    }
}

TEST(Mbarrier, PhasesStatesAndCounts) {
  // Alone, lane 0 goes through two phases; the parity of the phase before the first is 1.
  EXPECT_EQ(results("@!%first bra END; mbarrier.init.shared.b64 [bar], 2;\n"
                    "mbarrier.test_wait.parity.shared.b64 %p, [bar], 1; selp.b32 %r0, 1, 0, %p;\n"
                    "mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.b32 %r1, 1, 0, %p;\n"
                    "mbarrier.arrive.shared.b64 %s0, [bar], 2;\n"
                    "mbarrier.test_wait.parity.shared.b64 %p, [bar], 0; selp.b32 %r2, 1, 0, %p;\n"
                    "mbarrier.test_wait.shared.b64 %p, [bar], %s0; selp.b32 %r3, 1, 0, %p;\nEND:"),
            (Values{1, 0, 1, 1}));
  // The state has the pending count before the arrival; noComplete leaves one over.
  EXPECT_EQ(results("@!%first bra END; mbarrier.init.shared.b64 [bar], 5;\n"
                    "mbarrier.arrive.noComplete.shared.b64 %s0, [bar], 4; mbarrier.pending_count.b64 %r0, %s0;\n"
                    "mbarrier.arrive.shared.b64 %s1, [bar]; mbarrier.pending_count.b64 %r1, %s1;\n"
                    "mbarrier.arrive.shared.b64 %s2, [bar]; mbarrier.pending_count.b64 %r2, %s2;\n"
                    "mbarrier.test_wait.shared.b64 %p, [bar], %s2; selp.b32 %r3, 1, 0, %p;\nEND:"),
            (Values{5, 1, 5, 0}));
  // One that drops out is not expected in the next phase.
  EXPECT_EQ(results("@!%first bra END; mbarrier.init.shared.b64 [bar+8], 2;\n"
                    "mbarrier.arrive_drop.shared.b64 %s0, [bar+8]; mbarrier.arrive.shared.b64 %s1, [bar+8];\n"
                    "mbarrier.arrive.shared.b64 %s2, [bar+8]; mbarrier.pending_count.b64 %r0, %s2;\n"
                    "mbarrier.test_wait.shared.b64 %p, [bar+8], %s2; selp.b32 %r1, 1, 0, %p;\n"
                    "mbarrier.inval.shared.b64 [bar+8]; mbarrier.init.shared.b64 [bar+8], 7;\n"
                    "mbarrier.arrive.shared.b64 %s2, [bar+8]; mbarrier.pending_count.b64 %r2, %s2;\nEND:"),
            (Values{1, 1, 7, 0}));
  // Bytes may arrive before they are announced; the phase ends when both counts are zero.
  EXPECT_EQ(results("@!%first bra END; mbarrier.init.shared.b64 [bar], 1;\n"
                    "mbarrier.complete_tx.shared.b64 [bar], 16;\n"
                    "mbarrier.arrive.expect_tx.shared.b64 %s0, [bar], 48;\n"
                    "mbarrier.test_wait.shared.b64 %p, [bar], %s0; selp.b32 %r0, 1, 0, %p;\n"
                    "mbarrier.complete_tx.shared.b64 [bar], 32;\n"
                    "mbarrier.test_wait.shared.b64 %p, [bar], %s0; selp.b32 %r1, 1, 0, %p;\nEND:"),
            (Values{0, 1, 0, 0}));
  // By generic address, and by cp.async.mbarrier.arrive without .noinc, which changes no count in the end.
  EXPECT_EQ(results("@!%first bra END; mov.u32 %r4, bar; cvt.u64.u32 %s4, %r4; cvta.shared.u64 %s4, %s4;\n"
                    "mbarrier.init.b64 [%s4], 1; cp.async.mbarrier.arrive.b64 [%s4];\n"
                    "mbarrier.arrive.b64 %s0, [%s4];\nW: mbarrier.test_wait.b64 %p, [%s4], %s0;\n"
                    "@!%p bra W; mov.b32 %r0, 1;\n"
                    "fence.mbarrier_init.release.cluster; fence.proxy.async; fence.proxy.async.shared::cta;\n"
                    "fence.proxy.alias; griddepcontrol.wait; griddepcontrol.launch_dependents;\nEND:"),
            (Values{1, 0, 0, 0}));
}

TEST(Mbarrier, MisuseIsFound) {
  const char *const wrong[] = {
      "@%first mbarrier.init.shared.b64 [bar], 0;",
      "mov.b32 %r4, 1048576; @%first mbarrier.init.shared.b64 [bar], %r4;",
      "@%first mbarrier.init.shared.b64 [bar], 1; @%first mbarrier.init.shared.b64 [bar], 1;",
      "@%first mbarrier.arrive.shared.b64 %s0, [bar];",
      "@%first mbarrier.init.shared.b64 [bar], 1; @%first mbarrier.arrive.shared.b64 %s0, [bar], 2;",
      "@%first mbarrier.init.shared.b64 [bar], 2; @%first mbarrier.arrive.noComplete.shared.b64 %s0, [bar], 2;",
      "@%first mbarrier.init.shared.b64 [bar], 2; @%first mbarrier.inval.shared.b64 [bar];\n"
      "@%first mbarrier.arrive.shared.b64 %s0, [bar];",
      "@%first mbarrier.init.shared.b64 [bar], 2; @%first mbarrier.test_wait.parity.shared.b64 %p, [bar], 2;",
      "@!%first bra END; mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.shared.b64 %s0, [bar];\n"
      "mbarrier.arrive.shared.b64 %s1, [bar]; mbarrier.test_wait.shared.b64 %p, [bar], %s0;\nEND:",
      "@!%first bra END; mbarrier.init.shared.b64 [bar], 1; mbarrier.expect_tx.shared.b64 [bar], 1048575;\n"
      "mbarrier.expect_tx.shared.b64 [bar], 1;\nEND:",
  };
  for (const char *body : wrong) {
    TestDevice device(hopper());
    ASSERT_TRUE(device.load(oneWarp(body))) << body << device.message;
    EXPECT_FALSE(device.launch("k", {1}, {32}, device.allocate(16))) << body;
    EXPECT_TRUE(device.found(FindingKind::MbarrierMisuse)) << body << device.report();
  }
  TestDevice device(hopper());
  ASSERT_TRUE(device.load(oneWarp("@%first mbarrier.init.shared.b64 [bar+4], 1;")));
  EXPECT_FALSE(device.launch("k", {1}, {32}, device.allocate(16)));
  EXPECT_TRUE(device.found(FindingKind::Misaligned)) << device.report();
  ASSERT_TRUE(device.load(oneWarp("@%first mbarrier.init.shared.b64 [bar], %r7;")));
  EXPECT_FALSE(device.launch("k", {1}, {32}, device.allocate(16)));
  EXPECT_TRUE(device.found(FindingKind::Undefined)) << device.report();
}

TEST(Mbarrier, WaitsFailSpuriouslyBySeed) {
  // try_wait of a complete phase: it fails sometimes; test_wait never does.
  for (const char *name : {"try_wait", "test_wait"}) {
    int failures = 0;
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      TestDevice device(hopper(seed));
      ASSERT_TRUE(device.load(oneWarp("@!%first bra END; mbarrier.init.shared.b64 [bar], 1;\nmbarrier." +
                                      std::string(name) +
                                      ".parity.shared.b64 %p, [bar], 1; selp.b32 %r0, 0, 1, %p;\nEND:")));
      uint64_t out = device.allocate(16);
      ASSERT_TRUE(device.launch("k", {1}, {32}, out)) << device.report();
      failures += static_cast<int>(device.download<uint32_t>(out, 1)[0]);
    }
    EXPECT_EQ(failures > 0, std::string(name) == "try_wait") << failures;
    EXPECT_LT(failures, 20);
  }
}

TEST(Mbarrier, Gates) {
  struct Refusal {
    const char *version, *target, *body, *message;
  };
  const Refusal refusals[] = {
      {"6.5", "sm_80", "mbarrier.init.shared.b64 [bar], 1;", "needs PTX 7.0"},
      {"7.0", "sm_75", "mbarrier.init.shared.b64 [bar], 1;", "needs sm_80"},
      {"7.8", "sm_80", "mbarrier.arrive.shared.b64 %s0, [bar], 2;", "needs sm_90"},
      {"7.0", "sm_80", "mbarrier.arrive.shared.b64 _, [bar];", "needs PTX 7.8"},
      {"7.8", "sm_90", "mbarrier.arrive.expect_tx.shared.b64 %s0, [bar], 2;", "needs PTX 8.0"},
      {"8.0", "sm_90", "mbarrier.arrive.relaxed.cta.shared.b64 %s0, [bar];", "needs PTX 8.6"},
      {"7.8", "sm_80", "mbarrier.arrive.release.cta.shared.b64 %s0, [bar];", "needs PTX 8.0"},
      {"7.0", "sm_80", "mbarrier.test_wait.parity.shared.b64 %p, [bar], 0;", "needs PTX 7.1"},
      {"7.8", "sm_80", "mbarrier.try_wait.shared.b64 %p, [bar], %s0;", "needs sm_90"},
      {"7.8", "sm_90", "mbarrier.expect_tx.shared.b64 [bar], 2;", "needs PTX 8.0"},
      {"8.6", "sm_90", "mbarrier.arrive.release.gpu.shared.b64 %s0, [bar];", "must be .cta or .cluster"},
      {"8.6", "sm_90", "mbarrier.arrive.release.shared.b64 %s0, [bar];", "come together"},
      {"8.6", "sm_90", "mbarrier.arrive.shared::cluster.b64 %s0, [bar];", "returns no state"},
      {"8.6", "sm_90", "mbarrier.init.global.b64 [%out], 1;", "is in shared memory"},
      {"8.6", "sm_90", "mbarrier.init.shared.b32 [bar], 1;", "needs .b64"},
      {"7.8", "sm_90", "fence.mbarrier_init.release.cluster;", "needs PTX 8.0"},
      {"8.0", "sm_80", "fence.proxy.async;", "needs sm_90"},
      {"7.8", "sm_80", "griddepcontrol.wait;", "needs sm_90"},
  };
  for (const Refusal &refusal : refusals) {
    TestDevice device(hopper());
    EXPECT_FALSE(device.load(oneWarp(refusal.body, refusal.version, refusal.target))) << refusal.body;
    EXPECT_NE(device.message.find(refusal.message), std::string::npos) << refusal.body << "\n  " << device.message;
  }
}

TEST(Elect, OneLaneOfTheMask) {
  EXPECT_EQ(results("elect.sync %r0|%p, -1; selp.b32 %r4, 1, 0, %p; redux.sync.add.u32 %r1, %r4, -1;\n"
                    "setp.lt.u32 %q, %lane, 5; @%q bra LOW;\nelect.sync %r2|%p, 0xffffffe0; selp.b32 %r4, %lane, 0, %p;\n"
                    "redux.sync.add.u32 %r3, %r4, 0xffffffe0;\nLOW: shfl.sync.idx.b32 %r2, %r2, 31, 31, -1;\n"
                    "shfl.sync.idx.b32 %r3, %r3, 31, 31, -1; elect.sync _|%p, -1;"),
            (Values{0, 1, 5, 5}));
}

TEST(Mbarrier, DeadlocksNameTheWait) {
  TestDevice device(hopper());
  ASSERT_TRUE(device.load(".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k() {\n  .reg .pred %p;\n"
                          "  .shared .align 8 .b64 m;\n  mbarrier.init.shared::cta.b64 [m], 2;\nWAIT:\n"
                          "  mbarrier.try_wait.parity.shared::cta.b64 %p, [m], 0;\n  @!%p bra WAIT;\n  ret;\n}\n"))
      << device.message;
  EXPECT_FALSE(device.launch("k", {1}, {1}));
  ASSERT_EQ(device.findings.size(), 1u) << device.report();
  Finding finding = device.findings.all().front();
  EXPECT_EQ(finding.kind, FindingKind::Deadlock);
  EXPECT_EQ(finding.line, 9u) << finding.str();
  EXPECT_EQ(finding.instruction, "mbarrier.try_wait.parity.shared::cta.b64");
  EXPECT_NE(finding.message.find("wait for an mbarrier, for registers or for their warpgroup at line 9"), std::string::npos)
      << finding.message;
}

/// Two warpgroups: the first gives registers back, the second takes them.
std::string exchange(const std::string &directives, const std::string &first, const std::string &second) {
  return ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry k() " + directives +
         " {\n  .reg .pred %p; .reg .b32 %t;\n  mov.u32 %t, %tid.x;\n  setp.ge.u32 %p, %t, 128;\n  @%p bra SECOND;\n  " +
         first + "\n  ret;\nSECOND:\n  " + second + "\n  ret;\n}\n";
}

TEST(RegisterPool, ExchangesAndItsMistakes) {
  const std::string dec = "setmaxnreg.dec.sync.aligned.u32 40;", inc = "setmaxnreg.inc.sync.aligned.u32 216;";
  struct Case {
    std::string directives, first, second;
    bool isRight;
    FindingKind kind;
  };
  const Case cases[] = {
      {".maxntid 256 .minnctapersm 2", dec, inc, true, {}},
      {".maxnreg 128", dec, inc, true, {}},
      {".maxnreg 128", dec, "setmaxnreg.inc.sync.aligned.u32 224;", false, FindingKind::Deadlock},
      {".maxnreg 128", "", inc, false, FindingKind::Deadlock},
      {".maxnreg 128", inc, dec, true, {}},
      {".maxnreg 32", dec, inc, false, FindingKind::RegisterPool},
      {".maxnreg 128", "setp.lt.u32 %p, %t, 5; @%p " + dec, inc, false, FindingKind::RegisterPool},
      // One warp of the warpgroup; all of them, but not by the same instruction.
      {".maxnreg 128", "setp.lt.u32 %p, %t, 32; @%p " + dec, "", false, FindingKind::RegisterPool},
      {".maxnreg 128", "setp.lt.u32 %p, %t, 96; @!%p bra LAST; " + dec + " ret; LAST: " + dec, inc, false, FindingKind::RegisterPool},
  };
  for (const Case &test : cases)
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      TestDevice device(hopper(seed));
      std::string text = exchange(test.directives, test.first, test.second);
      ASSERT_TRUE(device.load(text)) << device.message;
      EXPECT_EQ(device.launch("k", {1}, {256}), test.isRight) << text << device.report();
      EXPECT_TRUE(test.isRight || device.found(test.kind)) << text << device.report();
    }
  // Without .minnctapersm only ptxas knows whether it honours the instruction; so it is no mistake of the kernel.
  setenv("PTXSIM_PTXAS", "off", 1);
  for (const char *directives : {"", ".maxntid 256"}) {
    TestDevice device(hopper());
    ASSERT_TRUE(device.load(exchange(directives, dec, inc))) << device.message;
    EXPECT_TRUE(device.launch("k", {1}, {256})) << device.report();
    EXPECT_NE(device.report().find("warning: register-pool: setmaxnreg may be ignored"), std::string::npos)
        << device.report();
  }
  unsetenv("PTXSIM_PTXAS");
  for (const char *wrong : {"setmaxnreg.inc.sync.aligned.u32 20;", "setmaxnreg.inc.sync.aligned.u32 100;",
                            "setmaxnreg.sync.aligned.u32 40;", "setmaxnreg.inc.u32 40;"}) {
    TestDevice device(hopper());
    EXPECT_FALSE(device.load(exchange(".maxnreg 128", wrong, ""))) << wrong;
  }
}

/// A script in the place of ptxas, which prints `says`.
struct FakePtxas {
  explicit FakePtxas(const std::string &says) {
    char name[] = "/tmp/ptxsim-test-XXXXXX";
    int file = mkstemp(name);
    path = name;
    std::string text = "#!/bin/sh\ncat <<'E'\n" + says + "\nE\n";
    EXPECT_EQ(write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
    fchmod(file, 0700);
    close(file);
    setenv("PTXSIM_PTXAS", path.c_str(), 1);
  }
  ~FakePtxas() {
    unsetenv("PTXSIM_PTXAS");
    unlink(path.c_str());
  }
  std::string path;
};

TEST(RegisterPool, PtxasDecidesWhereItIsThere) {
  const std::string dec = "setmaxnreg.dec.sync.aligned.u32 40;", inc = "setmaxnreg.inc.sync.aligned.u32 ";
  {
    FakePtxas ptxas("ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; why.\n"
                    "ptxas info    : Used 4 registers, used 0 barriers");
    TestDevice device(hopper());
    ASSERT_TRUE(device.load(exchange(".maxntid 256", dec, inc + "208;"))) << device.message;
    EXPECT_TRUE(device.launch("k", {1}, {256})) << device.report();
    EXPECT_NE(device.report().find("setmaxnreg is ignored; ptxas says: (C7508)"), std::string::npos) << device.report();
  }
  FakePtxas ptxas("ptxas info    : Used 128 registers, used 0 barriers");
  for (auto [wanted, isRight] : {std::pair("216;", true), std::pair("224;", false)}) {
    TestDevice device(hopper());
    ASSERT_TRUE(device.load(exchange(".maxntid 256", dec, inc + wanted))) << device.message;
    EXPECT_EQ(device.launch("k", {1}, {256}), isRight) << device.report();
    EXPECT_EQ(device.found(FindingKind::Deadlock), !isRight) << device.report();
  }
}

} // namespace
