// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bugs planted into correct PTX, one at a time. Every one must be found, whatever the seed; Originals shows that
// the unplanted programs have no findings.

#include "Harness.h"

#include <set>

using namespace tilewright::ptxsim;

namespace {

struct Mutation {
  const char *name;
  const char *kernel;
  /// The occurrence of `from` (counted from 0, within the kernel) that becomes `to`.
  const char *from;
  int occurrence;
  const char *to;
  std::vector<FindingKind> expected;
  /// Whether every seed must find it, or one of the five.
  bool everySeed = true;
};

const Mutation mutations[] = {
    {"FirstBarrierDropped", "reduceTree", "bar.sync \t0;", 0, "", {FindingKind::Race}},
    {"MiddleBarrierDropped", "reduceTree", "bar.sync \t0;", 4, "", {FindingKind::Race}},
    {"BarrierAmongLanesOfOneWarpDropped", "reduceTree", "bar.sync \t0;", 6, "", {FindingKind::Race}},
    {"BarrierAfterComputeDropped", "matmulTiled", "bar.sync \t0;", 1, "", {FindingKind::Race}},
    {"BarrierBeforeComputeDropped", "matmulTiled", "bar.sync \t0;", 0, "", {FindingKind::Race}},
    {"ScanBarrierDropped", "prefixScan", "bar.sync \t0;", 2, "", {FindingKind::Race}},
    {"HistogramBarrierDropped", "histogram", "bar.sync \t0;", 0, "", {FindingKind::Race}},
    {"WarpBarrierDropped", "warpReverse", "bar.warp.sync \t-1;", 0, "", {FindingKind::Race}},
    {"WarpBarrierOfHalfAWarp",
     "warpReverse",
     "bar.warp.sync \t-1;",
     0,
     "bar.warp.sync \t65535;",
     {FindingKind::CollectiveMisuse}},
    {"FenceDropped", "lastBlockSum", "membar.gl;", 0, "", {FindingKind::Race}},
    {"SecondFenceDropped", "lastBlockSum", "membar.gl;", 1, "", {FindingKind::Race}},
    {"FenceOfABlockOnly", "lastBlockSum", "membar.gl;", 0, "membar.cta;", {FindingKind::Race}},
    // Ordered, but by the path that may still have what was there before.
    {"LoadForWhatNothingWrites", "lastBlockSum", "ld.global.u32", 1, "ld.global.nc.u32", {FindingKind::Race}},
    {"LockWithoutRelease", "spinLock", "st.release.gpu.b32", 0, "st.relaxed.gpu.b32", {FindingKind::Race}},
    {"LockWithoutAcquire", "spinLock", "atom.cas.acquire.gpu.b32", 0, "atom.cas.relaxed.gpu.b32", {FindingKind::Race}},
    {"LockOfABlockOnly", "spinLock", "st.release.gpu.b32", 0, "st.release.cta.b32", {FindingKind::Race}},
    {"AtomicMadePlain",
     "histogram",
     "atom.shared.add.u32 \t%r22, [%r21], 1;",
     0,
     "ld.shared.u32 %r22, [%r21]; add.u32 %r22, %r22, 1; st.shared.u32 [%r21], %r22;",
     {FindingKind::Race}},
    {"GridBarrierWithoutRelease",
     "persistent",
     "atom.add.acq_rel.gpu.u32",
     0,
     "atom.add.acquire.gpu.u32",
     {FindingKind::Race}},
    // The block that arrives last acquires by its own read-modify-write, so only some schedules are wrong.
    {"GridBarrierWithoutAcquire",
     "persistent",
     "ld.acquire.gpu.b32",
     0,
     "ld.relaxed.gpu.b32",
     {FindingKind::Race},
     false},
    {"WorkItemBarrierDropped", "persistent", "bar.sync \t0;", 1, "", {FindingKind::Race}},
    {"HandOverWithoutWaiting",
     "producerConsumer",
     "bar.sync 2, 64;",
     0,
     "bar.arrive 2, 64;",
     {FindingKind::Race, FindingKind::Deadlock, FindingKind::BarrierMisuse}},
    {"WrongNumberOfThreads",
     "producerConsumer",
     "bar.arrive 2, 64;",
     0,
     "bar.arrive 2, 96;",
     {FindingKind::BarrierMisuse, FindingKind::Deadlock}},
    {"BarrierInsideABranch",
     "reduceTree",
     "st.shared.u32 \t[%r3], %r32;",
     0,
     "st.shared.u32 \t[%r3], %r32; bar.sync 0;",
     {FindingKind::BarrierDivergence}},
    {"BarrierForOddLanes",
     "reduceTree",
     "bar.sync \t0;",
     0,
     "and.b32 %r33, %r2, 1; setp.eq.u32 %p9, %r33, 1; @%p9 bar.sync 0; @!%p9 bar.sync 0;",
     {FindingKind::BarrierDivergence}},
    {"BoundOffByOne", "saxpy", "setp.ge.s32", 0, "setp.gt.s32", {FindingKind::OutOfBounds}},
    {"GuardMissing", "saxpy", "@%p1 bra \t$L__BB0_2;", 0, "", {FindingKind::OutOfBounds}},
    {"SwappedIndex",
     "matmulTiled",
     "mad.lo.s32 \t%r28, %r1, 68, %r27;",
     0,
     "mad.lo.s32 \t%r28, %r3, 68, %r27;",
     {FindingKind::Race, FindingKind::Undefined, FindingKind::OutOfBounds}},
    {"SharedArrayTooSmall", "reduceTree", "data[1024]", 0, "data[1000]", {FindingKind::OutOfBounds}},
    {"WrongElementSize",
     "saxpy",
     "mul.wide.s32 \t%rd5, %r1, 4;",
     0,
     "mul.wide.s32 \t%rd5, %r1, 2;",
     {FindingKind::Misaligned}},
    {"NegativeIndex", "prefixScan", "@%p1 bra \t$L__BB4_2;", 0, "", {FindingKind::OutOfBounds}},
    {"ReadBeforeWrite", "histogram", "st.shared.u32 \t[%r15], %r16;", 0, "", {FindingKind::Undefined}},
    {"UndefinedBranch", "saxpy", "mad.lo.s32 \t%r1, %r3, %r4, %r5;", 0, "", {FindingKind::Undefined}},
    {"UndefinedAddress", "saxpy", "cvta.to.global.u64 \t%rd4, %rd2;", 0, "", {FindingKind::Undefined}},
    {"ShuffleOfMissingLanes",
     "reduceSum",
     "shfl.sync.down.b32",
     0,
     "@%p1 shfl.sync.down.b32",
     {FindingKind::CollectiveMisuse, FindingKind::Deadlock, FindingKind::Undefined}},
};

std::string planted(const Mutation &mutation) {
  std::string text = readTestFile("programs/classics.ptx");
  size_t at = text.find(std::string(".entry ") + mutation.kernel + "(");
  size_t end = text.find("\n}", at);
  std::string from = mutation.from;
  for (int i = 0; i <= mutation.occurrence; ++i) {
    at = text.find(from, at + (i > 0));
    if (at == std::string::npos || at > end) {
      ADD_FAILURE() << "the program has no " << from;
      return text;
    }
  }
  return text.replace(at, from.size(), mutation.to);
}

template <typename T> std::vector<T> varied(size_t count) {
  std::vector<T> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(i % 200 + 1);
  return values;
}

/// Launches the kernel on inputs of a sensible size and copies the result out; returns whether all of that went well.
bool run(TestDevice &device, const std::string &kernel) {
  auto ints = [&](size_t count) { return device.upload(varied<int>(count)); };
  auto floats = [&](size_t count) { return device.upload(varied<float>(count)); };
  auto zero = [&] { return device.upload(std::vector<int>{0}); };
  uint64_t out = 0;
  size_t bytes = 0;
  auto output = [&](size_t size) { return bytes = size, out = device.allocate(size); };
  bool ok = false;
  if (kernel == "saxpy")
    ok = device.launch(kernel, {4}, {256}, floats(1000), floats(1000), 2.0f, 1000);
  else if (kernel == "reduceTree")
    ok = device.launch(kernel, {2}, {256}, ints(512), output(8));
  else if (kernel == "reduceSum")
    ok = device.launch(kernel, {2}, {256}, ints(900), (bytes = 4, out = zero()), 900);
  else if (kernel == "matmulTiled")
    ok = device.launch(kernel, {2, 2}, {16, 16}, floats(1024), floats(1024), output(4096), 32);
  else if (kernel == "prefixScan" || kernel == "warpReverse")
    ok = device.launch(kernel, {1}, {256}, out = ints(bytes = 256));
  else if (kernel == "histogram")
    ok = device.launch(kernel, {2}, {128}, device.upload(varied<uint8_t>(1000)), out = ints(bytes = 256), 1000);
  else if (kernel == "lastBlockSum")
    ok = device.launch(kernel, {8}, {32}, ints(256), ints(8), output(4));
  else if (kernel == "spinLock")
    ok = device.launch(kernel, {2}, {32}, zero(), zero());
  else if (kernel == "persistent")
    ok = device.launch(kernel, {4}, {64}, zero(), ints(400), 400, zero(), output(4));
  else if (kernel == "producerConsumer")
    ok = device.launch(kernel, {1}, {64}, output(512));
  else
    ADD_FAILURE() << "no inputs for " << kernel;
  return ok && device.copyOut(out, bytes);
}

class Mutations : public ::testing::TestWithParam<Mutation> {};

TEST_P(Mutations, IsFound) {
  const Mutation &mutation = GetParam();
  std::string text = planted(mutation);
  int found = 0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    MachineOptions options = TestDevice::defaults();
    options.seed = seed;
    TestDevice device(options);
    ASSERT_TRUE(device.load(text)) << device.message;
    if (run(device, mutation.kernel)) {
      EXPECT_FALSE(mutation.everySeed) << "seed " << seed << ": not found";
      continue;
    }
    ++found;
    bool asExpected = false;
    for (FindingKind kind : mutation.expected)
      asExpected |= device.found(kind);
    EXPECT_TRUE(asExpected) << "seed " << seed << ": " << device.report();
  }
  EXPECT_GT(found, 0);
}

TEST(Originals, HaveNoFindings) {
  std::set<std::string> kernels;
  for (const Mutation &mutation : mutations)
    kernels.insert(mutation.kernel);
  for (const std::string &kernel : kernels)
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      MachineOptions options = TestDevice::defaults();
      options.seed = seed;
      TestDevice device(options);
      ASSERT_TRUE(device.load(readTestFile("programs/classics.ptx"))) << device.message;
      EXPECT_TRUE(run(device, kernel)) << kernel << ", seed " << seed;
      EXPECT_EQ(device.report(), "") << kernel << ", seed " << seed;
    }
}

void PrintTo(const Mutation &mutation, std::ostream *stream) { *stream << mutation.name; }

INSTANTIATE_TEST_SUITE_P(Planted, Mutations, ::testing::ValuesIn(mutations),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
