// Tiles of a ring that threads copy: each has runs of 16 bytes, and arrives at the stage's barrier when its copies have. What
// lies outside of the tensor is zero. A warpgroup's instruction sees the stage behind a fence.

// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-assign-layouts,tilewright-distribute),lower-affine,canonicalize,cse)' -split-input-file | FileCheck %s

#a = #tilewright.shared<swizzle = [3, 3, 3]>
#config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1],
    mma = "wgmma.m64n128k16.f16.f32", tma_copy = false>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32 : i64, access_bytes = 16 : i64}>} {
// Four warps copy: 64 rows of 8 runs are four of each thread, 16 rows apart; 128 columns are two boxes, each of 64 rows of 8
// runs. Of A rows and columns may be outside; of B both are whole tiles.
// CHECK-LABEL: func.func private @ByWarpsOfTheirOwn
// CHECK-NOT: tensor_map
// CHECK-DAG: %[[A:.*]] = memref.alloc() {alignment = 1024 : i64, tilewright.stages = 2 : i64} : memref<8192xf16, #tilewright.shared>
// CHECK-DAG: %[[B:.*]] = memref.alloc() {alignment = 1024 : i64, tilewright.stages = 2 : i64} : memref<16384xf16, #tilewright.shared>
// CHECK-DAG: %[[BARS:.*]] = memref.alloc() : memref<4xi64, #tilewright.shared>
// CHECK: tilewright.mbarrier_init %[[BARS]][%c0] arrivals 128
// CHECK: tilewright.mbarrier_init %[[BARS]][%c2] arrivals 4
// CHECK-NOT: tilewright.mbarrier_fence
// CHECK: scf.for
// CHECK: tilewright.mbarrier_wait %[[BARS]]
// CHECK-NOT: tilewright.elect
// CHECK-COUNT-4: tilewright.async_copy_run {{.*}} to %[[A]][{{.*}}] valid %{{.*}} {count = 8 : i64}
// CHECK-COUNT-8: tilewright.async_copy_run {{.*}} to %[[B]][%{{[^ ]*}}] {count = 8 : i64}
// CHECK-NOT: tilewright.elect
// CHECK: tilewright.mbarrier_arrive %[[BARS]][%{{.*}}] after_copies
// CHECK: scf.for
// CHECK: tilewright.mbarrier_wait %[[BARS]]
// CHECK-NEXT: tilewright.proxy_fence
// CHECK: tilewright.warpgroup_mma
func.func private @ByWarpsOfTheirOwn(%a: memref<?x?xf16, strided<[?, 1]>>, %b: memref<512x256xf16>, %c: memref<64x128xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"], tilewright.lowering_config = #config,
      tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %ring = tilewright.ring : !tilewright.ring<2, memref<64x64xf16, #a>, memref<64x2x64xf16, strided<[64, 4096, 1]>, #a>>
  tilewright.warps [4, 4] {
    scf.for %p = %c0 to %c8 step %c1 {
      %s:2 = tilewright.acquire %ring[%p] : !tilewright.ring<2, memref<64x64xf16, #a>, memref<64x2x64xf16, strided<[64, 4096, 1]>, #a>>
      %k = affine.apply affine_map<(d0) -> (d0 * 64)>(%p)
      tilewright.tile_copy %a[%c0, %k] to %s#0 {by_threads, map = affine_map<(r, c) -> (r, c)>}
          : memref<?x?xf16, strided<[?, 1]>> to memref<64x64xf16, #a>
      tilewright.tile_copy %b[%k, %c0] to %s#1 {by_threads, map = affine_map<(r, box, c) -> (r, box * 64 + c)>}
          : memref<512x256xf16> to memref<64x2x64xf16, strided<[64, 4096, 1]>, #a>
      tilewright.fill %ring[%p] : !tilewright.ring<2, memref<64x64xf16, #a>, memref<64x2x64xf16, strided<[64, 4096, 1]>, #a>>
    }
  }
  tilewright.warps [0, 4] {
    %zero = arith.constant dense<0.0> : vector<64x128xf32>
    %sum = scf.for %p = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> vector<64x128xf32> {
      %s:2 = tilewright.wait %ring[%p] : !tilewright.ring<2, memref<64x64xf16, #a>, memref<64x2x64xf16, strided<[64, 4096, 1]>, #a>>
      %next = tilewright.mma %s#0, %s#1, %acc {instruction = "wgmma.m64n128k16.f16.f32",
          maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n floordiv 64, n mod 64)>, affine_map<(m, n, k) -> (m, n)>]}
          : memref<64x64xf16, #a>, memref<64x2x64xf16, strided<[64, 4096, 1]>, #a>, vector<64x128xf32>
      %done = tilewright.mma_wait 0 (%next : vector<64x128xf32>)
      tilewright.release %ring[%p] : !tilewright.ring<2, memref<64x64xf16, #a>, memref<64x2x64xf16, strided<[64, 4096, 1]>, #a>>
      scf.yield %done : vector<64x128xf32>
    }
    vector.transfer_write %sum, %c[%c0, %c0] {in_bounds = [true, true]} : vector<64x128xf32>, memref<64x128xf32>
  }
  return
}
}

// -----

// A tile that has fewer runs than there are threads: the others have nothing to copy, and arrive all the same.
#a = #tilewright.shared<swizzle = [3, 3, 3]>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32 : i64, access_bytes = 16 : i64}>} {
// CHECK-LABEL: func.func private @FewRuns
// CHECK: tilewright.mbarrier_init %{{.*}}[%c0] arrivals 128
// CHECK: %[[HAS:.*]] = arith.cmpi ult, %{{.*}}, %c64
// CHECK-NEXT: scf.if %[[HAS]] {
// CHECK: tilewright.async_copy_run {{.*}} to memref<512xf16, #tilewright.shared>
// CHECK-NEXT: }
// CHECK-NOT: async_copy_run
// CHECK: tilewright.mbarrier_arrive %{{.*}} after_copies
func.func private @FewRuns(%a: memref<8x64xf16>)
    attributes {tilewright.kernel, tilewright.access = ["read"],
      tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %ring = tilewright.ring : !tilewright.ring<1, memref<8x64xf16, #a>>
  tilewright.warps [0, 4] {
    %s = tilewright.acquire %ring[%c0] {known_empty} : !tilewright.ring<1, memref<8x64xf16, #a>>
    tilewright.tile_copy %a[%c0, %c0] to %s {by_threads, map = affine_map<(r, c) -> (r, c)>} : memref<8x64xf16> to memref<8x64xf16, #a>
    tilewright.fill %ring[%c0] : !tilewright.ring<1, memref<8x64xf16, #a>>
  }
  return
}
}
