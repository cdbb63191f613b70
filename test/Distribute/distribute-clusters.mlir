// Blocks in clusters, thread form: two blocks along the rows have one number, and tiles
// beside each other. Each copies half of what both read to both, and says to both when
// it has read a stage.

// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute | FileCheck %s

#mk = affine_map<(m, n, k) -> (m, k)>
#nk = affine_map<(m, n, k) -> (n, k)>
#mn = affine_map<(m, n, k) -> (m, n)>
!a = memref<64x64xbf16, #tilewright.shared<swizzle = [3, 3, 3]>>
!b = memref<128x64xbf16, #tilewright.shared<swizzle = [3, 3, 3]>>
!ring = !tilewright.ring<2, !a, !b>

// B's tile is copied in halves of 64 rows.
// CHECK-LABEL: func.func private @gemm
// CHECK-SAME: tilewright.tensor_maps = [#tilewright.tensor_map<operand = 0, box = {{\[64, 64\]}}, swizzle = 128>, #tilewright.tensor_map<operand = 1, box = {{\[64, 64\]}}, swizzle = 128>, #tilewright.tensor_map<operand = 2, box = {{\[64, 64\]}}, swizzle = 128>]
// CHECK: gpu.shuffle idx
// CHECK: tilewright.mbarrier_init {{.*}} arrivals 1
// CHECK: tilewright.mbarrier_init {{.*}} arrivals 1
// Four warps of two blocks.
// CHECK: tilewright.mbarrier_init {{.*}} arrivals 8
// CHECK: tilewright.cluster_barrier
// CHECK: tilewright.tensor_copy %{{.*}}[{{.*}}] to
// CHECK-NOT: blocks
// CHECK: %[[HALF:.*]] = tilewright.cluster_rank
// CHECK: tilewright.tensor_copy {{.*}} blocks %{{.*}}
// CHECK: tilewright.mbarrier_arrive {{.*}} expect 24576
// CHECK: tilewright.warpgroup_mma
// CHECK: arith.cmpi ult, %{{.*}}, %c2
// CHECK: tilewright.mbarrier_arrive {{.*}} block %
//
// Two pieces of 64 columns take turns in shared memory, from which nothing was stored
// before.
// CHECK-NOT: tilewright.store_wait
// CHECK-NOT: tilewright.group_barrier
// CHECK-COUNT-4: tilewright.store_matrices
// CHECK-NEXT: tilewright.proxy_fence
// CHECK: tilewright.group_barrier
// CHECK: tilewright.tensor_store
// CHECK-NEXT: tilewright.store_commit
// CHECK-NOT: tilewright.store_wait
// CHECK-COUNT-4: tilewright.store_matrices
// CHECK: tilewright.store_commit
// CHECK-NOT: tilewright.store_matrices
// CHECK: tilewright.store_wait 0
// CHECK: tilewright.cluster_barrier
// CHECK-NEXT: return
func.func private @gemm(%A: memref<256x64xbf16>, %B: memref<128x64xbf16>, %C: memref<256x128xbf16>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 160, subgroup = 32,
      tiles = affine_map<()[s0] -> (s0)>, dims = [0, 0], persistent = true, cluster = [2]>} {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<64x128xf32>
  %ring = tilewright.ring : !ring
  tilewright.warps [4, 1] {
    %t = tilewright.tile_id(%c4) : index
    %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t]
    %a, %b = tilewright.acquire %ring[%c0] : !ring
    tilewright.tile_copy %A[%i, %c0] to %a {map = affine_map<(r, c) -> (r, c)>} : memref<256x64xbf16> to !a
    tilewright.tile_copy %B[%c0, %c0] to %b {map = affine_map<(r, c) -> (r, c)>, multicast = 0} : memref<128x64xbf16> to !b
    tilewright.fill %ring[%c0] : !ring
  }
  tilewright.warps [0, 4] {
    %t = tilewright.tile_id(%c4) : index
    %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%t]
    %a, %b = tilewright.wait %ring[%c0] : !ring
    %n = tilewright.mma %a, %b, %zero {instruction = "wgmma.m64n128k16.bf16.f32", maps = [#mk, #nk, #mn]}
      : !a, !b, vector<64x128xf32>
    %sum = tilewright.mma_wait 0 (%n : vector<64x128xf32>)
    tilewright.release %ring[%c0] : !ring
    %narrow = arith.truncf %sum : vector<64x128xf32> to vector<64x128xbf16>
    tilewright.tile_store %narrow to %C[%i, %c0] : vector<64x128xbf16> to memref<256x128xbf16>
    tilewright.store_wait 0
  }
  return
}

// A block that computes several tiles: from its cluster's number on, as many clusters
// further each time.
// CHECK-LABEL: func.func private @walk
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[BLOCKS:.*]] = gpu.grid_dim x
// CHECK: %[[FIRST:.*]] = arith.divui %[[BLOCK]], %c2{{.*}} : index
// CHECK: %[[STEP:.*]] = arith.divui %[[BLOCKS]], %c2{{.*}} : index
// CHECK: scf.for %[[N:.*]] = %[[FIRST]] to %{{.*}} step %[[STEP]]
// CHECK: arith.remui %[[N]]
// CHECK: tilewright.cluster_rank
func.func private @walk(%A: memref<8x8xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32,
      tiles = affine_map<()[s0] -> (s0, s0)>, dims = [0, 0], persistent = true, cluster = [1, 2]>} {
  %c8 = arith.constant 8 : index
  %v = arith.constant 1.0 : f32
  %first, %end, %step = tilewright.tile_walk(%c8, %c8)
  scf.for %n = %first to %end step %step {
    %t:2 = tilewright.tile_id(%c8, %c8) number %n : index, index
    memref.store %v, %A[%t#0, %t#1] : memref<8x8xf32>
  }
  return
}

// Three pieces, several times: the first follows upon the third, in the same memory; the
// others upon the one before the last.
// CHECK-LABEL: func.func private @three_pieces
// CHECK: scf.for
// CHECK: tilewright.store_wait 0
// CHECK: tilewright.group_barrier
// CHECK: tilewright.store_commit
// CHECK: tilewright.store_wait 1
// CHECK: tilewright.group_barrier
// CHECK: tilewright.store_commit
// CHECK: tilewright.store_wait 1
// CHECK: tilewright.group_barrier
// CHECK: tilewright.store_commit
// CHECK: tilewright.store_wait 0
!b3 = memref<96x64xbf16, #tilewright.shared<swizzle = [3, 3, 3]>>
!ring3 = !tilewright.ring<2, !a, !b3>
func.func private @three_pieces(%A: memref<256x64xbf16>, %B: memref<96x64xbf16>, %C: memref<256x96xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 160, subgroup = 32,
      tiles = affine_map<()[s0] -> (s0)>, dims = [0, 0]>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant dense<0.0> : vector<64x96xf32>
  %ring = tilewright.ring : !ring3
  tilewright.warps [4, 1] {
    scf.for %p = %c0 to %c4 step %c1 {
      %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%p]
      %a, %b = tilewright.acquire %ring[%p] : !ring3
      tilewright.tile_copy %A[%i, %c0] to %a {map = affine_map<(r, c) -> (r, c)>} : memref<256x64xbf16> to !a
      tilewright.tile_copy %B[%c0, %c0] to %b {map = affine_map<(r, c) -> (r, c)>} : memref<96x64xbf16> to !b3
      tilewright.fill %ring[%p] : !ring3
    }
  }
  tilewright.warps [0, 4] {
    scf.for %p = %c0 to %c4 step %c1 {
      %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%p]
      %a, %b = tilewright.wait %ring[%p] : !ring3
      %n = tilewright.mma %a, %b, %zero {instruction = "wgmma.m64n96k16.bf16.f32", maps = [#mk, #nk, #mn]}
        : !a, !b3, vector<64x96xf32>
      %sum = tilewright.mma_wait 0 (%n : vector<64x96xf32>)
      tilewright.release %ring[%p] : !ring3
      tilewright.tile_store %sum to %C[%i, %c0] : vector<64x96xf32> to memref<256x96xf32>
    }
    tilewright.store_wait 0
  }
  return
}
