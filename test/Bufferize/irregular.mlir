// RUN: tilewright-opt %s -tilewright-configure -tilewright-tile -tilewright-bufferize -canonicalize | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {index_bits = 32 : i64, max_threads = 1024 : i64, subgroup = 32 : i64}>} {
  // Each update has a place of its own.
  // CHECK-LABEL: func.func private @unique(
  // CHECK-SAME: threads = 128
  // CHECK-SAME: block = [2, 64], warps = [4, 1]
  // CHECK: scf.forall (%[[T:.*]]) in (128)
  // CHECK: %[[P:.*]] = memref.load %arg1[%[[N:.*]], %{{.*}}] : memref<?x1xi64>
  // CHECK: arith.cmpi ult, %[[P]], %c50{{.*}} : i64
  // CHECK: %[[AT:.*]] = arith.index_cast %[[P]]
  // CHECK: %[[V:.*]] = memref.load %arg0[%[[N]], %[[C:.*]]]
  // CHECK-NEXT: memref.store %[[V]], %arg2[%[[AT]], %[[C]]]
  func.func private @unique(%u: tensor<?x64xf32>, %i: tensor<?x1xi64>, %t: tensor<50x64xf32>) -> tensor<50x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
    %r = tilewright.scatter ins(%u, %i : tensor<?x64xf32>, tensor<?x1xi64>) outs(%t : tensor<50x64xf32>) {dims = array<i64: 0>, unique} -> tensor<50x64xf32>
    return %r : tensor<50x64xf32>
  }

  // A thread has a range of places, and goes through all updates.
  // CHECK-LABEL: func.func private @ordered(
  // CHECK-SAME: splits = 256
  // CHECK: scf.forall
  // CHECK: scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step
  // CHECK: memref.load %arg1[%[[N]], %{{.*}}] : memref<?x1xi32>
  // CHECK: scf.if
  // CHECK: %[[NEW:.*]] = memref.load %arg0
  // CHECK: %[[OLD:.*]] = memref.load %arg2
  // CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[NEW]]
  // CHECK: memref.store %[[SUM]], %arg2
  func.func private @ordered(%u: tensor<?x64xf32>, %i: tensor<?x1xi32>, %t: tensor<50x64xf32>) -> tensor<50x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
    %r = tilewright.scatter ins(%u, %i : tensor<?x64xf32>, tensor<?x1xi32>) outs(%t : tensor<50x64xf32>) {dims = array<i64: 0>} combine {
    ^bb0(%new: f32, %old: f32):
      %c = arith.addf %old, %new : f32
      tilewright.combined %c : f32
    } -> tensor<50x64xf32>
    return %r : tensor<50x64xf32>
  }

  // CHECK-LABEL: func.func private @scan(
  // CHECK-SAME: block = [1, 128, 1]
  // CHECK: scf.forall
  // CHECK: %[[TOTAL:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
  // CHECK: arith.addf %[[SUM]]
  // CHECK: memref.store %[[TOTAL]], %arg2
  func.func private @scan(%x: tensor<4x?x1xf32>, %n: index, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %r = tilewright.scan ins(%x : tensor<4x?x1xf32>) chunk(%n) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, totals} combine {
    ^bb0(%sum: f32, %next: f32):
      %c = arith.addf %sum, %next : f32
      tilewright.combined %c : f32
    } -> tensor<4x?x1xf32>
    return %r : tensor<4x?x1xf32>
  }
}
