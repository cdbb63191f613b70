// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparisons: what is good, what is told when it is not.

#include "compare.h"
#include "input.h"
#include "number_formats.h"

#include <gtest/gtest.h>

using namespace tilewright::run;

namespace {

HostTensor tensor(const std::string &text) {
  return parseInput(text, 0, TW_F32);
}

Comparison with(const std::string &got, const std::string &expected,
                double atol, double rtol) {
  return compare(tensor(got), tensor(expected), {atol, rtol, "given"});
}

TEST(Compare, Verdicts) {
  EXPECT_TRUE(with("3xf32=1 2 3", "3xf32=1 2 3", 0, 0).ok);
  EXPECT_TRUE(with("2xf32=0 nan", "2xf32=-0 nan", 0, 0).ok);
  EXPECT_TRUE(with("2xf32=inf -inf", "2xf32=inf -inf", 0, 0).ok);
  EXPECT_FALSE(with("1xf32=inf", "1xf32=-inf", 1e30, 0).ok);
  EXPECT_FALSE(with("1xf32=nan", "1xf32=1", 1e30, 0).ok);
  EXPECT_FALSE(with("1xf32=1", "1xf32=nan", 1e30, 0).ok);
  EXPECT_FALSE(with("1xf32=1e30", "1xf32=inf", 1e35, 1).ok);
  EXPECT_TRUE(with("1xf32=1.5", "1xf32=1", 0.5, 0).ok);
  EXPECT_TRUE(with("1xf32=110", "1xf32=100", 0, 0.1).ok);
  EXPECT_FALSE(with("1xf32=111", "1xf32=100", 0, 0.1).ok);
  EXPECT_TRUE(with("0xf32=", "0xf32=", 0, 0).ok);
  // 64-bit integers are compared exactly, where doubles are not.
  EXPECT_FALSE(
      with("1xi64=9007199254740993", "1xi64=9007199254740992", 0, 0).ok);
  EXPECT_EQ(with("2xf32=1 2", "3xf32=1 2 3", 0, 0).problem,
            "is 2xf32, expected 3xf32");
  EXPECT_EQ(with("2xf32=1 2", "2xf16=1 2", 0, 0).problem,
            "is 2xf32, expected 2xf16");
}

TEST(Compare, TellsTheFirstBadAndTheWorst) {
  Comparison c =
      with("2x4xf32=1 2 3 4 5 60 7 8", "2x4xf32=1 2.5 3 4 5 6 7 8", 0, 0);
  EXPECT_EQ(c.mismatches, 2);
  EXPECT_EQ(c.firstBad, 1);
  EXPECT_EQ(c.worst, 5);
  EXPECT_EQ(c.worstError, 54);
  std::string text = describe("result[0]", tensor("2x4xf32=1 2 3 4 5 60 7 8"),
                              tensor("2x4xf32=1 2.5 3 4 5 6 7 8"), c);
  EXPECT_EQ(text, "result[0]: MISMATCH: 2 of 8 elements of 2x4xf32, largest error "
                  "54, relative 9, 1.13e+08 ulp; allowed 0 (given)\n"
                  "  first bad element:\n"
                  "    [0, 0] got 1, expected 1\n"
                  "  > [0, 1] got 2, expected 2.5, error 0.5, allowed 0  BAD\n"
                  "    [0, 2] got 3, expected 3\n"
                  "    [0, 3] got 4, expected 4\n"
                  "  worst element:\n"
                  "    [1, 0] got 5, expected 5\n"
                  "  > [1, 1] got 60, expected 6, error 54, allowed 0  BAD\n"
                  "    [1, 2] got 7, expected 7\n"
                  "    [1, 3] got 8, expected 8\n");
}

TEST(Compare, ToleranceIsGivenOrExact) {
  Tolerance t = plainTolerance({}, {});
  EXPECT_EQ(t.atol, 0);
  EXPECT_EQ(t.source, "exact");
  t = plainTolerance({}, 0.5);
  EXPECT_EQ(t.rtol, 0.5);
  EXPECT_EQ(t.source, "given");
}

TEST(Compare, BoundsOfEachElementAreScaled) {
  HostTensor got = tensor("2xf32=1 100"), reference = tensor("2xf32=1.5 101");
  auto bounds = std::make_shared<const HostTensor>(tensor("2xf64=0.25 0.25"));
  EXPECT_EQ(compare(got, reference, boundedTolerance(bounds, 1)).mismatches, 2);
  Comparison twice = compare(got, reference, boundedTolerance(bounds, 2));
  EXPECT_EQ(twice.mismatches, 1);
  EXPECT_EQ(twice.firstBad, 1);
  EXPECT_EQ(twice.tolerance.source, "2 times the error bounds of the oracle");
}

} // namespace
