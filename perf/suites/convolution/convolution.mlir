// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The convolutions of ResNet-50, 32 images of halves, f32 sums that are rounded to halves, each padded so that
// its result is its image's side over the stride. Names are
// SIDE_WINDOW_CHANNELS_FILTERS, _s2 with a stride of two.

#each = affine_map<(n, i, j, f) -> (n, i, j, f)>

func.func @f16_stem(%x: tensor<32x224x224x3xf16>, %w: tensor<7x7x3x64xf16>) -> tensor<32x112x112x64xf16> {
  %zero = arith.constant 0.0 : f32
  %outside = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 3, 3, 0] high[0, 2, 2, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %outside : f16
  } : tensor<32x224x224x3xf16> to tensor<32x229x229x3xf16>
  %e = tensor.empty() : tensor<32x112x112x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x112x112x64xf32>) -> tensor<32x112x112x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%p, %w : tensor<32x229x229x3xf16>, tensor<7x7x3x64xf16>) outs(%z : tensor<32x112x112x64xf32>) -> tensor<32x112x112x64xf32>
  %b = tensor.empty() : tensor<32x112x112x64xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x112x112x64xf32>) outs(%b : tensor<32x112x112x64xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x112x112x64xf16>
  return %h : tensor<32x112x112x64xf16>
}
func.func @f16_56_1x1_64_64(%x: tensor<32x56x56x64xf16>, %w: tensor<1x1x64x64xf16>) -> tensor<32x56x56x64xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x56x56x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x56x56x64xf16>, tensor<1x1x64x64xf16>) outs(%z : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
  %b = tensor.empty() : tensor<32x56x56x64xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x56x56x64xf32>) outs(%b : tensor<32x56x56x64xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x56x56x64xf16>
  return %h : tensor<32x56x56x64xf16>
}
func.func @f16_56_3x3_64_64(%x: tensor<32x56x56x64xf16>, %w: tensor<3x3x64x64xf16>) -> tensor<32x56x56x64xf16> {
  %zero = arith.constant 0.0 : f32
  %outside = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %outside : f16
  } : tensor<32x56x56x64xf16> to tensor<32x58x58x64xf16>
  %e = tensor.empty() : tensor<32x56x56x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<32x58x58x64xf16>, tensor<3x3x64x64xf16>) outs(%z : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
  %b = tensor.empty() : tensor<32x56x56x64xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x56x56x64xf32>) outs(%b : tensor<32x56x56x64xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x56x56x64xf16>
  return %h : tensor<32x56x56x64xf16>
}
func.func @f16_56_1x1_64_256(%x: tensor<32x56x56x64xf16>, %w: tensor<1x1x64x256xf16>) -> tensor<32x56x56x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x56x56x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x56x56x256xf32>) -> tensor<32x56x56x256xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x56x56x64xf16>, tensor<1x1x64x256xf16>) outs(%z : tensor<32x56x56x256xf32>) -> tensor<32x56x56x256xf32>
  %b = tensor.empty() : tensor<32x56x56x256xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x56x56x256xf32>) outs(%b : tensor<32x56x56x256xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x56x56x256xf16>
  return %h : tensor<32x56x56x256xf16>
}
func.func @f16_56_1x1_256_64(%x: tensor<32x56x56x256xf16>, %w: tensor<1x1x256x64xf16>) -> tensor<32x56x56x64xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x56x56x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x56x56x256xf16>, tensor<1x1x256x64xf16>) outs(%z : tensor<32x56x56x64xf32>) -> tensor<32x56x56x64xf32>
  %b = tensor.empty() : tensor<32x56x56x64xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x56x56x64xf32>) outs(%b : tensor<32x56x56x64xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x56x56x64xf16>
  return %h : tensor<32x56x56x64xf16>
}
func.func @f16_56_1x1_256_128(%x: tensor<32x56x56x256xf16>, %w: tensor<1x1x256x128xf16>) -> tensor<32x56x56x128xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x56x56x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x56x56x128xf32>) -> tensor<32x56x56x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x56x56x256xf16>, tensor<1x1x256x128xf16>) outs(%z : tensor<32x56x56x128xf32>) -> tensor<32x56x56x128xf32>
  %b = tensor.empty() : tensor<32x56x56x128xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x56x56x128xf32>) outs(%b : tensor<32x56x56x128xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x56x56x128xf16>
  return %h : tensor<32x56x56x128xf16>
}
func.func @f16_56_3x3_128_128_s2(%x: tensor<32x56x56x128xf16>, %w: tensor<3x3x128x128xf16>) -> tensor<32x28x28x128xf16> {
  %zero = arith.constant 0.0 : f32
  %outside = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 0, 0, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %outside : f16
  } : tensor<32x56x56x128xf16> to tensor<32x57x57x128xf16>
  %e = tensor.empty() : tensor<32x28x28x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x28x28x128xf32>) -> tensor<32x28x28x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%p, %w : tensor<32x57x57x128xf16>, tensor<3x3x128x128xf16>) outs(%z : tensor<32x28x28x128xf32>) -> tensor<32x28x28x128xf32>
  %b = tensor.empty() : tensor<32x28x28x128xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x28x28x128xf32>) outs(%b : tensor<32x28x28x128xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x28x28x128xf16>
  return %h : tensor<32x28x28x128xf16>
}
func.func @f16_28_1x1_128_512(%x: tensor<32x28x28x128xf16>, %w: tensor<1x1x128x512xf16>) -> tensor<32x28x28x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x28x28x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x28x28x512xf32>) -> tensor<32x28x28x512xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x28x28x128xf16>, tensor<1x1x128x512xf16>) outs(%z : tensor<32x28x28x512xf32>) -> tensor<32x28x28x512xf32>
  %b = tensor.empty() : tensor<32x28x28x512xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x28x28x512xf32>) outs(%b : tensor<32x28x28x512xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x28x28x512xf16>
  return %h : tensor<32x28x28x512xf16>
}
func.func @f16_56_1x1_256_512_s2(%x: tensor<32x56x56x256xf16>, %w: tensor<1x1x256x512xf16>) -> tensor<32x28x28x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x28x28x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x28x28x512xf32>) -> tensor<32x28x28x512xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<32x56x56x256xf16>, tensor<1x1x256x512xf16>) outs(%z : tensor<32x28x28x512xf32>) -> tensor<32x28x28x512xf32>
  %b = tensor.empty() : tensor<32x28x28x512xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x28x28x512xf32>) outs(%b : tensor<32x28x28x512xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x28x28x512xf16>
  return %h : tensor<32x28x28x512xf16>
}
func.func @f16_28_1x1_512_128(%x: tensor<32x28x28x512xf16>, %w: tensor<1x1x512x128xf16>) -> tensor<32x28x28x128xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x28x28x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x28x28x128xf32>) -> tensor<32x28x28x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x28x28x512xf16>, tensor<1x1x512x128xf16>) outs(%z : tensor<32x28x28x128xf32>) -> tensor<32x28x28x128xf32>
  %b = tensor.empty() : tensor<32x28x28x128xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x28x28x128xf32>) outs(%b : tensor<32x28x28x128xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x28x28x128xf16>
  return %h : tensor<32x28x28x128xf16>
}
func.func @f16_28_3x3_128_128(%x: tensor<32x28x28x128xf16>, %w: tensor<3x3x128x128xf16>) -> tensor<32x28x28x128xf16> {
  %zero = arith.constant 0.0 : f32
  %outside = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %outside : f16
  } : tensor<32x28x28x128xf16> to tensor<32x30x30x128xf16>
  %e = tensor.empty() : tensor<32x28x28x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x28x28x128xf32>) -> tensor<32x28x28x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<32x30x30x128xf16>, tensor<3x3x128x128xf16>) outs(%z : tensor<32x28x28x128xf32>) -> tensor<32x28x28x128xf32>
  %b = tensor.empty() : tensor<32x28x28x128xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x28x28x128xf32>) outs(%b : tensor<32x28x28x128xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x28x28x128xf16>
  return %h : tensor<32x28x28x128xf16>
}
func.func @f16_28_1x1_512_256(%x: tensor<32x28x28x512xf16>, %w: tensor<1x1x512x256xf16>) -> tensor<32x28x28x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x28x28x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x28x28x256xf32>) -> tensor<32x28x28x256xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x28x28x512xf16>, tensor<1x1x512x256xf16>) outs(%z : tensor<32x28x28x256xf32>) -> tensor<32x28x28x256xf32>
  %b = tensor.empty() : tensor<32x28x28x256xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x28x28x256xf32>) outs(%b : tensor<32x28x28x256xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x28x28x256xf16>
  return %h : tensor<32x28x28x256xf16>
}
func.func @f16_28_3x3_256_256_s2(%x: tensor<32x28x28x256xf16>, %w: tensor<3x3x256x256xf16>) -> tensor<32x14x14x256xf16> {
  %zero = arith.constant 0.0 : f32
  %outside = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 0, 0, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %outside : f16
  } : tensor<32x28x28x256xf16> to tensor<32x29x29x256xf16>
  %e = tensor.empty() : tensor<32x14x14x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x14x14x256xf32>) -> tensor<32x14x14x256xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%p, %w : tensor<32x29x29x256xf16>, tensor<3x3x256x256xf16>) outs(%z : tensor<32x14x14x256xf32>) -> tensor<32x14x14x256xf32>
  %b = tensor.empty() : tensor<32x14x14x256xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x14x14x256xf32>) outs(%b : tensor<32x14x14x256xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x14x14x256xf16>
  return %h : tensor<32x14x14x256xf16>
}
func.func @f16_14_1x1_256_1024(%x: tensor<32x14x14x256xf16>, %w: tensor<1x1x256x1024xf16>) -> tensor<32x14x14x1024xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x14x14x1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x14x14x1024xf32>) -> tensor<32x14x14x1024xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x14x14x256xf16>, tensor<1x1x256x1024xf16>) outs(%z : tensor<32x14x14x1024xf32>) -> tensor<32x14x14x1024xf32>
  %b = tensor.empty() : tensor<32x14x14x1024xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x14x14x1024xf32>) outs(%b : tensor<32x14x14x1024xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x14x14x1024xf16>
  return %h : tensor<32x14x14x1024xf16>
}
func.func @f16_28_1x1_512_1024_s2(%x: tensor<32x28x28x512xf16>, %w: tensor<1x1x512x1024xf16>) -> tensor<32x14x14x1024xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x14x14x1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x14x14x1024xf32>) -> tensor<32x14x14x1024xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<32x28x28x512xf16>, tensor<1x1x512x1024xf16>) outs(%z : tensor<32x14x14x1024xf32>) -> tensor<32x14x14x1024xf32>
  %b = tensor.empty() : tensor<32x14x14x1024xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x14x14x1024xf32>) outs(%b : tensor<32x14x14x1024xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x14x14x1024xf16>
  return %h : tensor<32x14x14x1024xf16>
}
func.func @f16_14_1x1_1024_256(%x: tensor<32x14x14x1024xf16>, %w: tensor<1x1x1024x256xf16>) -> tensor<32x14x14x256xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x14x14x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x14x14x256xf32>) -> tensor<32x14x14x256xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x14x14x1024xf16>, tensor<1x1x1024x256xf16>) outs(%z : tensor<32x14x14x256xf32>) -> tensor<32x14x14x256xf32>
  %b = tensor.empty() : tensor<32x14x14x256xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x14x14x256xf32>) outs(%b : tensor<32x14x14x256xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x14x14x256xf16>
  return %h : tensor<32x14x14x256xf16>
}
func.func @f16_14_3x3_256_256(%x: tensor<32x14x14x256xf16>, %w: tensor<3x3x256x256xf16>) -> tensor<32x14x14x256xf16> {
  %zero = arith.constant 0.0 : f32
  %outside = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %outside : f16
  } : tensor<32x14x14x256xf16> to tensor<32x16x16x256xf16>
  %e = tensor.empty() : tensor<32x14x14x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x14x14x256xf32>) -> tensor<32x14x14x256xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<32x16x16x256xf16>, tensor<3x3x256x256xf16>) outs(%z : tensor<32x14x14x256xf32>) -> tensor<32x14x14x256xf32>
  %b = tensor.empty() : tensor<32x14x14x256xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x14x14x256xf32>) outs(%b : tensor<32x14x14x256xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x14x14x256xf16>
  return %h : tensor<32x14x14x256xf16>
}
func.func @f16_14_1x1_1024_512(%x: tensor<32x14x14x1024xf16>, %w: tensor<1x1x1024x512xf16>) -> tensor<32x14x14x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x14x14x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x14x14x512xf32>) -> tensor<32x14x14x512xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x14x14x1024xf16>, tensor<1x1x1024x512xf16>) outs(%z : tensor<32x14x14x512xf32>) -> tensor<32x14x14x512xf32>
  %b = tensor.empty() : tensor<32x14x14x512xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x14x14x512xf32>) outs(%b : tensor<32x14x14x512xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x14x14x512xf16>
  return %h : tensor<32x14x14x512xf16>
}
func.func @f16_14_3x3_512_512_s2(%x: tensor<32x14x14x512xf16>, %w: tensor<3x3x512x512xf16>) -> tensor<32x7x7x512xf16> {
  %zero = arith.constant 0.0 : f32
  %outside = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 0, 0, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %outside : f16
  } : tensor<32x14x14x512xf16> to tensor<32x15x15x512xf16>
  %e = tensor.empty() : tensor<32x7x7x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x7x7x512xf32>) -> tensor<32x7x7x512xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%p, %w : tensor<32x15x15x512xf16>, tensor<3x3x512x512xf16>) outs(%z : tensor<32x7x7x512xf32>) -> tensor<32x7x7x512xf32>
  %b = tensor.empty() : tensor<32x7x7x512xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x7x7x512xf32>) outs(%b : tensor<32x7x7x512xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x7x7x512xf16>
  return %h : tensor<32x7x7x512xf16>
}
func.func @f16_7_1x1_512_2048(%x: tensor<32x7x7x512xf16>, %w: tensor<1x1x512x2048xf16>) -> tensor<32x7x7x2048xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x7x7x2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x7x7x2048xf32>) -> tensor<32x7x7x2048xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x7x7x512xf16>, tensor<1x1x512x2048xf16>) outs(%z : tensor<32x7x7x2048xf32>) -> tensor<32x7x7x2048xf32>
  %b = tensor.empty() : tensor<32x7x7x2048xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x7x7x2048xf32>) outs(%b : tensor<32x7x7x2048xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x7x7x2048xf16>
  return %h : tensor<32x7x7x2048xf16>
}
func.func @f16_14_1x1_1024_2048_s2(%x: tensor<32x14x14x1024xf16>, %w: tensor<1x1x1024x2048xf16>) -> tensor<32x7x7x2048xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x7x7x2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x7x7x2048xf32>) -> tensor<32x7x7x2048xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<32x14x14x1024xf16>, tensor<1x1x1024x2048xf16>) outs(%z : tensor<32x7x7x2048xf32>) -> tensor<32x7x7x2048xf32>
  %b = tensor.empty() : tensor<32x7x7x2048xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x7x7x2048xf32>) outs(%b : tensor<32x7x7x2048xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x7x7x2048xf16>
  return %h : tensor<32x7x7x2048xf16>
}
func.func @f16_7_1x1_2048_512(%x: tensor<32x7x7x2048xf16>, %w: tensor<1x1x2048x512xf16>) -> tensor<32x7x7x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x7x7x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x7x7x512xf32>) -> tensor<32x7x7x512xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%x, %w : tensor<32x7x7x2048xf16>, tensor<1x1x2048x512xf16>) outs(%z : tensor<32x7x7x512xf32>) -> tensor<32x7x7x512xf32>
  %b = tensor.empty() : tensor<32x7x7x512xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x7x7x512xf32>) outs(%b : tensor<32x7x7x512xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x7x7x512xf16>
  return %h : tensor<32x7x7x512xf16>
}
func.func @f16_7_3x3_512_512(%x: tensor<32x7x7x512xf16>, %w: tensor<3x3x512x512xf16>) -> tensor<32x7x7x512xf16> {
  %zero = arith.constant 0.0 : f32
  %outside = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %outside : f16
  } : tensor<32x7x7x512xf16> to tensor<32x9x9x512xf16>
  %e = tensor.empty() : tensor<32x7x7x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x7x7x512xf32>) -> tensor<32x7x7x512xf32>
  %r = linalg.conv_2d_nhwc_hwcf {strides = dense<1> : tensor<2xi64>} ins(%p, %w : tensor<32x9x9x512xf16>, tensor<3x3x512x512xf16>) outs(%z : tensor<32x7x7x512xf32>) -> tensor<32x7x7x512xf32>
  %b = tensor.empty() : tensor<32x7x7x512xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<32x7x7x512xf32>) outs(%b : tensor<32x7x7x512xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<32x7x7x512xf16>
  return %h : tensor<32x7x7x512xf16>
}
