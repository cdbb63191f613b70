// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of few rows of halves by weights of four bits, with a scale for each 32 rows
// of a column. Names are w4_MxNxK.

func.func @w4_1x4096x4096(%x: tensor<1x4096xf16>, %w: tensor<4096x4096xi4>, %s: tensor<128x4096xf16>) -> tensor<1x4096xf32> {
  %g = tensor.expand_shape %w [[0, 1], [2]] output_shape [128, 32, 4096] : tensor<4096x4096xi4> into tensor<128x32x4096xi4>
  %h = tensor.empty() : tensor<128x32x4096xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(g, k, n) -> (g, k, n)>, affine_map<(g, k, n) -> (g, n)>, affine_map<(g, k, n) -> (g, k, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g, %s : tensor<128x32x4096xi4>, tensor<128x4096xf16>) outs(%h : tensor<128x32x4096xf16>) {
  ^bb0(%q: i4, %scale: f16, %out: f16):
    %0 = arith.sitofp %q : i4 to f16
    %1 = arith.mulf %0, %scale : f16
    linalg.yield %1 : f16
  } -> tensor<128x32x4096xf16>
  %b = tensor.collapse_shape %d [[0, 1], [2]] : tensor<128x32x4096xf16> into tensor<4096x4096xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %r = linalg.matmul ins(%x, %b : tensor<1x4096xf16>, tensor<4096x4096xf16>) outs(%z : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}

func.func @w4_16x4096x4096(%x: tensor<16x4096xf16>, %w: tensor<4096x4096xi4>, %s: tensor<128x4096xf16>) -> tensor<16x4096xf32> {
  %g = tensor.expand_shape %w [[0, 1], [2]] output_shape [128, 32, 4096] : tensor<4096x4096xi4> into tensor<128x32x4096xi4>
  %h = tensor.empty() : tensor<128x32x4096xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(g, k, n) -> (g, k, n)>, affine_map<(g, k, n) -> (g, n)>, affine_map<(g, k, n) -> (g, k, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g, %s : tensor<128x32x4096xi4>, tensor<128x4096xf16>) outs(%h : tensor<128x32x4096xf16>) {
  ^bb0(%q: i4, %scale: f16, %out: f16):
    %0 = arith.sitofp %q : i4 to f16
    %1 = arith.mulf %0, %scale : f16
    linalg.yield %1 : f16
  } -> tensor<128x32x4096xf16>
  %b = tensor.collapse_shape %d [[0, 1], [2]] : tensor<128x32x4096xf16> into tensor<4096x4096xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %r = linalg.matmul ins(%x, %b : tensor<16x4096xf16>, tensor<4096x4096xf16>) outs(%z : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %r : tensor<16x4096xf32>
}

func.func @w4_64x4096x4096(%x: tensor<64x4096xf16>, %w: tensor<4096x4096xi4>, %s: tensor<128x4096xf16>) -> tensor<64x4096xf32> {
  %g = tensor.expand_shape %w [[0, 1], [2]] output_shape [128, 32, 4096] : tensor<4096x4096xi4> into tensor<128x32x4096xi4>
  %h = tensor.empty() : tensor<128x32x4096xf16>
  %d = linalg.generic {indexing_maps = [affine_map<(g, k, n) -> (g, k, n)>, affine_map<(g, k, n) -> (g, n)>, affine_map<(g, k, n) -> (g, k, n)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%g, %s : tensor<128x32x4096xi4>, tensor<128x4096xf16>) outs(%h : tensor<128x32x4096xf16>) {
  ^bb0(%q: i4, %scale: f16, %out: f16):
    %0 = arith.sitofp %q : i4 to f16
    %1 = arith.mulf %0, %scale : f16
    linalg.yield %1 : f16
  } -> tensor<128x32x4096xf16>
  %b = tensor.collapse_shape %d [[0, 1], [2]] : tensor<128x32x4096xf16> into tensor<4096x4096xf16>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %r = linalg.matmul ins(%x, %b : tensor<64x4096xf16>, tensor<4096x4096xf16>) outs(%z : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %r : tensor<64x4096xf32>
}
