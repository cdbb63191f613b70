// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LayoutTestUtils.h"

using namespace tilewright::layout;
using namespace tilewright::layout::test;

// The worked tables of the header.
TEST(DistributedLayout, WorkedTables) {
  DistributedLayout one =
      parse("shape=[4, 8] regs=[2:1@1] lanes=[4:2@1, 2:1@0] warps=[2:2@0]");
  EXPECT_EQ(one.numRegisters(), 2);
  EXPECT_EQ(one.numLanes(), 8);
  EXPECT_EQ(one.numWarps(), 2);
  EXPECT_EQ(one.coordinates(0, 5, 1), (Coords{3, 2}));
  EXPECT_EQ(one.owner({3, 2}), (Place{0, 5, 1}));
  EXPECT_EQ(one.owner({2, 7}), (Place{1, 3, 1}));

  DistributedLayout a =
      parse("shape=[16, 16] regs=[2:1@1, 2:8@0, 2:8@1] lanes=[4:2@1, 8:1@0]");
  EXPECT_EQ(a.coordinates(3, 5, 0), (Coords{9, 3}));
  EXPECT_EQ(a.coordinates(7, 0, 0), (Coords{8, 9}));

  DistributedLayout sliced = one.slice(1);
  EXPECT_EQ(sliced.print(),
            "shape=[4] regs=[] lanes=[4:*, 2:1@0] warps=[2:2@0]");
}

TEST(DistributedLayout, RandomLayoutsHoldAllInvariants) {
  std::mt19937 rng(1);
  for (const Shape &shape :
       {Shape{}, Shape{1}, Shape{64}, Shape{96}, Shape{16, 24}, Shape{8, 3, 4},
        Shape{5, 7}, Shape{2, 1, 6, 4}})
    for (int64_t lanes : {1, 8, 32})
      for (int64_t warps : {1, 4, 6})
        for (int i = 0; i < 4; ++i)
          checkLayout(randomLayout(rng, shape, lanes, warps));
}

// operator== decides equality of maps: compared with enumeration on pairs that
// are often equal (the same digits split differently).
TEST(DistributedLayout, EqualityIsEqualityOfMaps) {
  std::mt19937 rng(2);
  int equal = 0;
  for (int i = 0; i < 3000; ++i) {
    DistributedLayout a = randomLayout(rng, {4, 6}, 4, 2);
    DistributedLayout b = randomLayout(rng, {4, 6}, 4, 2);
    ASSERT_EQ(a == b, sameMap(a, b)) << a.print() << "\n" << b.print();
    equal += a == b;
  }
  EXPECT_GT(equal, 10);
  DistributedLayout a = parse("regs=[12:1@0] lanes=[4:*]");
  EXPECT_EQ(a, parse("regs=[3:1@0, 1:*, 4:3@0] lanes=[2:*, 2:*] warps=[1:*]"));
  EXPECT_NE(a, a.withFirstWarp(4));
}

TEST(DistributedLayout, VerifyNamesTheFault) {
  auto error = [](const std::string &text) {
    return DistributedLayout::parse(text).error();
  };
  EXPECT_EQ(error("shape=[8] regs=[4:1@0]"),
            "dimension 0: the digits cover 4 of 8 elements");
  EXPECT_EQ(error("shape=[8] regs=[2:1@0] lanes=[2:4@0]"),
            "dimension 0: no digit has stride 2 (the next one is 4), elements "
            "would have no owner");
  EXPECT_EQ(error("shape=[8] regs=[4:1@0] lanes=[2:2@0]"),
            "dimension 0: digit 2:2 overlaps the 4 elements below it");
  EXPECT_EQ(error("shape=[4] regs=[4:1@1]"),
            "register digit 0 has dimension 1 of a rank-1 layout");
  EXPECT_EQ(error("shape=[4] lanes=[0:*] regs=[4:1@0]"),
            "lane digit 0 has count 0, expected at least 1");
  EXPECT_EQ(error("shape=[4] warps=[4:0@0]"),
            "warp digit 0 has stride 0, expected at least 1");
  EXPECT_EQ(error("shape=[0]"),
            "dimension 0 has extent 0, expected at least 1");
  EXPECT_EQ(error("shape=[4294967296, 4294967296]"),
            "the number of elements overflows");
  EXPECT_EQ(error("lanes=[4096:*]"), "lane count exceeds 1024");
  EXPECT_EQ(error("regs=[2000000:1@0]"), "register count exceeds 1048576");
  EXPECT_EQ(error("regs=[9223372036854775807:1@0, 9223372036854775807:1@0]"),
            "register count exceeds 1048576");
  EXPECT_EQ(error("regs=[] first_warp=100000"),
            "first warp is 100000, expected 0 to 1024");
}

TEST(DistributedLayout, OpaqueAtomsOwnTheirInside) {
  DistributedLayout l = parse("shape=[64, 32] regs=[2:16@0, 2:16@1] "
                              "lanes=[32:*] warps=[2:32@0] "
                              "opaque=coop.f16.acc atom=[16, 16]");
  EXPECT_TRUE(l.isOpaque());
  EXPECT_EQ(l.coordinates(3, 7, 1), (Coords{48, 16}));
  EXPECT_EQ(l.owner({50, 17}), (Place{3, 0, 1}));
  EXPECT_EQ(l.contiguity(1), 1);
  EXPECT_EQ(parse(l.print()), l);
  EXPECT_EQ(parse(l.print(false)), l);
  EXPECT_EQ(parse(l.transpose({1, 0}).print()), l.transpose({1, 0}));
  EXPECT_EQ(DistributedLayout::parse("shape=[32] regs=[4:8@0] opaque=x "
                                     "atom=[16]")
                .error(),
            "dimension 0: digit 4:8 overlaps the 16 elements below it");
  EXPECT_EQ(DistributedLayout::getOpaque("a b", {1}, {1}, {}, {}, {}).error(),
            "the opaque name 'a b' has characters other than letters, digits, "
            "'_' and '.'");
}
