// Two products by warpgroups, the second of what becomes of the first: that stays in registers, and the second one's other
// operand has a ring of one stage.

// RUN: tilewright-opt %s -split-input-file -tilewright-promote | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 3,
    promote = [1], mma = "wgmma.m64n128k16.f16.f32", persistent = true, tma_store = true>

// One matrix for all tiles: it is copied with the first tile, as soon as the ring is full, and kept.
// CHECK-LABEL: @shared
// CHECK-SAME: what the first product becomes is an operand of the second in registers; the other one is copied once, 16384 bytes
// CHECK: %[[RING:.*]] = tilewright.ring : <3, memref<64x64xf16, #{{.*}}>, memref<64x64xf16, #{{.*}}>>
// CHECK: %[[SECOND:.*]] = tilewright.ring : <1, memref<64x2x64xf16, strided<[64, 4096, 1]>, #{{.*}}>>
// CHECK: tilewright.warps[4, 1]
// CHECK: scf.for %[[NUMBER:[^ ]*]] = %[[LOWER:[^ ]*]] to {{.*}} iter_args(%{{.*}} = %{{.*}}) -> (index)
// CHECK: %[[FULL:.*]] = arith.minsi
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[FULL]] step
// CHECK: tilewright.fill %[[RING]]
// CHECK: %[[FIRST:.*]] = arith.cmpi eq, %[[NUMBER]], %[[LOWER]]
// CHECK-NEXT: scf.if %[[FIRST]] {
// CHECK: %[[STAGE:.*]] = tilewright.acquire %[[SECOND]][%[[ZERO:[a-z0-9_]*]]] {known_empty}
// CHECK-NEXT: tilewright.tile_copy %arg2[{{.*}}] to %[[STAGE]]
// CHECK-NEXT: tilewright.fill %[[SECOND]][%[[ZERO]]]
// CHECK: scf.for %{{.*}} = %[[FULL]] to
// CHECK: tilewright.fill %[[RING]]
// CHECK: tilewright.warps[0, 4]
// CHECK: scf.for
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: tilewright.mma {{.*}}instruction = "wgmma.m64n64k16.f16.f32"
// CHECK: %[[DONE:.*]] = tilewright.mma_wait 0(%[[SUM]]
// CHECK: %[[NARROW:.*]] = arith.truncf %[[DONE]]
// CHECK: %[[B:.*]] = tilewright.wait %[[SECOND]]
// CHECK-NEXT: %[[PRODUCT:.*]] = tilewright.mma %[[NARROW]], %[[B]], %{{.*}} {instruction = "wgmma.m64n128k16.f16.f32"
// CHECK-NEXT: %[[RESULT:.*]] = tilewright.mma_wait 0(%[[PRODUCT]]
// CHECK-NOT: tilewright.release %[[SECOND]]
// CHECK: tilewright.tile_store %[[RESULT]]
func.func private @shared(%a: memref<320x512xf16>, %b: memref<512x64xf16>, %c: memref<64x128xf16>, %d: memref<320x128xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (5)>, persistent = true>} {
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %zeros = arith.constant dense<0.0> : vector<64x128xf32>
  %pad = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t = tilewright.tile_id(%c5) : index
  %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t]
  %r = scf.for %k = %c0 to %c512 step %c64 iter_args(%acc = %zero) -> (vector<64x64xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<320x512xf16>, vector<64x64xf16>
    %vb = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf16>, vector<64x64xf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "wgmma.m64n64k16.f16.f32", maps = [#mk, #kn, #mn]}
        : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32>
    scf.yield %n : vector<64x64xf32>
  }
  %h = arith.truncf %r : vector<64x64xf32> to vector<64x64xf16>
  %vc = vector.transfer_read %c[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x128xf16>, vector<64x128xf16>
  %p = tilewright.mma %h, %vc, %zeros {instruction = "wgmma.m64n128k16.f16.f32", maps = [#mk, #kn, #mn]}
      : vector<64x64xf16>, vector<64x128xf16>, vector<64x128xf32>
  vector.transfer_write %p, %d[%i, %c0] {in_bounds = [true, true]} : vector<64x128xf32>, memref<320x128xf32>
  return
}

// -----

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [1, 64, 64, 64], warps = [1, 4, 1, 1], stages = 2,
    promote = [1], mma = "wgmma.m64n64k16.f16.f32", persistent = true>

// Another one for each tile: tiles are counted, and each gives the stage back. Sums of one step.
// CHECK-LABEL: @batch
// CHECK-SAME: the other one is copied once for each tile, 8192 bytes
// CHECK: %[[SECOND:.*]] = tilewright.ring : <1,
// CHECK: tilewright.warps[4, 1]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[COUNT:.*]] = %{{.*}}) -> (index, index)
// CHECK-NOT: scf.if
// CHECK: tilewright.acquire %[[SECOND]][%[[COUNT]]]
// CHECK: tilewright.fill %[[SECOND]][%[[COUNT]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[COUNT]], %{{.*}}
// CHECK-NEXT: scf.yield %{{.*}}, %[[NEXT]]
// CHECK: tilewright.warps[0, 4]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %[[COUNT:.*]] = %{{.*}}) -> (index, index)
// CHECK: %[[B:.*]] = tilewright.wait %[[SECOND]][%[[COUNT]]]
// CHECK-NEXT: tilewright.mma %{{.*}}, %[[B]]
// CHECK-NEXT: tilewright.mma_wait 0
// CHECK-NEXT: tilewright.release %[[SECOND]][%[[COUNT]]]
func.func private @batch(%a: memref<5x64x64xf16>, %b: memref<5x64x64xf16>, %c: memref<5x64x64xf16>, %d: memref<5x64x64xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (5)>, persistent = true>} {
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %pad = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %t = tilewright.tile_id(%c5) : index
  %va = vector.transfer_read %a[%t, %c0, %c0], %pad {in_bounds = [true, true]} : memref<5x64x64xf16>, vector<64x64xf16>
  %vb = vector.transfer_read %b[%t, %c0, %c0], %pad {in_bounds = [true, true]} : memref<5x64x64xf16>, vector<64x64xf16>
  %n = tilewright.mma %va, %vb, %zero {instruction = "wgmma.m64n64k16.f16.f32", maps = [#mk, #kn, #mn]}
      : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32>
  %h = arith.truncf %n : vector<64x64xf32> to vector<64x64xf16>
  %vc = vector.transfer_read %c[%t, %c0, %c0], %pad {in_bounds = [true, true]} : memref<5x64x64xf16>, vector<64x64xf16>
  %p = tilewright.mma %h, %vc, %zero {instruction = "wgmma.m64n64k16.f16.f32", maps = [#mk, #kn, #mn]}
      : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32>
  vector.transfer_write %p, %d[%t, %c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<5x64x64xf32>
  return
}
