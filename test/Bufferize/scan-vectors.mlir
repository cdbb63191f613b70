// RUN: tilewright-opt %s -tilewright-configure -tilewright-tile -tilewright-bufferize -canonicalize | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {index_bits = 64 : i64, max_threads = 1 : i64, subgroup = 1 : i64, vector_bytes = 64 : i64}>} {
  // Rows beside each other, a vector of elements at a time; what is no whole vector one by one.
  // CHECK-LABEL: func.func private @columns(
  // CHECK-SAME: block = [1, 1, 64]
  // CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %c64
  // CHECK: %[[WHOLE:.*]] = arith.cmpi ule, %{{.*}}, %c100
  // CHECK: scf.if %[[WHOLE]]
  // CHECK:   %[[V:.*]] = vector.load %arg0[%{{.*}}, %c0, %[[FIRST]]] : memref<2x?x100xf32>, vector<64xf32>
  // CHECK:   vector.store %[[V]], %arg1
  // CHECK:   scf.for {{.*}} iter_args(%[[SUM:.*]] = %[[V]]) -> (vector<64xf32>)
  // CHECK:     %[[X:.*]] = vector.load %arg0
  // CHECK:     %[[D:.*]] = arith.mulf %[[SUM]], %{{.*}} : vector<64xf32>
  // CHECK:     %[[C:.*]] = arith.addf %[[D]], %[[X]] : vector<64xf32>
  // CHECK:     vector.store %[[C]], %arg1
  // CHECK: else
  // CHECK:   scf.for {{.*}} iter_args({{.*}}) -> (f32)
  func.func private @columns(%x: tensor<2x?x100xf32>, %e: tensor<2x?x100xf32>) -> tensor<2x?x100xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %r = tilewright.scan ins(%x : tensor<2x?x100xf32>) outs(%e : tensor<2x?x100xf32>) {dim = 1 : i64} combine {
    ^bb0(%sum: f32, %next: f32):
      %half = arith.constant 0.5 : f32
      %d = arith.mulf %sum, %half : f32
      %c = arith.addf %d, %next : f32
      tilewright.combined %c : f32
    } -> tensor<2x?x100xf32>
    return %r : tensor<2x?x100xf32>
  }

  // From the last row to the first, without the element itself.
  // CHECK-LABEL: func.func private @exclusive(
  // CHECK: scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (vector<64xi32>)
  // CHECK:   %[[AT:.*]] = arith.subi
  // CHECK:   %[[X:.*]] = vector.load %arg0[%{{.*}}, %[[AT]], %{{.*}}]
  // CHECK:   vector.store %[[SUM]], %arg2
  func.func private @exclusive(%x: tensor<2x9x128xi32>, %i: tensor<2x128xi32>, %e: tensor<2x9x128xi32>) -> tensor<2x9x128xi32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %r = tilewright.scan ins(%x : tensor<2x9x128xi32>) init(%i : tensor<2x128xi32>) outs(%e : tensor<2x9x128xi32>) {dim = 1 : i64, exclusive, reverse} combine {
    ^bb0(%sum: i32, %next: i32):
      %c = arith.addi %sum, %next : i32
      tilewright.combined %c : i32
    } -> tensor<2x9x128xi32>
    return %r : tensor<2x9x128xi32>
  }
}
