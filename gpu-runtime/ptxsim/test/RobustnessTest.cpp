// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bad PTX is refused with its line; damaged PTX never crashes the simulator, neither when it is loaded nor when what is
// left of it runs.

#include "Harness.h"

#include "arithmetic/Half.h"
#include "machine/Progress.h"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <pthread.h>
#include <random>
#include <thread>

using namespace tilewright::ptxsim;

namespace {

const char *const header = ".version 8.0\n.target sm_80\n.address_size 64\n";

struct Refusal {
  const char *text;
  const char *message;
};

const Refusal refusals[] = {
    {".entry k() { frobnicate.b32 %r1; }", "line 4: instruction 'frobnicate.b32' is not supported"},
    {".entry k() { .reg .b32 %r<3>; add.frob.s32 %r0, %r1, %r2; }", "modifier .frob is not supported"},
    {".entry k() { .reg .b32 %r<3>; add.s32 %r0, %r1; }", "expected 3 operands, found 2"},
    {".entry k() { .reg .b32 %r<3>; add.s64 %r0, %r1, %r2; }", "cannot hold .s64"},
    {".entry k() { .reg .b32 %r<3>; add.s32 %r0, %r1, %r7; }", "unknown name '%r7'"},
    {".entry k() { bra NOWHERE; }", "unknown label 'NOWHERE'"},
    {".entry k() { .reg .b32 %r; mov.u32 %r, %tid.q; }", "special register %tid.q is not supported"},
    {".entry k() { .reg .b32 %r; ld.shared.u32 %r, [missing]; }", "unknown name 'missing'"},
    {".entry k() { call nothing; }", "function 'nothing' is not defined in this module"},
    {".entry k() { .reg .b32 %r; mov.u32 %r, 99999999999999999999; }", "does not fit in 64 bits"},
    {".entry k() { ret; ", "has no end"},
    {".entry k() { ret; } .entry k() { ret; }", "function 'k' is defined twice"},
    {".entry k() { .reg .b32 %r<2>; tcgen05.fence::before_thread_sync; }", "is not supported"},
    {".entry k() { .reg .b32 %r<2>; shfl.bfly.b32 %r0, %r1, 1, 31; }", "without .sync does not exist"},
    {".entry k() { .reg .pred %p; .reg .b32 %r; elect.sync %r|%p, -1; }", "needs sm_90"},
    {".global .u32 x = ;", "line 4"},
    {".tex .u32 t;", "directive .tex is not supported"},
    {".global .b8 x[0]; .entry k() { .reg .b64 %rd; mov.u64 %rd, x; }", "variable 'x' has size 0"},
};

TEST(Robustness, RefusalsNameTheLine) {
  for (const Refusal &refusal : refusals) {
    TestDevice device;
    EXPECT_FALSE(device.load(std::string(header) + refusal.text)) << refusal.text;
    EXPECT_NE(device.message.find(refusal.message), std::string::npos) << refusal.text << "\n  " << device.message;
    EXPECT_EQ(device.message.rfind("line ", 0), 0u) << device.message;
  }
}

TEST(Robustness, NumbersHaveAPointInEveryLocale) {
  const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE.utf8"};
  const char *const *found = std::find_if(std::begin(locales), std::end(locales),
                                          [](const char *name) { return std::setlocale(LC_NUMERIC, name) != nullptr; });
  if (found == std::end(locales))
    GTEST_SKIP() << "no locale with a comma is installed";
  TestDevice device;
  bool loaded = device.load(std::string(header) + ".entry k(.param .u64 out) { .reg .b64 %d; .reg .f64 %f;"
                                                  " ld.param.u64 %d, [out]; mov.f64 %f, 2.5; st.global.f64 [%d], %f; }");
  std::setlocale(LC_NUMERIC, "C");
  ASSERT_TRUE(loaded) << device.message;
  uint64_t out = device.allocate(8);
  ASSERT_TRUE(device.launch("k", {1}, {1}, out)) << device.report();
  EXPECT_EQ(device.download<double>(out, 1)[0], 2.5);
}

TEST(Robustness, ThreadsThatCannotBeMadeAreDoneWithout) {
  // No address space has room for such a stack.
  pthread_attr_t attributes, before;
  ASSERT_EQ(pthread_getattr_default_np(&before), 0);
  pthread_attr_init(&attributes);
  ASSERT_EQ(pthread_attr_setstacksize(&attributes, size_t(1) << 50), 0);
  ASSERT_EQ(pthread_setattr_default_np(&attributes), 0);
  MachineOptions options = TestDevice::defaults();
  options.checks = false;
  options.workers = 4;
  TestDevice device(options);
  ASSERT_TRUE(device.load(std::string(header) + R"(.entry k(.param .u64 p) {
  .reg .b64 %rd<3>; .reg .b32 %r<2>;
  ld.param.u64 %rd0, [p]; mov.u32 %r0, %ctaid.x; mul.wide.u32 %rd1, %r0, 4; add.u64 %rd2, %rd0, %rd1;
  st.global.u32 [%rd2], %r0; ret; })"))
      << device.message;
  uint64_t to = device.allocate(64 * 4);
  testing::internal::CaptureStderr();
  bool completed = device.launch("k", {64, 1, 1}, {1, 1, 1}, to);
  std::string said = testing::internal::GetCapturedStderr();
  ASSERT_EQ(pthread_setattr_default_np(&before), 0);
  ASSERT_TRUE(completed);
  EXPECT_EQ(said.rfind("ptxsim: 1 of 4 threads run the blocks: ", 0), 0u) << said;
  std::vector<uint32_t> numbers = device.download<uint32_t>(to, 64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(numbers[i], i);
}

TEST(Robustness, OptionsOutOfRangeAreRefusedAloud) {
  const std::pair<const char *, const char *> given[] = {{"PTXSIM_MULTIPROCESSORS", "0"},
                                                         {"PTXSIM_MEMORY_MIB", "2000000"},
                                                         {"PTXSIM_WORKERS", "4294967297"},
                                                         {"PTXSIM_SEED", "99999999999999999999999"}};
  for (const auto &[name, value] : given)
    setenv(name, value, 1);
  testing::internal::CaptureStderr();
  MachineOptions options = MachineOptions::fromEnvironment();
  std::string said = testing::internal::GetCapturedStderr();
  for (const auto &[name, value] : given) {
    unsetenv(name);
    EXPECT_NE(said.find(std::string("ptxsim: ") + name + ": expected "), std::string::npos) << said;
  }
  EXPECT_EQ(options.multiprocessors, 8u);
  EXPECT_EQ(options.memoryBytes, 16ull << 30);
  EXPECT_EQ(options.workers, 0u);
  EXPECT_EQ(options.seed, 1u);
}

TEST(Robustness, FindingsNameTheSource) {
  TestDevice device;
  ASSERT_TRUE(device.load(".version 7.0\n.target sm_80\n.address_size 64\n.entry k() {\n  .reg .b64 %rd;\n"
                          "  .loc 1 17 3\n  mov.u64 %rd, 64;\n  .loc 1 18 3\n  st.global.u32 [%rd], 1;\n  ret;\n}\n"
                          ".file 1 \"kernels/example.mlir\"\n"))
      << device.message;
  EXPECT_FALSE(device.launch("k", {1}, {1}));
  ASSERT_EQ(device.findings.size(), 1u);
  Finding finding = device.findings.all().front();
  EXPECT_EQ(finding.sourceFile, "kernels/example.mlir");
  EXPECT_EQ(finding.sourceLine, 18u);
  EXPECT_NE(finding.str().find("PTX line 9 (st.global.u32), kernels/example.mlir:18"), std::string::npos) << finding.str();
  EXPECT_NE(finding.json().find("\"source_line\": 18"), std::string::npos) << finding.json();
}

TEST(Robustness, FindingsInInlinedCodeNameTheKernelsLine) {
  // A store in b.h, inlined into a.h, inlined into the kernel; then one of the kernel's own.
  TestDevice device;
  device.options.failOnFinding = false;
  ASSERT_TRUE(device.load(".version 7.2\n.target sm_80\n.address_size 64\n.entry k() {\n  .reg .b64 %rd;\n"
                          "  .loc 1 17 3\n  mov.u64 %rd, 64;\n"
                          "  .loc 2 5 1, function_name $info, inlined_at 1 17 3\n  mov.u64 %rd, 128;\n"
                          "  .loc 3 9 1, function_name $info+8, inlined_at 2 5 1\n  st.global.u32 [%rd], 1;\n"
                          "  .loc 1 18 3\n  st.global.u32 [%rd], 1;\n  ret;\n}\n"
                          ".file 1 \"k.cu\"\n.file 2 \"a.h\"\n.file 3 \"b.h\"\n"))
      << device.message;
  EXPECT_TRUE(device.launch("k", {1}, {1}));
  ASSERT_EQ(device.findings.size(), 2u);
  Finding finding = device.findings.all().front();
  EXPECT_NE(finding.str().find("(st.global.u32), k.cu:17 (inlined from b.h:9)"), std::string::npos) << finding.str();
  EXPECT_NE(finding.json().find("\"source_line\": 17, \"inlined_file\": \"b.h\", \"inlined_line\": 9"), std::string::npos)
      << finding.json();
  EXPECT_EQ(device.findings.all().back().sourceLine, 18u);
  EXPECT_EQ(device.findings.all().back().inlinedLine, 0u);
}

TEST(Robustness, FindingsOfOneCauseAreToldOnce) {
  FindingLog log;
  Finding finding;
  finding.kind = FindingKind::Race;
  finding.kernel = "k";
  for (uint32_t i = 0; i < 200; ++i) {
    finding.line = 100 + i;
    finding.otherLine = 50;
    finding.message = "write by thread " + std::to_string(i);
    log.add(finding);
  }
  finding.kind = FindingKind::Undefined;
  log.add(finding);
  std::string text = log.text(0, log.size());
  EXPECT_NE(text.find("race: write by thread 0\n  in k, PTX line 100\n  and at 199 other places, 199 times in all: PTX lines "
                      "101 with 50, 102 with 50, "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("108 with 50, ... (PTXSIM_REPORT lists all)\nptxsim: undefined-value: "), std::string::npos) << text;
  EXPECT_EQ(log.text(201, 201), "");
}

/// The access does not happen; what comes behind it does, with checks and without.
TEST(Robustness, FindingsCanBeReportedOnly) {
  for (bool checks : {true, false}) {
    TestDevice device;
    device.options.checks = checks;
    device.options.failOnFinding = false;
    ASSERT_TRUE(device.load(".version 7.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p) {\n"
                            "  .reg .b64 %rd<2>;\n  mov.u64 %rd0, 64;\n  st.global.u32 [%rd0], 1;\n"
                            "  ld.param.u64 %rd1, [p];\n  st.global.u32 [%rd1], 7;\n  ret;\n}\n"))
        << device.message;
    uint64_t out = device.upload(std::vector<uint32_t>(1, 0));
    EXPECT_TRUE(device.launch("k", {1}, {1}, out)) << checks;
    EXPECT_TRUE(device.found(FindingKind::OutOfBounds)) << checks;
    EXPECT_EQ(device.download<uint32_t>(out, 1)[0], 7u) << checks;
    device.options.failOnFinding = true;
    EXPECT_FALSE(device.launch("k", {1}, {1}, out)) << checks;
  }
}

TEST(Robustness, LongLaunchesSayHowFarTheyAre) {
  Progress quiet("k", 4, 0), slow("k", 4, 1);
  testing::internal::CaptureStderr();
  slow.tick();
  slow.blockEnded();
  std::this_thread::sleep_for(std::chrono::milliseconds(1050));
  quiet.tick();
  slow.tick();
  slow.tick(); // the next line is due after two seconds
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "ptxsim: k: 1 of 4 blocks after 1 s\n");
}

/// Every f16 value, exactly.
TEST(Robustness, HalvesAreConvertedExactly) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    double fast = halfToDouble(bits), slow = smallToDouble(bits, f16Format);
    EXPECT_TRUE(bitCast<uint64_t>(fast) == bitCast<uint64_t>(slow) || (fast != fast && slow != slow)) << bits;
  }
}

/// First accepted by ptxas with the second header of each, refused with the first.
TEST(Robustness, FormsCameLaterThanTheirOpcodes) {
  const struct {
    const char *instruction, *before, *after;
  } forms[] = {
      {"add.bf16 %h0, %h1, %h2;", ".version 7.8\n.target sm_80\n", ".version 7.8\n.target sm_90\n"},
      {"fma.rn.bf16 %h0, %h1, %h2, %h0;", ".version 7.0\n.target sm_75\n", ".version 7.0\n.target sm_80\n"},
      {"min.NaN.f32 %f0, %f1, %f2;", ".version 7.0\n.target sm_75\n", ".version 7.0\n.target sm_80\n"},
      {"cvt.f32.bf16 %f0, %h0;", ".version 7.0\n.target sm_80\n", ".version 7.1\n.target sm_80\n"},
      {"cvt.rn.bf16.f32 %h0, %f0;", ".version 6.5\n.target sm_80\n", ".version 7.0\n.target sm_80\n"},
      {"cvt.rn.satfinite.e4m3x2.f32 %h0, %f0, %f1;", ".version 7.8\n.target sm_89\n", ".version 8.1\n.target sm_89\n"},
      {"cvt.rn.f16x2.e5m2x2 %r0, %h0;", ".version 7.8\n.target sm_89\n", ".version 7.8\n.target sm_90\n"},
      {"cvt.rn.bf16.s32 %h0, %r0;", ".version 7.8\n.target sm_80\n", ".version 7.8\n.target sm_90\n"},
      {"ld.relaxed.cluster.global.u32 %r0, [%d0];", ".version 7.8\n.target sm_80\n", ".version 7.8\n.target sm_90\n"},
      {"ld.global.L2::cache_hint.u32 %r0, [%d0], %d1;", ".version 7.1\n.target sm_80\n", ".version 7.4\n.target sm_80\n"},
      {"red.global.add.noftz.bf16x2 [%d0], %r1;", ".version 7.8\n.target sm_80\n", ".version 7.8\n.target sm_90\n"},
      {"mov.u32 %r0, %cluster_ctarank;", ".version 7.8\n.target sm_80\n", ".version 7.8\n.target sm_90\n"},
  };
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  for (const auto &form : forms) {
    std::string rest = std::string(".address_size 64\n.entry k() { .reg .b16 %h<4>; .reg .b32 %r<4>; .reg .f32 %f<4>; "
                                   ".reg .b64 %d<4>;\n") +
                       form.instruction + " }";
    TestDevice device(options);
    EXPECT_FALSE(device.load(form.before + rest)) << form.instruction;
    EXPECT_NE(device.message.find("needs"), std::string::npos) << device.message;
    EXPECT_TRUE(device.load(form.after + rest)) << device.message;
  }
  TestDevice device(options);
  EXPECT_FALSE(device.load(".version 9.1\n.target sm_80\n.address_size 64\n"));
  EXPECT_NE(device.message.find("newer than the 9.0"), std::string::npos) << device.message;
}

TEST(Robustness, VersionsAndTargets) {
  TestDevice device;
  EXPECT_FALSE(device.load(".version 6.0\n.target sm_70\n.address_size 64\n.entry k() { .reg .b32 %r<2>;\n"
                           "redux.sync.add.u32 %r0, %r1, -1; }"));
  EXPECT_NE(device.message.find("needs PTX 7.0"), std::string::npos) << device.message;
  EXPECT_FALSE(device.load(".version 8.0\n.target sm_90\n.address_size 64\n"));
  EXPECT_NE(device.message.find("the device is sm_80"), std::string::npos) << device.message;
  EXPECT_FALSE(device.load(""));
  EXPECT_FALSE(device.load("\177ELF"));
}

/// Deletes, doubles or swaps pieces of the text.
std::string damaged(std::string text, std::mt19937_64 &random) {
  for (int count = 1 + static_cast<int>(random() % 4); count > 0 && text.size() > 40; --count) {
    size_t at = random() % (text.size() - 20), length = 1 + random() % 12;
    switch (random() % 6) {
    case 0:
      text.erase(at, length);
      break;
    case 1:
      text.insert(at, text.substr(random() % (text.size() - 20), length));
      break;
    case 2:
      text[at] = static_cast<char>(random());
      break;
    case 3:
      text[at] = "0123456789.,;[]{}()%$-"[random() % 22];
      break;
    case 4: { // another line in this place
      size_t from = text.find('\n', random() % (text.size() - 20)), to = text.find('\n', at);
      if (from != std::string::npos && to != std::string::npos)
        text.insert(to, text.substr(from, text.find('\n', from + 1) - from));
      break;
    }
    default:
      if (size_t digit = text.find_first_of("0123456789", at); digit != std::string::npos)
        text[digit] = static_cast<char>('0' + random() % 10);
      break;
    }
  }
  return text;
}

TEST(Robustness, DamagedTextNeverCrashes) {
  const char *rounds = std::getenv("PTXSIM_FUZZ_ROUNDS");
  int count = rounds ? std::atoi(rounds) : 300;
  std::mt19937_64 random(rounds ? std::random_device()() : 11);
  std::string sources[] = {readTestFile("programs/basics.ptx"), readTestFile("programs/classics.ptx")};
  int loaded = 0;
  for (int round = 0; round < count; ++round) {
    MachineOptions options = TestDevice::defaults();
    options.instructionLimit = 20000;
    options.checks = round % 2 == 0;
    TestDevice device(options);
    std::string text = damaged(sources[round % 2], random);
    if (!device.load(text)) {
      EXPECT_EQ(device.message.rfind("line ", 0), 0u) << device.message;
      continue;
    }
    ++loaded;
    for (const auto &[name, program] : device.module->kernels()) {
      std::vector<uint8_t> params(program->paramBytes);
      for (size_t at = 0; at + 8 <= params.size(); at += 8) {
        uint64_t value = random() % 3 == 0 ? random() % 64 : device.upload(std::vector<int>(64, 1));
        std::memcpy(params.data() + at, &value, 8);
      }
      device.dynamicShared = 128;
      device.launchBytes(name, {2}, {64}, params);
    }
  }
  EXPECT_GT(loaded, 0);
}

} // namespace
