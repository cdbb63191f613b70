// RUN: tilewright-opt %s -tilewright-outline-irregular | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK: %[[R:.*]] = tilewright.dispatch @main_scatter_0(%arg0, %arg1 : {{.*}}) outs(%arg2 : tensor<50x64xf32>)
// CHECK: tilewright.dispatch @main_scan_1(%{{.*}} : tensor<4x?x1xf32>) outs(
// CHECK-LABEL: func.func @sort(
// CHECK: tilewright.dispatch @sort_sort_0(%arg0, %arg1, %arg2 : {{.*}}, index) outs(%arg3, %arg4 : {{.*}}) -> tensor<4x?x1xf32>, tensor<4x?x1xi32>
// CHECK-LABEL: func.func private @main_scatter_0(
// CHECK-SAME: tilewright.access = ["read", "read", "readwrite"], tilewright.kernel
// CHECK: tilewright.scatter ins(%arg0, %arg1 : {{.*}}) outs(%arg2 : {{.*}}) {dims = array<i64: 0>}
// CHECK-LABEL: func.func private @main_scan_1(
// CHECK-SAME: tilewright.access = ["read", "write"], tilewright.kernel
// CHECK: %[[C:.*]] = arith.constant 64 : index
// CHECK: tilewright.scan ins(%arg0 : tensor<4x?x1xf32>) chunk(%[[C]]) outs(%arg1 : tensor<4x?x1xf32>)
// CHECK-LABEL: func.func private @sort_sort_0(
// CHECK-SAME: tilewright.access = ["read", "read", "write", "write"]
// CHECK: tilewright.sort ins(%arg0, %arg1 : {{.*}}) width(%arg2) outs(%arg3, %arg4 : {{.*}})
func.func @main(%u: tensor<?x64xf32>, %i: tensor<?x1xi64>, %t: tensor<50x64xf32>, %x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>)
    -> (tensor<50x64xf32>, tensor<4x?x1xf32>) {
  %c64 = arith.constant 64 : index
  %s = tilewright.scatter ins(%u, %i : tensor<?x64xf32>, tensor<?x1xi64>) outs(%t : tensor<50x64xf32>) {dims = array<i64: 0>} -> tensor<50x64xf32>
  %r = tilewright.scan ins(%x : tensor<4x?x1xf32>) chunk(%c64) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, totals} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<4x?x1xf32>
  return %s, %r : tensor<50x64xf32>, tensor<4x?x1xf32>
}

func.func @sort(%x: tensor<4x?x1xf32>, %i: tensor<4x?x1xi32>, %n: index, %e: tensor<4x?x1xf32>, %f: tensor<4x?x1xi32>)
    -> (tensor<4x?x1xf32>, tensor<4x?x1xi32>) {
  %r:2 = tilewright.sort ins(%x, %i : tensor<4x?x1xf32>, tensor<4x?x1xi32>) width(%n) outs(%e, %f : tensor<4x?x1xf32>, tensor<4x?x1xi32>) {dim = 1 : i64}
    -> tensor<4x?x1xf32>, tensor<4x?x1xi32>
  return %r#0, %r#1 : tensor<4x?x1xf32>, tensor<4x?x1xi32>
}
