// RUN: tilewright-opt %s -tilewright-drop-constant-sums -split-input-file | FileCheck %s

// The result is 0, and the init where there is nothing to reduce.
// CHECK-LABEL: func.func @dynamic
// CHECK-SAME: (%[[X:.*]]: tensor<?x?xi32>, %[[INIT:.*]]: tensor<?xi32>)
// CHECK: %[[N:.*]] = tensor.dim %[[X]], %c1
// CHECK: %[[NONE:.*]] = arith.cmpi eq, %[[N]], %c0
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[INIT]] : tensor<?xi32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: i32, %{{.*}}: i32):
// CHECK-NEXT: arith.select %[[NONE]], %[[A]], %c0_i32
func.func @dynamic(%x: tensor<?x?xi32>, %init: tensor<?xi32>) -> tensor<?xi32> {
  %zero = arith.constant 0 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi32>) outs(%init : tensor<?xi32>) {
  ^bb0(%a: i32, %s: i32):
    linalg.yield %zero : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

// A sum is one.
// CHECK-LABEL: func.func @sum
// CHECK: iterator_types = ["parallel", "reduction"]
func.func @sum(%x: tensor<?x?xi32>, %init: tensor<?xi32>) -> tensor<?xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xi32>) outs(%init : tensor<?xi32>) {
  ^bb0(%a: i32, %s: i32):
    %t = arith.addi %s, %a : i32
    linalg.yield %t : i32
  } -> tensor<?xi32>
  return %r : tensor<?xi32>
}

// -----

// No elements by the type: the init.
// CHECK-LABEL: func.func @nothing
// CHECK-SAME: (%{{.*}}: tensor<8x0xi32>, %[[INIT:.*]]: tensor<8xi32>)
// CHECK-NEXT: return %[[INIT]]
func.func @nothing(%x: tensor<8x0xi32>, %init: tensor<8xi32>) -> tensor<8xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x0xi32>) outs(%init : tensor<8xi32>) {
  ^bb0(%a: i32, %s: i32):
    %t = arith.addi %s, %a : i32
    linalg.yield %t : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}
