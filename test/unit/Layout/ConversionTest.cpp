// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every plan is carried out on a simulated block whose registers hold element
// numbers, and the result compared with what the destination layout says.

#include "tilewright/Layout/Conversion.h"

#include "LayoutTestUtils.h"

#include <array>

using namespace tilewright::layout;
using namespace tilewright::layout::test;

namespace {
/// The registers of all threads of a block, by absolute warp.
class Block {
public:
  static Block holding(const DistributedLayout &l) {
    Block b(l);
    forEachPlace(l, [&](const Place &p) {
      b.at(p) = rowMajor(l.shape(), l.coordinates(p));
    });
    return b;
  }
  explicit Block(const DistributedLayout &layout)
      : l(layout), values(l.numWarps() * l.numLanes() * l.numRegisters(), -1) {}

  int64_t &at(const Place &p) {
    return values[(p.warp * l.numLanes() + p.lane) * l.numRegisters() + p.reg];
  }
  bool operator==(const Block &o) const { return values == o.values; }

private:
  DistributedLayout l;
  std::vector<int64_t> values;
};
} // namespace

static Block moveInWarp(const ConversionPlan &plan,
                        const DistributedLayout &from,
                        const DistributedLayout &to) {
  Block source = Block::holding(from), result(to);
  forEachPlace(to, [&](const Place &p) {
    int64_t lane = plan.sourceLane(p.reg, p.lane, p.warp);
    int64_t reg = plan.sourceRegister(p.reg, p.lane, p.warp);
    if (plan.kind != ConversionKind::LaneShuffle) {
      EXPECT_EQ(lane, p.lane);
    }
    if (plan.kind == ConversionKind::Identity) {
      EXPECT_EQ(reg, p.reg);
    }
    if (lane < 0 || lane >= from.numLanes() || reg < 0 ||
        reg >= from.numRegisters())
      return;
    result.at(p) = source.at({reg, lane, p.warp});
  });
  return result;
}

/// The rounds of a LaneShuffle, as the header tells the generated code to run
/// them: all lanes send one value each, then all lanes pick a sender.
static Block shuffle(const ConversionPlan &plan, const DistributedLayout &from,
                     const DistributedLayout &to) {
  Block source = Block::holding(from), result(to);
  int64_t shuffles = 0;
  for (int64_t warp = 0; warp < to.numWarps(); ++warp)
    for (int64_t r0 = 0; r0 < to.numRegisters(); ++r0) {
      bool starts = true;
      for (const Exchange &e : plan.exchanges)
        starts &= r0 / e.receiverRegisterWeight % e.count == 0;
      if (!starts)
        continue;
      for (int64_t c = 0; c < plan.remote.size(); ++c)
        for (int64_t k = 0; k < plan.numRounds(); ++k) {
          ++shuffles;
          std::vector<int64_t> sent(to.numLanes());
          for (int64_t lane = 0; lane < to.numLanes(); ++lane) {
            int64_t reg = plan.registerBase[r0] +
                          plan.local.offsets[plan.local.index(lane, warp)] +
                          plan.remote.offsets[c];
            int64_t rest = k;
            for (const Exchange &e : plan.exchanges) {
              int64_t y = lane / e.senderLaneWeight % e.count;
              reg += (y - rest % e.count + e.count) % e.count *
                     e.senderRegisterWeight;
              rest /= e.count;
            }
            sent[lane] = source.at({reg, lane, warp});
          }
          for (int64_t lane = 0; lane < to.numLanes(); ++lane) {
            int64_t sender = plan.laneBase[r0], reg = r0, rest = k;
            for (const ThreadTerm &t : plan.laneTerms)
              sender += t(lane, warp);
            for (const Exchange &e : plan.exchanges) {
              int64_t y =
                  (lane / e.receiverLaneWeight + rest % e.count) % e.count;
              sender += y * e.senderLaneWeight;
              reg += y * e.receiverRegisterWeight;
              rest /= e.count;
            }
            if (plan.remote.index(lane, warp) == c)
              result.at({reg, lane, warp}) = sent.at(sender);
          }
        }
    }
  EXPECT_EQ(shuffles, plan.numShuffles() * to.numWarps());
  return result;
}

/// The address of a run, which must be adjacent and aligned.
static int64_t runAddress(const SharedLayout &shared,
                          const DistributedLayout &l,
                          const std::vector<int64_t> &run, const Place &p) {
  int64_t first = shared.offset(l.coordinates(run[0], p.lane, p.warp));
  for (size_t i = 0; i < run.size(); ++i)
    EXPECT_EQ(shared.offset(l.coordinates(run[i], p.lane, p.warp)),
              first + int64_t(i));
  EXPECT_EQ(first % int64_t(run.size()), 0);
  return first;
}

static Block moveThroughMemory(const ConversionPlan &plan,
                               const DistributedLayout &from,
                               const DistributedLayout &to) {
  const SharedTransfer &t = plan.shared;
  EXPECT_GE(t.scratchBytes * 8,
            t.layout.sizeInElements() * t.layout.elementBits());
  std::vector<int64_t> memory(t.layout.sizeInElements(), -1);
  std::vector<int64_t> writer(memory.size(), -1);
  Block source = Block::holding(from), result(to);
  int dim = std::min(t.dim, from.rank() - 1);
  forEachPlace(from, [&](const Place &p) {
    if (p.reg != 0)
      return;
    RegisterRuns runs =
        from.rank() ? from.registerRuns(dim, t.writeElems) : RegisterRuns();
    if (from.rank() == 0)
      runs.groups = {{0}};
    EXPECT_EQ(runs.length, t.writeElems);
    for (const auto &run : runs.groups) {
      int64_t address = runAddress(t.layout, from, run, p);
      for (size_t i = 0; i < run.size(); ++i) {
        memory.at(address + i) = source.at({run[i], p.lane, p.warp});
        if (from.owner(from.coordinates(run[i], p.lane, p.warp)).warp == p.warp)
          writer[address + i] = from.firstWarp() + p.warp;
      }
    }
  });
  forEachPlace(to, [&](const Place &p) {
    if (p.reg != 0)
      return;
    RegisterRuns runs =
        to.rank() ? to.registerRuns(dim, t.readElems) : RegisterRuns();
    if (to.rank() == 0)
      runs.groups = {{0}};
    EXPECT_EQ(runs.length, t.readElems);
    for (const auto &run : runs.groups) {
      int64_t address = runAddress(t.layout, to, run, p);
      for (size_t i = 0; i < run.size(); ++i)
        result.at({run[i], p.lane, p.warp}) = memory.at(address + i);
    }
  });
  if (!t.acrossWarps)
    forEachPlace(to, [&](const Place &p) {
      // The own warp holds each element, so its own writes are enough.
      bool found = false;
      Coords c = to.coordinates(p);
      Place o = from.owner(c);
      for (int64_t lane = 0; lane < from.numLanes() && !found; ++lane)
        for (int64_t r = 0; r < from.numRegisters() && !found; ++r)
          found = from.coordinates(r, lane, p.warp) == c;
      EXPECT_TRUE(found || o.warp == p.warp);
    });
  return result;
}

static void checkPlan(const ConversionPlan &plan, const DistributedLayout &from,
                      const DistributedLayout &to) {
  SCOPED_TRACE(from.print() + "\n -> " + to.print() + "\n " + plan.print());
  Block expected = Block::holding(to);
  if (plan.kind == ConversionKind::SharedMemory)
    ASSERT_TRUE(moveThroughMemory(plan, from, to) == expected);
  else
    ASSERT_TRUE(moveInWarp(plan, from, to) == expected);
  if (plan.kind == ConversionKind::LaneShuffle) {
    ASSERT_TRUE(shuffle(plan, from, to) == expected);
  }
  ASSERT_EQ(plan.kind == ConversionKind::Identity, from == to);
}

/// Brute force: whether each thread (or else each warp) holds what it needs.
static std::pair<bool, bool>
needsNothingFromOutside(const DistributedLayout &from,
                        const DistributedLayout &to) {
  if (from.numLanes() != to.numLanes() || from.numWarps() != to.numWarps())
    return {false, false};
  int64_t n = numElements(from.shape());
  std::vector<char> inThread(n * from.numLanes() * from.numWarps());
  std::vector<char> inWarp(n * from.numWarps());
  forEachPlace(from, [&](const Place &p) {
    int64_t e = rowMajor(from.shape(), from.coordinates(p));
    inThread[(p.warp * from.numLanes() + p.lane) * n + e] = 1;
    inWarp[p.warp * n + e] = 1;
  });
  bool thread = true, warp = true;
  forEachPlace(to, [&](const Place &p) {
    int64_t e = rowMajor(to.shape(), to.coordinates(p));
    thread &= inThread[(p.warp * from.numLanes() + p.lane) * n + e];
    warp &= inWarp[p.warp * n + e];
  });
  return {thread, warp};
}

TEST(Conversion, RandomPairsMoveRealData) {
  std::mt19937 rng(5);
  std::array<int, 5> kinds = {};
  int exchanges = 0, remotes = 0, locals = 0;
  ConversionOptions options;
  options.maxShufflesPerRegister = 1000;
  for (const Shape &shape : {Shape{8, 4}, Shape{16}, Shape{4, 4, 2}, Shape{},
                             Shape{12, 4}, Shape{6, 6}, Shape{2, 2}})
    for (int64_t lanes : {4, 8})
      for (int64_t warps : {1, 2})
        for (int i = 0; i < 60; ++i) {
          options.maxRounds = i % 3 == 0 ? 1 : 8;
          DistributedLayout from = randomLayout(rng, shape, lanes, warps);
          DistributedLayout to = randomLayout(rng, shape, lanes, warps);
          ConversionPlan plan = take(planConversion(from, to, 32, options));
          checkPlan(plan, from, to);
          ++kinds[int(plan.kind)];
          exchanges += !plan.exchanges.empty();
          remotes += plan.remote.size() > 1;
          locals +=
              plan.kind == ConversionKind::LaneShuffle && plan.local.size() > 1;

          // The cheapest kind that suffices, wherever digits refine (always,
          // for powers of two).
          bool powers = true;
          for (int64_t s : shape)
            powers &= (s & (s - 1)) == 0;
          auto [thread, warp] = needsNothingFromOutside(from, to);
          if (powers) {
            ASSERT_EQ(plan.staysInThread(), thread) << from.print() << "\n"
                                                    << to.print() << "\n"
                                                    << plan.print();
            ASSERT_EQ(plan.kind != ConversionKind::SharedMemory, warp)
                << from.print() << "\n"
                << to.print() << "\n"
                << plan.print();
          }
        }
  for (int n : kinds)
    EXPECT_GT(n, 10);
  EXPECT_GT(exchanges, 100);
  EXPECT_GT(remotes, 50);
  EXPECT_GT(locals, 50);
}

TEST(Conversion, PartsAndSubgroupsDiffer) {
  std::mt19937 rng(6);
  for (int i = 0; i < 40; ++i) {
    DistributedLayout from = randomLayout(rng, {16, 8}, 32, 4);
    for (const DistributedLayout &to :
         {randomLayout(rng, {16, 8}, 16, 4), randomLayout(rng, {16, 8}, 32, 8),
          from.withFirstWarp(4)}) {
      ConversionPlan plan = take(planConversion(from, to, 16));
      EXPECT_EQ(plan.kind, ConversionKind::SharedMemory);
      EXPECT_TRUE(plan.shared.acrossWarps);
      checkPlan(plan, from, to);
    }
  }
}

TEST(Conversion, TransposeOfTheHeader) {
  DistributedLayout from = parse("regs=[4:1@1] lanes=[4:1@0]");
  DistributedLayout to = parse("regs=[4:1@0] lanes=[4:1@1]");
  ConversionPlan plan = take(planConversion(from, to, 32));
  EXPECT_EQ(plan.kind, ConversionKind::LaneShuffle);
  EXPECT_EQ(plan.numShuffles(), 4);
  EXPECT_EQ(plan.numRounds(), 4);
  for (int64_t r = 0; r < 4; ++r)
    for (int64_t l = 0; l < 4; ++l) {
      EXPECT_EQ(plan.sourceLane(r, l, 0), r);
      EXPECT_EQ(plan.sourceRegister(r, l, 0), l);
    }
  checkPlan(plan, from, to);
  ConversionOptions few;
  few.maxRounds = 2;
  plan = take(planConversion(from, to, 32, few));
  EXPECT_EQ(plan.print(), "lane-shuffle: 8 shuffles in 2 rounds");
  checkPlan(plan, from, to);
  few.maxShufflesPerRegister = 1;
  plan = take(planConversion(from, to, 32, few));
  EXPECT_EQ(plan.kind, ConversionKind::SharedMemory);
  EXPECT_FALSE(plan.shared.acrossWarps);
  checkPlan(plan, from, to);
}

// The result of a row reduction, broadcast back to the rows: no data moves.
TEST(Conversion, BroadcastOfASliceStaysInTheThread) {
  std::mt19937 rng(7);
  for (int i = 0; i < 200; ++i) {
    DistributedLayout l = randomLayout(rng, {8, 12}, 32, 4);
    for (int dim : {0, 1}) {
      DistributedLayout reduced = l.slice(dim).insertDim(dim);
      ConversionPlan plan = take(planConversion(reduced, l.project(dim), 32));
      EXPECT_TRUE(plan.kind == ConversionKind::Identity ||
                  plan.kind == ConversionKind::RegisterPermute);
      EXPECT_EQ(plan.registerBase, l.sliceRegisters(dim));
      checkPlan(plan, reduced, l.project(dim));
    }
  }
}

// Replicated to distributed: each lane picks its own out of its registers.
TEST(Conversion, SelectFromReplicas) {
  DistributedLayout from = parse("regs=[8:1@0] lanes=[32:*]");
  DistributedLayout to = parse("regs=[] lanes=[8:1@0, 4:*]");
  ConversionPlan plan = take(planConversion(from, to, 32));
  EXPECT_EQ(plan.kind, ConversionKind::RegisterSelect);
  EXPECT_EQ(plan.print(), "register-select: 8 choices");
  checkPlan(plan, from, to);
  // Back again, lanes have to tell each other.
  plan = take(planConversion(to, from, 32));
  EXPECT_EQ(plan.kind, ConversionKind::LaneShuffle);
  EXPECT_EQ(plan.numShuffles(), 8);
  checkPlan(plan, to, from);
}

TEST(Conversion, DigitsThatDoNotRefineGoThroughMemory) {
  DistributedLayout from = parse("regs=[2:1@0] lanes=[3:2@0]");
  DistributedLayout to = parse("regs=[2:3@0] lanes=[3:1@0]");
  ConversionPlan plan = take(planConversion(from, to, 32));
  EXPECT_EQ(plan.kind, ConversionKind::SharedMemory);
  checkPlan(plan, from, to);
}

// A transposing copy: coalesced rows to coalesced columns, 4 warps. With one
// 32-bit element at a time there are no conflicts; wide runs on one side cost
// some on the other.
TEST(Conversion, MemoryTransfersOfRealTiles) {
  for (int bits : {8, 16, 24, 32, 64, 128})
    for (int64_t elems : {1, 128 / bits}) {
      DistributedLayout rows =
          take(DistributedLayout::coalesced({64, 64}, elems, 32, 4, {1, 0}));
      DistributedLayout columns = rows.transpose({1, 0});
      ConversionPlan plan = take(planConversion(rows, columns, bits));
      EXPECT_EQ(plan.kind, ConversionKind::SharedMemory);
      checkPlan(plan, rows, columns);
      const ConflictCount &write = plan.shared.writeConflicts;
      const ConflictCount &read = plan.shared.readConflicts;
      if (bits == 32 && elems == 1) {
        EXPECT_TRUE(write.conflictFree() && read.conflictFree())
            << plan.print();
      }
      EXPECT_LE(write.wavefronts + read.wavefronts,
                3 * (write.minimum + read.minimum))
          << plan.print();
    }
}

TEST(Conversion, OpaqueOnlyThroughMemory) {
  DistributedLayout coop =
      parse("shape=[32, 32] regs=[2:16@1] lanes=[32:*] warps=[2:16@0] "
            "opaque=coop.f32.acc atom=[16, 16]");
  DistributedLayout blocked =
      take(DistributedLayout::coalesced({32, 32}, 4, 32, 2, {1, 0}));
  EXPECT_EQ(take(planConversion(coop, coop, 32)).kind,
            ConversionKind::Identity);
  ConversionPlan out = take(planConversion(coop, blocked, 32));
  EXPECT_EQ(out.kind, ConversionKind::SharedMemory);
  EXPECT_EQ(out.shared.writeElems, 0);
  EXPECT_EQ(out.shared.readElems, 4);
  EXPECT_TRUE(out.shared.layout.swizzle().isNone());
  EXPECT_EQ(out.shared.layout.strides()[0] * 4 % 16, 0);
  ConversionPlan in = take(planConversion(blocked, coop, 32));
  EXPECT_EQ(in.shared.writeElems, 4);
  EXPECT_EQ(in.shared.readElems, 0);
}

TEST(Conversion, BadArgumentsAreErrors) {
  DistributedLayout a = parse("regs=[8:1@0]"), b = parse("regs=[4:1@0]");
  EXPECT_EQ(planConversion(a, b, 32).error(),
            "conversion from shape [8] to [4]");
  EXPECT_EQ(planConversion(a, a, 0).error(),
            "conversion of elements of 0 bits, expected 1 to 128");
}
