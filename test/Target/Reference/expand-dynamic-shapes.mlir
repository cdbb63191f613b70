// RUN: tilewright-opt %s -tilewright-expand-dynamic-shapes -expand-strided-metadata | FileCheck %s

// CHECK-LABEL: @two_of_one
// CHECK-SAME: %[[M:.*]]: memref<?x4xf32>, %[[A:.*]]: index, %[[B:.*]]: index
// CHECK: %[[BASE:.*]], %{{.*}}, %{{.*}}:2, %{{.*}}:2 = memref.extract_strided_metadata %[[M]]
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [0], sizes: [%[[A]], %[[B]], 4], strides: [%{{.*}}, 4, 1]
func.func @two_of_one(%m: memref<?x4xf32>, %a: index, %b: index) -> memref<?x?x4xf32> {
  %v = memref.expand_shape %m [[0, 1], [2]] output_shape [%a, %b, 4] : memref<?x4xf32> into memref<?x?x4xf32>
  return %v : memref<?x?x4xf32>
}

// Of a view, whose offset and strides are dynamic.
// CHECK-LABEL: @of_a_view
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%{{.*}}], sizes: [%{{.*}}, %{{.*}}], strides: [%{{.*}}, %{{.*}}]
func.func @of_a_view(%m: memref<?xf32, strided<[?], offset: ?>>, %a: index, %b: index)
    -> memref<?x?xf32, strided<[?, ?], offset: ?>> {
  %v = memref.expand_shape %m [[0, 1]] output_shape [%a, %b] : memref<?xf32, strided<[?], offset: ?>>
      into memref<?x?xf32, strided<[?, ?], offset: ?>>
  return %v : memref<?x?xf32, strided<[?, ?], offset: ?>>
}
