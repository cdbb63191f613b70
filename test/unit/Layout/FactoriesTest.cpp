// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LayoutTestUtils.h"

using namespace tilewright::layout;
using namespace tilewright::layout::test;

TEST(Factories, BlockedCoversEveryShape) {
  for (const Shape &shape :
       {Shape{1, 1}, Shape{4, 4}, Shape{16, 16}, Shape{64, 32}, Shape{3, 48},
        Shape{96, 8}, Shape{6, 10}, Shape{2, 128}, Shape{7, 1}})
    for (const Shape &elems : {Shape{1, 1}, Shape{1, 4}, Shape{2, 2}})
      for (const Shape &lanes : {Shape{1, 32}, Shape{4, 8}, Shape{16, 1}})
        for (const Shape &warps : {Shape{1, 1}, Shape{4, 1}, Shape{2, 3}})
          for (const std::vector<int> &order :
               {std::vector<int>{0, 1}, std::vector<int>{1, 0}}) {
            DistributedLayout l = take(
                DistributedLayout::blocked(shape, elems, lanes, warps, order));
            checkLayout(l);
            EXPECT_EQ(l.numLanes(), lanes[0] * lanes[1]);
            EXPECT_EQ(l.numWarps(), warps[0] * warps[1]);
          }
}

TEST(Factories, BlockedByHand) {
  auto blocked = [](Shape shape, Shape e, Shape t, Shape w) {
    return take(DistributedLayout::blocked(shape, e, t, w, {1, 0}))
        .print(false);
  };
  EXPECT_EQ(blocked({64, 64}, {1, 4}, {2, 16}, {4, 1}),
            "regs=[4:1@1, 8:8@0] lanes=[16:4@1, 2:1@0] warps=[4:2@0]");
  // Too small: half of the lanes and three warps of four have no own element.
  EXPECT_EQ(blocked({2, 32}, {1, 4}, {2, 16}, {4, 1}),
            "regs=[4:1@1] lanes=[8:4@1, 2:*, 2:1@0] warps=[4:*]");
  // 3 x 64 along the row: the factor 3 becomes register repeats.
  EXPECT_EQ(blocked({1, 192}, {1, 2}, {1, 32}, {1, 1}),
            "regs=[2:1@1, 3:64@1] lanes=[32:2@1] warps=[]");
}

TEST(Factories, CoalescedFillsTheThreads) {
  for (const Shape &shape : {Shape{64, 32}, Shape{48, 48}, Shape{4, 6, 8},
                             Shape{1024}, Shape{12, 2}, Shape{}})
    for (int64_t lanes : {8, 16, 32, 64})
      for (int64_t warps : {1, 3, 4}) {
        std::vector<int> order;
        for (int d = int(shape.size()) - 1; d >= 0; --d)
          order.push_back(d);
        DistributedLayout l =
            take(DistributedLayout::coalesced(shape, 4, lanes, warps, order));
        checkLayout(l);
        EXPECT_EQ(l.numLanes(), lanes);
        EXPECT_EQ(l.numWarps(), warps);
      }
  EXPECT_EQ(take(DistributedLayout::coalesced({32, 64}, 4, 32, 4, {1, 0}))
                .print(false),
            "regs=[4:1@1, 4:8@0] lanes=[16:4@1, 2:1@0] warps=[4:2@0]");
}

TEST(Factories, BadArgumentsAreErrors) {
  using L = DistributedLayout;
  EXPECT_EQ(L::blocked({4}, {1, 1}, {1}, {1}, {0}).error(),
            "elements per thread has 2 entries for a rank-1 shape");
  EXPECT_EQ(L::blocked({4}, {1}, {0}, {1}, {0}).error(),
            "lanes contains 0, expected at least 1");
  EXPECT_EQ(L::blocked({4, 4}, {1, 1}, {1, 1}, {1, 1}, {0, 0}).error(),
            "order is not a permutation of the dimensions");
  EXPECT_EQ(L::blocked({-1}, {1}, {1}, {1}, {0}).error(),
            "shape contains -1, expected at least 1");
  EXPECT_EQ(L::coalesced({4}, 4, 0, 1, {0}).error(),
            "elements, lanes and warps contains 0, expected at least 1");
  DistributedLayout atom = parse("regs=[2:1@0] lanes=[32:2@0]");
  EXPECT_EQ(L::repeat(atom, {1}, {{2, 1}}, {0}).error(),
            "warp grid names dimension 1 of a rank-1 layout");
  EXPECT_EQ(L::repeat(atom, {int64_t(1) << 62}, {}, {0}).error(),
            "the repeated extent of dimension 0 overflows");
  EXPECT_EQ(L::repeat(atom, {0}, {}, {0}).error(),
            "register repeats contains 0, expected at least 1");
}

TEST(Factories, RepeatPutsAtomsOnAGrid) {
  DistributedLayout atom =
      parse("shape=[16, 8] regs=[2:1@1, 2:8@0] lanes=[4:2@1, 8:1@0]");
  for (const std::vector<int> &order :
       {std::vector<int>{0, 1}, std::vector<int>{1, 0}})
    for (int64_t rm : {1, 3})
      for (int64_t rn : {1, 2, 5})
        for (int64_t wm : {1, 3})
          for (int64_t wn : {1, 2}) {
            DistributedLayout l = take(DistributedLayout::repeat(
                atom, {rm, rn}, {{wm, 0}, {2, -1}, {wn, 1}}, order));
            checkLayout(l);
            EXPECT_EQ(l.shape(), (Shape{16 * rm * wm, 8 * rn * wn}));
            EXPECT_EQ(l.replication(Level::Warp), 2);
            // Each warp has the atoms of one contiguous part.
            forEachPlace(l, [&](const Place &p) {
              Coords inner = atom.coordinates(p.reg % 4, p.lane, 0);
              int64_t rep = p.reg / 4;
              int64_t im = order[0] == 0 ? rep % rm : rep / rn;
              int64_t in = order[0] == 0 ? rep / rm : rep % rn;
              int64_t am = im + rm * (p.warp % wm), an = in + rn * (p.warp / wm / 2);
              ASSERT_EQ(l.coordinates(p),
                        (Coords{inner[0] + 16 * am, inner[1] + 8 * an}));
            });
          }
}
