// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose time is that of reading and writing memory once: sums, softmax
// and normalisation of rows, sums of columns, transposes, elementwise. Names are
// KIND_TYPE_ROWSxCOLUMNS.

#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>


func.func @softmax_f32_8192x8192(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}

func.func @softmax_f32_32768x1024(%x: tensor<32768x1024xf32>) -> tensor<32768x1024xf32> {
  %e = tensor.empty() : tensor<32768x1024xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<32768x1024xf32>) outs(%e : tensor<32768x1024xf32>) -> tensor<32768x1024xf32>
  return %r : tensor<32768x1024xf32>
}

func.func @softmax_f32_2048x32768(%x: tensor<2048x32768xf32>) -> tensor<2048x32768xf32> {
  %e = tensor.empty() : tensor<2048x32768xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<2048x32768xf32>) outs(%e : tensor<2048x32768xf32>) -> tensor<2048x32768xf32>
  return %r : tensor<2048x32768xf32>
}

func.func @softmax_f32_8192x128(%x: tensor<8192x128xf32>) -> tensor<8192x128xf32> {
  %e = tensor.empty() : tensor<8192x128xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<8192x128xf32>) outs(%e : tensor<8192x128xf32>) -> tensor<8192x128xf32>
  return %r : tensor<8192x128xf32>
}

func.func @rmsnorm_f16_16384x4096(%x: tensor<16384x4096xf16>, %g: tensor<4096xf16>) -> tensor<16384x4096xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<16384xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16384xf32>) -> tensor<16384xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<16384x4096xf16>) outs(%z : tensor<16384xf32>) {
    ^bb0(%in: f16, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %q = arith.mulf %w, %w : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<16384xf32>
  %o = tensor.empty() : tensor<16384x4096xf16>
  %r = linalg.generic {indexing_maps = [#all, #column, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %g, %s : tensor<16384x4096xf16>, tensor<4096xf16>, tensor<16384xf32>) outs(%o : tensor<16384x4096xf16>) {
    ^bb0(%in: f16, %gain: f16, %sum: f32, %out: f16):
      %w = arith.extf %in : f16 to f32
      %k = arith.extf %gain : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %safe = arith.addf %mean, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %y = arith.mulf %w, %inv : f32
      %p = arith.mulf %y, %k : f32
      %h = arith.truncf %p : f32 to f16
      linalg.yield %h : f16
  } -> tensor<16384x4096xf16>
  return %r : tensor<16384x4096xf16>
}

func.func @rmsnorm_f16_8192x128(%x: tensor<8192x128xf16>, %g: tensor<128xf16>) -> tensor<8192x128xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 128.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<8192x128xf16>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f16, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %q = arith.mulf %w, %w : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %o = tensor.empty() : tensor<8192x128xf16>
  %r = linalg.generic {indexing_maps = [#all, #column, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %g, %s : tensor<8192x128xf16>, tensor<128xf16>, tensor<8192xf32>) outs(%o : tensor<8192x128xf16>) {
    ^bb0(%in: f16, %gain: f16, %sum: f32, %out: f16):
      %w = arith.extf %in : f16 to f32
      %k = arith.extf %gain : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %safe = arith.addf %mean, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %y = arith.mulf %w, %inv : f32
      %p = arith.mulf %y, %k : f32
      %h = arith.truncf %p : f32 to f16
      linalg.yield %h : f16
  } -> tensor<8192x128xf16>
  return %r : tensor<8192x128xf16>
}

func.func @rowsum_f32_8192x8192(%x: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8192x8192xf32>) outs(%z : tensor<8192xf32>) dimensions = [1]
  return %r : tensor<8192xf32>
}

func.func @columnsum_f32_8192x8192(%x: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %r = linalg.reduce { arith.addf } ins(%x : tensor<8192x8192xf32>) outs(%z : tensor<8192xf32>) dimensions = [0]
  return %r : tensor<8192xf32>
}

func.func @transpose_f32_8192x8192(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf32>
  %r = linalg.transpose ins(%x : tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) permutation = [1, 0]
  return %r : tensor<8192x8192xf32>
}

func.func @transpose_f16_8192x8192(%x: tensor<8192x8192xf16>) -> tensor<8192x8192xf16> {
  %e = tensor.empty() : tensor<8192x8192xf16>
  %r = linalg.transpose ins(%x : tensor<8192x8192xf16>) outs(%e : tensor<8192x8192xf16>) permutation = [1, 0]
  return %r : tensor<8192x8192xf16>
}

func.func @add_f32_8192x8192(%x: tensor<8192x8192xf32>, %y: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %e = tensor.empty() : tensor<8192x8192xf32>
  %r = linalg.add ins(%x, %y : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}

func.func @gelu_f16_16384x8192(%x: tensor<16384x8192xf16>) -> tensor<16384x8192xf16> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.70710678118654752 : f32
  %e = tensor.empty() : tensor<16384x8192xf16>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x : tensor<16384x8192xf16>) outs(%e : tensor<16384x8192xf16>) {
    ^bb0(%in: f16, %out: f16):
      %w = arith.extf %in : f16 to f32
      %s = arith.mulf %w, %root : f32
      %f = math.erf %s : f32
      %g = arith.addf %f, %one : f32
      %h = arith.mulf %w, %half : f32
      %p = arith.mulf %h, %g : f32
      %q = arith.truncf %p : f32 to f16
      linalg.yield %q : f16
  } -> tensor<16384x8192xf16>
  return %r : tensor<16384x8192xf16>
}
