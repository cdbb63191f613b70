// RUN: tilewright-opt %s -tilewright-generalize -tilewright-read-windows | FileCheck %s

// A convolution is a contraction of its windows: what moves further comes first.
// CHECK-DAG: #[[$WINDOWS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1 * 2 + d2, d4 + d3 * 2, d5)>
// CHECK-DAG: #[[$READ:.*]] = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d5, d2, d6)>

// CHECK-LABEL: func @Convolution
// CHECK: %[[V:.*]] = tilewright.im2col %{{.*}}[] {map = #[[$IM2COL:.*]]} : tensor<2x9x9x4xf32> to tensor<2x4x3x3x5x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[V]], %{{.*}} : tensor<2x4x3x3x5x4xf32>, tensor<3x3x4x8xf32>)
func.func @Convolution(%x: tensor<2x9x9x4xf32>, %w: tensor<3x3x4x8xf32>, %o: tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32> {
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<[2, 1]> : tensor<2xi64>, dilations = dense<[1, 2]> : tensor<2xi64>}
    ins(%x, %w : tensor<2x9x9x4xf32>, tensor<3x3x4x8xf32>) outs(%o : tensor<2x4x5x8xf32>) -> tensor<2x4x5x8xf32>
  return %r : tensor<2x4x5x8xf32>
}

// Sizes come from the dims of other operands.
// CHECK-LABEL: func @Pooling
// CHECK-SAME: (%[[X:.*]]: tensor<?xf32>, %[[W:.*]]: tensor<?xf32>, %[[O:.*]]: tensor<?xf32>)
// CHECK-DAG: %[[PLACES:.*]] = tensor.dim %[[O]]
// CHECK-DAG: %[[INSIDE:.*]] = tensor.dim %[[W]]
// CHECK: tilewright.im2col %[[X]][%[[PLACES]], %[[INSIDE]]] {{.*}} : tensor<?xf32> to tensor<?x?xf32>
func.func @Pooling(%x: tensor<?xf32>, %w: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i * 2 + k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.maximumf %a, %acc : f32
      linalg.yield %m : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// A diagonal is the windows of one element.
// CHECK-LABEL: func @Diagonal
// CHECK: tilewright.im2col %{{.*}}[] {{.*}} : tensor<8x8xf32> to tensor<8xf32>
func.func @Diagonal(%x: tensor<8x8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<8x8xf32>) outs(%o : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
