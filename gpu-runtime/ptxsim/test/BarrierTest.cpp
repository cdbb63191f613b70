// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named barriers with a count, of warps whose lanes come in several groups.

#include "Harness.h"

using namespace tilewright::ptxsim;

namespace {

/// Each thread writes a value, and after the barrier reads that of the thread 32 further on. Lanes with an odd number jump
/// to the barrier, the others come from behind a return that none of them takes.
const char *const exchange = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry exchange(.param .u64 out) {
  .reg .pred %p1, %p2;
  .reg .b32 %r<8>;
  .reg .b64 %out;
  .shared .align 4 .b8 values[256];
  ld.param.u64 %out, [out];
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  setp.eq.u32 %p1, %r2, 1;
  setp.gt.u32 %p2, %r1, 1000;
  shl.b32 %r3, %r1, 2;
  mov.u32 %r4, values;
  add.u32 %r5, %r4, %r3;
  st.shared.u32 [%r5], %r1;
  @%p1 bra A;
  @%p2 ret;
A:
  bar.sync 1, 64;
  xor.b32 %r6, %r3, 128;
  add.u32 %r6, %r4, %r6;
  ld.shared.u32 %r7, [%r6];
  mad.wide.u32 %out, %r1, 4, %out;
  st.global.u32 [%out], %r7;
  ret;
}
)";

TEST(Barrier, AWarpInPartsCountsOnce) {
  TestDevice device;
  ASSERT_TRUE(device.load(exchange)) << device.message;
  uint64_t out = device.allocate(64 * 4);
  ASSERT_TRUE(device.launch("exchange", {1}, {64}, out)) << device.report();
  std::vector<uint32_t> values = device.download<uint32_t>(out, 64);
  for (uint32_t i = 0; i < 64; ++i)
    EXPECT_EQ(values[i], i ^ 32);
}

} // namespace
