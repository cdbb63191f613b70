// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LayoutTestUtils.h"

using namespace tilewright::layout;
using namespace tilewright::layout::test;

TEST(Text, RoundTrips) {
  for (const char *text :
       {"shape=[] regs=[] lanes=[] warps=[]",
        "shape=[128, 64] regs=[4:1@1, 2:64@0] lanes=[16:4@1, 2:32@0] "
        "warps=[32:1@0]",
        "shape=[8] regs=[8:1@0] lanes=[32:*] warps=[4:*] first_warp=4",
        "shape=[16, 16] regs=[] lanes=[32:*] warps=[] opaque=a.b_1 "
        "atom=[16, 16]"})
    EXPECT_EQ(parse(text).print(), text);
}

TEST(Text, ShapeIsInferredOrChecked) {
  EXPECT_EQ(parse("regs=[4:1@1] lanes=[8:1@0]").shape(), (Shape{8, 4}));
  EXPECT_EQ(
      take(DistributedLayout::parse("regs=[4:1@1]", Shape{1, 4, 1})).shape(),
      (Shape{1, 4, 1}));
  EXPECT_EQ(
      DistributedLayout::parse("shape=[4] regs=[4:1@0]", Shape{8}).error(),
      "the layout has shape [4], expected [8]");
}

TEST(Text, ErrorsSayWhatAndWhere) {
  auto error = [](const std::string &text) {
    return DistributedLayout::parse(text).error();
  };
  EXPECT_EQ(error("regs=[4:1@0"), "expected ']' at column 12");
  EXPECT_EQ(error("regs=[4]"), "expected ':' at column 8");
  EXPECT_EQ(error("regs=[4:x]"), "expected an integer at column 9");
  EXPECT_EQ(error("regs=[-4:1@0]"), "expected an integer at column 7");
  EXPECT_EQ(error("rags=[4:1@0]"), "unknown key 'rags' at column 6");
  EXPECT_EQ(error("regs=[] regs=[]"), "'regs' is given twice at column 13");
  EXPECT_EQ(error("regs=[99999999999999999999:*]"),
            "the integer is too large at column 25");
  EXPECT_EQ(error("regs=[2:1@70000]"),
            "the dimension is too large at column 16");
  EXPECT_EQ(error("opaque=x regs=[]"), "'opaque' and 'atom' go together");
  EXPECT_EQ(error("?"), "expected a name at column 1");
}

// Truncations and single-character changes of a good text never crash, and
// what still parses round-trips.
TEST(Text, SurvivesDamage) {
  std::string good = "shape=[32, 64] regs=[4:1@1, 2:16@0] lanes=[16:4@1, 2:*] "
                     "warps=[16:1@0] first_warp=2";
  for (size_t i = 0; i < good.size(); ++i)
    for (char c : std::string("0129:*@[], x\0", 13)) {
      std::string bad = good;
      bad[i] = c;
      for (const std::string &text : {bad, good.substr(0, i)})
        if (auto l = DistributedLayout::parse(text)) {
          EXPECT_EQ(parse(l->print()).print(), l->print());
        } else {
          EXPECT_NE(l.error(), "");
        }
    }
}

TEST(Text, Picture) {
  EXPECT_EQ(parse("shape=[2, 4] regs=[2:1@1] lanes=[2:2@1] warps=[2:1@0] "
                  "first_warp=1")
                .picture(),
            "shape=[2, 4] regs=[2:1@1] lanes=[2:2@1] warps=[2:1@0] "
            "first_warp=1\n"
            "warp:lane/register\n"
            "  |     0     1     2     3\n"
            "0 | 1:0/0 1:0/1 1:1/0 1:1/1\n"
            "1 | 2:0/0 2:0/1 2:1/0 2:1/1\n");
  EXPECT_EQ(parse("shape=[3] regs=[3:1@0] lanes=[2:*]").picture(64, 2),
            "shape=[3] regs=[3:1@0] lanes=[2:*] warps=[]\n"
            "warp:lane/register of the first owner\n"
            "  |      0      1 ...\n"
            "0 | 0:0/0+ 0:0/1+ ...\n");
  std::string pages = parse("regs=[2:1@2, 2:1@1, 20:1@0]").picture();
  EXPECT_NE(pages.find("[1, *, *]"), std::string::npos);
  EXPECT_EQ(pages.substr(pages.size() - 4), "...\n");
  EXPECT_NE(parse("shape=[]").picture().find("0:0/0"), std::string::npos);
}
