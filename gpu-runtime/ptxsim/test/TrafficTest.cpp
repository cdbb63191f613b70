// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wavefronts of shared memory and sectors of global memory, where the number is known from the rule: strides, broadcasts,
// wide accesses, rows of matrices, copies.

#include "Harness.h"

#include <algorithm>

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
  EXPECT_EQ(trafficLines("k", {{"ld.shared.b32", 7, 2, 3, 2, 4, 8}}),
            "{\"kernel\": \"k\", \"memory\": \"shared\", \"line\": 7, \"instruction\": \"ld.shared.b32\", \"executed\": 2, \"wavefronts\": 3, "
            "\"least\": 2, \"as8\": 4, \"as16\": 8}\n");
}

TEST(Traffic, LoadsOfPairsTakeHalfTheTurns) {
  // Every lane's address is lane 0's, and so lane^1's.
  TrafficRow uniform = costOf("ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r1]", 0);
  EXPECT_EQ(uniform.wavefronts, 2u);
  EXPECT_EQ(costOf("st.shared.v4.b32 [%r1], {%r4, %r5, %r6, %r7}", 0).wavefronts, 4u);
  EXPECT_EQ(costOf("ld.shared.v4.b32 {%r4, %r5, %r6, %r7}, [%r1]", 16).wavefronts, 4u);
}

TEST(Traffic, WhatMergedNeighboursWouldCost) {
  TrafficRow row = costOf("st.shared.b32 [%r1], %r4", 16);
  EXPECT_EQ(row.wavefronts, 4u);
  EXPECT_EQ(row.as16, 4u);
  EXPECT_EQ(row.as8, 4u);
}

/// What one instruction of a kernel asks of global memory. Lane t's address is `data` + offset + stride * t; `%rd2` is it.
std::vector<GlobalRow> requestsOf(const std::string &instruction, unsigned stride, unsigned offset = 0,
                                  const char *guard = "", unsigned warps = 1) {
  MachineOptions options = TestDevice::defaults();
  options.countTraffic = true;
  options.computeCapability = 90;
  TestDevice device(options);
  std::string text = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .entry touch(.param .u64 data, .param .u64 other, .param .u32 stride, .param .u32 offset) {
  .reg .pred %p;
  .reg .b16 %h;
  .reg .b32 %r<16>;
  .reg .b64 %rd<8>;
  .shared .align 16 .b8 tile[4096];
  ld.param.u64 %rd1, [data];
  ld.param.u64 %rd3, [other];
  ld.param.u32 %r2, [stride];
  ld.param.u32 %r8, [offset];
  mov.u32 %r3, %tid.x;
  and.b32 %r3, %r3, 31;
  setp.lt.u32 %p, %r3, 4;
  mad.lo.s32 %r9, %r3, %r2, %r8;
  cvt.u64.u32 %rd4, %r9;
  add.u64 %rd2, %rd1, %rd4;
  mov.u32 %r1, tile;
  shl.b32 %r10, %r3, 4;
  add.u32 %r1, %r1, %r10;
  mov.b32 %r4, 0;
)";
  text += "  " + std::string(guard) + instruction + ";\n  ret;\n}\n";
  EXPECT_TRUE(device.load(text)) << device.message;
  uint64_t data = device.upload(std::vector<uint32_t>(4096, 1)), other = device.upload(std::vector<uint32_t>(64, 1));
  EXPECT_TRUE(device.launch("touch", {1, 1, 1}, {32 * warps, 1, 1}, data, other, stride, offset)) << device.report();
  return device.result.globalTraffic;
}

GlobalRow requestOf(const std::string &instruction, unsigned stride, unsigned offset = 0, const char *guard = "") {
  std::vector<GlobalRow> rows = requestsOf(instruction, stride, offset, guard);
  EXPECT_EQ(rows.size(), 1u);
  return rows.empty() ? GlobalRow() : rows.front();
}

MachineOptions cachedDevice(uint64_t kibibytes) {
  MachineOptions options = TestDevice::defaults();
  options.countTraffic = true;
  options.checks = false;
  options.cacheBytes = kibibytes << 10;
  return options;
}

/// Three blocks of a warp that read the same 128 bytes twice.
std::vector<GlobalRow> readTwice(TestDevice &device) {
  EXPECT_TRUE(device.load(R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry twice(.param .u64 data) {
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd2, %rd1, %rd2;
  mov.u32 %r2, 0;
again:
  ld.global.b32 %r3, [%rd2];
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p, %r2, 2;
  @%p bra again;
  ret;
}
)")) << device.message;
  uint64_t data = device.upload(std::vector<uint32_t>(64, 1));
  EXPECT_TRUE(device.launch("twice", {3, 1, 1}, {32, 1, 1}, data)) << device.report();
  return device.result.globalTraffic;
}

TEST(GlobalTraffic, NeighboursShareSectors) {
  GlobalRow row = requestOf("ld.global.b32 %r4, [%rd2]", 4);
  EXPECT_EQ(row.instruction, "ld.global.b32");
  EXPECT_EQ(row.way, TrafficWay::Read);
  EXPECT_EQ(row.buffer, 1u);
  EXPECT_EQ(row.requests, 1u);
  EXPECT_EQ(row.sectors, 4u);
  EXPECT_EQ(row.least, 4u);
  EXPECT_EQ(row.bytes, 128u);
  EXPECT_EQ(row.begin, 0u);
  EXPECT_EQ(row.end, 128u);
}

TEST(GlobalTraffic, WhatLanesShareCountsOnce) {
  GlobalRow row = requestOf("ld.global.b32 %r4, [%rd2]", 0);
  EXPECT_EQ(row.bytes, 4u);
  EXPECT_EQ(row.sectors, 1u);
  EXPECT_EQ(requestOf("ld.global.v2.b32 {%r4, %r5}, [%rd2]", 8).bytes, 256u);
}

TEST(GlobalTraffic, StridesAndOffsetsCostSectors) {
  EXPECT_EQ(requestOf("ld.global.b32 %r4, [%rd2]", 8).sectors, 8u);
  EXPECT_EQ(requestOf("ld.global.b32 %r4, [%rd2]", 128).sectors, 32u);
  GlobalRow shifted = requestOf("ld.global.b32 %r4, [%rd2]", 4, 16);
  EXPECT_EQ(shifted.sectors, 5u);
  EXPECT_EQ(shifted.least, 4u);
  EXPECT_EQ(shifted.begin, 16u);
  EXPECT_EQ(requestOf("ld.global.b32 %r4, [%rd2 + 16]", 4).begin, 16u);
}

TEST(GlobalTraffic, WideAccessesAskForMore) {
  GlobalRow row = requestOf("ld.global.v4.b32 {%r4, %r5, %r6, %r7}, [%rd2]", 16);
  EXPECT_EQ(row.requests, 1u);
  EXPECT_EQ(row.sectors, 16u);
  EXPECT_EQ(row.bytes, 512u);
}

TEST(GlobalTraffic, OnlyLanesThatTakePartCount) {
  GlobalRow row = requestOf("st.global.b32 [%rd2], %r4", 4, 0, "@%p ");
  EXPECT_EQ(row.way, TrafficWay::Write);
  EXPECT_EQ(row.sectors, 1u);
  EXPECT_EQ(row.bytes, 16u);
}

TEST(GlobalTraffic, EveryWarpAsksAgain) {
  std::vector<GlobalRow> rows = requestsOf("ld.global.b32 %r4, [%rd2]", 4, 0, "", 3);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].requests, 3u);
  EXPECT_EQ(rows[0].sectors, 12u);
  EXPECT_EQ(rows[0].end, 128u);
}

TEST(GlobalTraffic, AllocationsAreApart) {
  std::vector<GlobalRow> rows = requestsOf("selp.b64 %rd5, %rd3, %rd2, %p; ld.global.b32 %r4, [%rd5]", 4);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].buffer, 1u);
  EXPECT_EQ(rows[0].bytes, 112u);
  EXPECT_EQ(rows[1].buffer, 2u);
  EXPECT_EQ(rows[1].bytes, 4u);
}

TEST(GlobalTraffic, GenericAddressesAndAtomics) {
  EXPECT_EQ(requestOf("ld.b32 %r4, [%rd2]", 4).sectors, 4u);
  EXPECT_EQ(requestOf("red.global.add.u32 [%rd2], %r4", 4).way, TrafficWay::Update);
  EXPECT_TRUE(requestsOf("st.shared.b32 [%r1], %r4", 4).empty());
  EXPECT_TRUE(requestsOf("cvt.u64.u32 %rd5, %r1; cvta.shared.u64 %rd5, %rd5; st.b32 [%rd5], %r4", 4).empty());
}

TEST(GlobalTraffic, CopiesCountWhereTheyComeFrom) {
  GlobalRow row = requestOf("cp.async.cg.shared.global [%r1], [%rd2], 16; cp.async.wait_all", 16);
  EXPECT_EQ(row.way, TrafficWay::Read);
  EXPECT_EQ(row.requests, 1u);
  EXPECT_EQ(row.sectors, 16u);
  // Zeros are not read.
  EXPECT_EQ(requestOf("mov.b32 %r5, 4; cp.async.ca.shared.global [%r1], [%rd2], 16, %r5; cp.async.wait_all", 16).bytes, 128u);
}

TEST(GlobalTraffic, LinesAndBanksOfTheCache) {
  EXPECT_EQ(requestOf("ld.global.b32 %r4, [%rd2]", 4).lines, 1u);
  EXPECT_EQ(requestOf("ld.global.b32 %r4, [%rd2]", 4).wavefronts, 1u);
  EXPECT_EQ(requestOf("ld.global.b32 %r4, [%rd2]", 128).lines, 32u);
  EXPECT_EQ(requestOf("ld.global.b32 %r4, [%rd2]", 128).wavefronts, 32u);
  EXPECT_EQ(requestOf("ld.global.b32 %r4, [%rd2]", 132).wavefronts, 1u);
  EXPECT_EQ(requestOf("ld.global.b32 %r4, [%rd2]", 128).missed, 32u);
}

TEST(GlobalTraffic, ACacheKeepsWhatABlockHasRead) {
  TestDevice device(cachedDevice(64));
  EXPECT_EQ(readTwice(device)[0].missed, 12u);
  TestDevice without(cachedDevice(0));
  EXPECT_EQ(readTwice(without)[0].missed, 24u);
}

TEST(GlobalTraffic, FootprintsOfSampledBlocks) {
  MachineOptions options = cachedDevice(0);
  options.blocks = {{0, 0, 0}, {2, 0, 0}, {9, 9, 9}};
  TestDevice device(options);
  readTwice(device);
  EXPECT_EQ(device.result.shape.blocks, 2u);
  EXPECT_EQ(device.result.shape.grid[0], 3u);
  // Both blocks read the same 128 bytes.
  ASSERT_EQ(device.result.footprints.size(), 1u);
  EXPECT_EQ(device.result.footprints[0].blocks, 3u);
  EXPECT_EQ(device.result.footprints[0].sectors, 4u);
  EXPECT_FALSE(device.result.footprints[0].isWritten);
}

TEST(GlobalTraffic, BlocksOutsideOfTheGridAreSaid) {
  MachineOptions options = cachedDevice(0);
  options.blocks = {{9, 9, 9}};
  TestDevice device(options);
  testing::internal::CaptureStderr();
  readTwice(device);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("nothing runs, no block of PTXSIM_BLOCKS is in its grid of 3 x"),
            std::string::npos);
}

TEST(IssueCounts, EveryInstructionOfEveryWarp) {
  TestDevice device(cachedDevice(0));
  readTwice(device);
  const std::vector<IssueRow> &rows = device.result.issue;
  ASSERT_FALSE(rows.empty());
  EXPECT_EQ(rows.front().instruction, "ld.param.u64");
  EXPECT_EQ(rows.front().executed, 3u);
  EXPECT_EQ(rows.front().lanes, 96u);
  // In the loop, twice per warp of three blocks.
  auto load = std::find_if(rows.begin(), rows.end(), [](const IssueRow &row) { return row.instruction == "ld.global.b32"; });
  ASSERT_NE(load, rows.end());
  EXPECT_EQ(load->executed, 6u);
}

TEST(IssueCounts, LinesForScripts) {
  LaunchShape shape;
  shape.grid[0] = 3;
  shape.block[0] = 32;
  shape.sharedBytes = 64;
  shape.blocks = 2;
  EXPECT_EQ(issueLines("k", shape, {{"bar.sync", 9, 4, 128, {}}, {"ret", 10, 3, 96, {2, 1}}}),
            "{\"kernel\": \"k\", \"memory\": \"launch\", \"grid\": [3, 1, 1], \"block\": [32, 1, 1], \"shared\": 64, \"blocks\": 2}\n"
            "{\"kernel\": \"k\", \"memory\": \"issue\", \"line\": 9, \"instruction\": \"bar.sync\", \"executed\": 4, \"lanes\": 128}\n"
            "{\"kernel\": \"k\", \"memory\": \"issue\", \"line\": 10, \"instruction\": \"ret\", \"executed\": 3, \"lanes\": 96, "
            "\"by_warp\": [2, 1]}\n");
}

TEST(GlobalTraffic, LinesForScripts) {
  EXPECT_EQ(globalTrafficLines("k", {{"ld.global.b32", 7, TrafficWay::Read, 1, 2, 9, 256, 8, 16, 272, 3, 5, 6}}),
            "{\"kernel\": \"k\", \"memory\": \"global\", \"line\": 7, \"instruction\": \"ld.global.b32\", "
            "\"way\": \"read\", \"buffer\": 1, \"requests\": 2, \"sectors\": 9, \"least\": 8, \"bytes\": 256, "
            "\"begin\": 16, \"end\": 272, \"lines\": 3, \"missed\": 5, \"wavefronts\": 6}\n");
}

TEST(GlobalTraffic, LinesOfStages) {
  EXPECT_EQ(globalTrafficLines("k", {}, {}, {{1, 2, 10, 4096, 3, 3}}),
            "{\"kernel\": \"k\", \"memory\": \"stages\", \"buffer\": 1, \"blocks\": 2, \"copies\": 10, \"bytes\": 4096, "
            "\"places\": 3, \"mbarriers\": 3}\n");
}

} // namespace
