// Two products of a step: the ring has three tiles in a stage, and the loop carries the fragments of each once.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-pipeline))' | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, access_bytes = 16, async_copy, load_matrices}>
#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
#shared = #tilewright.shared<swizzle = [2, 3, 3]>
module attributes {tilewright.target = #target} {

// CHECK-LABEL: @dual
// CHECK-SAME: "ring of 3 stages in shared memory, filled 2 steps ahead by asynchronous copies of 16 and 16 and 16 bytes a thread"
// CHECK-COUNT-2: tilewright.async_commit
// CHECK-NEXT: tilewright.async_wait 1
// CHECK-NEXT: gpu.barrier
// CHECK: %[[A0:.*]] = vector.transfer_read {{.*}} vector<64x16xf16>
// CHECK: %[[B0:.*]] = vector.transfer_read {{.*}} vector<16x32xf16>
// CHECK: %[[C0:.*]] = vector.transfer_read {{.*}} vector<16x32xf16>
// CHECK: scf.for {{.*}} iter_args(%[[G:.*]] = %arg3, %[[U:.*]] = %arg3, %[[A:.*]] = %[[A0]], %[[B:.*]] = %[[B0]], %[[C:.*]] = %[[C0]], %{{.*}})
// CHECK-COUNT-3: tilewright.async_copy
// CHECK: tilewright.async_commit
// CHECK: %[[A1:.*]] = vector.transfer_read
// CHECK: %[[B1:.*]] = vector.transfer_read
// CHECK: %[[C1:.*]] = vector.transfer_read
// CHECK: %[[G1:.*]] = tilewright.mma %[[A]], %[[B]], %[[G]]
// CHECK: %[[U1:.*]] = tilewright.mma %[[A]], %[[C]], %[[U]]
// CHECK: tilewright.async_wait 1
// CHECK-NEXT: gpu.barrier
// CHECK: %[[A2:.*]] = vector.transfer_read
// CHECK: %[[B2:.*]] = vector.transfer_read
// CHECK: %[[C2:.*]] = vector.transfer_read
// CHECK: %[[G2:.*]] = tilewright.mma %[[A1]], %[[B1]], %[[G1]]
// CHECK: %[[U2:.*]] = tilewright.mma %[[A1]], %[[C1]], %[[U1]]
// CHECK: scf.yield %[[G2]], %[[U2]], %[[A2]], %[[B2]], %[[C2]]
func.func private @dual(%a: memref<?x512xf16>, %b: memref<512x32xf16>, %d: memref<512x32xf16>, %init: vector<64x32xf32>) -> (vector<64x32xf32>, vector<64x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "read"], tilewright.explain = [],
                tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, stages = 3, mma = "mma.m16n8k16.f16.f32">} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c512 = arith.constant 512 : index
  %pad = arith.constant 0.0 : f16
  %sa = memref.alloc() : memref<64x32xf16, #shared>
  %sb = memref.alloc() : memref<32x32xf16, #shared>
  %sd = memref.alloc() : memref<32x32xf16, #shared>
  %r:2 = scf.for %k = %c0 to %c512 step %c32 iter_args(%g = %init, %u = %init) -> (vector<64x32xf32>, vector<64x32xf32>) {
    %va = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [false, true]} : memref<?x512xf16>, vector<64x32xf16>
    %vb = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x32xf16>, vector<32x32xf16>
    %vd = vector.transfer_read %d[%k, %c0], %pad {in_bounds = [true, true]} : memref<512x32xf16>, vector<32x32xf16>
    vector.transfer_write %va, %sa[%c0, %c0] {in_bounds = [true, true]} : vector<64x32xf16>, memref<64x32xf16, #shared>
    vector.transfer_write %vb, %sb[%c0, %c0] {in_bounds = [true, true]} : vector<32x32xf16>, memref<32x32xf16, #shared>
    vector.transfer_write %vd, %sd[%c0, %c0] {in_bounds = [true, true]} : vector<32x32xf16>, memref<32x32xf16, #shared>
    gpu.barrier
    %n = tilewright.mma %sa, %sb, %g {maps = #maps, instruction = "mma.m16n8k16.f16.f32"} : memref<64x32xf16, #shared>, memref<32x32xf16, #shared>, vector<64x32xf32>
    %o = tilewright.mma %sa, %sd, %u {maps = #maps, instruction = "mma.m16n8k16.f16.f32"} : memref<64x32xf16, #shared>, memref<32x32xf16, #shared>, vector<64x32xf32>
    gpu.barrier
    scf.yield %n, %o : vector<64x32xf32>, vector<64x32xf32>
  }
  return %r#0, %r#1 : vector<64x32xf32>, vector<64x32xf32>
}
}
