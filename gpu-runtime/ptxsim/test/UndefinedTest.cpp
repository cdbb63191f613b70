// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Undefined bits: which bits of a result they reach, and where they are a finding. %u is a register that nobody wrote.

#include "Harness.h"

using namespace tilewright::ptxsim;

namespace {

std::string kernel(const std::string &body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
         "  .reg .pred %p, %q;\n  .reg .b16 %h;\n  .reg .b32 %u, %d, %r<4>;\n  .reg .b64 %a, %w;\n"
         "  ld.param.u64 %a, [out];\n  mov.u32 %d, 0x12345678;\n" +
         body + "\n  ret;\n}\n";
}

/// Bits of 32-bit register %r0 that are defined after `body`.
uint32_t definedAfter(const std::string &body) {
  TestDevice device;
  EXPECT_TRUE(device.load(kernel(body + "\n  st.global.u32 [%a], %r0;"))) << body << ": " << device.message;
  uint64_t out = device.allocate(4);
  EXPECT_TRUE(device.launch("k", {1}, {1}, out)) << body << ": " << device.report();
  return device.definedBits<uint32_t>(out, 1)[0];
}

TEST(Undefined, BitsAreTracked) {
  EXPECT_EQ(definedAfter("mov.u32 %r0, %d;"), 0xffffffffu);
  EXPECT_EQ(definedAfter("mov.u32 %r0, %u;"), 0u);
  EXPECT_EQ(definedAfter("and.b32 %r0, %u, 0xff00;"), 0xffff00ffu);
  EXPECT_EQ(definedAfter("or.b32 %r0, %u, 0xff00;"), 0x0000ff00u);
  EXPECT_EQ(definedAfter("xor.b32 %r0, %u, %d;"), 0u);
  EXPECT_EQ(definedAfter("and.b32 %r1, %u, 0xff00; add.u32 %r0, %r1, 1;"), 0x000000ffu);
  EXPECT_EQ(definedAfter("shl.b32 %r0, %u, 8;"), 0x000000ffu);
  EXPECT_EQ(definedAfter("shr.u32 %r0, %u, 24;"), 0xffffff00u);
  EXPECT_EQ(definedAfter("and.b32 %r1, %u, 0x80000000; shr.s32 %r0, %r1, 4;"), 0x07ffffffu);
  EXPECT_EQ(definedAfter("shl.b32 %r0, %d, %u;"), 0u);
  EXPECT_EQ(definedAfter("bfi.b32 %r0, %d, %u, 8, 8;"), 0x0000ff00u);
  EXPECT_EQ(definedAfter("bfe.u32 %r0, %u, 4, 8;"), 0xffffff00u);
  EXPECT_EQ(definedAfter("bfe.s32 %r0, %u, 4, 8;"), 0u);
  // Bytes from the top: 3 of %d, 2 of %d, 5 and 4 of %u.
  EXPECT_EQ(definedAfter("prmt.b32 %r0, %d, %u, 0x3254;"), 0xffff0000u);
  EXPECT_EQ(definedAfter("shf.l.wrap.b32 %r0, %u, %d, 8;"), 0xffffff00u);
  EXPECT_EQ(definedAfter("cvt.u16.u32 %h, %u; cvt.u32.u16 %r0, %h;"), 0xffff0000u);
  EXPECT_EQ(definedAfter("mov.b64 %w, {%d, %u}; shr.u64 %w, %w, 16; cvt.u32.u64 %r0, %w;"), 0x0000ffffu);
  EXPECT_EQ(definedAfter("mov.b64 %w, {%d, %u}; mov.b64 {%r0, _}, %w;"), 0xffffffffu);
  EXPECT_EQ(definedAfter("mul.lo.u32 %r0, %u, 3;"), 0u);
  EXPECT_EQ(definedAfter("setp.eq.u32 %p, %d, 1; selp.b32 %r0, %u, %d, %p;"), 0xffffffffu);
  EXPECT_EQ(definedAfter("setp.eq.u32 %p, %u, 1; selp.b32 %r0, %d, %d, %p;"), 0u);
  // Half of the bits known to differ decides the comparison.
  EXPECT_EQ(definedAfter("bfi.b32 %r1, 7, %u, 0, 8; setp.eq.u32 %p, %r1, 8; selp.b32 %r0, 1, 0, %p;"), 0xffffffffu);
}

TEST(Undefined, FindingsAreAtBranchesAndAddresses) {
  const char *const bad[] = {"setp.eq.u32 %p, %u, 1; @%p bra L; mov.u32 %r0, 1; L:",
                             "cvt.u64.u32 %w, %u; add.u64 %w, %w, %a; ld.global.u32 %r0, [%w];",
                             "setp.ne.u32 %p, %u, 0; @%p st.global.u32 [%a], %d;", "bar.sync %u;"};
  for (const char *body : bad) {
    TestDevice device;
    ASSERT_TRUE(device.load(kernel(body))) << device.message;
    EXPECT_FALSE(device.launch("k", {1}, {1}, device.allocate(4))) << body;
    EXPECT_TRUE(device.found(FindingKind::Undefined)) << body << device.report();
  }
  // Copies, stores and arithmetic are no finding.
  const char *const good[] = {"st.global.u32 [%a], %u;", "mul.lo.u32 %r0, %u, %u; st.global.u32 [%a], %r0;",
                              "shfl.sync.idx.b32 %r0, %u, 0, 31, 1;"};
  for (const char *body : good) {
    TestDevice device;
    ASSERT_TRUE(device.load(kernel(body))) << device.message;
    EXPECT_TRUE(device.launch("k", {1}, {1}, device.allocate(4))) << body << device.report();
  }
}

TEST(Undefined, ReportModeGoesOn) {
  MachineOptions options = TestDevice::defaults();
  options.failOnFinding = false;
  TestDevice device(options);
  ASSERT_TRUE(device.load(kernel("setp.eq.u32 %p, %u, 1; @%p bra L; L: st.global.u32 [%a], %d;")));
  uint64_t out = device.allocate(4);
  EXPECT_TRUE(device.launch("k", {1}, {1}, out));
  EXPECT_TRUE(device.found(FindingKind::Undefined));
  EXPECT_EQ(device.download<uint32_t>(out, 1)[0], 0x12345678u);
}

} // namespace
