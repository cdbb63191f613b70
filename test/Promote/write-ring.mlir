// The loop around a warpgroup's product becomes a ring between a producer and the
// consumers, who do all that is not addresses.

// RUN: tilewright-opt %s -split-input-file -tilewright-promote | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4,
    promote = [0, 1], mma = "wgmma.m64n128k16.bf16.f32", registers = [40, 232]>

// CHECK-DAG: #[[STEP:.*]] = affine_map<(d0) -> (d0 * 64)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[BOXES:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 64 + d2)>
// CHECK-DAG: #[[FROM_BOXES:.*]] = affine_map<(d0, d1, d2) -> (d2, d1 floordiv 64, d1 mod 64)>
// CHECK-LABEL: @row_major
// CHECK: %[[I:.*]] = affine.apply
// CHECK: %[[J:.*]] = affine.apply
// CHECK: %[[RING:.*]] = tilewright.ring : <4, memref<128x64xbf16, #tilewright.shared<swizzle = [3, 3, 3]>>, memref<64x2x64xbf16, strided<[64, 4096, 1]>, #tilewright.shared<swizzle = [3, 3, 3]>>>
// CHECK: tilewright.warps[8, 4]
// CHECK-NEXT: tilewright.set_registers 40
// CHECK-NEXT: tilewright.warps[8, 1]
// CHECK: scf.for %[[P:[^ ]*]] = %{{.*}} to %{{.*}} step
// CHECK-NEXT: %[[K:.*]] = affine.apply #[[STEP]](%[[P]])
// CHECK-NEXT: %[[EMPTY:.*]]:2 = tilewright.acquire %[[RING]][%[[P]]]
// CHECK-NEXT: tilewright.tile_copy %{{.*}}[%[[I]], %[[K]]] to %[[EMPTY]]#0 {map = #[[ROWS]]}
// CHECK-NEXT: tilewright.tile_copy %{{.*}}[%[[K]], %[[J]]] to %[[EMPTY]]#1 {map = #[[BOXES]]}
// CHECK-NEXT: tilewright.fill %[[RING]][%[[P]]]
// CHECK: tilewright.warps[0, 8]
// CHECK-NEXT: tilewright.set_registers 232
// CHECK: %[[SUM:.*]] = scf.for %[[P:[^ ]*]] =
// CHECK-NEXT: %[[FULL:.*]]:2 = tilewright.wait %[[RING]][%[[P]]]
// CHECK-NEXT: tilewright.mma %[[FULL]]#0, %[[FULL]]#1, {{.*}}maps = [#{{.*}}, #[[FROM_BOXES]], #{{.*}}]
// CHECK-NEXT: tilewright.mma_wait 1
// CHECK: %[[BEFORE:.*]] = arith.subi %[[P]]
// CHECK: tilewright.release %[[RING]][%[[BEFORE]]]
// CHECK: %[[DONE:.*]] = tilewright.mma_wait 0(%[[SUM]] :
// CHECK: vector.transfer_write %[[DONE]]
func.func private @row_major(%a: memref<1024x512xbf16>, %b: memref<512x1024xbf16>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 384, subgroup = 32, tiles = affine_map<() -> (8, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c8, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<128x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<1024x512xbf16>, vector<128x64xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<512x1024xbf16>, vector<64x128xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<128x64xbf16>, vector<64x128xbf16>, vector<128x128xf32>
    scf.yield %n : vector<128x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<128x128xf32>, memref<1024x1024xf32>
  return
}

// -----

// One step of the sum is a ring that goes round once; of a batch, boxes have one
// element along what is not the matrix.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [1, 64, 128, 64], warps = [1, 4, 1, 1], stages = 2,
    promote = [0, 1], mma = "wgmma.m64n128k16.bf16.f32">

// CHECK-DAG: #[[OF_BATCH:.*]] = affine_map<(d0, d1) -> (0, d0, d1)>
// CHECK-LABEL: @one_step
// CHECK: tilewright.ring : <2, memref<64x64xbf16, #tilewright.shared<swizzle = [3, 3, 3]>>, memref<128x64xbf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
// CHECK: tilewright.warps[4, 4] {
// CHECK-NEXT: tilewright.warps[4, 1]
// CHECK: tilewright.tile_copy %{{.*}}[%{{.*}}, %{{.*}}, %{{.*}}] to %{{.*}} {map = #[[OF_BATCH]]}
// CHECK: tilewright.warps[0, 4] {
// CHECK-NOT: set_registers
// CHECK: tilewright.mma_wait 0
func.func private @one_step(%a: memref<3x64x40xbf16>, %b: memref<3x128x40xbf16>, %c: memref<3x64x128xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (3)>>} {
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %t = tilewright.tile_id(%c3) : index
  %va = vector.transfer_read %a[%t, %c0, %c0], %pad {in_bounds = [true, false]} : memref<3x64x40xbf16>, vector<64x64xbf16>
  %vb = vector.transfer_read %b[%t, %c0, %c0], %pad {in_bounds = [true, false]} : memref<3x128x40xbf16>, vector<128x64xbf16>
  %n = tilewright.mma %va, %vb, %zero {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #nk, #mn]}
      : vector<64x64xbf16>, vector<128x64xbf16>, vector<64x128xf32>
  vector.transfer_write %n, %c[%t, %c0, %c0] {in_bounds = [true, true]} : vector<64x128xf32>, memref<3x64x128xf32>
  return
}

// -----

// Persistent blocks walk over tiles in either role, and positions count on; the last
// stage of a tile is empty when its sums are there. Results leave by copy engines. Of a
// cluster's two blocks along the rows, both copy parts of B; one may have no tile.

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 4,
    promote = [0, 1], mma = "wgmma.m64n128k16.bf16.f32", persistent = true, cluster = [2, 1, 1], tma_store = true>

// CHECK-LABEL: @walk
// CHECK-NOT: tilewright.tile_id
// CHECK: %[[RING:.*]] = tilewright.ring
// CHECK: tilewright.warps[4, 1]
// CHECK: %[[FIRST:.*]], %[[END:.*]], %[[STEP:.*]] = tilewright.tile_walk(%[[ROWS:.*]], %[[COLUMNS:.*]])
// CHECK: scf.for %[[NUMBER:.*]] = %[[FIRST]] to %[[END]] step %[[STEP]] iter_args(%[[BEGIN:.*]] = %{{.*}}) -> (index)
// CHECK: %[[T:.*]]:2 = tilewright.tile_id(%[[ROWS]], %[[COLUMNS]]) number %[[NUMBER]]
// CHECK: scf.for %[[P:[^ ]*]] =
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %[[P]]
// CHECK: tilewright.acquire %[[RING]][%[[AT]]]
// CHECK-NOT: multicast
// CHECK: tilewright.tile_copy
// CHECK: tilewright.tile_copy {{.*}}multicast = 0
// CHECK: tilewright.fill %[[RING]][%[[AT]]]
// CHECK: arith.addi %[[BEGIN]], %{{.*}} : index
// CHECK-NEXT: scf.yield
// CHECK: tilewright.warps[0, 4]
// CHECK: tilewright.tile_walk
// CHECK: scf.for {{.*}} iter_args(%[[BEGIN:.*]] = %{{.*}}) -> (index)
// CHECK: %[[T:.*]]:2 = tilewright.tile_id
// CHECK: tilewright.wait
// CHECK: %[[DONE:.*]] = tilewright.mma_wait 0
// CHECK: tilewright.release %[[RING]]
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[T]]#0, %[[ROWS]]
// CHECK-NEXT: scf.if %[[IN]]
// CHECK: tilewright.tile_store %[[DONE]] to
// CHECK: scf.yield
// CHECK: tilewright.store_wait 0
func.func private @walk(%a: memref<320x512xbf16>, %b: memref<512x256xbf16>, %c: memref<320x256xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<()[s0] -> (s0 ceildiv 64, 2)>, dims = [2, 0], persistent = true, cluster = [2, 1]>} {
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c5, %c2) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<64x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<320x512xbf16>, vector<64x64xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<512x256xbf16>, vector<64x128xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<64x64xbf16>, vector<64x128xbf16>, vector<64x128xf32>
    scf.yield %n : vector<64x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<64x128xf32>, memref<320x256xf32>
  return
}

// -----

// Sums in two levels: each step begins at zero, is waited for, gives its own stage back,
// and is added in registers.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 128], warps = [8, 1, 1], stages = 4,
    promote = [0, 1], mma = "wgmma.m64n128k32.e4m3.f32", registers = [40, 232], two_level_sums = true>

// CHECK-LABEL: @two_levels
// CHECK: tilewright.warps[0, 8]
// CHECK: %[[SUM:.*]] = scf.for %[[P:[^ ]*]] = {{.*}} iter_args(%[[ACC:.*]] = %{{.*}})
// CHECK-NEXT: %[[FULL:.*]]:2 = tilewright.wait %{{.*}}[%[[P]]]
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant dense<0.000000e+00> : vector<128x128xf32>
// CHECK-NEXT: %[[STEP:.*]] = tilewright.mma %[[FULL]]#0, %[[FULL]]#1, %[[ZERO]]
// CHECK-NEXT: %[[DONE:.*]] = tilewright.mma_wait 0(%[[STEP]] :
// CHECK-NEXT: tilewright.release %{{.*}}[%[[P]]]
// CHECK-NEXT: %[[NEXT:.*]] = arith.addf %[[ACC]], %[[DONE]]
// CHECK-NEXT: scf.yield %[[NEXT]]
// CHECK-NOT: tilewright.mma_wait
// CHECK: vector.transfer_write %[[SUM]]
func.func private @two_levels(%a: memref<1024x512xf8E4M3FN>, %b: memref<1024x512xf8E4M3FN>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 384, subgroup = 32, tiles = affine_map<() -> (8, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<128x128xf32>
  %pad = arith.constant 0.0 : f8E4M3FN
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c128 = arith.constant 128 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c8, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c128 iter_args(%acc = %zero) -> (vector<128x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<1024x512xf8E4M3FN>, vector<128x128xf8E4M3FN>
    %vb = vector.transfer_read %b[%j, %k], %pad {in_bounds = [true, true]} : memref<1024x512xf8E4M3FN>, vector<128x128xf8E4M3FN>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k32.e4m3.f32", maps = [#mk, #nk, #mn]}
        : vector<128x128xf8E4M3FN>, vector<128x128xf8E4M3FN>, vector<128x128xf32>
    scf.yield %n : vector<128x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<128x128xf32>, memref<1024x1024xf32>
  return
}

// -----

// A out of registers: the bytes that it is made of are in the ring; the consumers read them
// from the stage, compute A, and give the stage back when the step's products are done.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 4,
    promote = [1], mma = "wgmma.m64n128k16.f16.f32">

// CHECK-LABEL: @computed
// CHECK: tilewright.ring : <4, memref<64x64xi8, #tilewright.shared<swizzle = [2, 4, 3]>>, memref<128x64xf16, #tilewright.shared<swizzle = [3, 3, 3]>>>
// CHECK: tilewright.warps[0, 4]
// CHECK: scf.for %[[P:[^ ]*]] =
// CHECK: %[[FULL:.*]]:2 = tilewright.wait %{{.*}}[%[[P]]]
// CHECK: %[[RAW:.*]] = vector.transfer_read %[[FULL]]#0
// CHECK: %[[A:.*]] = arith.sitofp %[[RAW]]
// CHECK: %[[STEP:.*]] = tilewright.mma %[[A]], %[[FULL]]#1
// CHECK-NEXT: %[[DONE:.*]] = tilewright.mma_wait 0(%[[STEP]] :
// CHECK-NEXT: tilewright.warp_barrier
// CHECK-NEXT: tilewright.release %{{.*}}[%[[P]]]
// CHECK-NEXT: scf.yield %[[DONE]]
func.func private @computed(%a: memref<1024x512xi8>, %b: memref<1024x512xf16>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (16, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %c0_i8 = arith.constant 0 : i8
  %pad = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c16, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<64x128xf32>) {
    %raw = vector.transfer_read %a[%i, %k], %c0_i8 {in_bounds = [true, true]} : memref<1024x512xi8>, vector<64x64xi8>
    %va = arith.sitofp %raw : vector<64x64xi8> to vector<64x64xf16>
    %vb = vector.transfer_read %b[%j, %k], %pad {in_bounds = [true, true]} : memref<1024x512xf16>, vector<128x64xf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n128k16.f16.f32", maps = [#mk, #nk, #mn]}
        : vector<64x64xf16>, vector<128x64xf16>, vector<64x128xf32>
    scf.yield %n : vector<64x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<64x128xf32>, memref<1024x1024xf32>
  return
}

// -----

// A sum of one step has no loop: what the operand was computed from in the text goes with the product.

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 4,
    promote = [1], mma = "wgmma.m64n128k16.f16.f32">

// CHECK-LABEL: @computed_of_one_step
// CHECK-NOT: memref<1024x64xi8>, vector
// CHECK: %[[RAW:.*]] = vector.transfer_read %{{.*}} vector<64x64xi8>
// CHECK-COUNT-1: arith.sitofp %[[RAW]]
// CHECK-NOT: arith.sitofp
func.func private @computed_of_one_step(%a: memref<1024x64xi8>, %b: memref<1024x64xf16>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (16, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %one = arith.constant dense<1.0> : vector<64x64xf16>
  %c0_i8 = arith.constant 0 : i8
  %pad = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %t:2 = tilewright.tile_id(%c16, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %raw = vector.transfer_read %a[%i, %c0], %c0_i8 {in_bounds = [true, true]} : memref<1024x64xi8>, vector<64x64xi8>
  %va = arith.sitofp %raw : vector<64x64xi8> to vector<64x64xf16>
  %more = arith.addf %va, %one : vector<64x64xf16>
  %vb = vector.transfer_read %b[%j, %c0], %pad {in_bounds = [true, true]} : memref<1024x64xf16>, vector<128x64xf16>
  %n = tilewright.mma %more, %vb, %zero {instruction = "wgmma.m64n128k16.f16.f32", maps = [#mk, #nk, #mn]}
      : vector<64x64xf16>, vector<128x64xf16>, vector<64x128xf32>
  vector.transfer_write %n, %c[%i, %j] {in_bounds = [true, true]} : vector<64x128xf32>, memref<1024x1024xf32>
  return
}

// -----

// Two elements to a byte, rows side by side, and a scale for each group of the sum: a row of
// scales goes through the ring with each step's bytes.

#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#nm = affine_map<(m, n, k) -> (n, m)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [16, 64, 1, 64], warps = [1, 4, 1, 1], stages = 4,
    promote = [0], mma = "wgmma.m64n16k16.f16.f32">

// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0) -> (0, d0)>
// CHECK-LABEL: @dequantised
// CHECK-SAME: its rows are neighbours in memory, 2 of which a thread reads at once
// CHECK-SAME: 1 of 1 tensors beside it go through the ring, too
// CHECK: tilewright.ring : <4, memref<64x32xi8, #tilewright.shared<swizzle = [1, 4, 3]>>, memref<16x64xf16, {{.*}}>, memref<64xf16, #tilewright.shared>>
// CHECK: tilewright.tile_copy %{{.*}} to %[[EMPTY:.*]]#0
// CHECK-NEXT: tilewright.tile_copy %{{.*}} to %[[EMPTY]]#1
// CHECK-NEXT: tilewright.tile_copy %{{.*}} to %[[EMPTY]]#2 {map = #[[ROW]]}
// CHECK: %[[FULL:.*]]:3 = tilewright.wait
// CHECK: vector.transfer_read %[[FULL]]#0[{{.*}} vector<64x32xi8>
// CHECK: vector.transfer_read %[[FULL]]#2[{{.*}}permutation_map = #[[ROW]]{{.*}} memref<64xf16, #tilewright.shared>, vector<64x64xf16>
// CHECK: tilewright.mma %{{.*}}, %[[FULL]]#1, {{.*}} tilewright.rows_together = 2
// CHECK: tilewright.warp_barrier
// CHECK-NEXT: tilewright.release
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

// Bytes whose rows are neighbours in memory, in two boxes: both are one dim of what is read.

#km = affine_map<(m, n, k) -> (k, m)>
#nk = affine_map<(m, n, k) -> (n, k)>
#nm = affine_map<(m, n, k) -> (n, m)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 256, 128], warps = [1, 8, 1], stages = 4,
    promote = [0], mma = "wgmma.m64n64k32.s8.s32">

// CHECK-LABEL: @across
// CHECK-SAME: operand A of the product is read into registers, from a tile of the ring; its rows are neighbours in memory, 4 of which a thread reads at once
// CHECK: tilewright.ring : <4, memref<128x2x128xi8, strided<[128, 16384, 1]>, #tilewright.shared<swizzle = [3, 4, 3]>>, memref<64x128xi8, {{.*}}>>
// CHECK: %[[FULL:.*]]:2 = tilewright.wait
// CHECK: %[[BOXES:.*]] = vector.transfer_read %[[FULL]]#0[{{.*}} vector<128x2x128xi8>
// CHECK: %[[A:.*]] = vector.shape_cast %[[BOXES]] : vector<128x2x128xi8> to vector<128x256xi8>
// CHECK: tilewright.mma %[[A]], %[[FULL]]#1, {{.*}} tilewright.rows_together = 4
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
