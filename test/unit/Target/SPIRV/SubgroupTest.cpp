// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ids, shuffles, barriers.

#include "VulkanKernel.h"

#include <numeric>

using namespace tilewright::test;

TEST_F(VulkanKernel, NumbersEveryThreadOnce) {
  std::vector<int32_t> expected(64 * 6);
  std::iota(expected.begin(), expected.end(), 0);
  Buffer out(expected.size() * 4);
  run("func.func private @k(%o: memref<?xi32>) " + launch(64) + " {" +
          kThreadIds + R"(
    %by = gpu.block_id y
    %gx = gpu.grid_dim x
    %row = arith.muli %by, %gx : index
    %block = arith.addi %row, %bx : index
    %c64 = arith.constant 64 : index
    %base = arith.muli %block, %c64 : index
    %i = arith.addi %base, %tid : index
    %v = arith.index_cast %i : index to i32
    memref.store %v, %o[%i] : memref<?xi32>
    return
  })",
      {&out}, {}, 6);
  EXPECT_EQ(valuesOf<int32_t>(out), expected);
}

TEST_F(VulkanKernel, ReducesSubgroupsByShuffles) {
  for (const char *type : {"f32", "f64"}) {
    SCOPED_TRACE(type);
    std::string ty = type;
    std::vector<double> x(64), expected(64);
    for (int i = 0; i < 64; ++i) {
      x[i] = (i * 37) % 61;
      expected[i / 8 * 8] += x[i];
    }
    for (int i = 0; i < 64; ++i)
      expected[i] = expected[i / 8 * 8];
    Buffer in = ty == "f64" ? bytesOf(x)
                            : bytesOf(std::vector<float>(x.begin(), x.end()));
    Buffer out(in.size());
    std::string steps;
    const char *sums[] = {"%v", "%s4", "%s2", "%s1"};
    for (int i = 0; i < 3; ++i) {
      std::string m = std::to_string(4 >> i);
      steps += "%m" + m + " = arith.constant " + m + " : i32\n%t" + m +
               ", %ok" + m + " = gpu.shuffle xor " + sums[i] + ", %m" + m +
               ", %width : " + ty + "\n" + sums[i + 1] + " = arith.addf " +
               sums[i] + ", %t" + m + " : " + ty + "\n";
    }
    run("func.func private @k(%a: memref<?x" + ty + ">, %o: memref<?x" + ty +
            ">) " + launch(64) + " {" + kThreadIds +
            "%width = arith.constant 8 : i32\n%v = memref.load %a[%tid] : "
            "memref<?x" +
            ty + ">\n" + steps + "memref.store %s1, %o[%tid] : memref<?x" + ty +
            ">\nreturn\n}",
        {&in, &out}, {}, 1);
    std::vector<double> got =
        ty == "f64" ? valuesOf<double>(out) : std::vector<double>();
    if (got.empty())
      for (float f : valuesOf<float>(out))
        got.push_back(f);
    EXPECT_EQ(got, expected);
  }
}

TEST_F(VulkanKernel, ShufflesEveryTypeByIndex) {
  for (auto [type, bytes] :
       std::vector<std::pair<std::string, int>>{{"i8", 1},
                                                {"i1", 1},
                                                {"i16", 2},
                                                {"f16", 2},
                                                {"bf16", 2},
                                                {"i32", 4},
                                                {"f32", 4},
                                                {"i64", 8},
                                                {"f64", 8},
                                                {"vector<2xf16>", 4}}) {
    SCOPED_TRACE(type);
    Buffer in(64 * bytes), out(64 * bytes), expected(64 * bytes);
    for (size_t i = 0; i < in.size(); ++i)
      in[i] = uint8_t(type == "i1"                                  ? i % 3 == 0
                      : i % bytes == size_t(bytes - 1) && bytes > 1 ? 0x3c
                                                                    : i * 11);
    for (int i = 0; i < 64; ++i) // lane 7 - l
      std::memcpy(&expected[i * bytes], &in[(i / 8 * 8 + 7 - i % 8) * bytes],
                  bytes);
    bool isVector = type[0] == 'v';
    std::string element = isVector ? "f16" : type;
    std::string at = isVector ? "%two" : "%tid";
    std::string load = isVector
                           ? "vector.load %a[%two] {alignment = 4} : "
                             "memref<?xf16>, vector<2xf16>"
                           : "memref.load %a[%tid] : memref<?x" + type + ">";
    std::string store =
        isVector ? "vector.store %r, %o[%two] {alignment = 4} : "
                   "memref<?xf16>, vector<2xf16>"
                 : "memref.store %r, %o[%tid] : memref<?x" + type + ">";
    // gpu.shuffle itself takes i32, f32, i64, f64 and vectors of one dimension.
    run("func.func private @k(%a: memref<?x" + element + ">, %o: memref<?x" +
            element + ">) " + launch(64) + " {" + kThreadIds +
            "%two = arith.addi %tid, %tid : index\n"
            "%width = arith.constant 8 : i32\n%seven = arith.constant 7 : i32\n"
            "%l = arith.index_cast %lane : index to i32\n"
            "%other = arith.subi %seven, %l : i32\n%v = " +
            load + "\n%r, %ok = gpu.shuffle idx %v, %other, %width : " + type +
            "\n" + store + "\nreturn\n}",
        {&in, &out}, {}, 1);
    EXPECT_EQ(out, expected);
  }
}
