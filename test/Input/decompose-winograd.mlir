// RUN: tilewright-opt %s -tilewright-decompose-winograd | FileCheck %s

// Both sides of a transform are one product with a constant matrix.
// CHECK-DAG: #[[K:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
// CHECK-DAG: #[[G:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
// CHECK-DAG: #[[U:.+]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3)>
// CHECK-DAG: #[[X:.+]] = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d4, d2 * 2 + d6, d3 * 2 + d7, d5)>
// CHECK-LABEL: func.func @Filter(
// CHECK: %[[M:.+]] = arith.constant dense<{{.*}}> : tensor<4x4x3x3xf32>
// CHECK: linalg.generic {indexing_maps = [#[[K]], #[[G]], #[[U]]], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[M]], %arg0
func.func @Filter(%g: tensor<7x3x3x5xf32>, %u: tensor<4x4x5x7xf32>) -> tensor<4x4x5x7xf32> {
  %r = linalg.winograd_filter_transform fmr(F_2_3) ins(%g : tensor<7x3x3x5xf32>) outs(%u : tensor<4x4x5x7xf32>) -> tensor<4x4x5x7xf32>
  return %r : tensor<4x4x5x7xf32>
}

// CHECK-LABEL: func.func @Image(
// CHECK: arith.constant dense<{{.*}}> : tensor<4x4x4x4xf32>
// CHECK: linalg.fill
// CHECK: linalg.generic {indexing_maps = [#{{.+}}, #[[X]], #{{.+}}]
func.func @Image(%x: tensor<2x10x8x5xf32>, %v: tensor<4x4x4x3x2x5xf32>) -> tensor<4x4x4x3x2x5xf32> {
  %r = linalg.winograd_input_transform fmr(F_2_3) ins(%x : tensor<2x10x8x5xf32>) outs(%v : tensor<4x4x4x3x2x5xf32>) -> tensor<4x4x4x3x2x5xf32>
  return %r : tensor<4x4x4x3x2x5xf32>
}

// The result is added to what is there, tile by tile.
// CHECK-LABEL: func.func @Result(
// CHECK: arith.constant dense<{{.*}}> : tensor<2x2x4x4xf32>
// CHECK: %[[TILES:.+]] = tensor.expand_shape %arg1 {{\[\[}}0], [1, 2], [3, 4], [5]] {{.*}} into tensor<2x4x2x3x2x7xf32>
// CHECK: %[[SUM:.+]] = linalg.generic {{.*}} outs(%[[TILES]]
// CHECK: tensor.collapse_shape %[[SUM]]
func.func @Result(%v: tensor<4x4x4x3x2x7xf32>, %o: tensor<2x8x6x7xf32>) -> tensor<2x8x6x7xf32> {
  %r = linalg.winograd_output_transform fmr(F_2_3) ins(%v : tensor<4x4x4x3x2x7xf32>) outs(%o : tensor<2x8x6x7xf32>) -> tensor<2x8x6x7xf32>
  return %r : tensor<2x8x6x7xf32>
}
