// Two memrefs exchange their elements: those that the first store overwrites are kept.
// RUN: tilewright-compile %s --emit=loops | FileCheck %s

// CHECK-LABEL: func.func @swap(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>)
// CHECK: %[[KEPT:.*]] = memref.alloc
// CHECK: affine.load %[[A]]
// CHECK-NEXT: affine.store %{{.*}}, %[[KEPT]]
// CHECK: affine.load %[[B]]
// CHECK-NEXT: affine.store %{{.*}}, %[[A]]
// CHECK: affine.load %[[KEPT]]
// CHECK-NEXT: affine.store %{{.*}}, %[[B]]
func.func @swap(%a: memref<4xf32>, %b: memref<4xf32>) {
  %t = memref.alloc() : memref<4xf32>
  memref.copy %a, %t : memref<4xf32> to memref<4xf32>
  memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  memref.copy %t, %b : memref<4xf32> to memref<4xf32>
  memref.dealloc %t : memref<4xf32>
  return
}

// What one gets of the other is changed there, not in the other.
// CHECK-LABEL: func.func @copied(
// CHECK-SAME: %[[A:.*]]: memref<4xf32>, %[[B:.*]]: memref<4xf32>, %[[X:.*]]: f32)
// CHECK-NOT: store %[[X]], %[[A]]
// CHECK: return
func.func @copied(%a: memref<4xf32>, %b: memref<4xf32>, %x: f32) {
  %c1 = arith.constant 1 : index
  memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  memref.store %x, %b[%c1] : memref<4xf32>
  return
}
