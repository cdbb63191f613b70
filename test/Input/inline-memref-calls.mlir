// RUN: tilewright-opt %s -tilewright-inline-memref-calls | FileCheck %s

// CHECK-NOT: @double
func.func private @double(%x: memref<8xf32>) {
  affine.for %i = 0 to 8 {
    %a = affine.load %x[%i] : memref<8xf32>
    %b = arith.addf %a, %a : f32
    affine.store %b, %x[%i] : memref<8xf32>
  }
  return
}

// CHECK-NOT: @twice
func.func private @twice(%x: memref<8xf32>) -> memref<8xf32> {
  call @double(%x) : (memref<8xf32>) -> ()
  call @double(%x) : (memref<8xf32>) -> ()
  return %x : memref<8xf32>
}

// CHECK-LABEL: func.func @Calls(
// CHECK-SAME: %[[X:.*]]: memref<8xf32>, %[[Y:.*]]: memref<8xf32>
// CHECK: affine.store %{{.*}}, %[[Y]]
// CHECK: affine.store %{{.*}}, %[[X]]
// CHECK: affine.store %{{.*}}, %[[X]]
// CHECK: memref.copy %[[X]], %[[Y]]
func.func @Calls(%x: memref<8xf32>, %y: memref<8xf32>) {
  call @double(%y) : (memref<8xf32>) -> ()
  %r = call @twice(%x) : (memref<8xf32>) -> memref<8xf32>
  memref.copy %r, %y : memref<8xf32> to memref<8xf32>
  return
}

// Tensors are tilewright-inline-calls' affair.
// CHECK: func.func private @tensors
func.func private @tensors(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
// CHECK: func.func private @elsewhere
func.func private @elsewhere(memref<8xf32>)
// CHECK: func.func private @endless
// CHECK-NEXT: call @endless
func.func private @endless(%x: memref<8xf32>) {
  call @endless(%x) : (memref<8xf32>) -> ()
  return
}
// CHECK-LABEL: func.func @Stay(
// CHECK: call @tensors
// CHECK: call @elsewhere
// CHECK: call @endless
func.func @Stay(%x: memref<8xf32>, %t: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @tensors(%t) : (tensor<8xf32>) -> tensor<8xf32>
  call @elsewhere(%x) : (memref<8xf32>) -> ()
  call @endless(%x) : (memref<8xf32>) -> ()
  return %r : tensor<8xf32>
}
