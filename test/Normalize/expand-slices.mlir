// RUN: tilewright-opt %s -tilewright-expand-slices | FileCheck %s

// CHECK-LABEL: func.func @heads(
// CHECK: %[[W:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [128, 24, 64]
// CHECK: %[[S:.*]] = tensor.extract_slice %[[W]][0, 8, 0] [128, 8, 64] [1, 1, 1]
// CHECK: return %[[S]]
func.func @heads(%x: tensor<128x1536xf16>) -> tensor<128x8x64xf16> {
  %k = tensor.extract_slice %x[0, 512] [128, 512] [1, 1] : tensor<128x1536xf16> to tensor<128x512xf16>
  %h = tensor.expand_shape %k [[0], [1, 2]] output_shape [128, 8, 64] : tensor<128x512xf16> into tensor<128x8x64xf16>
  return %h : tensor<128x8x64xf16>
}

// Dims that are not split keep what a run decides, and steps.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[D:.*]] = tensor.dim %{{.*}}, %c0
// CHECK: %[[W:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] output_shape [%[[D]], 4, 8]
// CHECK: tensor.extract_slice %[[W]][%{{.*}}, 1, 0] [%{{.*}}, 2, 8] [2, 1, 1] : tensor<?x4x8xf32> to tensor<?x2x8xf32>
func.func @rows(%x: tensor<?x32xf32>, %i: index, %n: index) -> tensor<?x2x8xf32> {
  %k = tensor.extract_slice %x[%i, 8] [%n, 16] [2, 1] : tensor<?x32xf32> to tensor<?x16xf32>
  %h = tensor.expand_shape %k [[0], [1, 2]] output_shape [%n, 2, 8] : tensor<?x16xf32> into tensor<?x2x8xf32>
  return %h : tensor<?x2x8xf32>
}

// One of the three parts of a tensor, as a tensor with a dim less.
// CHECK-LABEL: func.func @part(
// CHECK: %[[W:.*]] = tensor.expand_shape %arg0 {{\[\[}}0, 1], [2], [3, 4]] output_shape [4, 4, 3, 2, 16] : tensor<16x3x32xf16> into tensor<4x4x3x2x16xf16>
// CHECK: %[[S:.*]] = tensor.extract_slice %[[W]][0, 0, 1, 0, 0] [4, 4, 1, 2, 16] [1, 1, 1, 1, 1] : tensor<4x4x3x2x16xf16> to tensor<4x4x2x16xf16>
// CHECK: return %[[S]]
func.func @part(%x: tensor<16x3x32xf16>) -> tensor<4x4x2x16xf16> {
  %s = tensor.extract_slice %x[0, 1, 0] [16, 1, 32] [1, 1, 1] : tensor<16x3x32xf16> to tensor<16x32xf16>
  %r = tensor.expand_shape %s [[0, 1], [2, 3]] output_shape [4, 4, 2, 16] : tensor<16x32xf16> into tensor<4x4x2x16xf16>
  return %r : tensor<4x4x2x16xf16>
}
// Begins inside of a head, or the whole has no whole number of heads.
// CHECK-LABEL: func.func @uneven(
// CHECK-COUNT-2: tensor.expand_shape {{.*}} : tensor<16xf32> into tensor<2x8xf32>
func.func @uneven(%x: tensor<32xf32>, %y: tensor<33xf32>) -> (tensor<2x8xf32>, tensor<2x8xf32>) {
  %a = tensor.extract_slice %x[4] [16] [1] : tensor<32xf32> to tensor<16xf32>
  %b = tensor.extract_slice %y[8] [16] [1] : tensor<33xf32> to tensor<16xf32>
  %0 = tensor.expand_shape %a [[0, 1]] output_shape [2, 8] : tensor<16xf32> into tensor<2x8xf32>
  %1 = tensor.expand_shape %b [[0, 1]] output_shape [2, 8] : tensor<16xf32> into tensor<2x8xf32>
  return %0, %1 : tensor<2x8xf32>, tensor<2x8xf32>
}

// A number as a tensor of any rank has no dims to split.
// CHECK-LABEL: func.func @number(
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[3] [1] [1]
// CHECK: tensor.expand_shape %[[S]] []
func.func @number(%x: tensor<8xf32>) -> tensor<1x1xf32> {
  %s = tensor.extract_slice %x[3] [1] [1] : tensor<8xf32> to tensor<f32>
  %r = tensor.expand_shape %s [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>
  return %r : tensor<1x1xf32>
}
