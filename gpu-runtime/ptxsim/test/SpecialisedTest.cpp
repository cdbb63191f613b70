// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products with specialised warps, alone and in clusters of two blocks that load for each other
// (programs/specialised.cu): exact on small integers, within their bound on random numbers, and with planted bugs.

#include "Harness.h"

#include "arithmetic/Half.h"
#include "async/TensorMap.h"

#include <cmath>
#include <functional>
#include <random>

using namespace tilewright::ptxsim;

namespace {

constexpr int m = 256, n = 128, k = 320;

TensorMap mapOf(uint64_t address, uint64_t rows, uint32_t boxRows) {
  uint64_t dims[] = {k, rows}, strides[] = {k * 2};
  uint32_t box[] = {64, boxRows}, elementStrides[] = {1, 1};
  TensorMapRequest request = {2, true, 2, address, dims, strides, box, elementStrides, Swizzle::Bytes128, false};
  TensorMap map;
  std::string why;
  EXPECT_TRUE(encodeTensorMap(request, map, why)) << why;
  return map;
}

struct Outcome {
  bool completed = false;
  /// The largest error, in units of the sum of absolute products.
  double error = 0;
};

Outcome multiply(TestDevice &device, bool inClusters, const std::function<double()> &value) {
  std::vector<double> x(m * k), y(n * k);
  std::vector<uint16_t> a(x.size()), b(y.size());
  auto fill = [&](std::vector<double> &values, std::vector<uint16_t> &halves) {
    for (size_t i = 0; i < values.size(); ++i) {
      halves[i] = static_cast<uint16_t>(doubleToSmall(value(), f16Format));
      values[i] = halfToDouble(halves[i]);
    }
  };
  fill(x, a);
  fill(y, b);
  TensorMap aMap = mapOf(device.upload(a), m, 128), bMap = mapOf(device.upload(b), n, inClusters ? 32 : 64);
  uint64_t c = device.allocate(m * n * 4);
  int columns = n, depth = k;
  std::vector<uint8_t> params(272);
  std::memcpy(params.data(), &aMap, 128);
  std::memcpy(params.data() + 128, &bMap, 128);
  std::memcpy(params.data() + 256, &c, 8);
  std::memcpy(params.data() + 264, &columns, 4);
  std::memcpy(params.data() + 268, &depth, 4);
  device.dynamicShared = 3 * (128 + 64) * 128;
  device.cluster = {1, inClusters ? 2u : 1u, 1};
  Outcome outcome;
  outcome.completed =
      device.launchBytes(inClusters ? "gemmOfTwo" : "gemm", {n / 64, m / 128}, {384}, params) &&
      (!device.options.checks || device.copyOut(c, m * n * 4));
  std::vector<float> got = device.download<float>(c, m * n);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      double sum = 0, absolute = 0;
      for (int l = 0; l < k; ++l) {
        sum += x[i * k + l] * y[j * k + l];
        absolute += std::fabs(x[i * k + l] * y[j * k + l]);
      }
      double error = std::fabs(got[i * n + j] - sum);
      // Not a number where nothing was written.
      outcome.error = error == 0 ? outcome.error : std::isnan(error) ? 1e300 : std::max(outcome.error, error / absolute);
    }
  return outcome;
}

MachineOptions hopper(uint64_t seed, bool checks = true) {
  MachineOptions options = TestDevice::defaults();
  options.computeCapability = 90;
  options.seed = seed;
  options.checks = checks;
  options.instructionLimit = 3'000'000;
  return options;
}

std::function<double()> smallIntegers() {
  auto random = std::make_shared<std::mt19937>(5);
  return [random] { return static_cast<double>((*random)() % 7) - 3; };
}

/// Of a cluster of two each block copies half of B's tile to both: global memory is read once, shared memory written in both.
TEST(Specialised, CountsOfMulticasts) {
  MachineOptions options = hopper(1, false);
  options.countTraffic = true;
  TestDevice device(options);
  ASSERT_TRUE(device.load(readTestFile("programs/specialised.ptx"))) << device.message;
  EXPECT_TRUE(multiply(device, true, smallIntegers()).completed) << device.report();
  constexpr unsigned blocks = 4, steps = k / 64, perRow = 128 / 32;
  uint64_t sectorsOfA = 0, sectorsOfB = 0, wavefrontsOfB = 0;
  for (const GlobalRow &row : device.result.globalTraffic)
    if (row.way == TrafficWay::Read)
      (row.instruction.find("multicast") != std::string::npos ? sectorsOfB : sectorsOfA) += row.sectors;
  for (const TrafficRow &row : device.result.traffic)
    if (row.instruction.find("multicast") != std::string::npos)
      wavefrontsOfB += row.wavefronts;
  EXPECT_EQ(sectorsOfA, blocks * steps * 128 * perRow);
  EXPECT_EQ(sectorsOfB, blocks / 2 * steps * 64 * perRow);
  EXPECT_EQ(wavefrontsOfB, blocks * steps * 64);
  ASSERT_EQ(device.result.stages.size(), 2u);
  const StageRow &a = device.result.stages[0], &b = device.result.stages[1];
  EXPECT_EQ(a.places, 3u);
  EXPECT_EQ(a.mbarriers, 3u);
  EXPECT_EQ(a.bytes, uint64_t(blocks) * steps * 128 * 128);
  EXPECT_EQ(b.blocks, blocks);
  EXPECT_EQ(b.copies, blocks * steps * 2);
  EXPECT_EQ(b.bytes, uint64_t(blocks) * steps * 64 * 128);
  EXPECT_EQ(b.places, 6u);
  EXPECT_EQ(b.mbarriers, 3u);
}

TEST(Specialised, IsRight) {
  for (bool inClusters : {false, true})
    for (bool checks : {true, false})
      for (uint64_t seed : {1, 2}) {
        TestDevice device(hopper(seed, checks));
        ASSERT_TRUE(device.load(readTestFile("programs/specialised.ptx"))) << device.message;
        Outcome exact = multiply(device, inClusters, smallIntegers());
        EXPECT_TRUE(exact.completed) << device.report();
        EXPECT_EQ(exact.error, 0);
        EXPECT_EQ(device.findings.size(), 0u) << device.report();
        if (seed != 1)
          continue;
        std::mt19937 random(9);
        Outcome rounded = multiply(device, inClusters, [&] { return std::ldexp(static_cast<double>(random()), -31) - 1; });
        EXPECT_TRUE(rounded.completed) << device.report();
        // Each of k/16 instructions rounds once to 24 bits.
        EXPECT_LE(rounded.error, k / 16 * 0x1p-24);
        EXPECT_GT(rounded.error, 0);
      }
}

/// A warp that has waited for its warpgroup's product may arrive for all four, as CUTLASS's do (test/others).
TEST(Specialised, ConsumersNeedNotMeet) {
  std::string text = readTestFile("programs/specialised.ptx");
  size_t at = text.find("bar.sync ", text.find("bar.sync ", text.find(".entry gemm(")) + 1);
  ASSERT_NE(at, std::string::npos);
  text.insert(at, "// ");
  for (uint64_t seed : {1, 2}) {
    TestDevice device(hopper(seed));
    ASSERT_TRUE(device.load(text)) << device.message;
    Outcome outcome = multiply(device, false, smallIntegers());
    EXPECT_TRUE(outcome.completed) << device.report();
    EXPECT_EQ(outcome.error, 0);
    EXPECT_EQ(device.findings.size(), 0u) << device.report();
  }
}

struct Bug {
  const char *name;
  bool inClusters;
  const char *from;
  int occurrence;
  const char *to;
  std::vector<FindingKind> expected;
};

constexpr FindingKind race = FindingKind::Race, deadlock = FindingKind::Deadlock, undefined = FindingKind::Undefined,
                      cluster = FindingKind::ClusterMisuse, mbarrier = FindingKind::MbarrierMisuse;

const Bug bugs[] = {
    {"ProducerDoesNotWait", false, "@!done bra again;", 0, "", {race, mbarrier}},
    {"ConsumerDoesNotWait", false, "@!done bra again;", 1, "", {race, undefined, mbarrier}},
    {"EmptyCountTooLarge", false, "mov.u32 \t%r23, 2;", 0, "mov.u32 \t%r23, 3;", {deadlock}},
    {"TooManyRegisters", false, "setmaxnreg.inc.sync.aligned.u32 232", 0, "setmaxnreg.inc.sync.aligned.u32 240", {deadlock}},
    {"RegistersNotGivenBack", false, "setmaxnreg.dec.sync.aligned.u32 40;", 0, "", {deadlock}},
    {"ProductNotWaitedFor", false, "wgmma.wait_group.sync.aligned 0;", 0, "", {race, FindingKind::WgmmaMisuse}},
    {"MaskOfOneBlock", true, "mov.u16 \t%rs1, 3;", 0, "mov.u16 \t%rs1, 1;", {deadlock}},
    {"MaskOfThreeBlocks", true, "mov.u16 \t%rs1, 3;", 0, "mov.u16 \t%rs1, 7;", {cluster}},
    {"NoMeetingAfterInit", true, "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", 0, "bar.sync 0;", {race, cluster, mbarrier, FindingKind::ProxyOrder}},
    {"EarlyExit", true, "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;", 1, "", {cluster}},
    {"ArrivalsStayAtHome", true, "mapa.shared::cluster.u32 there, %r66, %r67;", 0, "mov.u32 there, %r66;", {deadlock, mbarrier, race}},
};

class SpecialisedBugs : public ::testing::TestWithParam<Bug> {};

TEST_P(SpecialisedBugs, AreFound) {
  const Bug &bug = GetParam();
  std::string text = readTestFile("programs/specialised.ptx");
  size_t at = text.find(bug.inClusters ? ".entry gemmOfTwo(" : ".entry gemm(") - 1;
  for (int i = 0; i <= bug.occurrence; ++i) {
    at = text.find(bug.from, at + 1);
    ASSERT_NE(at, std::string::npos);
  }
  text.replace(at, std::strlen(bug.from), bug.to);
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    TestDevice device(hopper(seed));
    ASSERT_TRUE(device.load(text)) << device.message;
    EXPECT_FALSE(multiply(device, bug.inClusters, smallIntegers()).completed) << "seed " << seed;
    bool asExpected = false;
    for (FindingKind kind : bug.expected)
      asExpected |= device.found(kind);
    EXPECT_TRUE(asExpected) << "seed " << seed << device.report();
  }
}

void PrintTo(const Bug &bug, std::ostream *stream) { *stream << bug.name; }

INSTANTIATE_TEST_SUITE_P(Planted, SpecialisedBugs, ::testing::ValuesIn(bugs),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
