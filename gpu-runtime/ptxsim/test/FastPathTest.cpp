// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectorised handlers against the general ones: the same kernel, the same random registers, every bit equal, with all
// lanes active and with some.

#include "Harness.h"

#include <random>

using namespace tilewright::ptxsim;

namespace {

const char *const kernel = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry mixed(.param .u64 in, .param .u64 out, .param .u32 lanes) {
  .reg .pred %p<20>;
  .reg .b32 %r<60>;
  .reg .f32 %f<8>;
  .reg .b64 %d<30>;
  ld.param.u64 %d1, [in];
  ld.param.u64 %d2, [out];
  ld.param.u32 %r1, [lanes];
  mov.u32 %r2, %laneid;
  mul.wide.u32 %d3, %r2, 16;
  add.s64 %d4, %d1, %d3;
  mul.wide.u32 %d3, %r2, 256;
  add.s64 %d5, %d2, %d3;
  shr.u32 %r3, %r1, %r2;
  and.b32 %r3, %r3, 1;
  setp.eq.u32 %p1, %r3, 0;
  ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%d4];
  mov.b64 %d6, {%r4, %r5};
  mov.b64 %d7, {%r6, %r7};
  mov.b32 %f1, %r4;
  mov.b32 %f2, %r5;
  mov.b32 %f3, %r6;
  @%p1 bra SKIP;
  add.s32 %r10, %r4, %r5;
  sub.s32 %r11, %r4, %r5;
  mul.lo.s32 %r12, %r4, %r5;
  mad.lo.u32 %r13, %r4, %r5, %r6;
  and.b32 %r14, %r4, %r5;
  or.b32 %r15, %r4, %r5;
  xor.b32 %r16, %r4, %r5;
  shl.b32 %r17, %r4, %r7;
  shr.u32 %r18, %r4, %r7;
  add.f32 %f4, %f1, %f2;
  mov.b32 %r19, %f4;
  sub.f32 %f4, %f1, %f2;
  mov.b32 %r20, %f4;
  mul.f32 %f4, %f1, %f2;
  mov.b32 %r21, %f4;
  fma.rn.f32 %f4, %f1, %f2, %f3;
  mov.b32 %r22, %f4;
  setp.lt.s32 %p2, %r4, %r5;
  selp.b32 %r23, %r4, %r5, %p2;
  setp.le.u32 %p3, %r4, %r5;
  selp.b32 %r24, %r4, %r5, %p3;
  setp.ge.s32 %p4, %r4, %r5;
  selp.b32 %r25, 1, 0, %p4;
  add.s64 %d10, %d6, %d7;
  sub.s64 %d11, %d6, %d7;
  mul.wide.s32 %d12, %r4, %r5;
  mul.wide.u32 %d13, %r4, %r5;
  mad.wide.s32 %d14, %r4, %r5, %d7;
  mad.wide.u32 %d15, %r4, %r5, %d7;
  cvt.s64.s32 %d16, %r4;
  cvt.u64.u32 %d17, %r4;
  st.global.v4.u32 [%d5], {%r10, %r11, %r12, %r13};
  st.global.v4.u32 [%d5+16], {%r14, %r15, %r16, %r17};
  st.global.v4.u32 [%d5+32], {%r18, %r19, %r20, %r21};
  st.global.v4.u32 [%d5+48], {%r22, %r23, %r24, %r25};
  st.global.v2.u64 [%d5+64], {%d10, %d11};
  st.global.v2.u64 [%d5+80], {%d12, %d13};
  st.global.v2.u64 [%d5+96], {%d14, %d15};
  st.global.v2.u64 [%d5+112], {%d16, %d17};
  st.global.u32 [%d5+128], %r10;
  st.global.u16 [%d5+132], %r10;
  st.global.u8 [%d5+134], %r10;
  ld.global.u16 %r30, [%d4+2];
  ld.global.s8 %r31, [%d4+3];
  ld.global.u64 %d18, [%d4+8];
  st.global.v2.u32 [%d5+136], {%r30, %r31};
  st.global.u64 [%d5+144], %d18;
SKIP:
  ret;
})";

std::vector<uint64_t> results(bool fast, bool checks, uint32_t lanes, const std::vector<uint32_t> &in) {
  MachineOptions options = TestDevice::defaults();
  options.fastPaths = fast;
  options.checks = checks;
  TestDevice device(options);
  EXPECT_TRUE(device.load(kernel)) << device.message;
  uint64_t input = device.upload(in), out = device.upload(std::vector<uint64_t>(32 * 32));
  EXPECT_TRUE(device.launch("mixed", {1}, {32}, input, out, lanes)) << device.report();
  return device.download<uint64_t>(out, 32 * 32);
}

TEST(FastPaths, AgreeWithGeneralHandlers) {
  std::mt19937 random(5);
  const uint32_t special[] = {0, 1, 0x80000000, 0x7fffffff, 0xffffffff, 0x7f800000, 0xff800000, 0x7fc12345, 31, 32};
  for (int round = 0; round < 60; ++round) {
    std::vector<uint32_t> in(32 * 4);
    for (uint32_t &value : in)
      value = random() % 3 == 0 ? special[random() % std::size(special)] : static_cast<uint32_t>(random());
    uint32_t lanes = round % 3 == 0 ? ~0u : static_cast<uint32_t>(random());
    std::vector<uint64_t> general = results(false, false, lanes, in);
    EXPECT_EQ(results(true, false, lanes, in), general);
    EXPECT_EQ(results(true, true, lanes, in), general);
  }
}

} // namespace
