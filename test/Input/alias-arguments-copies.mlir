// RUN: tilewright-opt %s -tilewright-alias-arguments=copies | FileCheck %s

// The argument's old value stays what it is, however it comes to a result.
// CHECK-LABEL: func.func @chosen(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[C:.*]]: i1, %[[B:.*]]: tensor<4xf32>) -> tensor<4xf32> {
// CHECK: %[[T:.*]] = bufferization.to_tensor %[[A]] restrict writable
// CHECK: %[[OLD:.*]] = bufferization.alloc_tensor() copy(%[[T]])
// CHECK: %[[D:.*]] = arith.addf %[[OLD]], %[[B]]
// CHECK: %[[R:.*]] = arith.select %[[C]], %[[OLD]], %[[B]]
// CHECK: bufferization.materialize_in_destination %[[D]] in restrict writable %[[A]]
// CHECK: return %[[R]]
func.func @chosen(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %c: i1, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %d = arith.addf %a, %b : tensor<4xf32>
  %r = arith.select %c, %a, %b : tensor<4xf32>
  return %d, %r : tensor<4xf32>, tensor<4xf32>
}
