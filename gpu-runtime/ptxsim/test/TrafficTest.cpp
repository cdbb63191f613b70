// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wavefronts of shared memory, where the number is known from the rule: strides, broadcasts, wide accesses, rows of matrices.

#include "Harness.h"

using namespace tilewright::ptxsim;

namespace {

/// What one instruction of a kernel costs one warp. Lane t's address is base + stride * t; `%r1` is it, in shared memory.
TrafficRow costOf(const std::string &instruction, unsigned stride, const char *guard = "", bool checks = false) {
  MachineOptions options = TestDevice::defaults();
  options.countTraffic = true;
  options.checks = checks;
  options.computeCapability = 90;
  TestDevice device(options);
  std::string text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry touch(.param .u64 data, .param .u32 stride) {
  .reg .pred %p;
  .reg .b16 %h;
  .reg .b32 %r<16>;
  .reg .b64 %rd<4>;
  .shared .align 16 .b8 tile[32768];
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r2, [stride];
  mov.u32 %r3, %tid.x;
  setp.lt.u32 %p, %r3, 4;
  mov.u32 %r1, tile;
  mad.lo.s32 %r1, %r3, %r2, %r1;
  cvt.u64.u32 %rd2, %r1;
  cvta.shared.u64 %rd2, %rd2;
  mov.b32 %r4, 0;
  mov.b32 %r5, 0;
  mov.b32 %r6, 0;
  mov.b32 %r7, 0;
)";
  text += "  " + std::string(guard) + instruction + ";\n  ret;\n}\n";
  EXPECT_TRUE(device.load(text)) << device.message;
  uint64_t data = device.upload(std::vector<uint32_t>(256, 1));
  EXPECT_TRUE(device.launch("touch", {1, 1, 1}, {32, 1, 1}, data, stride)) << device.report();
  EXPECT_EQ(device.result.traffic.size(), 1u);
  return device.result.traffic.empty() ? TrafficRow() : device.result.traffic.front();
}

TEST(Traffic, WordsOfNeighboursTakeOne) {
  TrafficRow row = costOf("st.shared.b32 [%r1], %r4", 4);
  EXPECT_EQ(row.instruction, "st.shared.b32");
  EXPECT_EQ(row.executed, 1u);
  EXPECT_EQ(row.wavefronts, 1u);
  EXPECT_EQ(row.least, 1u);
}

TEST(Traffic, AWordForAllTakesOne) { EXPECT_EQ(costOf("st.shared.b32 [%r1], %r4", 0).wavefronts, 1u); }

TEST(Traffic, StridesShareBanks) {
  EXPECT_EQ(costOf("st.shared.b32 [%r1], %r4", 8).wavefronts, 2u);
  EXPECT_EQ(costOf("st.shared.b32 [%r1], %r4", 128).wavefronts, 32u);
  EXPECT_EQ(costOf("st.shared.b32 [%r1], %r4", 132).wavefronts, 1u);
  // Halves of one word are one word.
  EXPECT_EQ(costOf("mov.b16 %h, 0; st.shared.b16 [%r1], %h", 2).wavefronts, 1u);
}

TEST(Traffic, WideAccessesTakeTurns) {
  TrafficRow eight = costOf("st.shared.v2.b32 [%r1], {%r4, %r5}", 8);
  EXPECT_EQ(eight.wavefronts, 2u);
  EXPECT_EQ(eight.least, 2u);
  TrafficRow sixteen = costOf("st.shared.v4.b32 [%r1], {%r4, %r5, %r6, %r7}", 16);
  EXPECT_EQ(sixteen.wavefronts, 4u);
  EXPECT_EQ(sixteen.least, 4u);
  EXPECT_EQ(costOf("st.shared.v4.b32 [%r1], {%r4, %r5, %r6, %r7}", 128).wavefronts, 32u);
}

TEST(Traffic, OnlyLanesThatTakePartCount) {
  EXPECT_EQ(costOf("st.shared.b32 [%r1], %r4", 128, "@%p ").wavefronts, 4u);
  TrafficRow wide = costOf("st.shared.v4.b32 [%r1], {%r4, %r5, %r6, %r7}", 16, "@%p ");
  EXPECT_EQ(wide.wavefronts, 1u);
  EXPECT_EQ(wide.least, 1u);
}

TEST(Traffic, GenericAddressesOfSharedMemoryCount) {
  EXPECT_EQ(costOf("st.b32 [%rd2], %r4", 128).wavefronts, 32u);
}

TEST(Traffic, CopiesCountWhereTheyArrive) {
  TrafficRow row = costOf("cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.wait_all", 16);
  EXPECT_EQ(row.wavefronts, 4u);
  EXPECT_EQ(costOf("cp.async.cg.shared.global [%r1], [%rd1], 16; cp.async.wait_all", 128).wavefronts, 32u);
}

TEST(Traffic, RowsOfMatrices) {
  const char *store = "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%r1], {%r4, %r5, %r6, %r7}";
  for (bool checks : {false, true}) {
    TrafficRow dense = costOf(store, 16, "", checks);
    EXPECT_EQ(dense.wavefronts, 4u);
    EXPECT_EQ(dense.least, 4u);
    EXPECT_EQ(costOf(store, 128, "", checks).wavefronts, 32u);
    EXPECT_EQ(costOf(store, 144, "", checks).wavefronts, 4u);
  }
}

TEST(Traffic, LinesForScripts) {
  EXPECT_EQ(trafficLines("k", {{"ld.shared.b32", 7, 2, 3, 2}}),
            "{\"kernel\": \"k\", \"line\": 7, \"instruction\": \"ld.shared.b32\", \"executed\": 2, \"wavefronts\": 3, "
            "\"least\": 2}\n");
}

} // namespace
