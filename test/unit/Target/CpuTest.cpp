// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs CPU kernels, written in block form, through the C interface.

#include "CpuFixture.h"

namespace {
struct CpuTest : CpuFixture {};
} // namespace

TEST_F(CpuTest, MultipliesTilesWithEdges) {
  ASSERT_TRUE(compile(R"(
    func.func private @mm(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>)
        attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %zero = arith.constant 0.0 : f32
      %init = arith.constant dense<0.0> : vector<4x16xf32>
      %m = memref.dim %c, %c0 : memref<?x?xf32>
      %n = memref.dim %c, %c1 : memref<?x?xf32>
      %k = memref.dim %a, %c1 : memref<?x?xf32>
      %mt = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%m]
      %nt = affine.apply affine_map<()[s0] -> (s0 ceildiv 16)>()[%n]
      %ti, %tj = tilewright.tile_id(%mt, %nt) : index, index
      %i = affine.apply affine_map<()[s0] -> (s0 * 4)>()[%ti]
      %j = affine.apply affine_map<()[s0] -> (s0 * 16)>()[%tj]
      %r = scf.for %p = %c0 to %k step %c1 iter_args(%acc = %init) -> vector<4x16xf32> {
        %va = vector.transfer_read %a[%i, %p], %zero {in_bounds = [false, true]} : memref<?x?xf32>, vector<4x1xf32>
        %vb = vector.transfer_read %b[%p, %j], %zero {in_bounds = [true, false]} : memref<?x?xf32>, vector<1x16xf32>
        %s = tilewright.mma %va, %vb, %acc {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
            : vector<4x1xf32>, vector<1x16xf32>, vector<4x16xf32>
        scf.yield %s : vector<4x16xf32>
      }
      vector.transfer_write %r, %c[%i, %j] : vector<4x16xf32>, memref<?x?xf32>
      return
    })")) << error;
  const int m = 7, n = 21, k = 5;
  std::vector<float> a(m * k), b(k * n), c(m * n + 64, -7.0f);
  for (int i = 0; i < m * k; ++i)
    a[i] = i % 5 - 2;
  for (int i = 0; i < k * n; ++i)
    b[i] = i % 7 - 3;
  launch(0, 2 * 2, {address(a.data()), address(b.data()), address(c.data()), m, k,
                    k, n, m, n});
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int p = 0; p < k; ++p)
        sum += a[i * k + p] * b[p * n + j];
      EXPECT_EQ(c[i * n + j], sum) << i << ", " << j;
    }
  EXPECT_EQ(c[m * n], -7.0f);
}

TEST_F(CpuTest, ReducesTransposesAndSelects) {
  ASSERT_TRUE(compile(R"(
    func.func private @rows(%a: memref<?x?xf32>, %c: memref<?xf32>, %h: f32)
        attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %zero = arith.constant 0.0 : f32
      %init = arith.constant dense<0.0> : vector<2x8xf32>
      %m = memref.dim %a, %c0 : memref<?x?xf32>
      %n = memref.dim %a, %c1 : memref<?x?xf32>
      %t = tilewright.tile_id(%m) : index
      %i = affine.apply affine_map<()[s0] -> (s0 * 2)>()[%t]
      %s = scf.for %j = %c0 to %n step %c8 iter_args(%acc = %init) -> vector<2x8xf32> {
        %v = vector.transfer_read %a[%i, %j], %zero : memref<?x?xf32>, vector<2x8xf32>
        %w = arith.addf %v, %acc : vector<2x8xf32>
        scf.yield %w : vector<2x8xf32>
      }
      %b = vector.broadcast %h : f32 to vector<2xf32>
      %r = vector.multi_reduction <add>, %s, %b [1] : vector<2x8xf32> to vector<2xf32>
      vector.transfer_write %r, %c[%i] : vector<2xf32>, memref<?xf32>
      return
    }
    func.func private @transpose(%a: memref<3x5xf32>, %c: memref<5x3xf32>, %p: memref<5x3xi1>)
        attributes {tilewright.kernel, tilewright.access = ["read", "write", "write"]} {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0.0 : f32
      %v = vector.transfer_read %a[%c0, %c0], %zero : memref<3x5xf32>, vector<4x8xf32>
      %t = vector.transpose %v, [1, 0] : vector<4x8xf32> to vector<8x4xf32>
      vector.transfer_write %t, %c[%c0, %c0] : vector<8x4xf32>, memref<5x3xf32>
      %z = arith.constant dense<6.0> : vector<8x4xf32>
      %lt = arith.cmpf olt, %t, %z : vector<8x4xf32>
      vector.transfer_write %lt, %p[%c0, %c0] : vector<8x4xi1>, memref<5x3xi1>
      return
    })")) << error;
  std::vector<float> a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  std::vector<float> c(32, -1.0f);
  float h = 100;
  uint32_t bits;
  memcpy(&bits, &h, 4);
  launch(0, 2, {address(a.data()), address(c.data()), 3, 5, 3, bits});
  EXPECT_EQ(c[0], 115);
  EXPECT_EQ(c[1], 140);
  EXPECT_EQ(c[2], 165);
  EXPECT_EQ(c[3], -1);
  std::vector<char> p(32, 9);
  launch(1, 1, {address(a.data()), address(c.data()), address(p.data())});
  for (int i = 0; i < 5; ++i)
    for (int j = 0; j < 3; ++j) {
      EXPECT_EQ(c[i * 3 + j], a[j * 5 + i]);
      EXPECT_EQ(p[i * 3 + j], a[j * 5 + i] < 6);
    }
  EXPECT_EQ(c[15], -1);
  EXPECT_EQ(p[15], 9);
}

TEST_F(CpuTest, ConvertsSmallTypes) {
  ASSERT_TRUE(compile(R"(
    func.func private @mixed(%a: memref<?xf16>, %b: memref<?xbf16>, %c: memref<?xi8>, %o: memref<?xf32>)
        attributes {tilewright.kernel, tilewright.access = ["read", "write", "read", "write"]} {
      %c0 = arith.constant 0 : index
      %za = arith.constant 0.0 : f16
      %zc = arith.constant 0 : i8
      %va = vector.transfer_read %a[%c0], %za : memref<?xf16>, vector<16xf16>
      %vc = vector.transfer_read %c[%c0], %zc : memref<?xi8>, vector<16xi8>
      %fa = arith.extf %va : vector<16xf16> to vector<16xf32>
      %fc = arith.sitofp %vc : vector<16xi8> to vector<16xf32>
      %s = arith.addf %fa, %fc : vector<16xf32>
      vector.transfer_write %s, %o[%c0] : vector<16xf32>, memref<?xf32>
      %t = arith.truncf %s : vector<16xf32> to vector<16xbf16>
      vector.transfer_write %t, %b[%c0] : vector<16xbf16>, memref<?xbf16>
      return
    })")) << error;
  std::vector<uint16_t> a = {0x3c00, 0x4000, 0xc000}, b(4, 0xffff);
  std::vector<int8_t> c = {-1, 5, 100};
  std::vector<float> o(4, -1.0f);
  launch(0, 1, {address(a.data()), address(b.data()), address(c.data()),
                address(o.data()), 3, 3, 3, 3});
  EXPECT_EQ(o, (Floats{0, 7, 98, -1}));
  EXPECT_EQ(b, (std::vector<uint16_t>{0, 0x40e0, 0x42c4, 0xffff}));
}
