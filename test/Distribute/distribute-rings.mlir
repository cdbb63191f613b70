// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-assign-layouts,tilewright-distribute),lower-affine,canonicalize,cse)' -split-input-file | FileCheck %s

#a = #tilewright.shared<swizzle = [3, 3, 3]>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32 : i64, access_bytes = 16 : i64}>} {
// Two barriers for each of three stages: full after one arrival and the bytes, empty
// when each of the four consumer warps has said so. The tile is one box of the map.
// CHECK-LABEL: func.func private @RingOfOneTile
// CHECK-SAME: %[[MAP:[a-z0-9]+]]: !tilewright.tensor_map)
// CHECK-SAME: tilewright.tensor_maps = [#tilewright.tensor_map<operand = 0, box = [64, 64], swizzle = 128>]
// CHECK-DAG: %[[TILES:.*]] = memref.alloc() {alignment = 1024 : i64} : memref<12288xf16, #tilewright.shared>
// CHECK-DAG: %[[BARS:.*]] = memref.alloc() : memref<6xi64, #tilewright.shared>
// CHECK: tilewright.mbarrier_init %[[BARS]][%c0] arrivals 1
// CHECK: tilewright.mbarrier_init %[[BARS]][%c3] arrivals 4
// CHECK: tilewright.mbarrier_fence
// CHECK: gpu.barrier
// The producer: stage p mod 3, in the round before (p / 3 + 1) mod 2.
// CHECK: scf.for %[[P:.*]] = %c0
// CHECK-DAG: %[[ROUND:.*]] = arith.divui %[[P]], %c3
// CHECK-DAG: %[[NEXT:.*]] = arith.addi %[[ROUND]], %c1
// CHECK-DAG: %[[PARITY:.*]] = arith.remui %[[NEXT]], %c2
// CHECK-DAG: %[[STAGE:.*]] = arith.remui %[[P]], %c3
// CHECK-DAG: %[[EMPTY:.*]] = arith.addi %[[STAGE]], %c3
// CHECK: tilewright.mbarrier_wait %[[BARS]][%[[EMPTY]]] parity %[[PARITY]]
// CHECK: scf.if
// CHECK: tilewright.tensor_copy %[[MAP]][%{{.*}}, %{{.*}}] to %[[TILES]][%{{.*}}], %[[BARS]][%[[STAGE]]]
// CHECK: tilewright.mbarrier_arrive %[[BARS]][%[[STAGE]]] expect 8192
// The consumers: one warpgroup, both operands the same tile; K-major and, of the
// second, transposed. A step of 16 is 16 elements there, 16 rows here.
// CHECK: scf.for %[[Q:.*]] = %c0
// CHECK: tilewright.mbarrier_wait %[[BARS]][%[[FULL:.*]]] parity
// CHECK: tilewright.mma_fence
// CHECK: %[[A:.*]] = tilewright.matrix_descriptor %[[TILES]][%[[AT:.*]]] + 0 {leading = 16 : i64, stride = 1024 : i64, swizzle = 128 : i64}
// CHECK: tilewright.warpgroup_mma "wgmma.m64n64k16.f16.f32"(%[[A]] : i64), %[[A]], (%{{.*}}) {transposed_b}
// CHECK: tilewright.matrix_descriptor %[[TILES]][%[[AT]]] + 16
// CHECK: tilewright.matrix_descriptor %[[TILES]][%[[AT]]] + 1024
// CHECK-COUNT-3: tilewright.warpgroup_mma
// CHECK: tilewright.mma_commit
// CHECK: tilewright.mma_wait 0
// CHECK: scf.if
// CHECK: tilewright.mbarrier_arrive %[[BARS]][%{{.*}}] :
func.func private @RingOfOneTile(%a: memref<64x?xf16>, %c: memref<64x64xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"],
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %k = memref.dim %a, %c1 : memref<64x?xf16>
  %steps = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%k]
  %ring = tilewright.ring : !tilewright.ring<3, memref<64x64xf16, #a>>
  tilewright.warps [4, 1] {
    scf.for %p = %c0 to %steps step %c1 {
      %s = tilewright.acquire %ring[%p] : !tilewright.ring<3, memref<64x64xf16, #a>>
      %k0 = affine.apply affine_map<(d0) -> (d0 * 64)>(%p)
      tilewright.tile_copy %a[%c0, %k0] to %s {map = affine_map<(r, c) -> (r, c)>} : memref<64x?xf16> to memref<64x64xf16, #a>
      tilewright.fill %ring[%p] : !tilewright.ring<3, memref<64x64xf16, #a>>
    }
  }
  tilewright.warps [0, 4] {
    %zero = arith.constant dense<0.0> : vector<64x64xf32>
    %sum = scf.for %p = %c0 to %steps step %c1 iter_args(%acc = %zero) -> vector<64x64xf32> {
      %s = tilewright.wait %ring[%p] : !tilewright.ring<3, memref<64x64xf16, #a>>
      %next = tilewright.mma %s, %s, %acc {instruction = "wgmma.m64n64k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
          : memref<64x64xf16, #a>, memref<64x64xf16, #a>, vector<64x64xf32>
      %done = tilewright.mma_wait 0 (%next : vector<64x64xf32>)
      tilewright.release %ring[%p] : !tilewright.ring<3, memref<64x64xf16, #a>>
      scf.yield %done : vector<64x64xf32>
    }
    vector.transfer_write %sum, %c[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
  }
  return
}
}

// -----

#a = #tilewright.shared<swizzle = [3, 3, 3]>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32 : i64, access_bytes = 16 : i64}>} {
// A ring that nobody releases: one barrier a stage, and the producer waits for none.
// CHECK-LABEL: func.func private @FilledOnce
// CHECK: %[[BARS:.*]] = memref.alloc() : memref<2xi64, #tilewright.shared>
// CHECK-COUNT-2: tilewright.mbarrier_init %[[BARS]][%{{.*}}] arrivals 1
// CHECK-NOT: tilewright.mbarrier_init
// CHECK-NOT: tilewright.mbarrier_wait
// CHECK: tilewright.tensor_copy
// CHECK: tilewright.mbarrier_arrive %[[BARS]][%c1] expect 8192
// CHECK: tilewright.mbarrier_wait %[[BARS]][%c1] parity %c0
// CHECK-NOT: tilewright.mbarrier_arrive
func.func private @FilledOnce(%a: memref<64x64xf16>, %c: memref<64x64xf16>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"],
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %pad = arith.constant 0.0 : f16
  %ring = tilewright.ring : !tilewright.ring<2, memref<64x64xf16, #a>>
  tilewright.warps [4, 1] {
    %s = tilewright.acquire %ring[%c1] {known_empty} : !tilewright.ring<2, memref<64x64xf16, #a>>
    tilewright.tile_copy %a[%c0, %c0] to %s {map = affine_map<(r, c) -> (r, c)>} : memref<64x64xf16> to memref<64x64xf16, #a>
    tilewright.fill %ring[%c1] : !tilewright.ring<2, memref<64x64xf16, #a>>
  }
  tilewright.warps [0, 4] {
    %s = tilewright.wait %ring[%c1] : !tilewright.ring<2, memref<64x64xf16, #a>>
    %v = vector.transfer_read %s[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xf16, #a>, vector<64x64xf16>
    vector.transfer_write %v, %c[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf16>, memref<64x64xf16>
  }
  return
}
}

// -----

// Two copies fill the rows of a stage, of which there are two boxes side by side; the stage is full when the bytes of both are there.
#a = #tilewright.shared<swizzle = [3, 3, 3]>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32 : i64, access_bytes = 16 : i64}>} {
// CHECK-LABEL: func.func private @Parts
// CHECK-SAME: tilewright.tensor_maps = [#tilewright.tensor_map<operand = 0, box = [1, 16, 64], swizzle = 128>]
// CHECK: tilewright.tensor_copy {{.*}} to %[[TILES:.*]][%c0], %[[BARS:.*]][%c0]
// CHECK: tilewright.tensor_copy {{.*}} to %[[TILES]][%c2048], %[[BARS]][%c0]
// CHECK: tilewright.tensor_copy {{.*}} to %[[TILES]][%c1024], %[[BARS]][%c0]
// CHECK: tilewright.tensor_copy {{.*}} to %[[TILES]][%c3072], %[[BARS]][%c0]
// CHECK-NOT: tilewright.tensor_copy
// CHECK: tilewright.mbarrier_arrive %[[BARS]][%c0] expect 8192
func.func private @Parts(%a: memref<9x16x128xf16>, %p: index, %q: index)
    attributes {tilewright.kernel, tilewright.access = ["read"],
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %ring = tilewright.ring : !tilewright.ring<1, memref<2x32x64xf16, #a>>
  tilewright.warps [4, 1] {
    %s = tilewright.acquire %ring[%c0] {known_empty} : !tilewright.ring<1, memref<2x32x64xf16, #a>>
    %upper = memref.subview %s[0, 0, 0] [2, 16, 64] [1, 1, 1] : memref<2x32x64xf16, #a> to memref<2x16x64xf16, strided<[2048, 64, 1]>, #a>
    tilewright.tile_copy %a[%p, %c0, %c0] to %upper {map = affine_map<(box, r, c) -> (0, r, box * 64 + c)>} : memref<9x16x128xf16> to memref<2x16x64xf16, strided<[2048, 64, 1]>, #a>
    %lower = memref.subview %s[0, 16, 0] [2, 16, 64] [1, 1, 1] : memref<2x32x64xf16, #a> to memref<2x16x64xf16, strided<[2048, 64, 1], offset: 1024>, #a>
    tilewright.tile_copy %a[%q, %c0, %c0] to %lower {map = affine_map<(box, r, c) -> (0, r, box * 64 + c)>} : memref<9x16x128xf16> to memref<2x16x64xf16, strided<[2048, 64, 1], offset: 1024>, #a>
    tilewright.fill %ring[%c0] : !tilewright.ring<1, memref<2x32x64xf16, #a>>
  }
  tilewright.warps [0, 4] {
    %s = tilewright.wait %ring[%c0] : !tilewright.ring<1, memref<2x32x64xf16, #a>>
  }
  return
}
}
