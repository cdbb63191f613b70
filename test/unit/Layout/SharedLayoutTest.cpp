// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Layout/SharedLayout.h"

#include "LayoutTestUtils.h"

#include <set>

using namespace tilewright::layout;
using namespace tilewright::layout::test;

static void checkShared(const SharedLayout &l) {
  SCOPED_TRACE(l.print());
  ASSERT_EQ(l.verify(), "");
  auto again = SharedLayout::parse(l.print());
  ASSERT_TRUE(bool(again)) << again.error();
  EXPECT_EQ(*again, l);

  // Injective, in bounds, and the swizzle is the XOR of the byte address.
  std::set<int64_t> seen;
  forEachCoord(l.shape(), [&](const Coords &c) {
    int64_t o = l.offset(c);
    ASSERT_TRUE(o >= 0 && o < l.sizeInElements());
    ASSERT_TRUE(seen.insert(o).second);
    if (l.elementBits() % 8 == 0) {
      int64_t bytes = l.elementBits() / 8;
      ASSERT_EQ(o * bytes, l.swizzle()(l.affineOffset(c) * bytes));
    }
  });
}

TEST(SharedLayout, EveryElementHasItsOwnAddress) {
  for (const Shape &shape : {Shape{8, 8}, Shape{16, 32}, Shape{12, 20},
                             Shape{2, 8, 16}, Shape{64}, Shape{3, 1, 5}})
    for (int bits : {4, 8, 16, 32, 64})
      for (int64_t padding : {0, 1, 4})
        for (const Swizzle &s :
             {Swizzle{}, swizzle128B, swizzle64B, swizzle32B, Swizzle{2, 3, 4},
              Swizzle{1, 4, 1}, Swizzle{5, 3, 5}, Swizzle{3, 4, 3, 5}}) {
          std::vector<int> order;
          for (int d = int(shape.size()) - 1; d >= 0; --d)
            order.push_back(d);
          checkShared(
              take(SharedLayout::dense(shape, bits, order, padding, s)));
          std::vector<int> reversed(order.rbegin(), order.rend());
          checkShared(
              take(SharedLayout::dense(shape, bits, reversed, padding, s)));
        }
}

// For all byte addresses of a block, whatever the fields.
TEST(SharedLayout, SwizzlesAreInvolutionsOfTheirBlocks) {
  for (int bits = 0; bits <= 5; ++bits)
    for (int base = 0; base <= 5; ++base)
      for (int shift = bits; shift <= 7; ++shift) {
        for (int fold : {0, shift + 1, shift + 3}) {
          Swizzle s{bits, base, shift, fold};
          int64_t block = int64_t(1) << (base + bits);
          for (int64_t x = 0; x < 4096; ++x) {
            ASSERT_EQ(s(s(x)), x);
            ASSERT_EQ(s(x) / block, x / block);
            ASSERT_EQ(s(x) % (int64_t(1) << base), x % (int64_t(1) << base));
            ASSERT_EQ(s(x + s.period()), s(x) + s.period());
          }
        }
      }
}

// Both fields land in the lower bits: 0x80 and 0x200 in 0x10, so that their sum does not.
TEST(SharedLayout, FoldsTakeTwoFields) {
  Swizzle s{3, 4, 3, 5};
  EXPECT_EQ(s(0x80), 0x90);
  EXPECT_EQ(s(0x200), 0x200 ^ 0x40 ^ 0x10);
  EXPECT_EQ(s(0x800), 0x840);
  EXPECT_EQ(s.period(), 4096);
  EXPECT_NE(s, (Swizzle{3, 4, 3}));
  SharedLayout l = take(SharedLayout::dense({64, 64}, 8, {1, 0}, 0, s));
  EXPECT_EQ(l.print(), "shape=[64, 64] strides=[64, 1] bits=8 swizzle=3:4:3:5");
}

// The 128-, 64- and 32-byte modes as the PTX ISA draws them: within an atom of
// 8 rows, the 16-byte chunk c of row r is stored in chunk c ^ (r % 8) of a
// 128-byte row; c ^ (r / 2 % 4) of a 64-byte row; c ^ (r / 4 % 2) of a 32-byte
// row.
TEST(SharedLayout, HardwareSwizzles) {
  struct Case {
    Swizzle swizzle;
    int64_t chunks, rowsPerStep;
  };
  for (const Case &c : {Case{swizzle128B, 8, 1}, Case{swizzle64B, 4, 2},
                        Case{swizzle32B, 2, 4}}) {
    SharedLayout l =
        take(SharedLayout::dense({64, c.chunks * 8}, 16, {1, 0}, 0, c.swizzle));
    EXPECT_EQ(c.swizzle.period(), 128 * c.chunks);
    for (int64_t row = 0; row < 64; ++row)
      for (int64_t chunk = 0; chunk < c.chunks; ++chunk)
        ASSERT_EQ(l.offset({row, chunk * 8}),
                  row * c.chunks * 8 +
                      (chunk ^ (row / c.rowsPerStep % c.chunks)) * 8);
  }
}

TEST(SharedLayout, WorkedPadding) {
  SharedLayout l = take(SharedLayout::dense({4, 4}, 32, {1, 0}, 1));
  EXPECT_EQ(l.strides(), (Shape{5, 1}));
  EXPECT_EQ(l.sizeInElements(), 19);
  EXPECT_EQ(l.sizeInBytes(), 76);
  EXPECT_EQ(l.picture(), "shape=[4, 4] strides=[5, 1] bits=32\n"
                         " 0  1  2  3\n"
                         " 5  6  7  8\n"
                         "10 11 12 13\n"
                         "15 16 17 18\n");
}

TEST(SharedLayout, ErrorsSayWhat) {
  auto error = [](const std::string &text) {
    return SharedLayout::parse(text).error();
  };
  EXPECT_EQ(error("shape=[4, 4] strides=[3, 1] bits=32"),
            "dimension 0 has stride 3, but the elements below it take 4");
  EXPECT_EQ(error("shape=[4] strides=[0] bits=32"),
            "dimension 0 has stride 0, expected at least 1");
  EXPECT_EQ(error("shape=[4] strides=[1, 1] bits=32"),
            "2 strides for a rank-1 shape");
  EXPECT_EQ(error("shape=[4] strides=[1]"), "'bits' is missing");
  EXPECT_EQ(error("shape=[4] strides=[1] bits=0"),
            "the element has 0 bits, expected 1 to 1024");
  EXPECT_EQ(error("shape=[4] strides=[1] bits=32 swizzle=3:4:1"),
            "swizzle 3:4:1 needs fields of at least 0 and a shift of at least "
            "its bits");
  EXPECT_EQ(error("shape=[4] strides=[1] bits=64 swizzle=3:2:3"),
            "elements of 64 bits would be torn by a swizzle of 4-byte runs");
  EXPECT_EQ(error("shape=[4] strides=[1] bits=8 swizzle=2:4:3:3"),
            "the swizzle's fold of 3 needs to be above its shift of 3");
  EXPECT_EQ(error("shape=[9000000000000000000] strides=[1] bits=32"),
            "the size overflows");
  EXPECT_EQ(error("shape=[4] strides=[1] bits=32 pad=3"),
            "unknown key 'pad' at column 35");
  EXPECT_EQ(SharedLayout::dense({4, 4}, 32, {0}).error(),
            "order is not a permutation of the dimensions");
}
