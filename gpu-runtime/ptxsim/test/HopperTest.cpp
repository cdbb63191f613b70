// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A complete product of a Hopper GPU, programs/hopper.cu: exact on small integers, free of findings, and with planted
// bugs, each of which must be found or give a wrong result.

#include "Harness.h"

#include "arithmetic/Half.h"
#include "async/TensorMap.h"

using namespace tilewright::ptxsim;

namespace {

int value(size_t i) { return static_cast<int>(i * 2654435761u >> 20) % 7 - 3; }

TensorMap mapOf(uint64_t address, uint64_t rows, uint64_t k, Swizzle swizzle) {
  uint64_t dims[] = {k, rows}, strides[] = {k * 2};
  uint32_t box[] = {64, 64}, elementStrides[] = {1, 1};
  TensorMapRequest request = {2, true, 2, address, dims, strides, box, elementStrides, swizzle, false};
  TensorMap map;
  std::string why;
  EXPECT_TRUE(encodeTensorMap(request, map, why)) << why;
  return map;
}

struct Outcome {
  bool completed = false, correct = true;
};

Outcome multiply(TestDevice &device, int m, int n, int k, Swizzle swizzle = Swizzle::Bytes128) {
  std::vector<uint16_t> a(size_t(m) * k), b(size_t(n) * k);
  for (size_t i = 0; i < a.size(); ++i)
    a[i] = static_cast<uint16_t>(doubleToSmall(value(i), f16Format));
  for (size_t i = 0; i < b.size(); ++i)
    b[i] = static_cast<uint16_t>(doubleToSmall(value(i + 77), f16Format));
  TensorMap aMap = mapOf(device.upload(a), m, k, swizzle), bMap = mapOf(device.upload(b), n, k, swizzle);
  uint64_t c = device.allocate(size_t(m) * n * 4);
  std::vector<uint8_t> params(272);
  std::memcpy(params.data(), &aMap, 128);
  std::memcpy(params.data() + 128, &bMap, 128);
  std::memcpy(params.data() + 256, &c, 8);
  std::memcpy(params.data() + 264, &n, 4);
  std::memcpy(params.data() + 268, &k, 4);
  Outcome outcome;
  outcome.completed = device.launchBytes("gemm", {uint32_t(n / 64), uint32_t(m / 64)}, {128}, params) &&
                      (!device.options.checks || device.copyOut(c, size_t(m) * n * 4));
  std::vector<float> got = device.download<float>(c, size_t(m) * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      int sum = 0;
      for (int x = 0; x < k; ++x)
        sum += value(size_t(i) * k + x) * value(size_t(j) * k + x + 77);
      outcome.correct &= got[size_t(i) * n + j] == static_cast<float>(sum);
    }
  return outcome;
}

MachineOptions hopper(uint64_t seed, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  return options;
}

TEST(Hopper, ProductIsExactOnIntegers) {
  for (bool checks : {true, false})
    for (uint64_t seed : {1, 2, 3}) {
      TestDevice device(hopper(seed, checks));
      ASSERT_TRUE(device.load(readTestFile("programs/hopper.ptx"))) << device.message;
      Outcome outcome = multiply(device, 128, 64, 320);
      EXPECT_TRUE(outcome.completed) << device.report();
      EXPECT_TRUE(outcome.correct);
      EXPECT_EQ(device.findings.size(), 0u) << device.report();
    }
}

/// Two blocks, five steps of 64 along k: each copies 64 rows of 128 bytes of A and of B a step, into two slots in turn.
TEST(Hopper, CountsOfCopiesAndOperands) {
  MachineOptions options = hopper(1, false);
  options.countTraffic = true;
  for (bool skips : {false, true}) {
    options.skipsWgmma = skips;
    TestDevice device(options);
    ASSERT_TRUE(device.load(readTestFile("programs/hopper.ptx"))) << device.message;
    EXPECT_EQ(multiply(device, 128, 64, 320).correct, !skips);
    uint64_t read = 0, wavefronts = 0, arrived = 0, operands = 0, products = 0, waits = 0;
    for (const GlobalRow &row : device.result.globalTraffic)
      if (row.instruction.find("tensor") != std::string::npos) {
        EXPECT_EQ(row.sectors, row.requests * 64 * 4);
        EXPECT_EQ(row.bytes, row.sectors * 32);
        EXPECT_EQ(row.least, row.sectors);
        read += row.sectors;
      }
    for (const TrafficRow &row : device.result.traffic)
      if (row.instruction.find("tensor") != std::string::npos) {
        wavefronts += row.wavefronts;
        arrived += row.executed;
      } else if (row.instruction.find("wgmma") == 0) {
        // Each of four warps reads 16 rows of A, and one of them the 64 of B; 32 bytes of each row, 128 in a wavefront.
        EXPECT_EQ(row.wavefronts, row.executed * (4 * 4 + 16) / 4);
        EXPECT_EQ(row.least, row.wavefronts);
        operands += row.executed;
      }
    for (const IssueRow &row : device.result.issue) {
      products += row.instruction.find("wgmma.mma_async") == 0 ? row.executed : 0;
      waits += row.instruction.find("mbarrier.try_wait") == 0 ? row.executed : 0;
    }
    EXPECT_EQ(read, 2u * 5 * 2 * 64 * 4);
    EXPECT_EQ(arrived, 2u * 5 * 2);
    EXPECT_EQ(wavefronts, arrived * 64);
    EXPECT_EQ(products, 2u * 4 * 5 * 4);
    EXPECT_EQ(operands, products);
    // A wait counts once, however often it is polled.
    EXPECT_EQ(waits, 2u * 4 * 5);
    ASSERT_EQ(device.result.stages.size(), 2u);
    for (const StageRow &row : device.result.stages) {
      EXPECT_EQ(row.blocks, 2u);
      EXPECT_EQ(row.copies, 2u * 5);
      EXPECT_EQ(row.bytes, row.copies * 8192);
      EXPECT_EQ(row.places, 2u);
      EXPECT_EQ(row.mbarriers, 2u);
    }
  }
}

/// Of a tile across the edge of the tensor only what lies inside is read, and all of it arrives.
TEST(Hopper, CountsOfTilesAtEdges) {
  MachineOptions options = hopper(1, false);
  options.countTraffic = true;
  TestDevice device(options);
  ASSERT_TRUE(device.load(readTestFile("programs/hopper.ptx"))) << device.message;
  // A tile of 64 x 64 of 40 rows of 48 elements: three sectors a row.
  std::vector<uint16_t> values(40 * 48, 0x3c00);
  TensorMap map = mapOf(device.upload(values), 40, 48, Swizzle::Bytes128);
  uint64_t c = device.allocate(64 * 64 * 4);
  int n = 64, k = 64;
  std::vector<uint8_t> params(272);
  std::memcpy(params.data(), &map, 128);
  std::memcpy(params.data() + 128, &map, 128);
  std::memcpy(params.data() + 256, &c, 8);
  std::memcpy(params.data() + 264, &n, 4);
  std::memcpy(params.data() + 268, &k, 4);
  ASSERT_TRUE(device.launchBytes("gemm", {1, 1}, {128}, params)) << device.report();
  uint64_t sectors = 0, bytes = 0;
  for (const GlobalRow &row : device.result.globalTraffic)
    if (row.instruction.find("tensor") != std::string::npos) {
      sectors += row.sectors;
      bytes += row.bytes;
    }
  EXPECT_EQ(sectors, 2u * 40 * 3);
  EXPECT_EQ(bytes, 2u * 40 * 96);
  ASSERT_EQ(device.result.stages.size(), 1u);
  EXPECT_EQ(device.result.stages.front().bytes, 2u * 8192);
}

TEST(Hopper, WrongSwizzleGivesAnotherResult) {
  TestDevice device(hopper(1));
  ASSERT_TRUE(device.load(readTestFile("programs/hopper.ptx"))) << device.message;
  EXPECT_TRUE(multiply(device, 64, 64, 128).correct);
  // The same tiles, unswizzled: dim 0 of the box has 128 bytes either way.
  EXPECT_FALSE(multiply(device, 64, 64, 128, Swizzle::None).correct);
}

struct Bug {
  const char *name, *from, *to;
};

const Bug bugs[] = {
    {"WaitForTheSlotDropped", "@!done bra again;", ""},
    {"ExpectsHalf", "%r11, 16384;", "%r11, 8192;"},
    {"SlotsTooSmall", "16384", "8192"},
    {"WaitForTheProductDropped", "wgmma.wait_group.sync.aligned 0;", ""},
    {"FenceDropped", "wgmma.fence.sync.aligned;", ""},
    {"CommitDropped", "wgmma.commit_group.sync.aligned;", ""},
};

class HopperBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(HopperBugs, AreSeen) {
  const Bug &bug = GetParam();
  std::string text = readTestFile("programs/hopper.ptx");
  size_t at = text.find(bug.from, text.find('{'));
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(bug.from).size(), bug.to);
  for (uint64_t seed = 1; seed <= 3; ++seed) {
    MachineOptions options = hopper(seed);
    options.instructionLimit = 3'000'000;
    TestDevice device(options);
    ASSERT_TRUE(device.load(text)) << device.message;
    Outcome outcome = multiply(device, 64, 64, 320);
    EXPECT_FALSE(outcome.completed && outcome.correct) << "seed " << seed;
  }
}

void PrintTo(const Bug &bug, std::ostream *stream) { *stream << bug.name; }

INSTANTIATE_TEST_SUITE_P(Planted, HopperBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
