// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse -tilewright-place-shared-memory -tilewright-place-barriers | FileCheck %s

#target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, access_bytes = 16}>
module attributes {tilewright.target = #target} {
  // Threads of all blocks meet twice: before the first one stores in another's memory, and when all have. What they get has
  // bytes of its own, and no barrier of the block is for it.
  // CHECK-LABEL: func.func private @Exchange(
  // CHECK: %[[PARTS:.+]] = memref.alloc() {{.*}} : memref<4xf32, #tilewright.shared>
  // CHECK: tilewright.cluster_arrive
  // CHECK: %[[RANK:.+]] = tilewright.cluster_rank
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK: tilewright.cluster_wait
  // CHECK: scf.if
  // CHECK-NEXT: tilewright.cluster_store %[[OWN:.+]], %[[PARTS]][%[[RANK]]] block %c0 : f32, memref<4xf32, #tilewright.shared>
  // CHECK-NEXT: tilewright.cluster_store %[[OWN]], %[[PARTS]][%[[RANK]]] block %c1
  // CHECK-NEXT: tilewright.cluster_store %[[OWN]], %[[PARTS]][%[[RANK]]] block %c2
  // CHECK: tilewright.cluster_barrier
  // CHECK-NOT: barrier
  // CHECK: %[[A:.+]] = memref.load %[[PARTS]][%c0]
  // CHECK: %[[B:.+]] = memref.load %[[PARTS]][%c1]
  // CHECK: %[[AB:.+]] = arith.addf %[[A]], %[[B]]
  // CHECK: %[[C:.+]] = memref.load %[[PARTS]][%c2]
  // CHECK: arith.addf %[[AB]], %[[C]]
  // CHECK: %[[FIRST:.+]] = arith.cmpi eq, %[[RANK]], %c0
  // CHECK: scf.if %[[FIRST]]
  // CHECK: memref.store
  // CHECK-NOT: tilewright.cluster_barrier
  // CHECK: return
  func.func private @Exchange(%a: memref<96xf32>, %out: memref<f32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (3)>, cluster = [3]>} {
    %c3 = arith.constant 3 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f32
    %id = tilewright.tile_id(%c3) : index
    %i = arith.muli %id, %c32 : index
    %v = vector.transfer_read %a[%i], %pad {in_bounds = [true]} : memref<96xf32>, vector<32xf32>
    %s = vector.multi_reduction <add>, %v, %pad [0] : vector<32xf32> to f32
    %t = tilewright.cluster_reduce <add>, %s : f32
    memref.store %t, %out[] {tilewright.one_block} : memref<f32>
    return
  }

  // In a loop all have read what the last step has left before anything is stored again.
  // CHECK-LABEL: func.func private @InLoop(
  // CHECK-NOT: tilewright.cluster_arrive
  // CHECK: scf.for
  // CHECK: tilewright.cluster_barrier
  // CHECK: tilewright.cluster_store
  // CHECK: tilewright.cluster_barrier
  // CHECK: arith.maximumf
  func.func private @InLoop(%a: memref<?x64xf32>, %out: memref<?xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (2)>, cluster = [2]>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c32 = arith.constant 32 : index
    %pad = arith.constant 0.0 : f32
    %none = arith.constant dense<0xFF800000> : vector<1xf32>
    %id = tilewright.tile_id(%c2) : index
    %j = arith.muli %id, %c32 : index
    %m = memref.dim %a, %c0 : memref<?x64xf32>
    scf.for %i = %c0 to %m step %c1 {
      %v = vector.transfer_read %a[%i, %j], %pad {in_bounds = [true, true]} : memref<?x64xf32>, vector<1x32xf32>
      %s = vector.multi_reduction <maximumf>, %v, %none [1] : vector<1x32xf32> to vector<1xf32>
      %t = tilewright.cluster_reduce <maximumf>, %s : vector<1xf32>
      vector.transfer_write %t, %out[%i] {in_bounds = [true], tilewright.one_block} : vector<1xf32>, memref<?xf32>
    }
    return
  }
}
