// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that leave the number of rows, or of images, or the size of images open: one program for all, which picks a
// variant of its kernel by what it gets. Products keep f32, convolutions are rounded to halves.

#each = affine_map<(n, i, j, f) -> (n, i, j, f)>

func.func @f16_rows_4096x4096(%a: tensor<?x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<?x4096xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %a, %c0 : tensor<?x4096xf16>
  %e = tensor.empty(%m) : tensor<?x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<?x4096xf16>, tensor<4096x4096xf16>) outs(%z : tensor<?x4096xf32>) -> tensor<?x4096xf32>
  return %r : tensor<?x4096xf32>
}
func.func @f16_images_56_3x3_64_64(%x: tensor<?x58x58x64xf16>, %w: tensor<3x3x64x64xf16>) -> tensor<?x56x56x64xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x58x58x64xf16>
  %e = tensor.empty(%n) : tensor<?x56x56x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x56x56x64xf32>) -> tensor<?x56x56x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x58x58x64xf16>, tensor<3x3x64x64xf16>) outs(%z : tensor<?x56x56x64xf32>) -> tensor<?x56x56x64xf32>
  %b = tensor.empty(%n) : tensor<?x56x56x64xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<?x56x56x64xf32>) outs(%b : tensor<?x56x56x64xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<?x56x56x64xf16>
  return %h : tensor<?x56x56x64xf16>
}
func.func @f16_images_7_3x3_512_512(%x: tensor<?x9x9x512xf16>, %w: tensor<3x3x512x512xf16>) -> tensor<?x7x7x512xf16> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x9x9x512xf16>
  %e = tensor.empty(%n) : tensor<?x7x7x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x7x7x512xf32>) -> tensor<?x7x7x512xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x9x9x512xf16>, tensor<3x3x512x512xf16>) outs(%z : tensor<?x7x7x512xf32>) -> tensor<?x7x7x512xf32>
  %b = tensor.empty(%n) : tensor<?x7x7x512xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<?x7x7x512xf32>) outs(%b : tensor<?x7x7x512xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<?x7x7x512xf16>
  return %h : tensor<?x7x7x512xf16>
}
func.func @f16_any_size_3x3_64_64(%x: tensor<?x?x?x64xf16>, %w: tensor<3x3x64x64xf16>) -> tensor<?x?x?x64xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x?x?x64xf16>
  %height = tensor.dim %x, %c1 : tensor<?x?x?x64xf16>
  %width = tensor.dim %x, %c2 : tensor<?x?x?x64xf16>
  %rows = arith.subi %height, %c2 : index
  %columns = arith.subi %width, %c2 : index
  %e = tensor.empty(%n, %rows, %columns) : tensor<?x?x?x64xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<?x?x?x64xf16>, tensor<3x3x64x64xf16>) outs(%z : tensor<?x?x?x64xf32>) -> tensor<?x?x?x64xf32>
  %b = tensor.empty(%n, %rows, %columns) : tensor<?x?x?x64xf16>
  %h = linalg.generic {indexing_maps = [#each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%r : tensor<?x?x?x64xf32>) outs(%b : tensor<?x?x?x64xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<?x?x?x64xf16>
  return %h : tensor<?x?x?x64xf16>
}
