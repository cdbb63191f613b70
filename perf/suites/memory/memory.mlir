// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose time is that of reading and writing memory once: sums, softmax
// and normalisation of rows, log-sum-exp, variance, largest elements, sums of columns,
// transposes, elementwise, running sums. Names are KIND_TYPE_ROWSxCOLUMNS.

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

func.func @softmax_f32_1024x131072(%x: tensor<1024x131072xf32>) -> tensor<1024x131072xf32> {
  %e = tensor.empty() : tensor<1024x131072xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<1024x131072xf32>) outs(%e : tensor<1024x131072xf32>) -> tensor<1024x131072xf32>
  return %r : tensor<1024x131072xf32>
}

func.func @softmax_f32_64x131072(%x: tensor<64x131072xf32>) -> tensor<64x131072xf32> {
  %e = tensor.empty() : tensor<64x131072xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<64x131072xf32>) outs(%e : tensor<64x131072xf32>) -> tensor<64x131072xf32>
  return %r : tensor<64x131072xf32>
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

func.func @rmsnorm_f16_2048x65536(%x: tensor<2048x65536xf16>, %g: tensor<65536xf16>) -> tensor<2048x65536xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 65536.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<2048xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2048xf32>) -> tensor<2048xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<2048x65536xf16>) outs(%z : tensor<2048xf32>) {
    ^bb0(%in: f16, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %q = arith.mulf %w, %w : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<2048xf32>
  %o = tensor.empty() : tensor<2048x65536xf16>
  %r = linalg.generic {indexing_maps = [#all, #column, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %g, %s : tensor<2048x65536xf16>, tensor<65536xf16>, tensor<2048xf32>) outs(%o : tensor<2048x65536xf16>) {
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
  } -> tensor<2048x65536xf16>
  return %r : tensor<2048x65536xf16>
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

func.func @layernorm_f16_8192x4096(%x: tensor<8192x4096xf16>, %g: tensor<4096xf16>, %b: tensor<4096xf16>) -> tensor<8192x4096xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<8192x4096xf16>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f16, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %a = arith.addf %acc, %w : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %v = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x, %s : tensor<8192x4096xf16>, tensor<8192xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f16, %sum: f32, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %w, %mean : f32
      %q = arith.mulf %d, %d : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %o = tensor.empty() : tensor<8192x4096xf16>
  %r = linalg.generic {indexing_maps = [#all, #column, #column, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %g, %b, %s, %v : tensor<8192x4096xf16>, tensor<4096xf16>, tensor<4096xf16>, tensor<8192xf32>, tensor<8192xf32>)
       outs(%o : tensor<8192x4096xf16>) {
    ^bb0(%in: f16, %gain: f16, %bias: f16, %sum: f32, %squares: f32, %out: f16):
      %w = arith.extf %in : f16 to f32
      %k = arith.extf %gain : f16 to f32
      %c = arith.extf %bias : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %w, %mean : f32
      %variance = arith.divf %squares, %n : f32
      %safe = arith.addf %variance, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %y = arith.mulf %d, %inv : f32
      %p = arith.mulf %y, %k : f32
      %t = arith.addf %p, %c : f32
      %h = arith.truncf %t : f32 to f16
      linalg.yield %h : f16
  } -> tensor<8192x4096xf16>
  return %r : tensor<8192x4096xf16>
}

// 64 images, 32 groups of 8 channels, 32 x 32 pixels.
func.func @groupnorm_f16_64x32x8x1024(%x: tensor<64x32x8x1024xf16>, %g: tensor<32x8xf16>, %b: tensor<32x8xf16>) -> tensor<64x32x8x1024xf16> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 8192.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<64x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x32xf32>) -> tensor<64x32xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i, g, c, p) -> (i, g, c, p)>, affine_map<(i, g, c, p) -> (i, g)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
       ins(%x : tensor<64x32x8x1024xf16>) outs(%z : tensor<64x32xf32>) {
    ^bb0(%in: f16, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %a = arith.addf %acc, %w : f32
      linalg.yield %a : f32
  } -> tensor<64x32xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(i, g, c, p) -> (i, g, c, p)>, affine_map<(i, g, c, p) -> (i, g)>,
                                        affine_map<(i, g, c, p) -> (i, g)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
       ins(%x, %s : tensor<64x32x8x1024xf16>, tensor<64x32xf32>) outs(%z : tensor<64x32xf32>) {
    ^bb0(%in: f16, %sum: f32, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %w, %mean : f32
      %q = arith.mulf %d, %d : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<64x32xf32>
  %o = tensor.empty() : tensor<64x32x8x1024xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, g, c, p) -> (i, g, c, p)>, affine_map<(i, g, c, p) -> (g, c)>,
                                        affine_map<(i, g, c, p) -> (g, c)>, affine_map<(i, g, c, p) -> (i, g)>,
                                        affine_map<(i, g, c, p) -> (i, g)>, affine_map<(i, g, c, p) -> (i, g, c, p)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
       ins(%x, %g, %b, %s, %v : tensor<64x32x8x1024xf16>, tensor<32x8xf16>, tensor<32x8xf16>, tensor<64x32xf32>, tensor<64x32xf32>)
       outs(%o : tensor<64x32x8x1024xf16>) {
    ^bb0(%in: f16, %gain: f16, %bias: f16, %sum: f32, %squares: f32, %out: f16):
      %w = arith.extf %in : f16 to f32
      %k = arith.extf %gain : f16 to f32
      %c = arith.extf %bias : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %w, %mean : f32
      %variance = arith.divf %squares, %n : f32
      %safe = arith.addf %variance, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %y = arith.mulf %d, %inv : f32
      %p = arith.mulf %y, %k : f32
      %t = arith.addf %p, %c : f32
      %h = arith.truncf %t : f32 to f16
      linalg.yield %h : f16
  } -> tensor<64x32x8x1024xf16>
  return %r : tensor<64x32x8x1024xf16>
}

func.func @lse_f32_8192x8192(%x: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %m = linalg.reduce { arith.maximumf } ins(%x : tensor<8192x8192xf32>) outs(%l : tensor<8192xf32>) dimensions = [1]
  %s = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x, %m : tensor<8192x8192xf32>, tensor<8192xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f32, %top: f32, %acc: f32):
      %d = arith.subf %in, %top : f32
      %p = math.exp %d : f32
      %a = arith.addf %acc, %p : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       ins(%m, %s : tensor<8192xf32>, tensor<8192xf32>) outs(%e : tensor<8192xf32>) {
    ^bb0(%top: f32, %sum: f32, %out: f32):
      %g = math.log %sum : f32
      %a = arith.addf %g, %top : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  return %r : tensor<8192xf32>
}

func.func @variance_f32_8192x8192(%x: tensor<8192x8192xf32>) -> tensor<8192xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 8192.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %s = linalg.reduce { arith.addf } ins(%x : tensor<8192x8192xf32>) outs(%z : tensor<8192xf32>) dimensions = [1]
  %v = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x, %s : tensor<8192x8192xf32>, tensor<8192xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f32, %sum: f32, %acc: f32):
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %in, %mean : f32
      %q = arith.mulf %d, %d : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       ins(%v : tensor<8192xf32>) outs(%e : tensor<8192xf32>) {
    ^bb0(%squares: f32, %out: f32):
      %a = arith.divf %squares, %n : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  return %r : tensor<8192xf32>
}

// The first of the largest elements of each row, and where it is.
func.func @argmax_f32_8192x8192(%x: tensor<8192x8192xf32>) -> (tensor<8192xf32>, tensor<8192xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8192xf32>
  %f = tensor.empty() : tensor<8192xi32>
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %z = linalg.fill ins(%none : i32) outs(%f : tensor<8192xi32>) -> tensor<8192xi32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<8192x8192xf32>) outs(%l, %z : tensor<8192xf32>, tensor<8192xi32>) {
    ^bb0(%in: f32, %best: f32, %at: i32):
      %j = linalg.index 1 : index
      %i = arith.index_cast %j : index to i32
      %c = arith.cmpf ogt, %in, %best : f32
      %b = arith.select %c, %in, %best : f32
      %a = arith.select %c, %i, %at : i32
      linalg.yield %b, %a : f32, i32
  } -> (tensor<8192xf32>, tensor<8192xi32>)
  return %r#0, %r#1 : tensor<8192xf32>, tensor<8192xi32>
}

// A residual is added, the rows are normalised and rounded to bytes, with a scale for each row; the sum is a result, too.
func.func @addnormquantize_f16_8192x4096(%x: tensor<8192x4096xf16>, %y: tensor<8192x4096xf16>, %g: tensor<4096xf16>)
    -> (tensor<8192x4096xf16>, tensor<8192x4096xi8>, tensor<8192xf32>) {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %most = arith.constant 127.0 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %o = tensor.empty() : tensor<8192x4096xf16>
  %h = linalg.add ins(%x, %y : tensor<8192x4096xf16>, tensor<8192x4096xf16>) outs(%o : tensor<8192x4096xf16>) -> tensor<8192x4096xf16>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%h : tensor<8192x4096xf16>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f16, %acc: f32):
      %w = arith.extf %in : f16 to f32
      %q = arith.mulf %w, %w : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %t = tensor.empty() : tensor<8192x4096xf32>
  %normal = linalg.generic {indexing_maps = [#all, #column, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%h, %g, %s : tensor<8192x4096xf16>, tensor<4096xf16>, tensor<8192xf32>) outs(%t : tensor<8192x4096xf32>) {
    ^bb0(%in: f16, %gain: f16, %sum: f32, %out: f32):
      %w = arith.extf %in : f16 to f32
      %k = arith.extf %gain : f16 to f32
      %mean = arith.divf %sum, %n : f32
      %safe = arith.addf %mean, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %u = arith.mulf %w, %inv : f32
      %p = arith.mulf %u, %k : f32
      linalg.yield %p : f32
  } -> tensor<8192x4096xf32>
  %top = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%normal : tensor<8192x4096xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %p = math.absf %in : f32
      %a = arith.maximumf %acc, %p : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %scale = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
       ins(%top : tensor<8192xf32>) outs(%e : tensor<8192xf32>) {
    ^bb0(%in: f32, %out: f32):
      %a = arith.divf %in, %most : f32
      %b = arith.maximumf %a, %tiny : f32
      linalg.yield %b : f32
  } -> tensor<8192xf32>
  %b = tensor.empty() : tensor<8192x4096xi8>
  %bytes = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%normal, %scale : tensor<8192x4096xf32>, tensor<8192xf32>) outs(%b : tensor<8192x4096xi8>) {
    ^bb0(%in: f32, %unit: f32, %out: i8):
      %d = arith.divf %in, %unit : f32
      %near = math.roundeven %d : f32
      %i = arith.fptosi %near : f32 to i8
      linalg.yield %i : i8
  } -> tensor<8192x4096xi8>
  return %h, %bytes, %scale : tensor<8192x4096xf16>, tensor<8192x4096xi8>, tensor<8192xf32>
}

// Six steps, with a value for each column and for each row.
func.func @chain_f32_8192x8192(%x: tensor<8192x8192xf32>, %y: tensor<8192x8192xf32>, %c: tensor<8192xf32>, %d: tensor<8192xf32>)
    -> tensor<8192x8192xf32> {
  %f = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8192x8192xf32>
  %0 = linalg.broadcast ins(%c : tensor<8192xf32>) outs(%e : tensor<8192x8192xf32>) dimensions = [0]
  %1 = linalg.add ins(%x, %0 : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %2 = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%1 : tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      %p = math.exp %n : f32
      %q = arith.addf %p, %one : f32
      %s = arith.divf %in, %q : f32
      linalg.yield %s : f32
  } -> tensor<8192x8192xf32>
  %3 = linalg.broadcast ins(%d : tensor<8192xf32>) outs(%e : tensor<8192x8192xf32>) dimensions = [1]
  %4 = linalg.mul ins(%2, %3 : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %5 = linalg.mul ins(%4, %y : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %6 = linalg.fill ins(%f : f32) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %7 = linalg.sub ins(%5, %6 : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %8 = linalg.max ins(%7, %x : tensor<8192x8192xf32>, tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %8 : tensor<8192x8192xf32>
}

// Running sums of a few long rows.
func.func @scan_f32_8x8388608(%x: tensor<8x8388608xf32>) -> tensor<8x8388608xf32> {
  %e = tensor.empty() : tensor<8x8388608xf32>
  %r = tilewright.scan ins(%x : tensor<8x8388608xf32>) outs(%e : tensor<8x8388608xf32>) {dim = 1 : i64} combine {
  ^bb0(%sum: f32, %next: f32):
    %c = arith.addf %sum, %next : f32
    tilewright.combined %c : f32
  } -> tensor<8x8388608xf32>
  return %r : tensor<8x8388608xf32>
}
