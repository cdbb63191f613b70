// RUN: tilewright-opt %s -tilewright-decompose-gathers | FileCheck %s

// CHECK-LABEL: func.func @Gather(
// CHECK: tensor.generate
// CHECK: %[[A:.*]] = tensor.extract %{{.*}} : tensor<4x1xi64>
// CHECK: %[[P:.*]] = arith.index_cast %[[A]]
// CHECK: tensor.extract %{{.*}}[%[[P]], %{{.*}}] : tensor<7x5xf32>
func.func @Gather(%x: tensor<7x5xf32>, %i: tensor<4x1xi64>) -> tensor<4x5xf32> {
  %r = tensor.gather %x[%i] gather_dims([0]) : (tensor<7x5xf32>, tensor<4x1xi64>) -> tensor<4x5xf32>
  return %r : tensor<4x5xf32>
}

// CHECK-LABEL: func.func @Scatter(
// CHECK: %[[S:.*]] = tensor.collapse_shape %arg0 {{\[\[}}0, 1], [2]] : tensor<4x1x5xf32> into tensor<4x5xf32>
// CHECK: tilewright.scatter ins(%[[S]], %arg2 : tensor<4x5xf32>, tensor<4x1xi64>) outs(%arg1 : tensor<7x5xf32>) {dims = array<i64: 0>, unique}
func.func @Scatter(%s: tensor<4x1x5xf32>, %x: tensor<7x5xf32>, %i: tensor<4x1xi64>) -> tensor<7x5xf32> {
  %r = tensor.scatter %s into %x[%i] scatter_dims([0]) unique : (tensor<4x1x5xf32>, tensor<7x5xf32>, tensor<4x1xi64>) -> tensor<7x5xf32>
  return %r : tensor<7x5xf32>
}
