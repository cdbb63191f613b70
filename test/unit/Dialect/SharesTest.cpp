// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many blocks share a tile's sum, against blocks that go step by step.

#include "tilewright/Dialect/Tilewright.h"

#include "gtest/gtest.h"

#include <set>

using namespace tilewright;

TEST(Shares, CountsTheBlocksOfATile) {
  for (int64_t tiles = 1; tiles <= 7; ++tiles)
    for (int64_t steps = 1; steps <= 11; ++steps)
      for (int64_t blocks = 1; blocks <= tiles * steps; ++blocks) {
        std::vector<std::set<int64_t>> sharing(tiles);
        for (int64_t block = 0; block < blocks; ++block) {
          int64_t begin = block * tiles * steps / blocks,
                  end = (block + 1) * tiles * steps / blocks;
          // As even as whole steps can be, and nobody has none.
          EXPECT_GE(end - begin, tiles * steps / blocks);
          EXPECT_LE(end - begin, (tiles * steps + blocks - 1) / blocks);
          for (int64_t step = begin; step < end; ++step)
            sharing[step / steps].insert(block);
        }
        int64_t most = 0;
        for (const std::set<int64_t> &of : sharing)
          most = std::max<int64_t>(most, of.size());
        EXPECT_EQ(SharesAttr::countParts(tiles, steps, blocks), most)
            << tiles << " tiles, " << steps << " steps, " << blocks << " blocks";
      }
}

TEST(Shares, SaysWhyNot) {
  EXPECT_EQ(SharesAttr::whyNot(10, 16, 4, 2), "");
  EXPECT_EQ(SharesAttr::whyNot(10, 16, 40, 4), "");
  EXPECT_NE(SharesAttr::whyNot(10, 16, 161, 99), "");
  EXPECT_NE(SharesAttr::whyNot(10, 16, 40, 3).find("make 'splits' 4"), std::string::npos);
  EXPECT_NE(SharesAttr::whyNot(0, 16, 1, 2), "");
  EXPECT_NE(SharesAttr::whyNot(1 << 20, 1 << 20, 2, 2), "");
}
