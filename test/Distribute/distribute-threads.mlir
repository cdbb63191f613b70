// RUN: tilewright-opt %s -tilewright-distribute | FileCheck %s

// Iterations are shared out among threads, and each thread stores for itself.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {index_bits = 32 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func private @k(
  // CHECK-DAG: %[[LANE:.*]] = gpu.lane_id
  // CHECK-DAG: %[[WARP:.*]] = gpu.subgroup_id
  // CHECK: %[[FIRST:.*]] = arith.muli %[[WARP]], %c32
  // CHECK: %[[T:.*]] = arith.addi %[[FIRST]], %[[LANE]]
  // CHECK: scf.for %[[I:.*]] = %[[T]] to %c300{{.*}} step %c128
  // CHECK: %[[V:.*]] = memref.load %arg0[%[[I]]]
  // CHECK-NOT: gpu.barrier
  // CHECK: memref.store %[[V]], %arg1[%[[I]]]
  func.func private @k(%x: memref<300xf32>, %o: memref<300xf32>)
      attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    scf.forall (%i) in (300) {
      %v = memref.load %x[%i] : memref<300xf32>
      memref.store %v, %o[%i] : memref<300xf32>
    }
    return
  }
}
