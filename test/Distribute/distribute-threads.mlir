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

  // A thread may go on as long as it likes.
  // CHECK-LABEL: func.func private @search(
  // CHECK: %[[R:.*]] = scf.while (%[[J:.*]] = %{{.*}}) : (index) -> index
  // CHECK: memref.load %arg0[%[[J]]]
  // CHECK: scf.condition(%{{.*}}) %[[J]]
  // CHECK: ^bb0(%[[K:.*]]: index):
  // CHECK: %[[N:.*]] = arith.addi %[[K]]
  // CHECK: scf.yield %[[N]]
  // CHECK: memref.store %{{.*}}, %arg1[%[[R]]]
  func.func private @search(%x: memref<300xf32>, %o: memref<300xf32>)
      attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0.0 : f32
    scf.forall (%i) in (300) {
      %p = scf.while (%j = %i) : (index) -> index {
        %v = memref.load %x[%j] : memref<300xf32>
        %more = arith.cmpf olt, %v, %zero : f32
        scf.condition(%more) %j : index
      } do {
      ^bb0(%k: index):
        %next = arith.addi %k, %c1 : index
        scf.yield %next : index
      }
      memref.store %zero, %o[%p] : memref<300xf32>
    }
    return
  }

  // Blocks wait for each other at elements of flat memory.
  // CHECK-LABEL: func.func private @between(
  // CHECK: tilewright.take_number %arg0[%c0{{.*}}] : memref<?xi32>
  // CHECK: scf.while
  // CHECK: tilewright.observe %arg0[%{{.*}}] : memref<?xi32>
  // CHECK: tilewright.publish %{{.*}}, %arg0[%{{.*}}] : memref<?xi32>
  func.func private @between(%s: memref<3x5xi32>)
      attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %zero = arith.constant 0 : i32
    scf.forall (%i) in (128) {
      %n = tilewright.take_number %s[%c0, %c0] : memref<3x5xi32>
      %w = scf.while : () -> i32 {
        %o = tilewright.observe %s[%c2, %i] : memref<3x5xi32>
        %again = arith.cmpi eq, %o, %zero : i32
        scf.condition(%again) %o : i32
      } do {
      ^bb0(%o: i32):
        scf.yield
      }
      tilewright.publish %w, %s[%c2, %c2] : memref<3x5xi32>
    }
    return
  }
}
