// RUN: tilewright-opt %s -tilewright-keep-overwritten | FileCheck %s

// What is returned may be the buffer's old elements.
// CHECK-LABEL: func.func @chosen(
// CHECK: %[[R:.*]] = arith.select
// CHECK: %[[KEPT:.*]] = bufferization.alloc_tensor() copy(%[[R]])
// CHECK: bufferization.materialize_in_destination
// CHECK: return %[[KEPT]]
func.func @chosen(%a: memref<4xf32>, %c: i1, %b: tensor<4xf32>) -> tensor<4xf32> {
  %t = bufferization.to_tensor %a restrict writable : memref<4xf32> to tensor<4xf32>
  %r = arith.select %c, %t, %b : tensor<4xf32>
  bufferization.materialize_in_destination %b in restrict writable %a : (tensor<4xf32>, memref<4xf32>) -> ()
  return %r : tensor<4xf32>
}

// So may what a loop returns that does not run.
// CHECK-LABEL: func.func @loop(
// CHECK: %[[R:.*]] = scf.for
// CHECK: %[[KEPT:.*]] = bufferization.alloc_tensor() copy(%[[R]])
// CHECK: bufferization.materialize_in_destination
// CHECK: return %[[KEPT]]
func.func @loop(%a: memref<4xf32>, %n: index, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %t = bufferization.to_tensor %a restrict writable : memref<4xf32> to tensor<4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %t) -> tensor<4xf32> {
    %y = tensor.insert_slice %b into %x[0] [4] [1] : tensor<4xf32> into tensor<4xf32>
    scf.yield %y : tensor<4xf32>
  }
  bufferization.materialize_in_destination %b in restrict writable %a : (tensor<4xf32>, memref<4xf32>) -> ()
  return %r : tensor<4xf32>
}

// An element is inserted in place.
// CHECK-LABEL: func.func @inserted(
// CHECK: %[[R:.*]] = tensor.insert
// CHECK: %[[KEPT:.*]] = bufferization.alloc_tensor() copy(%[[R]])
// CHECK: bufferization.materialize_in_destination
// CHECK: return %[[KEPT]]
func.func @inserted(%a: memref<4xf32>, %x: f32, %i: index, %b: tensor<4xf32>) -> tensor<4xf32> {
  %t = bufferization.to_tensor %a restrict writable : memref<4xf32> to tensor<4xf32>
  %r = tensor.insert %x into %t[%i] : tensor<4xf32>
  bufferization.materialize_in_destination %b in restrict writable %a : (tensor<4xf32>, memref<4xf32>) -> ()
  return %r : tensor<4xf32>
}

// What an op computes into another tensor is not the buffer's.
// CHECK-LABEL: func.func @computed(
// CHECK-NOT: bufferization.alloc_tensor
func.func @computed(%a: memref<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %t = bufferization.to_tensor %a restrict writable : memref<4xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.exp ins(%t : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  bufferization.materialize_in_destination %b in restrict writable %a : (tensor<4xf32>, memref<4xf32>) -> ()
  return %r : tensor<4xf32>
}

// The caller finds in a buffer without a store what was there.
// CHECK-LABEL: func.func @unwritten(
// CHECK: bufferization.to_tensor %{{.*}} restrict :
func.func @unwritten(%a: memref<4xf32>, %b: memref<4xf32>, %x: f32, %i: index) {
  %t = bufferization.to_tensor %a restrict writable : memref<4xf32> to tensor<4xf32>
  %r = tensor.insert %x into %t[%i] : tensor<4xf32>
  bufferization.materialize_in_destination %r in restrict writable %b : (tensor<4xf32>, memref<4xf32>) -> ()
  return
}
