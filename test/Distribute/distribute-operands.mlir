// Operands of warpgroups in registers. Rows that are neighbours in memory are one thread's,
// in the operand and in the sums: of rows n and n + 1 the low and the high half of a byte.

// RUN: tilewright-opt %s -split-input-file -tilewright-promote -tilewright-assign-layouts -tilewright-distribute -lower-affine -canonicalize -cse | FileCheck %s

#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#nm = affine_map<(m, n, k) -> (n, m)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [16, 64, 1, 64], warps = [1, 4, 1, 1], stages = 4,
    promote = [0], mma = "wgmma.m64n16k16.f16.f32">

// Two bytes are four elements: each pair becomes floats by its bits, is multiplied by the
// scale of its row, and is a register of the instruction. No conversion between layouts.

// CHECK-LABEL: @dequantised
// CHECK: tilewright.mbarrier_wait
// CHECK: %[[ONE:.*]] = memref.load %{{.*}} : memref<8192xi8, #tilewright.shared>
// CHECK: %[[OTHER:.*]] = memref.load %{{.*}} : memref<8192xi8, #tilewright.shared>
// CHECK: %[[SCALES:.*]] = vector.load %{{.*}} : memref<256xf16, #tilewright.shared>, vector<2xf16>
// CHECK-DAG: %[[S0:.*]] = vector.extract %[[SCALES]][0]
// CHECK-DAG: %[[S1:.*]] = vector.extract %[[SCALES]][1]
// CHECK-DAG: %[[A:.*]] = arith.extui %[[ONE]] : i8 to i16
// CHECK-DAG: %[[B:.*]] = arith.extui %[[OTHER]] : i8 to i16
// CHECK-DAG: %[[PAIR:.*]] = vector.from_elements %[[A]], %[[B]] : vector<2xi16>
// CHECK-DAG: %[[WORDS:.*]] = vector.bitcast %[[PAIR]] : vector<2xi16> to vector<1xi32>
// CHECK-DAG: %[[WORD:.*]] = vector.extract %[[WORDS]][0]
// CHECK: %[[LOW:.*]] = arith.andi %[[WORD]], %c983055_i32 : i32
// CHECK: arith.xori %[[LOW]], %c1678271496_i32 : i32
// CHECK: arith.subf %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK: vector.from_elements %[[S0]], %[[S0]] : vector<2xf16>
// CHECK: %[[FIRST:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK: %[[HIGH:.*]] = arith.shrui %[[WORD]], %{{.*}} : i32
// CHECK: arith.andi %[[HIGH]], %c983055_i32 : i32
// CHECK: vector.from_elements %[[S1]], %[[S1]] : vector<2xf16>
// CHECK: %[[SECOND:.*]] = arith.mulf %{{.*}}, %{{.*}} : vector<2xf16>
// CHECK: tilewright.mma_fence(%{{.*}}%[[FIRST]], %[[SECOND]],
// CHECK-NOT: arith.sitofp
func.func private @dequantised(%w: memref<8x64x128xi8>, %s: memref<8x256xf16>, %x: memref<16x8x64xf16>, %c: memref<16x256xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (4)>>} {
  %zero = arith.constant dense<0.0> : vector<16x64xf32>
  %four = arith.constant dense<4> : vector<64x32xi8>
  %c0_i8 = arith.constant 0 : i8
  %pad = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %t = tilewright.tile_id(%c4) : index
  %j = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t]
  %h = affine.apply affine_map<()[s0] -> (s0 * 32)>()[%t]
  %r = scf.for %g = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (vector<16x64xf32>) {
    %bytes = vector.transfer_read %w[%g, %c0, %h], %c0_i8 {in_bounds = [true, true]} : memref<8x64x128xi8>, vector<64x32xi8>
    %left = arith.shli %bytes, %four : vector<64x32xi8>
    %low = arith.shrsi %left, %four : vector<64x32xi8>
    %high = arith.shrsi %bytes, %four : vector<64x32xi8>
    %q = vector.interleave %low, %high : vector<64x32xi8> -> vector<64x64xi8>
    %f = arith.sitofp %q : vector<64x64xi8> to vector<64x64xf16>
    %scale = vector.transfer_read %s[%g, %j], %pad {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (0, d1)>} : memref<8x256xf16>, vector<64x64xf16>
    %va = arith.mulf %f, %scale : vector<64x64xf16>
    %vx = vector.transfer_read %x[%c0, %g, %c0], %pad {in_bounds = [true, true], permutation_map = affine_map<(d0, d1, d2) -> (d0, d2)>} : memref<16x8x64xf16>, vector<16x64xf16>
    %n = tilewright.mma %va, %vx, %acc {instruction = "wgmma.m64n16k16.f16.f32", maps = [#km, #nk, #nm]}
        : vector<64x64xf16>, vector<16x64xf16>, vector<16x64xf32>
    scf.yield %n : vector<16x64xf32>
  }
  vector.transfer_write %r, %c[%c0, %j] {in_bounds = [true, true]} : vector<16x64xf32>, memref<16x256xf32>
  return
}

// -----

#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#nm = affine_map<(m, n, k) -> (n, m)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 256, 128], warps = [1, 8, 1], stages = 4,
    promote = [0], mma = "wgmma.m64n64k32.s8.s32">

// Four rows of four places along the sum are transposed by eight permutations of bytes.

// CHECK-LABEL: @across
// CHECK: tilewright.mbarrier_wait
// CHECK: %[[P0:.*]] = vector.load %{{.*}} {alignment = 4 : i64} : memref<131072xi8, #tilewright.shared>, vector<4xi8>
// CHECK: %[[LOW0:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5] : vector<4xi8>, vector<4xi8>
// CHECK: %[[HIGH0:.*]] = vector.shuffle %{{.*}}, %{{.*}} [2, 6, 3, 7] : vector<4xi8>, vector<4xi8>
// CHECK: %[[LOW1:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 4, 1, 5] : vector<4xi8>, vector<4xi8>
// CHECK: %[[HIGH1:.*]] = vector.shuffle %{{.*}}, %{{.*}} [2, 6, 3, 7] : vector<4xi8>, vector<4xi8>
// CHECK: vector.shuffle %[[LOW0]], %[[LOW1]] [0, 1, 4, 5]
// CHECK: vector.shuffle %[[LOW0]], %[[LOW1]] [2, 3, 6, 7]
// CHECK: vector.shuffle %[[HIGH0]], %[[HIGH1]] [0, 1, 4, 5]
// CHECK: vector.shuffle %[[HIGH0]], %[[HIGH1]] [2, 3, 6, 7]
// CHECK-COUNT-8: tilewright.warpgroup_mma "wgmma.m64n64k32.s8.s32"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : i32, i32, i32, i32)
func.func private @across(%x: memref<64x512xi8>, %w: memref<512x1024xi8>, %c: memref<64x1024xi32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 384, subgroup = 32, tiles = affine_map<() -> (4)>>} {
  %zero = arith.constant dense<0> : vector<64x256xi32>
  %pad = arith.constant 0 : i8
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %t = tilewright.tile_id(%c4) : index
  %j = affine.apply affine_map<()[s0] -> (s0 * 256)>()[%t]
  %r = scf.for %k = %c0 to %c512 step %c128 iter_args(%acc = %zero) -> (vector<64x256xi32>) {
    %va = vector.transfer_read %w[%k, %j], %pad {in_bounds = [true, true]} : memref<512x1024xi8>, vector<128x256xi8>
    %vx = vector.transfer_read %x[%c0, %k], %pad {in_bounds = [true, true]} : memref<64x512xi8>, vector<64x128xi8>
    %n = tilewright.mma %va, %vx, %acc {instruction = "wgmma.m64n64k32.s8.s32", maps = [#km, #nk, #nm]}
        : vector<128x256xi8>, vector<64x128xi8>, vector<64x256xi32>
    scf.yield %n : vector<64x256xi32>
  }
  vector.transfer_write %r, %c[%c0, %j] {in_bounds = [true, true]} : vector<64x256xi32>, memref<64x1024xi32>
  return
}
