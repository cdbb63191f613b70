// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Stacks and parameters in local memory, .b128 registers, and the forms that no simulated device has.

#include "InstructionHarness.h"
#include "cases/VideoCases.h"

using namespace tilewright::ptxsim;

namespace {

TEST(Video, Scalar) {
  for (const InstructionCase &test : cases::video::scalar)
    checkInstruction(test);
}
TEST(Video, Lanes) {
  for (const InstructionCase &test : cases::video::lanes)
    checkInstruction(test);
}

TEST(Stack, ProgramsOfNvcc) {
  for (bool checks : {true, false}) {
    MachineOptions options = TestDevice::defaults();
    options.checks = checks;
    TestDevice device(options);
    ASSERT_TRUE(device.load(readTestFile("programs/stack.ptx"))) << device.message;
    uint64_t out = device.allocate(64 * 4);
    ASSERT_TRUE(device.launch("triangles", {1}, {64}, out)) << device.report();
    std::vector<uint32_t> got = device.download<uint32_t>(out, 64);
    for (uint32_t i = 0; i < 64; ++i)
      EXPECT_EQ(got[i], i * (i + 1) / 2);
    struct Pair {
      int32_t values[8];
    } pair = {{1, 2, 3, 4, 5, 6, 7, 8}};
    ASSERT_TRUE(device.launch("byValue", {1}, {64}, pair, out)) << device.report();
    EXPECT_EQ(device.download<uint32_t>(out, 64), std::vector<uint32_t>(64, 1036));
    uint64_t a = device.upload<uint32_t>({0x01ff0010, 0x7fff0001}), b = device.upload<uint32_t>({0x03000010, 0x00010001});
    ASSERT_TRUE(device.launch("differences", {1}, {2}, a, b, out)) << device.report();
    // Sum of differences, differences, saturating sums of halves, maxima of signed bytes.
    EXPECT_EQ(device.download<uint32_t>(out, 2),
              (std::vector<uint32_t>{257u + 0x02ff0000u + 0x04ff0020u + 0x03000010u,
                                     0x17du + 0x7ffe0000u + 0x7fff0002u + 0x7f010001u}));
    EXPECT_EQ(device.report(), "");
  }
}

const char *const header = ".version 8.4\n.target sm_90\n.address_size 64\n";

TestDevice hopper(bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.checks = checks;
  return TestDevice(options);
}

/// A stack that is saved and restored; what it held before is undefined again.
const char *const stackText = R"(
.visible .entry twice(.param .u64 out) {
  .reg .b64 %d<8>;
  .reg .b32 %r<4>;
  ld.param.u64 %d1, [out];
  stacksave.u64 %d2;
  mov.u64 %d3, 32;
  alloca.u64 %d4, %d3, 32;
  st.local.u32 [%d4+28], 7;
  ld.local.u32 %r1, [%d4+28];
  stackrestore.u64 %d2;
  alloca.u64 %d5, %d3, 32;
  sub.u64 %d6, %d5, %d4;
  st.global.u64 [%d1], %d6;
  st.global.u32 [%d1+8], %r1;
  ld.local.u32 %r2, [%d5+28];
  st.global.u32 [%d1+12], %r2;
  ret;
})";

TEST(Stack, SaveAndRestore) {
  TestDevice device = hopper();
  ASSERT_TRUE(device.load(header + std::string(stackText))) << device.message;
  uint64_t out = device.allocate(16);
  ASSERT_TRUE(device.launch("twice", {1}, {1}, out)) << device.report();
  EXPECT_EQ(device.download<uint64_t>(out, 1)[0], 0u);
  EXPECT_EQ(device.download<uint32_t>(out, 3)[2], 7u);
  EXPECT_EQ(device.definedBits<uint32_t>(out, 4), (std::vector<uint32_t>{~0u, ~0u, ~0u, 0}));
}

TEST(Stack, EndsWithAFinding) {
  TestDevice device = hopper();
  ASSERT_TRUE(device.load(header + std::string(R"(
.visible .entry endless() {
  .reg .b64 %d;
again:
  alloca.u64 %d, 65536;
  bra again;
})"))) << device.message;
  EXPECT_FALSE(device.launch("endless", {1}, {1}));
  EXPECT_TRUE(device.found(FindingKind::StackOverflow)) << device.report();
}

/// The address of a parameter and of a result of a device function.
TEST(Stack, AddressesOfParameters) {
  TestDevice device = hopper();
  ASSERT_TRUE(device.load(header + std::string(R"(
.func (.param .b32 result) middle(.param .align 8 .b8 pair[16]) {
  .reg .b64 %d<4>;
  .reg .b32 %r<4>;
  mov.b64 %d1, pair;
  cvta.local.u64 %d2, %d1;
  ld.u32 %r1, [%d2+8];
  st.local.u32 [%d1+12], 5;
  ld.param.b32 %r2, [pair+12];
  add.u32 %r1, %r1, %r2;
  mov.b64 %d3, result;
  st.local.u32 [%d3], %r1;
  ret;
}
.visible .entry k(.param .u64 out) {
  .reg .b64 %d;
  .reg .b32 %r;
  ld.param.u64 %d, [out];
  .param .align 8 .b8 argument[16];
  .param .b32 value;
  st.param.b32 [argument+8], 37;
  st.param.b32 [argument+12], 1;
  call (value), middle, (argument);
  ld.param.b32 %r, [value];
  st.global.u32 [%d], %r;
  ret;
})"))) << device.message;
  uint64_t out = device.allocate(4);
  ASSERT_TRUE(device.launch("k", {1}, {1}, out)) << device.report();
  EXPECT_EQ(device.download<uint32_t>(out, 1)[0], 42u);
  EXPECT_EQ(device.report(), "");
}

const char *const wideText = R"(
.visible .entry wide(.param .u64 memory, .param .u64 out) {
  .reg .b64 %d<10>;
  .reg .b128 %q<8>;
  ld.param.u64 %d1, [memory];
  ld.param.u64 %d2, [out];
  ld.global.b128 %q1, [%d1];
  mov.b128 {%d3, %d4}, %q1;
  mov.b128 %q2, {%d4, %d3};
  atom.global.cas.b128 %q3, [%d1], %q1, %q2;
  atom.relaxed.gpu.global.cas.b128 %q4, [%d1], %q1, %q1;
  atom.global.exch.b128 %q5, [%d1], %q1;
  mov.b128 %q6, %q5;
  st.global.b128 [%d2], %q3;
  st.relaxed.gpu.global.b128 [%d2+16], %q4;
  st.global.b128 [%d2+32], %q6;
  ld.relaxed.gpu.global.b128 %q7, [%d1];
  st.global.b128 [%d2+48], %q7;
  ret;
})";

TEST(Wide, MovesAndAtomics) {
  for (bool checks : {true, false}) {
    TestDevice device = hopper(checks);
    ASSERT_TRUE(device.load(header + std::string(wideText))) << device.message;
    uint64_t memory = device.upload<uint64_t>({1, 2}), out = device.allocate(64);
    ASSERT_TRUE(device.launch("wide", {1}, {1}, memory, out)) << device.report();
    // Replaced by {2, 1}; not replaced; replaced by {1, 2}.
    EXPECT_EQ(device.download<uint64_t>(out, 8), (std::vector<uint64_t>{1, 2, 2, 1, 2, 1, 1, 2}));
    EXPECT_EQ(device.report(), "");
  }
}

TEST(Wide, AlignmentAndTypes) {
  TestDevice device = hopper();
  ASSERT_TRUE(device.load(header + std::string(wideText))) << device.message;
  uint64_t memory = device.upload<uint64_t>({1, 2, 3}), out = device.allocate(64);
  EXPECT_FALSE(device.launch("wide", {1}, {1}, memory + 8, out));
  EXPECT_TRUE(device.found(FindingKind::Misaligned)) << device.report();
  const struct {
    const char *instruction, *message;
  } refused[] = {
      {"add.u64 %d0, %d1, %q0;", "has type .b128"},
      {"mov.b64 %q0, %d1;", "cannot hold .b64"},
      {"atom.global.add.b128 %q0, [%d0], %q1;", "type is not supported"},
      {"ld.global.v2.b128 {%q0, %q1}, [%d0];", "vector is not supported"},
      {"ld.global.v8.b32 {%r0, %r1, %r2, %r3, %r0, %r1, %r2, %r3}, [%d0];", "needs"},
      {"ld.global.v4.b64 {%d0, %d1, %d2, %d3}, [%d0];", "needs"},
      {"fma.rn.f32x2 %d0, %d1, %d2, %d3;", "needs"},
      {"vadd.s32.s32.s32 %r0, -%r1, %r2;", "not negated"},
      {"vadd4.s32.s32.s32 %r0, %r1.b8000, %r2, %r3;", "no selector .b8000"},
      {"vadd2.s32.s32.s32 %r0.h01, %r1, %r2, %r3;", "no mask .h01"},
      {"add.u32 %r0, %r1.b0, %r2;", "selector .b0 is not supported"},
      {"add.u32 %r0, -%r1, %r2;", "no sign"},
  };
  for (const auto &form : refused) {
    EXPECT_FALSE(device.load(header + std::string(".entry k() { .reg .b32 %r<4>; .reg .b64 %d<4>; .reg .b128 %q<4>;\n") +
                             form.instruction + " }"))
        << form.instruction;
    EXPECT_NE(device.message.find(form.message), std::string::npos) << form.instruction << ": " << device.message;
  }
}

} // namespace
