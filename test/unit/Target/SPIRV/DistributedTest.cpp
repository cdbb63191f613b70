// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From block form: what the layouts and their conversions make of a matmul, a
// row reduction and a transpose gives the right numbers.

#include "VulkanKernel.h"

using namespace tilewright::test;

static std::string blockLaunch(int threads, const std::string &tiles) {
  return "tilewright.launch = #tilewright.launch<threads = " +
         std::to_string(threads) + ", subgroup = 8, tiles = " + tiles + ">";
}

TEST_F(VulkanKernel, DistributedMatmulBiasRelu) {
  const int m = 100, n = 256, k = 512;
  std::vector<float> a(m * k), w(k * n), bias(n), expected(m * n);
  for (int i = 0; i < m * k; ++i)
    a[i] = float(i % 7 - 3);
  for (int i = 0; i < k * n; ++i)
    w[i] = float(i % 11 - 5);
  for (int j = 0; j < n; ++j)
    bias[j] = float(j % 13 - 6);
  for (int i = 0; i < m; ++i)
    for (int l = 0; l < k; ++l)
      for (int j = 0; j < n; ++j)
        expected[i * n + j] += a[i * k + l] * w[l * n + j];
  for (int i = 0; i < m * n; ++i)
    expected[i] = std::max(0.0f, expected[i] + bias[i % n]);
  Buffer bufferA = bytesOf(a), bufferW = bytesOf(w), bufferBias = bytesOf(bias),
         out(expected.size() * 4);
  runBlockForm(R"(
  func.func private @k(%a: memref<?x512xf32>, %w: memref<512x256xf32>, %bias: memref<256xf32>, %out: memref<?x256xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 16], warps = [2, 4, 1], promote = [0, 1]>, )" +
                   blockLaunch(64, "affine_map<()[s0] -> (s0 ceildiv 64, 4)>, "
                                   "dims = [0, 0]") +
                   R"(} {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %c16 = arith.constant 16 : index
    %c512 = arith.constant 512 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %m = memref.dim %a, %c0 : memref<?x512xf32>
    %mt = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%m]
    %ti, %tj = tilewright.tile_id(%mt, %c4) : index, index
    %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%ti]
    %j = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%tj]
    %sa = memref.alloc() : memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>
    %sb = memref.alloc() : memref<16x64xf32, #tilewright.shared>
    %acc = scf.for %kk = %c0 to %c512 step %c16 iter_args(%c = %zero) -> vector<64x64xf32> {
      %va = vector.transfer_read %a[%i, %kk], %pad {in_bounds = [false, true]} : memref<?x512xf32>, vector<64x16xf32>
      %vb = vector.transfer_read %w[%kk, %j], %pad {in_bounds = [true, true]} : memref<512x256xf32>, vector<16x64xf32>
      vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<64x16xf32>, memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>
      vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x64xf32, #tilewright.shared>
      gpu.barrier
      %n = tilewright.mma %sa, %sb, %c {maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
         : memref<16x64xf32, strided<[68, 1]>, #tilewright.shared>, memref<16x64xf32, #tilewright.shared>, vector<64x64xf32>
      gpu.barrier
      scf.yield %n : vector<64x64xf32>
    }
    %bv = vector.transfer_read %bias[%j], %pad {in_bounds = [true, true], permutation_map = affine_map<(d0) -> (0, d0)>} : memref<256xf32>, vector<64x64xf32>
    %s = arith.addf %acc, %bv : vector<64x64xf32>
    %r = arith.maximumf %s, %zero : vector<64x64xf32>
    vector.transfer_write %r, %out[%i, %j] {in_bounds = [false, true]} : vector<64x64xf32>, memref<?x256xf32>
    return
  })",
               {&bufferA, &bufferW, &bufferBias, &out}, {i32(m), i32(m)},
               (m + 63) / 64 * 4);
  EXPECT_EQ(valuesOf<float>(out), expected);
}

TEST_F(VulkanKernel, DistributedRowSum) {
  const int m = 37;
  std::vector<float> a(m * 512), expected(m);
  for (int i = 0; i < m * 512; ++i) {
    a[i] = float(i * 31 % 17 - 8);
    expected[i / 512] += a[i];
  }
  Buffer bufferA = bytesOf(a), out(m * 4);
  runBlockForm(
      R"(
  func.func private @k(%a: memref<?x512xf32>, %out: memref<?xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"], )" +
          blockLaunch(64, "affine_map<()[s0] -> (s0)>, dims = [0, 0]") +
          R"(} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %m = memref.dim %a, %c0 : memref<?x512xf32>
    %i = tilewright.tile_id(%m) : index
    %v = vector.transfer_read %a[%i, %c0], %pad {in_bounds = [true, true]} : memref<?x512xf32>, vector<1x512xf32>
    %s = vector.multi_reduction <add>, %v, %zero [1] : vector<1x512xf32> to vector<1xf32>
    vector.transfer_write %s, %out[%i] {in_bounds = [false]} : vector<1xf32>, memref<?xf32>
    return
  })",
      {&bufferA, &out}, {i32(m), i32(m)}, m + 3); // three surplus blocks
  EXPECT_EQ(valuesOf<float>(out), expected);
}

TEST_F(VulkanKernel, DistributedTranspose) {
  for (std::string type : {"f32", "f16"}) {
    SCOPED_TRACE(type);
    const int size = 64, bytes = type == "f32" ? 4 : 2;
    Buffer in(size * size * bytes), out(in.size()), expected(in.size());
    for (int i = 0; i < size; ++i)
      for (int j = 0; j < size; ++j) {
        uint32_t value = uint32_t(i * size + j + 0x400);
        std::memcpy(&in[(i * size + j) * bytes], &value, bytes);
        std::memcpy(&expected[(j * size + i) * bytes], &value, bytes);
      }
    std::string memref = "memref<64x64x" + type + ">";
    std::string vector = "vector<64x64x" + type + ">";
    runBlockForm("func.func private @k(%a: " + memref + ", %out: " + memref +
                     ") attributes {tilewright.kernel, tilewright.access = "
                     "[\"read\", \"write\"], " +
                     blockLaunch(64, "affine_map<() -> (1)>") + R"(} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : )" +
                     type + R"(
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : )" +
                     memref + ", " + vector + R"(
    %t = vector.transpose %v, [1, 0] : )" +
                     vector + " to " + vector + R"(
    vector.transfer_write %t, %out[%c0, %c0] {in_bounds = [true, true]} : )" +
                     vector + ", " + memref + "\nreturn\n}",
                 {&in, &out}, {}, 1);
    EXPECT_EQ(out, expected);
  }
}
