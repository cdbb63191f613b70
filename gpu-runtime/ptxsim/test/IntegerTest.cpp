// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integer and bit instructions; expected values worked out from the definitions of the PTX ISA.

#include "InstructionHarness.h"
#include "cases/IntegerCases.h"

using namespace tilewright::ptxsim;
using namespace tilewright::ptxsim::cases::integer;

namespace {

TEST(Integer, Arithmetic) {
  for (const InstructionCase &test : arithmetic)
    checkInstruction(test);
}
TEST(Integer, Bits) {
  for (const InstructionCase &test : bits)
    checkInstruction(test);
}
TEST(Integer, Comparisons) {
  for (const InstructionCase &test : comparisons)
    checkInstruction(test);
}

TEST(Integer, CarryChain) {
  // (2^64 - 1) + 1 in 32-bit halves, and 0 - 1.
  const char *text = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry chain(.param .u64 out) {
  .reg .b32 %r<8>;
  .reg .b64 %rd;
  ld.param.u64 %rd, [out];
  mov.u32 %r1, -1;
  add.cc.u32 %r2, %r1, 1;
  addc.cc.u32 %r3, %r1, 0;
  addc.u32 %r4, 0, 0;
  sub.cc.u32 %r5, 0, 1;
  subc.u32 %r6, 0, 0;
  mad.lo.cc.u32 %r7, %r1, %r1, %r1;
  madc.hi.u32 %r7, %r1, %r1, 0;
  st.global.v4.u32 [%rd], {%r2, %r3, %r4, %r5};
  st.global.v2.u32 [%rd+16], {%r6, %r7};
  ret;
})";
  TestDevice device;
  ASSERT_TRUE(device.load(text)) << device.message;
  uint64_t out = device.allocate(24);
  ASSERT_TRUE(device.launch("chain", {1}, {1}, out)) << device.report();
  EXPECT_EQ(device.download<uint32_t>(out, 6), (std::vector<uint32_t>{0, 0, 1, 0xffffffff, 0xffffffff, 0xffffffff}));
}

} // namespace
