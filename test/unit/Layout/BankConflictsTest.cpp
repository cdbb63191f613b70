// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Layout/BankConflicts.h"

#include "LayoutTestUtils.h"

#include <map>
#include <set>

using namespace tilewright::layout;
using namespace tilewright::layout::test;

/// The model of the header once more, byte by byte: serve one word per bank and
/// wavefront until all bytes of the phase are served.
static ConflictCount bruteForce(const SharedLayout &shared,
                                const DistributedLayout &l, int dim,
                                int64_t vectorElems) {
  ConflictCount result;
  int64_t bytes = shared.elementBits() / 8;
  int64_t lanesPerPhase = std::min<int64_t>(32, 128 / (bytes * vectorElems));
  for (const auto &run : l.registerRuns(dim, vectorElems).groups) {
    ++result.accesses;
    for (int64_t start = 0; start < l.numLanes(); start += lanesPerPhase) {
      std::map<int64_t, std::set<int64_t>> wordsOfBank;
      std::set<int64_t> words;
      for (int64_t lane = start;
           lane < std::min(start + lanesPerPhase, l.numLanes()); ++lane)
        for (int64_t reg : run)
          for (int64_t b = 0; b < bytes; ++b) {
            int64_t address =
                shared.offset(l.coordinates(reg, lane, 0)) * bytes + b;
            wordsOfBank[address / 4 % 32].insert(address / 4);
            words.insert(address / 4);
          }
      while (!wordsOfBank.empty()) {
        ++result.wavefronts;
        for (auto it = wordsOfBank.begin(); it != wordsOfBank.end();) {
          it->second.erase(it->second.begin());
          it = it->second.empty() ? wordsOfBank.erase(it) : std::next(it);
        }
      }
      result.minimum += (int64_t(words.size()) + 31) / 32;
    }
  }
  return result;
}

/// Whether `count` elements of a row, from a multiple of it on, lie side by side and at
/// multiples of their size.
static bool areAdjacent(const SharedLayout &l, int64_t count) {
  bool adjacent = true;
  forEachCoord(l.shape(), [&](const Coords &c) {
    int64_t inside = c[1] % count;
    int64_t first = l.offset({c[0], c[1] - inside});
    adjacent &= first % count == 0 && l.offset(c) == first + inside;
  });
  return adjacent;
}

TEST(BankConflicts, AgreeWithTheBruteForceModel) {
  std::mt19937 rng(8);
  for (int bits : {8, 16, 32, 64})
    for (const Swizzle &s :
         {Swizzle{}, swizzle128B, swizzle64B, Swizzle{2, 4, 5}})
      for (int64_t padding : {0, 16 * 8 / bits})
        for (int64_t lanes : {8, 32, 64})
          for (int i = 0; i < 6; ++i) {
            Shape shape = i % 2 ? Shape{16, 32} : Shape{12, 16};
            DistributedLayout l = randomLayout(rng, shape, lanes, 2);
            SharedLayout shared =
                take(SharedLayout::dense(shape, bits, {1, 0}, padding, s));
            SharedAccess access = widestAccess(l, 1, bits);
            ASSERT_TRUE(areAdjacent(shared, access.vectorElems));
            ConflictCount a = countConflicts(shared, access);
            ConflictCount b = bruteForce(shared, l, 1, access.vectorElems);
            ASSERT_EQ(a.accesses, b.accesses);
            ASSERT_EQ(a.wavefronts, b.wavefronts) << shared.print() << "\n"
                                                  << l.print();
            ASSERT_EQ(a.minimum, b.minimum);
            ASSERT_GE(a.wavefronts, a.minimum);
          }
}

TEST(BankConflicts, WorkedTable) {
  DistributedLayout column = parse("regs=[32:1@1] lanes=[32:1@0]");
  SharedAccess access{column, 1, 1};
  auto wavefronts = [&](int64_t padding, Swizzle s) {
    SharedLayout l =
        take(SharedLayout::dense({32, 32}, 32, {1, 0}, padding, s));
    return countConflicts(l, access, 1).wavefronts;
  };
  EXPECT_EQ(wavefronts(0, {}), 32);
  EXPECT_EQ(wavefronts(1, {}), 1);
  EXPECT_EQ(wavefronts(0, {5, 2, 5}), 1);
  // The same word for all lanes is one wavefront.
  DistributedLayout same = parse("shape=[32, 32] regs=[32:1@1, 32:1@0] "
                                 "lanes=[32:*]");
  SharedLayout plain = take(SharedLayout::dense({32, 32}, 32, {1, 0}));
  EXPECT_EQ(countConflicts(plain, {same, 1, 1}, 1).wavefronts, 1);
}

// Elements that straddle words, elements wider than a bank line, and runs wider
// than an instruction.
TEST(BankConflicts, OddSizes) {
  DistributedLayout rows = parse("regs=[64:1@1] lanes=[32:1@0]");
  for (int bits : {24, 96, 128, 1024}) {
    SharedLayout l = take(SharedLayout::dense({32, 64}, bits, {1, 0}));
    ConflictCount a = countConflicts(l, {rows, 1, 1});
    EXPECT_EQ(a.accesses, 64);
    EXPECT_GE(a.wavefronts, a.minimum);
  }
  SharedLayout l = take(SharedLayout::dense({32, 64}, 32, {1, 0}));
  EXPECT_EQ(countConflicts(l, {rows, 1, 64}).accesses, 16);
}

TEST(BankConflicts, WidestAccess) {
  DistributedLayout l = parse("regs=[16:1@1] lanes=[32:1@0]");
  EXPECT_EQ(widestAccess(l, 1, 8).vectorElems, 16);
  EXPECT_EQ(widestAccess(l, 1, 16).vectorElems, 8);
  EXPECT_EQ(widestAccess(l, 1, 32).vectorElems, 4);
  EXPECT_EQ(widestAccess(l, 1, 128).vectorElems, 1);
  EXPECT_EQ(widestAccess(l, 1, 24).vectorElems, 1);
  EXPECT_EQ(widestAccess(l, 0, 32).vectorElems, 1);
  DistributedLayout six = parse("regs=[6:1@0] lanes=[32:6@0]");
  EXPECT_EQ(widestAccess(six, 0, 32).vectorElems, 2);
}

// Columns of 16 bytes turned into rows: stores of 4 bytes meet rows 16 apart,
// reads of 16 bytes rows 1 apart. Only a fold keeps both free of conflicts.
TEST(BankConflicts, FoldsSeparateTwoDistances) {
  for (int64_t columns : {32, 64, 128}) {
    DistributedLayout write = take(DistributedLayout::blocked(
        {128, columns}, {16, 4}, {256 / columns, columns / 8}, {columns / 32, 2},
        {0, 1}));
    DistributedLayout read = take(DistributedLayout::blocked(
        {128, columns}, {1, 16}, {32, 1}, {4, 1}, {1, 0}));
    std::vector<SharedAccess> accesses = {{write, 1, 4}, {read, 1, 16}};
    SharedChoice plain = take(
        chooseShared({128, columns}, 8, {1, 0}, accesses, Avoidance::Any, 16));
    SharedChoice fold = take(chooseShared({128, columns}, 8, {1, 0}, accesses,
                                          Avoidance::AnyOrFold, 16));
    EXPECT_TRUE(fold.conflicts.conflictFree()) << fold.layout.print();
    EXPECT_LE(fold.layout.swizzle().period(), 4096);
    EXPECT_FALSE(plain.conflicts.conflictFree()) << plain.layout.print();
    EXPECT_NE(fold.layout.swizzle().fold, 0) << fold.layout.print();
  }
}

// Writing rows with 16-byte vectors and reading them back as 16-byte rows of 8
// (ldmatrix, or a transposing thread): free of conflicts by either means for
// every element size and row length.
TEST(BankConflicts, ChoicesAreConflictFreeWhereTheyCanBe) {
  for (int bits : {8, 16, 32, 64})
    for (int64_t columns : {32, 64, 128, 96}) {
      int64_t v = 128 / bits;
      if (columns < v)
        continue;
      DistributedLayout write =
          take(DistributedLayout::coalesced({64, columns}, v, 32, 4, {1, 0}));
      // Lanes down the rows, each reading 16 bytes.
      DistributedLayout read = take(DistributedLayout::blocked(
          {64, columns}, {1, v}, {32, 1}, {2, 1}, {1, 0}));
      std::vector<SharedAccess> accesses = {widestAccess(write, 1, bits),
                                            widestAccess(read, 1, bits)};
      for (Avoidance how :
           {Avoidance::Padding, Avoidance::Swizzle, Avoidance::Any}) {
        SharedChoice c =
            take(chooseShared({64, columns}, bits, {1, 0}, accesses, how, 16));
        if (how != Avoidance::Padding && columns != 96) {
          EXPECT_TRUE(c.conflicts.conflictFree())
              << bits << " " << columns << " " << c.layout.print();
        }
        EXPECT_TRUE(areAdjacent(c.layout, v)) << c.layout.print();
        if (how == Avoidance::Swizzle) {
          EXPECT_EQ(c.layout.sizeInElements(), 64 * columns);
        }
        if (how == Avoidance::Padding) {
          // Short rows cannot always be helped by padding; then no padding is
          // better than the chosen one.
          EXPECT_TRUE(c.layout.swizzle().isNone());
          for (int64_t steps = 0; steps < 32; ++steps) {
            SharedLayout other = take(
                SharedLayout::dense({64, columns}, bits, {1, 0}, steps * v));
            ConflictCount sum = countConflicts(other, accesses[0]);
            sum += countConflicts(other, accesses[1]);
            EXPECT_LE(c.conflicts.wavefronts, sum.wavefronts) << other.print();
          }
        }
      }
    }
}

TEST(BankConflicts, BadArgumentsAreErrors) {
  DistributedLayout l = parse("regs=[4:1@1] lanes=[4:1@0]");
  EXPECT_EQ(chooseShared({4, 4}, 32, {0, 1}, {{l, 1, 4}}).error(),
            "an access with vectors does not run along the fastest dimension");
  EXPECT_EQ(chooseShared({4, 4}, 32, {1, 0}, {{l, 1, 3}}).error(),
            "an access of 96 bits, expected a power of two up to 128");
  EXPECT_EQ(chooseShared({4, 8}, 32, {1, 0}, {{l, 1, 4}}).error(),
            "an access has another shape than the array");
  EXPECT_EQ(chooseShared({4, 4}, 0, {1, 0}, {}).error(),
            "elements of 0 bits, expected 1 to 128");
  EXPECT_EQ(chooseShared({4, 4}, 32, {1}, {}).error(),
            "order is not a permutation of the dimensions");
  EXPECT_EQ(chooseShared({4, 4}, 32, {1, 0}, {}, Avoidance::Any, 3).error(),
            "a grain of 3 bytes, expected a power of two up to 128");
}
