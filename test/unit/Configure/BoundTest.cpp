// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The closed form by which configs are ranked, on counts that can be worked out by hand.

#include "Bound.h"
#include "tilewright/Dialect/Tilewright.h"

#include "mlir/IR/Builders.h"
#include <gtest/gtest.h>

using namespace tilewright;

namespace {

/// 10 multiprocessors of round numbers.
ChipFacts roundChip() {
  ChipFacts chip;
  chip.name = "round";
  chip.multiprocessors = 10;
  chip.clockMhz = 1000;
  chip.memoryBytes = 1000;
  chip.l2BytesPerClock = 4000;
  chip.l2Bytes = 1 << 20;
  chip.cyclesL2 = 200;
  chip.cyclesMemory = 600;
  chip.memoryLoaded = 2.9;
  chip.ringMemoryShare = 0.6;
  chip.ringMargin = 0.1;
  chip.clusterInStep = 1.6;
  chip.threads = 1024;
  chip.blocks = 16;
  chip.registers = 65536;
  chip.sharedBytes = 102400;
  return chip;
}

TEST(Bound, TheBusiestResourceDecides) {
  BlockWork work;
  work.blocks = 40;
  work.threads = 256;
  work[Resource::Tensor] = 1e5;
  work[Resource::Issue] = 2e4;
  work.latency = 1e4;
  Bound bound = boundOf(work, roundChip());
  EXPECT_EQ(bound.resource, "tensor");
  EXPECT_EQ(bound.resident, 4);
  EXPECT_EQ(bound.waves, 1);
  // Four blocks a multiprocessor, and a little for what lies beside.
  EXPECT_GE(bound.cycles, 4e5);
  EXPECT_LE(bound.cycles, 4.2e5);
}

TEST(Bound, OneBlockMoreIsAnotherWave) {
  BlockWork work;
  work.threads = 1024;
  work.latency = 1e4;
  work.blocks = 10;
  double one = boundOf(work, roundChip()).cycles;
  work.blocks = 11;
  Bound two = boundOf(work, roundChip());
  EXPECT_EQ(two.resource, "latency");
  EXPECT_EQ(two.waves, 2);
  EXPECT_NEAR(two.cycles / one, 2, 0.05);
}

TEST(Bound, MemoryIsOfTheWholeChip) {
  BlockWork work;
  work.blocks = 10;
  work.memoryBytes = 1e8;
  Bound bound = boundOf(work, roundChip());
  EXPECT_EQ(bound.resource, "memory");
  EXPECT_NEAR(bound.cycles, 1e5 + 600, 2e3);
}

TEST(Bound, RegistersAndSharedMemoryLimitWhatIsResident) {
  BlockWork work;
  work.threads = 128;
  work.registers = 250;
  EXPECT_EQ(boundOf(work, roundChip()).resident, 2);
  work.registers = 32;
  work.sharedBytes = 50000;
  EXPECT_EQ(boundOf(work, roundChip()).resident, 2);
  work.sharedBytes = 90000;
  EXPECT_EQ(boundOf(work, roundChip()).resident, 1);
}

TEST(Bound, PersistentBlocksHideWhatIsAroundTheSteps) {
  BlockWork work;
  work.blocks = 100;
  work.threads = 1024;
  work.around = 1e4;
  work.latency = 1e4;
  double alone = boundOf(work, roundChip()).cycles;
  work.persistent = true;
  EXPECT_NEAR(alone / boundOf(work, roundChip()).cycles, 2e5 / 1.1e5, 0.05);
}

TEST(Bound, BlocksThatShareAllWorkHaveNoLastWave) {
  BlockWork work;
  work.threads = 1024;
  work.persistent = true;
  work[Resource::Tensor] = 1e4;
  // Eleven tiles on ten multiprocessors: one of these has two, or each has a tenth more.
  work.blocks = 11;
  EXPECT_NEAR(boundOf(work, roundChip()).cycles, 2e4, 1e3);
  work.shared = 10;
  EXPECT_NEAR(boundOf(work, roundChip()).cycles, 1.1e4, 1e3);
  // Five blocks leave half of the multiprocessors without work.
  work.shared = 5;
  EXPECT_NEAR(boundOf(work, roundChip()).cycles, 2.2e4, 1e3);
}

TEST(ChipFacts, AnArchitectureHasItsFirstChipOrTheOneBefore) {
  EXPECT_EQ(chipOfArchitecture(80).key, "a100");
  EXPECT_EQ(chipOfArchitecture(90).key, "h100");
  EXPECT_EQ(chipOfArchitecture(87).key, "a6000");
  EXPECT_EQ(chipOfArchitecture(100).key, "h100");
  EXPECT_EQ(chipOfArchitecture(70).key, "t4");
  EXPECT_EQ(chipOfArchitecture(90).multiprocessors, 132);
  EXPECT_LT(chipOfArchitecture(90).mmaSyncShare, 1);
  EXPECT_GT(assumedChip().tensor.lookup("f16_f32"), 0);
}

TEST(ChipFacts, ATargetMaySayHowManyMultiprocessors) {
  mlir::MLIRContext context;
  context.loadDialect<TilewrightDialect>();
  mlir::Builder builder(&context);
  auto target = [&](int64_t count) {
    mlir::NamedAttrList facts;
    facts.set("sm", builder.getI64IntegerAttr(90));
    if (count)
      facts.set("multiprocessors", builder.getI64IntegerAttr(count));
    return TargetAttr::get(&context, "test", "nvvm", facts.getDictionary(&context));
  };
  EXPECT_EQ(&chipOf(target(0)), &chipOfArchitecture(90));
  const ChipFacts &half = chipOf(target(66));
  EXPECT_EQ(half.multiprocessors, 66);
  EXPECT_EQ(half.l2BytesPerClock, chipOfArchitecture(90).l2BytesPerClock);
  // Half of 66 pairs; half of 15 eights, whole ones.
  EXPECT_EQ(half.clusterBlocks.lookup("2"), 66);
  EXPECT_EQ(half.clusterBlocks.lookup("8"), 56);
  EXPECT_EQ(chipOf(target(8)).clusterBlocks.lookup("8"), 8);
  EXPECT_EQ(&chipOf(target(66)), &half);
}

/// Blocks of a ring that read a megabyte of memory, each with 10 KB under way at a time.
BlockWork ringOfMemory() {
  BlockWork work;
  work.threads = 1024;
  work.blocks = 10;
  work.memoryBytes = 1e6;
  work.ahead = 1e4;
  return work;
}

TEST(Bound, MemoryGivesWhatIsAskedFor) {
  BlockWork work = ringOfMemory();
  // 1.1 times as much under way as latency and rate ask for, and a fifth of it.
  work.ahead = 1.1 * 2.9 * 600 * 1000 / 10;
  double enough = boundOf(work, roundChip()).cycles;
  work.ahead /= 5.5;
  Bound few = boundOf(work, roundChip());
  EXPECT_EQ(few.resource, "memory");
  EXPECT_GT(few.cycles / enough, 3);
  // Half of the multiprocessors ask for less than all that memory gives.
  work = ringOfMemory();
  work.ahead = 1e6;
  double all = boundOf(work, roundChip()).cycles;
  work.blocks = 5;
  EXPECT_NEAR(boundOf(work, roundChip()).cycles / all, 1 / (0.5 / 0.6), 0.25);
  // Who has no ring asks for as much as memory likes.
  work.ahead = 0;
  EXPECT_LT(boundOf(work, roundChip()).cycles, all);
}

TEST(Bound, ClustersCostALaunchAndLeaveMultiprocessorsIdle) {
  ChipFacts chip = roundChip();
  chip.cyclesCluster = 1000;
  chip.clusterBlocks["2"] = 10;
  chip.clusterBlocks["4"] = 8;
  BlockWork work = ringOfMemory();
  work.memoryBytes = 0;
  work.latency = 1e4;
  work.blocks = 8;
  double alone = boundOf(work, chip).cycles;
  work.cluster = 2;
  EXPECT_NEAR(boundOf(work, chip).cycles - alone, 1000, 1);
  // Those that copy to each other wait for each other.
  work.sharing = 2;
  EXPECT_NEAR(boundOf(work, chip).cycles - alone, 1600, 1);
  work.sharing = 1;
  work.cluster = 4;
  EXPECT_NEAR(boundOf(work, chip).cycles - alone, 2000, 1);
  work.blocks = 12;
  EXPECT_EQ(boundOf(work, chip).waves, 2);
  work.cluster = 2;
  work.blocks = 10;
  EXPECT_EQ(boundOf(work, chip).waves, 1);
}

} // namespace
