// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The syntax of --input.

#include "input.h"
#include "print.h"

#include <cmath>
#include <gtest/gtest.h>
#include <set>

using namespace tilewright::run;

namespace {

std::string read(const std::string &text, size_t index = 0) {
  try {
    return tensorText(parseInput(text, index, TW_F32), 1000);
  } catch (const RunError &e) {
    return std::string("error: ") + e.what();
  }
}

TEST(Input, Values) {
  EXPECT_EQ(read("2x2xf32=1 2 3 4"), "2x2xf32=[1 2][3 4]");
  EXPECT_EQ(read("2x2xf32=[1 2][3,4]"), "2x2xf32=[1 2][3 4]");
  EXPECT_EQ(read("2x3xf32=0.5"), "2x3xf32=[0.5 0.5 0.5][0.5 0.5 0.5]");
  EXPECT_EQ(read("3xi32"), "3xi32=0 0 0");
  EXPECT_EQ(read("3xi8=-128 255 0x7f"), "3xi8=-128 -1 127");
  EXPECT_EQ(read("2xi1=true 0"), "2xi1=1 0");
  EXPECT_EQ(read("0x4xf32="), "0x4xf32=");
  EXPECT_EQ(read("f32=3"), "f32=3");
  EXPECT_EQ(read("i64=-4"), "i64=-4");
  EXPECT_EQ(read("i64=18446744073709551615"), "i64=-1");
  EXPECT_EQ(read("4xf16=1.5 inf -inf nan"), "4xf16=1.5 inf -inf nan");
  EXPECT_EQ(read("2xbf16=3.14159 -0"), "2xbf16=3.141 -0");
  EXPECT_EQ(read("2xindex=1 2"), "2xindex=1 2");
}

TEST(Input, Random) {
  HostTensor a = parseInput("1000xf32=random:7", 0, TW_F32);
  EXPECT_EQ(a.bytes, parseInput("1000xf32=random:7", 3, TW_F32).bytes);
  EXPECT_NE(a.bytes, parseInput("1000xf32=random:8", 0, TW_F32).bytes);
  EXPECT_NE(parseInput("9xf32=random", 0, TW_F32).bytes,
            parseInput("9xf32=random", 1, TW_F32).bytes);
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 1000; ++i)
    sum += a.number(i), squares += a.number(i) * a.number(i);
  EXPECT_NEAR(sum / 1000, 0, 0.15);
  EXPECT_NEAR(squares / 1000, 1, 0.2);
}

TEST(Input, IntegerRanges) {
  for (const char *type :
       {"1000xi8", "1000xf16", "1000xi64", "1000xf8E4M3FN"}) {
    HostTensor tensor = parseInput(std::string(type) + "=int:-2:3", 0, TW_F32);
    std::set<double> seen;
    for (int64_t i = 0; i < 1000; ++i)
      seen.insert(tensor.number(i));
    EXPECT_EQ(seen, (std::set<double>{-2, -1, 0, 1, 2, 3})) << type;
  }
}

TEST(Input, Errors) {
  EXPECT_EQ(read("4x4xf33=1"),
            "error: input 0: '4x4xf33' is no type: element type 'f33' is "
            "unknown; expected something like 4x4xf32, with one of f64, f32, "
            "f16, bf16, f8E4M3FN, f8E5M2, f8E4M3FNUZ, f8E5M2FNUZ, i64, i32, i16, "
            "i8, i4, i2, i1, index");
  EXPECT_EQ(read("4x4", 2),
            "error: input 2: '4x4' is no type; expected something like "
            "4x4xf32");
  EXPECT_EQ(read("2x2xf32=1 2 3"),
            "error: input 0 (2x2xf32): 2x2xf32 has 4 elements; found 3 values; "
            "expected all of them, or one for all");
  EXPECT_EQ(read("2xf32=1 x"), "error: input 0 (2xf32): 'x' is no number");
  EXPECT_EQ(read("2xi32=1.5"), "error: input 0 (2xi32): '1.5' is no integer");
  EXPECT_EQ(read("1xi8=256"), "error: input 0 (1xi8): 256 does not fit i8, "
                              "which holds -128 to 255");
  EXPECT_EQ(read("1xf16=1e6"),
            "error: input 0 (1xf16): 1e6 is beyond the range of f16");
  EXPECT_EQ(read("1xi64=99999999999999999999"),
            "error: input 0 (1xi64): '99999999999999999999' is no integer");
  EXPECT_EQ(read("4xf32=random:1:x"), "error: input 0 (4xf32): 'x' is no standard deviation, a number from 0");
  EXPECT_EQ(read("4xi8=random"), "error: input 0 (4xi8): random is for float "
                                 "types; for i8 say int:LO:HI");
  EXPECT_EQ(read("4xi8=int:3:2"),
            "error: input 0 (4xi8): the range 3 to 2 is empty");
  EXPECT_EQ(read("4xi8=int:0:300"), "error: input 0 (4xi8): 300 does not fit "
                                    "i8, which holds -128 to 255");
  EXPECT_EQ(read("4xi8=int:0"), "error: input 0 (4xi8): expected int:LO:HI or "
                                "int:LO:HI:SEED");
  EXPECT_EQ(read("@/nowhere/a.npy"),
            "error: /nowhere/a.npy: No such file or directory");
  EXPECT_EQ(read("9999999999x9999999999xf32").substr(0, 16),
            "error: input 0: ");
  EXPECT_EQ(read("-1xf32").substr(0, 6), "error:");
  EXPECT_EQ(read("").substr(0, 6), "error:");
  EXPECT_EQ(read("=").substr(0, 6), "error:");
}

} // namespace
