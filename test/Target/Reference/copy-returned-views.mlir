// RUN: tilewright-opt %s -tilewright-copy-returned-views | FileCheck %s

// Every second row: the strides are known only when it runs.
// CHECK-LABEL: func.func @strided
// CHECK-SAME: %[[ARG:.*]]: memref<?x?xf32>, %[[SIZE:.*]]: index
func.func @strided(%arg0: memref<?x?xf32>, %size: index) -> memref<?x?xf32> {
  // CHECK: %[[VIEW:.*]] = memref.subview
  %view = memref.subview %arg0[0, 0] [%size, 4] [2, 1] : memref<?x?xf32> to memref<?x4xf32, strided<[?, 1]>>
  %cast = memref.cast %view : memref<?x4xf32, strided<[?, 1]>> to memref<?x?xf32>
  // CHECK: %[[DENSE:.*]] = memref.alloc(%{{.*}}, %{{.*}}) : memref<?x?xf32>
  // CHECK: memref.copy %[[VIEW]], %[[DENSE]]
  // CHECK: return %[[DENSE]]
  return %cast : memref<?x?xf32>
}

// What is dense stays as it is.
// CHECK-LABEL: func.func @dense
// CHECK-NOT: memref.alloc
func.func @dense(%arg0: memref<?x4xf32>) -> memref<?x?xf32> {
  %cast = memref.cast %arg0 : memref<?x4xf32> to memref<?x?xf32>
  return %cast : memref<?x?xf32>
}
