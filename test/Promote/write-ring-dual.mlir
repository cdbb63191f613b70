// Both products of a dual product by warpgroups: the operand that they share is in the ring once, and a step's two groups of
// products may go on while those of the step before are done.

// RUN: tilewright-opt %s -tilewright-promote | FileCheck %s

#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 3,
    promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", tma_store = true>

// CHECK-LABEL: @dual
// CHECK-SAME: 2 products of a step; the operand that they share is in the ring once
// CHECK: %[[RING:.*]] = tilewright.ring : <3, memref<64x64xf16, #{{.*}}>, memref<64x64xf16, #{{.*}}>, memref<64x64xf16, #{{.*}}>>
// CHECK: tilewright.warps[4, 1]
// CHECK: %[[S:.*]]:3 = tilewright.acquire %[[RING]]
// CHECK: tilewright.tile_copy %arg0[{{.*}}] to %[[S]]#0
// CHECK: tilewright.tile_copy %arg1[{{.*}}] to %[[S]]#1
// CHECK: tilewright.tile_copy %arg2[{{.*}}] to %[[S]]#2
// CHECK: tilewright.fill %[[RING]]
// CHECK: tilewright.warps[0, 4]
// CHECK: %[[SUMS:.*]]:2 = scf.for {{.*}} iter_args(%[[G:.*]] = %{{.*}}, %[[U:.*]] = %{{.*}})
// CHECK: %[[T:.*]]:3 = tilewright.wait %[[RING]]
// CHECK-NEXT: %[[GN:.*]] = tilewright.mma %[[T]]#0, %[[T]]#1, %[[G]]
// CHECK-NEXT: %[[UN:.*]] = tilewright.mma %[[T]]#0, %[[T]]#2, %[[U]]
// CHECK-NEXT: tilewright.mma_wait 2
// CHECK: scf.yield %[[GN]], %[[UN]]
// CHECK: %[[D:.*]]:2 = tilewright.mma_wait 0(%[[SUMS]]#0, %[[SUMS]]#1
// CHECK: %[[R:.*]] = arith.mulf %[[D]]#0, %[[D]]#1
// CHECK: tilewright.tile_store %[[R]]
func.func private @dual(%a: memref<320x512xf16>, %b: memref<512x64xf16>, %c: memref<512x64xf16>, %d: memref<320x64xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (5)>>} {
  %zero = arith.constant dense<0.0> : vector<64x64xf32>
  %pad = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %t = tilewright.tile_id(%c5) : index
  %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t]
  %r:2 = scf.for %k = %c0 to %c512 step %c64 iter_args(%g = %zero, %u = %zero) -> (vector<64x64xf32>, vector<64x64xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<320x512xf16>, vector<64x64xf16>
    %vb = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf16>, vector<64x64xf16>
    %n = tilewright.mma %va, %vb, %g {instruction = "wgmma.m64n64k16.f16.f32", maps = #maps}
        : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32>
    %vc = vector.transfer_read %c[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x64xf16>, vector<64x64xf16>
    %o = tilewright.mma %va, %vc, %u {instruction = "wgmma.m64n64k16.f16.f32", maps = #maps}
        : vector<64x64xf16>, vector<64x64xf16>, vector<64x64xf32>
    scf.yield %n, %o : vector<64x64xf32>, vector<64x64xf32>
  }
  %p = arith.mulf %r#0, %r#1 : vector<64x64xf32>
  vector.transfer_write %p, %d[%i, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<320x64xf32>
  return
}
