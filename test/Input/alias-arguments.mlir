// RUN: tilewright-opt %s -tilewright-alias-arguments -split-input-file -verify-diagnostics | FileCheck %s

// The result is written where the argument is, and not returned.
// CHECK-LABEL: func.func @cache(
// CHECK-SAME: %[[CACHE:.*]]: memref<8x?xf32>, %[[NEW:.*]]: tensor<1x?xf32>, %{{.*}}: index) -> tensor<1x?xf32> {
// CHECK: %[[OLD:.*]] = bufferization.to_tensor %[[CACHE]] restrict writable
// CHECK: %[[R:.*]] = tensor.insert_slice %[[NEW]] into %[[OLD]]
// CHECK: bufferization.materialize_in_destination %[[R]] in restrict writable %[[CACHE]]
// CHECK: return %[[NEW]]
func.func @cache(%cache: tensor<8x?xf32> {tf.aliasing_output = 1 : i32}, %new: tensor<1x?xf32>, %at: index) -> (tensor<1x?xf32>, tensor<8x?xf32>) {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %new, %c1 : tensor<1x?xf32>
  %r = tensor.insert_slice %new into %cache[%at, 0] [1, %n] [1, 1] : tensor<1x?xf32> into tensor<8x?xf32>
  return %new, %r : tensor<1x?xf32>, tensor<8x?xf32>
}

// Two that change places.
// CHECK-LABEL: func.func @swap(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>) {
// CHECK-DAG: %[[X:.*]] = bufferization.to_tensor %[[A]]
// CHECK-DAG: %[[Y:.*]] = bufferization.to_tensor %[[B]]
// CHECK-DAG: %[[U:.*]] = bufferization.alloc_tensor() copy(%[[Y]])
// CHECK-DAG: %[[V:.*]] = bufferization.alloc_tensor() copy(%[[X]])
// CHECK: materialize_in_destination %[[U]] in restrict writable %[[A]]
// CHECK: materialize_in_destination %[[V]] in restrict writable %[[B]]
func.func @swap(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {tf.aliasing_output = 1 : i32}) -> (tensor<4xf32>, tensor<4xf32>) {
  return %b, %a : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 has 'tf.aliasing_output' = 2 : i32, which is the number of none of its 1 results}}
func.func @none(%a: tensor<4xf32> {tf.aliasing_output = 2 : i32}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{argument 1 has 'tf.aliasing_output' = 0 : i32, as another argument has: a result is in one memory}}
func.func @twice(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}

// -----

// expected-error @below {{argument 0 has 'tf.aliasing_output' = 0 : i32, and is of type 'tensor<5xf32>', the result of 'tensor<4xf32>'; both are one tensor}}
func.func @types(%a: tensor<5xf32> {tf.aliasing_output = 0 : i32}, %b: tensor<4xf32>) -> tensor<4xf32> {
  return %b : tensor<4xf32>
}

// -----

// expected-error @below {{has 'tf.aliasing_output', which only a function with one block has that no other calls; leave it out}}
func.func @called(%a: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @caller(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = call @called(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
