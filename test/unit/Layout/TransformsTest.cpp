// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LayoutTestUtils.h"

#include <algorithm>

using namespace tilewright::layout;
using namespace tilewright::layout::test;

static std::vector<DistributedLayout> samples() {
  std::mt19937 rng(3);
  std::vector<DistributedLayout> result;
  for (const Shape &shape :
       {Shape{16}, Shape{8, 12}, Shape{6, 4}, Shape{4, 2, 6}, Shape{1, 8}})
    for (int64_t lanes : {4, 32})
      for (int64_t warps : {1, 6})
        for (int i = 0; i < 3; ++i)
          result.push_back(randomLayout(rng, shape, lanes, warps));
  return result;
}

TEST(Transforms, TransposeMovesCoordinates) {
  for (const DistributedLayout &l : samples()) {
    std::vector<int> perm(l.rank());
    for (int d = 0; d < l.rank(); ++d)
      perm[d] = d;
    do {
      DistributedLayout t = l.transpose(perm);
      checkLayout(t);
      forEachPlace(l, [&](const Place &p) {
        Coords from = l.coordinates(p), to = t.coordinates(p);
        for (int d = 0; d < l.rank(); ++d)
          ASSERT_EQ(to[d], from[perm[d]]);
      });
    } while (std::next_permutation(perm.begin(), perm.end()));
  }
}

// A slice has, in each thread, the coordinates of the parent without `dim`, and
// every thread that held any element of a row holds the row's result.
TEST(Transforms, SliceAndProjectFollowTheParent) {
  for (const DistributedLayout &l : samples())
    for (int dim = 0; dim < l.rank(); ++dim) {
      DistributedLayout s = l.slice(dim), proj = l.project(dim);
      checkLayout(s);
      checkLayout(proj);
      std::vector<int64_t> table = l.sliceRegisters(dim);
      forEachPlace(l, [&](const Place &p) {
        Coords c = l.coordinates(p);
        Coords projected = c;
        projected[dim] = 0;
        ASSERT_EQ(proj.coordinates(p), projected);
        c.erase(c.begin() + dim);
        ASSERT_EQ(s.coordinates(table[p.reg], p.lane, p.warp), c);
      });
      EXPECT_EQ(s.replication(Level::Register), 1);
      EXPECT_EQ(s.insertDim(dim).slice(dim), s);
    }
}

TEST(Transforms, InsertDimAndBroadcast) {
  for (const DistributedLayout &l : samples())
    for (int pos = 0; pos <= l.rank(); ++pos) {
      DistributedLayout one = l.insertDim(pos);
      checkLayout(one);
      EXPECT_EQ(one.shape()[pos], 1);
      EXPECT_EQ(one.numRegisters(), l.numRegisters());
      for (int64_t size : {1, 6}) {
        DistributedLayout regs = take(one.broadcastInRegisters(pos, size));
        checkLayout(regs);
        EXPECT_EQ(regs, l.insertDim(pos, size));
        EXPECT_EQ(regs.slice(pos), l);
      }
    }
  DistributedLayout l = parse("shape=[1, 8] lanes=[8:1@1, 4:*] warps=[3:*]");
  EXPECT_EQ(l.broadcastInRegisters(1, 4).error(),
            "broadcast dimension 1 has extent 8, expected 1");
  EXPECT_EQ(l.broadcastInRegisters(0, 0).error(),
            "broadcast to extent 0, expected at least 1");
}

TEST(Transforms, ReshapeKeepsRowMajorOrder) {
  int done = 0, refused = 0;
  for (const DistributedLayout &l : samples())
    for (const Shape &shape :
         {Shape{16}, Shape{4, 4}, Shape{96}, Shape{2, 4, 12}, Shape{8, 4, 3},
          Shape{24}, Shape{2, 3, 4}, Shape{48}, Shape{8, 6}, Shape{8}}) {
      auto r = l.reshape(shape);
      if (numElements(shape) != numElements(l.shape())) {
        EXPECT_FALSE(bool(r));
        continue;
      }
      if (!r) {
        EXPECT_NE(r.error().find("straddles"), std::string::npos) << r.error();
        ++refused;
        continue;
      }
      ++done;
      checkLayout(*r);
      forEachPlace(l, [&](const Place &p) {
        ASSERT_EQ(rowMajor(shape, r->coordinates(p)),
                  rowMajor(l.shape(), l.coordinates(p)));
      });
    }
  EXPECT_GT(done, 50);
  EXPECT_GT(refused, 0);
}
