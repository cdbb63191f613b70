// RUN: tilewright-opt %s -tilewright-copy-partial-inits | FileCheck %s

// Column 0 keeps the init's elements.
// CHECK-LABEL: func.func @column(
// CHECK-SAME: %[[INIT:.*]]: tensor<4x2xf32>, %{{.*}}: f32)
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[INIT]]) : tensor<4x2xf32>
// CHECK: linalg.generic {{.*}} outs(%[[COPY]]
func.func @column(%init: tensor<4x2xf32>, %x: f32) -> tensor<4x2xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i, 1)>], iterator_types = ["parallel"]} outs(%init : tensor<4x2xf32>) {
  ^bb0(%out: f32):
    linalg.yield %x : f32
  } -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// All elements are written, or read, or there were none before.
// CHECK-LABEL: func.func @whole(
// CHECK-NOT: bufferization.alloc_tensor
func.func @whole(%init: tensor<4x2xf32>, %x: f32) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>) {
  %a = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>], iterator_types = ["parallel", "parallel"]} outs(%init : tensor<4x2xf32>) {
  ^bb0(%out: f32):
    linalg.yield %x : f32
  } -> tensor<4x2xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i, 1)>], iterator_types = ["parallel"]} outs(%init : tensor<4x2xf32>) {
  ^bb0(%out: f32):
    %s = arith.addf %out, %x : f32
    linalg.yield %s : f32
  } -> tensor<4x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %c = linalg.generic {indexing_maps = [affine_map<(i) -> (i, 1)>], iterator_types = ["parallel"]} outs(%e : tensor<4x2xf32>) {
  ^bb0(%out: f32):
    linalg.yield %x : f32
  } -> tensor<4x2xf32>
  return %a, %b, %c : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}
