// An instruction of a warp reads fragments out of a ring's stages: those of a step in front
// of the products of the step before, also from stage to stage. Columns in boxes are one
// dim of a fragment.

// RUN: tilewright-opt %s -tilewright-promote | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 32], warps = [2, 2, 1], stages = 3,
    promote = [0, 1], mma = "mma.m16n8k16.bf16.f32">

// CHECK-LABEL: @fragments
// CHECK: %[[RING:.*]] = tilewright.ring : <3, memref<64x32xbf16, #tilewright.shared<swizzle = [2, 3, 3]>>, memref<32x2x64xbf16, strided<[64, 2048, 1]>, #tilewright.shared<swizzle = [3, 3, 3]>>>
// CHECK: tilewright.warps[4, 1]
// CHECK-COUNT-2: tilewright.tile_copy
// CHECK: tilewright.warps[0, 4]
// CHECK-NOT: set_registers
// CHECK: %[[R:.*]]:3 = scf.for %[[P:[^ ]*]] = {{.*}} iter_args(%[[ACC:.*]] = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}})
// CHECK: %[[FULL:.*]]:2 = tilewright.wait %[[RING]][%[[P]]]
// CHECK: %[[A0:.*]] = vector.transfer_read %[[FULL]]#0{{.*}} vector<64x16xbf16>
// CHECK: %[[BOXES:.*]] = vector.transfer_read %[[FULL]]#1{{.*}} vector<16x2x64xbf16>
// CHECK: %[[B0:.*]] = vector.shape_cast %[[BOXES]] : vector<16x2x64xbf16> to vector<16x128xbf16>
// CHECK: %[[S0:.*]] = tilewright.mma %[[A]], %[[B]], %[[ACC]]
// CHECK: %[[A1:.*]] = vector.transfer_read %[[FULL]]#0
// CHECK: %[[B1:.*]] = vector.shape_cast
// CHECK: tilewright.warp_barrier
// CHECK: tilewright.release %[[RING]][%[[P]]]
// CHECK: %[[S1:.*]] = tilewright.mma %[[A0]], %[[B0]], %[[S0]]
// CHECK: scf.yield %[[S1]], %[[A1]], %[[B1]]
// CHECK: %[[DONE:.*]] = tilewright.mma %[[R]]#1, %[[R]]#2, %[[R]]#0
// CHECK-NOT: mma_wait
// CHECK: vector.transfer_write %[[DONE]]
func.func private @fragments(%a: memref<1024x512xbf16>, %b: memref<512x1024xbf16>, %c: memref<1024x1024xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 160, subgroup = 32, tiles = affine_map<() -> (16, 8)>>} {
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %t:2 = tilewright.tile_id(%c16, %c8) : index, index
  %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t#0]
  %j = affine.apply affine_map<()[s0] -> (s0 * 128)>()[%t#1]
  %r = scf.for %k = %c0 to %c512 step %c32 iter_args(%acc = %zero) -> (vector<64x128xf32>) {
    %va = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<1024x512xbf16>, vector<64x32xbf16>
    %vb = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<512x1024xbf16>, vector<32x128xbf16>
    %n = tilewright.mma %va, %vb, %acc {instruction = "mma.m16n8k16.bf16.f32", maps = [#mk, #kn, #mn]}
        : vector<64x32xbf16>, vector<32x128xbf16>, vector<64x128xf32>
    scf.yield %n : vector<64x128xf32>
  }
  vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<64x128xf32>, memref<1024x1024xf32>
  return
}
