// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The expected coordinates below are the formulas of the PTX ISA's sections
// "Matrix Fragments for ...", instruction by instruction, in its own terms:
// groupID = lane >> 2, threadID_in_group = lane % 4, register i.

#include "tilewright/Layout/Atoms.h"

#include "tilewright/Layout/BankConflicts.h"
#include "tilewright/Layout/Conversion.h"

#include "LayoutTestUtils.h"

using namespace tilewright::layout;
using namespace tilewright::layout::test;

using Formula = std::function<Coords(int64_t i, int64_t g, int64_t t)>;

static void expectFragment(const Result<DistributedLayout> &r, Shape shape,
                           int64_t registers, const Formula &formula) {
  DistributedLayout l = take(r);
  checkLayout(l);
  ASSERT_EQ(l.shape(), shape);
  ASSERT_EQ(l.numRegisters(), registers);
  ASSERT_EQ(l.numLanes(), 32);
  for (int64_t w = 0; w < l.numWarps(); ++w)
    for (int64_t lane = 0; lane < 32; ++lane)
      for (int64_t i = 0; i < registers; ++i) {
        Coords expected = formula(i, lane >> 2, lane % 4);
        expected[0] += 16 * w;
        ASSERT_EQ(l.coordinates(i, lane, w), expected)
            << "lane " << lane << " register " << i;
      }
}

TEST(Atoms, MmaM16N8K16F16) {
  expectFragment(mmaOperandA(16, 16, 16), {16, 16}, 8,
                 [](int64_t i, int64_t g, int64_t t) {
                   bool upper = (0 <= i && i < 2) || (4 <= i && i < 6);
                   return Coords{upper ? g : g + 8,
                                 i < 4 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8};
                 });
  expectFragment(
      mmaOperandB(16, 16), {16, 8}, 4, [](int64_t i, int64_t g, int64_t t) {
        return Coords{i < 2 ? t * 2 + (i & 1) : t * 2 + (i & 1) + 8, g};
      });
  expectFragment(mmaAccumulator(16), {16, 8}, 4,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{i < 2 ? g : g + 8, t * 2 + (i & 1)};
                 });
}

TEST(Atoms, MmaM16N8K8) {
  // .f16 and .bf16
  expectFragment(mmaOperandA(16, 8, 16), {16, 8}, 4,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{i < 2 ? g : g + 8, t * 2 + (i & 1)};
                 });
  expectFragment(mmaOperandB(8, 16), {8, 8}, 2,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{t * 2 + i, g};
                 });
  // .tf32
  expectFragment(mmaOperandA(16, 8, 32), {16, 8}, 4,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{i == 0 || i == 2 ? g : g + 8,
                                 i == 0 || i == 1 ? t : t + 4};
                 });
  expectFragment(mmaOperandB(8, 32), {8, 8}, 2,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{i == 0 ? t : t + 4, g};
                 });
}

TEST(Atoms, MmaM16N8K4TF32) {
  expectFragment(mmaOperandA(16, 4, 32), {16, 4}, 2,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{i == 0 ? g : g + 8, t};
                 });
  expectFragment(mmaOperandB(4, 32), {4, 8}, 1,
                 [](int64_t, int64_t g, int64_t t) {
                   return Coords{t, g};
                 });
}

TEST(Atoms, MmaBytes) {
  // m16n8k16 .s8
  expectFragment(mmaOperandA(16, 16, 8), {16, 16}, 8,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{i < 4 ? g : g + 8, t * 4 + (i & 3)};
                 });
  expectFragment(mmaOperandB(16, 8), {16, 8}, 4,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{t * 4 + i, g};
                 });
  // m16n8k32 .s8, .e4m3, .e5m2
  expectFragment(mmaOperandA(16, 32, 8), {16, 32}, 16,
                 [](int64_t i, int64_t g, int64_t t) {
                   bool upper = (0 <= i && i < 4) || (8 <= i && i < 12);
                   return Coords{upper ? g : g + 8, i < 8
                                                        ? t * 4 + (i & 3)
                                                        : t * 4 + (i & 3) + 16};
                 });
  expectFragment(
      mmaOperandB(32, 8), {32, 8}, 8, [](int64_t i, int64_t g, int64_t t) {
        return Coords{i < 4 ? t * 4 + (i & 3) : t * 4 + (i & 3) + 16, g};
      });
}

TEST(Atoms, MmaM16N8K64S4) {
  expectFragment(mmaOperandA(16, 64, 4), {16, 64}, 32,
                 [](int64_t i, int64_t g, int64_t t) {
                   bool upper = (0 <= i && i < 8) || (16 <= i && i < 24);
                   return Coords{upper ? g : g + 8, i < 16
                                                        ? t * 8 + (i & 7)
                                                        : t * 8 + (i & 7) + 32};
                 });
  expectFragment(
      mmaOperandB(64, 4), {64, 8}, 16, [](int64_t i, int64_t g, int64_t t) {
        return Coords{i < 8 ? t * 8 + (i & 7) : t * 8 + (i & 7) + 32, g};
      });
}

TEST(Atoms, MmaM16N8K128B1) {
  expectFragment(mmaOperandA(16, 128, 1), {16, 128}, 64,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{i < 32 ? g : g + 8, t * 32 + (i & 0x1F)};
                 });
  expectFragment(mmaOperandB(128, 1), {128, 8}, 32,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{t * 32 + i, g};
                 });
}

TEST(Atoms, MmaF64) {
  // m8n8k4
  expectFragment(mmaOperandA(8, 4, 64), {8, 4}, 1,
                 [](int64_t, int64_t g, int64_t t) {
                   return Coords{g, t};
                 });
  expectFragment(mmaOperandB(4, 64), {4, 8}, 1,
                 [](int64_t, int64_t g, int64_t t) {
                   return Coords{t, g};
                 });
  expectFragment(mmaAccumulator(8), {8, 8}, 2,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{g, t * 2 + (i & 1)};
                 });
  // m16n8k16
  expectFragment(mmaOperandA(16, 16, 64), {16, 16}, 8,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{i % 2 == 0 ? g : g + 8, i / 2 * 4 + t};
                 });
  expectFragment(mmaOperandB(16, 64), {16, 8}, 4,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{i * 4 + t, g};
                 });
}

TEST(Atoms, Wgmma) {
  for (int64_t n = 8; n <= 256; n += 8)
    expectFragment(
        wgmmaAccumulator(n), {64, n}, n / 2,
        [](int64_t i, int64_t g, int64_t t) {
          return Coords{g + 8 * (i / 2 % 2), 8 * (i / 4) + t * 2 + (i & 1)};
        });
  expectFragment(
      wgmmaOperandA(16), {64, 16}, 8, [](int64_t i, int64_t g, int64_t t) {
        return Coords{g + 8 * (i / 2 % 2), 8 * (i / 4) + t * 2 + (i & 1)};
      });
  expectFragment(
      wgmmaOperandA(8), {64, 32}, 16, [](int64_t i, int64_t g, int64_t t) {
        return Coords{g + 8 * (i / 4 % 2), 16 * (i / 8) + t * 4 + (i & 3)};
      });
  expectFragment(wgmmaOperandA(32), {64, 8}, 4,
                 [](int64_t i, int64_t g, int64_t t) {
                   return Coords{g + 8 * (i % 2), 4 * (i / 2) + t};
                 });
}

// C of two adjacent 16x8 tiles -> A of 16x16, for one warp and for block tiles
// with any order of the repeats.
TEST(Atoms, ChainedProductsKeepTheirRegisters) {
  DistributedLayout c = take(mmaAccumulator(16));
  DistributedLayout a = take(mmaOperandA(16, 16, 16));
  for (const std::vector<int> &order :
       {std::vector<int>{1, 0}, std::vector<int>{0, 1}})
    for (int64_t m : {1, 2, 3})
      for (int64_t k : {1, 2, 3})
        for (int64_t warps : {1, 4}) {
          DistributedLayout from = take(
              DistributedLayout::repeat(c, {m, 2 * k}, {{warps, 0}}, order));
          DistributedLayout to =
              take(DistributedLayout::repeat(a, {m, k}, {{warps, 0}}, {1, 0}));
          ConversionPlan plan = take(planConversion(from, to, 16));
          ASSERT_TRUE(plan.kind == ConversionKind::Identity ||
                      plan.kind == ConversionKind::RegisterPermute)
              << plan.print();
          if (order[0] == 1 || m == 1) {
            EXPECT_EQ(plan.kind, ConversionKind::Identity);
          } else {
            EXPECT_EQ(plan.kind, ConversionKind::RegisterPermute);
          }
          forEachPlace(to, [&](const Place &p) {
            ASSERT_EQ(
                to.coordinates(p),
                from.coordinates(plan.registerBase[p.reg], p.lane, p.warp));
          });
        }
  DistributedLayout d = take(wgmmaAccumulator(96));
  DistributedLayout next = take(
      DistributedLayout::repeat(take(wgmmaOperandA(16)), {1, 6}, {}, {1, 0}));
  EXPECT_EQ(take(planConversion(d, next, 16)).kind, ConversionKind::Identity);
  // 8-bit operands want four adjacent columns where the accumulator has two.
  DistributedLayout bytes = take(
      DistributedLayout::repeat(take(wgmmaOperandA(8)), {1, 3}, {}, {1, 0}));
  ConversionPlan shuffle = take(planConversion(d, bytes, 8));
  EXPECT_EQ(shuffle.kind, ConversionKind::LaneShuffle);
}

// ldmatrix by its definition: lane l of matrix i supplies row l % 8; each lane
// receives from matrix i the elements 2 * (l % 4) .. + 1 of row l / 4, or of
// column l / 4 with .trans.
TEST(Atoms, LdMatrixByDefinition) {
  struct Grid {
    int64_t rows, columns;
  };
  for (const Grid &grid :
       {Grid{1, 1}, Grid{2, 1}, Grid{1, 2}, Grid{2, 2}, Grid{4, 1}, Grid{1, 4}})
    for (bool rowsFirst : {true, false})
      for (bool transposed : {true, false})
        for (int bits : {8, 16, 32}) {
          if (transposed && bits != 16)
            continue;
          LdMatrix ld = take(
              ldmatrix(grid.rows, grid.columns, rowsFirst, bits, transposed));
          checkLayout(ld.addresses);
          checkLayout(ld.fragment);
          int64_t v = 32 / bits, width = 4 * v;
          for (int64_t i = 0; i < grid.rows * grid.columns; ++i) {
            int64_t mr = rowsFirst ? i % grid.rows : i / grid.columns;
            int64_t mc = rowsFirst ? i / grid.rows : i % grid.columns;
            for (int64_t row = 0; row < 8; ++row)
              for (int64_t e = 0; e < width; ++e)
                ASSERT_EQ(ld.addresses.coordinates(e, 8 * i + row, 0),
                          (Coords{8 * mr + row, width * mc + e}));
            for (int64_t lane = 0; lane < 32; ++lane)
              for (int64_t e = 0; e < v; ++e) {
                int64_t along = v * (lane % 4) + e, across = lane / 4;
                Coords expected = {8 * mr + (transposed ? along : across),
                                   width * mc + (transposed ? across : along)};
                ASSERT_EQ(ld.fragment.coordinates(v * i + e, lane, 0),
                          expected);
              }
          }
        }
}

TEST(Atoms, LdMatrixFeedsMma) {
  DistributedLayout a = take(mmaOperandA(16, 16, 16));
  DistributedLayout twoB = take(
      DistributedLayout::repeat(take(mmaOperandB(16, 16)), {1, 2}, {}, {1, 0}));
  EXPECT_EQ(take(ldmatrix(2, 2, true)).fragment, a);
  EXPECT_EQ(take(ldmatrix(2, 2, false)).fragment, twoB.transpose({1, 0}));
  EXPECT_EQ(take(ldmatrix(2, 2, true, 16, true)).fragment, twoB);
  EXPECT_EQ(take(ldmatrix(2, 2, true, 8)).fragment,
            take(mmaOperandA(16, 32, 8)));
  EXPECT_EQ(take(ldmatrix(2, 2, true, 32)).fragment,
            take(mmaOperandA(16, 8, 32)));
}

// The rows of ldmatrix.x4 on tiles of 64 f16: 8-way conflicts in plain rows,
// none with the 128-byte swizzle or with 16 bytes of padding.
TEST(Atoms, LdMatrixConflicts) {
  DistributedLayout rows = take(DistributedLayout::repeat(
      take(ldmatrix(2, 2, true)).addresses, {4, 4}, {}, {1, 0}));
  auto conflicts = [&](const SharedLayout &l) {
    return countConflicts(l, {rows, 1, 8});
  };
  ConflictCount plain =
      conflicts(take(SharedLayout::dense({64, 64}, 16, {1, 0})));
  EXPECT_EQ(plain.accesses, 16);
  EXPECT_EQ(plain.minimum, 64);
  EXPECT_EQ(plain.wavefronts, 8 * 64);
  EXPECT_TRUE(
      conflicts(take(SharedLayout::dense({64, 64}, 16, {1, 0}, 0, swizzle128B))).conflictFree());
  EXPECT_TRUE(conflicts(take(SharedLayout::dense({64, 64}, 16, {1, 0}, 8)))
                  .conflictFree());
  SharedChoice chosen =
      take(chooseShared({64, 64}, 16, {1, 0}, {{rows, 1, 8}}, Avoidance::Swizzle, 16));
  EXPECT_EQ(chosen.layout.swizzle(), swizzle128B);
}

TEST(Atoms, BadArgumentsAreErrors) {
  EXPECT_EQ(mmaOperandA(16, 12, 16).error(),
            "no mma A fragment of 16x12 with 16-bit elements");
  EXPECT_EQ(mmaOperandA(32, 16, 16).error(),
            "no mma A fragment of 32x16 with 16-bit elements");
  EXPECT_EQ(mmaOperandB(16, 24).error(),
            "no mma B fragment of 16x8 with 24-bit elements");
  EXPECT_EQ(mmaAccumulator(4).error(), "no mma accumulator of 4 rows");
  EXPECT_EQ(wgmmaAccumulator(264).error(),
            "no wgmma accumulator of 264 columns, expected a multiple of 8 up "
            "to 256");
  EXPECT_EQ(wgmmaOperandA(0).error(),
            "no wgmma A fragment of 64x0 with 0-bit elements");
  EXPECT_EQ(ldmatrix(3, 1, true).error(),
            "ldmatrix of 3x1 matrices, expected 1, 2 or 4 in all");
  EXPECT_EQ(ldmatrix(2, 2, true, 8, true).error(),
            "transposing ldmatrix of 8-bit elements, expected 16");
  DistributedLayout coop = take(cooperativeMatrix("coop.a", {16, 8}, 32));
  EXPECT_TRUE(coop.isOpaque());
  DistributedLayout grid =
      take(DistributedLayout::repeat(coop, {3, 2}, {{2, 0}, {2, -1}}, {0, 1}));
  EXPECT_EQ(grid.print(), "shape=[96, 16] regs=[3:16@0, 2:8@1] lanes=[32:*] "
                          "warps=[2:48@0, 2:*] opaque=coop.a atom=[16, 8]");
  EXPECT_EQ(parse(grid.print()), grid);
}
