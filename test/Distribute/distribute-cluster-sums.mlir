// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse -tilewright-place-shared-memory -tilewright-place-barriers | FileCheck %s

#acc = #tilewright.layout<"regs=[2:1@1, 2:8@0, 2:8@1] lanes=[4:2@1, 8:1@0] warps=[4:16@0]">
#target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, access_bytes = 16}>
module attributes {tilewright.target = #target} {
  // Sums go to memory of the block, swizzled; when all blocks of the cluster have stored theirs, each loads its rows from all of
  // them, in front of the first addition, and says so before it stores its results; none ends before all have.
  // CHECK-LABEL: func.func private @Slice(
  // CHECK: %[[SUMS:.+]] = memref.alloc() {{.*}} : memref<1024xf32, #tilewright.shared>
  // CHECK: %[[RANK:.+]] = tilewright.cluster_rank
  // CHECK-COUNT-4: vector.store {{.*}}, %[[SUMS]][{{.*}}vector<2xf32>
  // CHECK: tilewright.cluster_barrier
  // CHECK-NOT: arith.addf
  // CHECK: %[[A:.+]] = tilewright.cluster_load %[[SUMS]][%[[AT:.+]]] block %c0 : memref<1024xf32, #tilewright.shared> -> vector<4xf32>
  // CHECK-NOT: arith.addf
  // CHECK: %[[B:.+]] = tilewright.cluster_load %[[SUMS]][%[[AT]]] block %c1
  // CHECK: arith.addf
  // CHECK: tilewright.cluster_arrive
  // CHECK: vector.store {{.*}} %{{.*}}[%{{.*}}] {{.*}}memref<?xf32>
  // CHECK: tilewright.cluster_wait
  // CHECK-NEXT: return
  func.func private @Slice(%a: memref<64x16xf32>, %out: memref<64x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1, 1, 2)>, cluster = [1, 1, 2]>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f32
    %id:3 = tilewright.tile_id(%c1, %c1, %c2) : index, index, index
    %row = arith.muli %id#2, %c32 : index
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true], tilewright.layouts = [#acc]} : memref<64x16xf32>, vector<64x16xf32>
    %s = tilewright.cluster_scatter %v along 0 loop 2 : vector<64x16xf32> -> vector<32x16xf32>
    vector.transfer_write %s, %out[%row, %c0] {in_bounds = [true, true]} : vector<32x16xf32>, memref<64x16xf32>
    return
  }

  // Of a cluster with blocks along the rows, too, the parts are those of every second block.
  // CHECK-LABEL: func.func private @Pairs(
  // CHECK: tilewright.cluster_barrier
  // CHECK: %[[RANK:.+]] = tilewright.cluster_rank
  // CHECK: %[[FIRST:.+]] = arith.subi %[[RANK]],
  // CHECK: %[[SECOND:.+]] = arith.addi %[[FIRST]], %c2
  // CHECK: tilewright.cluster_load {{.*}} block %[[FIRST]] :
  // CHECK: tilewright.cluster_load {{.*}} block %[[SECOND]] :
  func.func private @Pairs(%a: memref<64x16xf32>, %out: memref<64x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (2, 1, 2)>, cluster = [2, 1, 2]>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true], tilewright.layouts = [#acc]} : memref<64x16xf32>, vector<64x16xf32>
    %s = tilewright.cluster_scatter %v along 0 loop 2 : vector<64x16xf32> -> vector<32x16xf32>
    vector.transfer_write %s, %out[%c0, %c0] {in_bounds = [true, true]} : vector<32x16xf32>, memref<64x16xf32>
    return
  }
}
