// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops that carry values, selections with results, and a whole matmul.

#include "VulkanKernel.h"

using namespace tilewright::test;

// Collatz steps: a while loop with a selection in its body.
TEST_F(VulkanKernel, RunsWhileLoops) {
  std::vector<int32_t> x(64), expected(64);
  for (int i = 0; i < 64; ++i) {
    x[i] = i + 1;
    for (int n = x[i]; n != 1; n = n % 2 ? 3 * n + 1 : n / 2)
      ++expected[i];
  }
  std::vector<int32_t> got = map<int32_t, int32_t>("i32", "i32", R"(
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %three = arith.constant 3 : i32
    %last, %r = scf.while (%v = %x, %count = %zero) : (i32, i32) -> (i32, i32) {
      %more = arith.cmpi ne, %v, %one : i32
      scf.condition(%more) %v, %count : i32, i32
    } do {
    ^bb0(%v: i32, %count: i32):
      %bit = arith.andi %v, %one : i32
      %odd = arith.cmpi eq, %bit, %one : i32
      %next = scf.if %odd -> i32 {
        %t = arith.muli %v, %three : i32
        %u = arith.addi %t, %one : i32
        scf.yield %u : i32
      } else {
        %h = arith.shrui %v, %one : i32
        scf.yield %h : i32
      }
      %c = arith.addi %count, %one : i32
      scf.yield %next, %c : i32, i32
    })",
                                                   x);
  EXPECT_EQ(got, expected);
}

TEST_F(VulkanKernel, SwapsCarriedValues) {
  std::vector<int32_t> got = map<int32_t, int32_t>("i32", "i32", R"(
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    %n2 = arith.index_cast %x : i32 to index
    %r, %b1, %f = scf.for %j = %c0 to %n2 step %c1 iter_args(%p = %zero, %q = %one, %flag = %inside) -> (i32, i32, i1) {
      %s = arith.addi %p, %q : i32
      %no = arith.xori %flag, %inside : i1
      scf.yield %q, %s, %no : i32, i32, i1
    })",
                                                   {0, 1, 2, 3, 10, 20});
  EXPECT_EQ(got, (std::vector<int32_t>{0, 1, 1, 2, 55, 6765}));
}

// C = A B, tiles of 32 x 32 x 16 in shared memory, vec4 everywhere, 64 threads
// with 4 x 4 elements each.
TEST_F(VulkanKernel, MultipliesMatrices) {
  const int m = 64, n = 96, k = 80;
  std::vector<float> a(m * k), b(k * n), expected(m * n);
  for (int i = 0; i < m * k; ++i)
    a[i] = float(i % 7 - 3);
  for (int i = 0; i < k * n; ++i)
    b[i] = float(i % 5 - 2);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j)
      for (int l = 0; l < k; ++l)
        expected[i * n + j] += a[i * k + l] * b[l * n + j];

  std::string accumulators, types, zeros, yields, results, body, store;
  for (int i = 0; i < 4; ++i) {
    std::string row = std::to_string(i);
    body += "%ar" + row + " = arith.addi %arow, %c" + std::to_string(i) +
            "x16 : index\n%ai" + row + " = arith.addi %ar" + row +
            ", %l : index\n%av" + row + " = memref.load %sa[%ai" + row +
            "] : memref<512xf32, #tilewright.shared>\n";
    for (int j = 0; j < 4; ++j) {
      std::string ij = row + std::to_string(j);
      bool first = i + j == 0;
      accumulators += (first ? "" : ", ") + ("%p" + ij + " = %q" + ij);
      zeros += (first ? "" : ", ") + ("%q" + ij + " = %zero");
      types += first ? "f32" : ", f32";
      results += (first ? "" : ", ") + ("%n" + ij);
      yields += (first ? "" : ", ") + ("%f" + ij);
      body += "%b" + ij + " = vector.extract %bv[" + std::to_string(j) +
              "] : f32 from vector<4xf32>\n%f" + ij + " = math.fma %av" + row +
              ", %b" + ij + ", %p" + ij + " : f32\n";
    }
    store += "%or" + row + " = arith.addi %orow, %c" + row + " : index\n%om" +
             row + " = arith.muli %or" + row + ", %N : index\n%oi" + row +
             " = arith.addi %om" + row + ", %ocol : index\n%ov" + row +
             " = vector.from_elements %z" + row + "0, %z" + row + "1, %z" +
             row + "2, %z" + row + "3 : vector<4xf32>\nvector.store %ov" + row +
             ", %o[%oi" + row +
             "] {alignment = 16} : memref<?xf32>, vector<4xf32>\n";
  }
  std::string outer = results;
  for (char &c : outer)
    if (c == 'n')
      c = 'z';
  Buffer bufferA = bytesOf(a), bufferB = bytesOf(b), out(m * n * 4);
  run("func.func private @k(%a: memref<?xf32>, %b: memref<?xf32>, %o: "
      "memref<?xf32>, %K: index, %N: index) " +
          launch(64) + R"( {
    %sa = memref.alloc() : memref<512xf32, #tilewright.shared>
    %sb = memref.alloc() : memref<512xf32, #tilewright.shared>
    %zero = arith.constant 0.0 : f32
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c3 = arith.constant 3 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %c0x16 = arith.constant 0 : index
    %c1x16 = arith.constant 16 : index
    %c2x16 = arith.constant 32 : index
    %c3x16 = arith.constant 48 : index
    )" + kThreadIds +
          R"(
    %tilesN = arith.divui %N, %c32 : index
    %ti = arith.divui %bx, %tilesN : index
    %tj = arith.remui %bx, %tilesN : index
    %row0 = arith.muli %ti, %c32 : index
    %col0 = arith.muli %tj, %c32 : index
    %ty = arith.divui %tid, %c8 : index
    %tx = arith.remui %tid, %c8 : index
    %ty4 = arith.muli %ty, %c4 : index
    %tx4 = arith.muli %tx, %c4 : index
    %arow = arith.muli %ty4, %c16 : index
    )" + outer +
          " = scf.for %kk = %c0 to %K step %c16 iter_args(" + zeros + ") -> (" +
          types + R"() {
      scf.for %t = %tid to %c128 step %c64 {
        %r = arith.divui %t, %c4 : index
        %c = arith.remui %t, %c4 : index
        %cc = arith.muli %c, %c4 : index
        %gr = arith.addi %row0, %r : index
        %gm = arith.muli %gr, %K : index
        %gc = arith.addi %kk, %cc : index
        %gi = arith.addi %gm, %gc : index
        %v = vector.load %a[%gi] {alignment = 16} : memref<?xf32>, vector<4xf32>
        %si = arith.muli %t, %c4 : index
        vector.store %v, %sa[%si] {alignment = 16} : memref<512xf32, #tilewright.shared>, vector<4xf32>
      }
      scf.for %t = %tid to %c128 step %c64 {
        %r = arith.divui %t, %c8 : index
        %c = arith.remui %t, %c8 : index
        %cc = arith.muli %c, %c4 : index
        %gr = arith.addi %kk, %r : index
        %gm = arith.muli %gr, %N : index
        %gc = arith.addi %col0, %cc : index
        %gi = arith.addi %gm, %gc : index
        %v = vector.load %b[%gi] {alignment = 16} : memref<?xf32>, vector<4xf32>
        %si = arith.muli %t, %c4 : index
        vector.store %v, %sb[%si] {alignment = 16} : memref<512xf32, #tilewright.shared>, vector<4xf32>
      }
      gpu.barrier
      )" + results +
          " = scf.for %l = %c0 to %c16 step %c1 iter_args(" + accumulators +
          ") -> (" + types + R"() {
        %bl = arith.muli %l, %c32 : index
        %bi = arith.addi %bl, %tx4 : index
        %bv = vector.load %sb[%bi] {alignment = 16} : memref<512xf32, #tilewright.shared>, vector<4xf32>
      )" + body +
          "scf.yield " + yields + " : " + types +
          "\n}\ngpu.barrier\nscf.yield " + results + " : " + types + R"(
    }
    %orow = arith.addi %row0, %ty4 : index
    %ocol = arith.addi %col0, %tx4 : index
    )" + store +
          "return\n}",
      {&bufferA, &bufferB, &out}, {i32(k), i32(n)}, m / 32 * (n / 32));
  EXPECT_EQ(valuesOf<float>(out), expected);
}
