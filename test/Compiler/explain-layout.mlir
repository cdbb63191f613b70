// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu --explain -o %t.tw 2>&1 | FileCheck %s

// Filters that would be transposed in each call keep the layout as it is written, and --explain says so.
// CHECK: images stay with channels outermost: 2 convolutions, 35424 products, 1264 elements to transpose in each call, 432 of them of filters that are no constants
func.func @main(%x: tensor<1x4x12x12xf32>, %v: tensor<6x4x3x3xf32>, %w: tensor<4x6x3x3xf32>) -> tensor<1x4x8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x6x10x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x6x10x10xf32>) -> tensor<1x6x10x10xf32>
  %a = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%x, %v : tensor<1x4x12x12xf32>, tensor<6x4x3x3xf32>) outs(%f : tensor<1x6x10x10xf32>) -> tensor<1x6x10x10xf32>
  %d = tensor.empty() : tensor<1x4x8x8xf32>
  %g = linalg.fill ins(%zero : f32) outs(%d : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  %b = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%a, %w : tensor<1x6x10x10xf32>, tensor<4x6x3x3xf32>) outs(%g : tensor<1x4x8x8xf32>) -> tensor<1x4x8x8xf32>
  return %b : tensor<1x4x8x8xf32>
}
