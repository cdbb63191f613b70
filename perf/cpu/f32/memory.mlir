// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms and activations of f32, which most programs on CPUs have, for `perf/cpu/memory --suite
// perf/cpu/f32`: kernels whose time is that of reading and writing memory once.

#row = affine_map<(i, j) -> (i)>
#column = affine_map<(i, j) -> (j)>
#all = affine_map<(i, j) -> (i, j)>

func.func @layernorm_f32_8192x768(%x: tensor<8192x768xf32>, %g: tensor<768xf32>, %b: tensor<768xf32>) -> tensor<8192x768xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 768.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<8192x768xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %a = arith.addf %acc, %in : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %v = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x, %s : tensor<8192x768xf32>, tensor<8192xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f32, %s_: f32, %acc: f32):
      %mean = arith.divf %s_, %n : f32
      %d = arith.subf %in, %mean : f32
      %q = arith.mulf %d, %d : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %o = tensor.empty() : tensor<8192x768xf32>
  %r = linalg.generic {indexing_maps = [#all, #column, #column, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %g, %b, %s, %v : tensor<8192x768xf32>, tensor<768xf32>, tensor<768xf32>, tensor<8192xf32>, tensor<8192xf32>) outs(%o : tensor<8192x768xf32>) {
    ^bb0(%in: f32, %gain: f32, %bias: f32, %sum: f32, %squares: f32, %out: f32):
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %in, %mean : f32
      %variance = arith.divf %squares, %n : f32
      %safe = arith.addf %variance, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %y = arith.mulf %d, %inv : f32
      %p = arith.mulf %y, %gain : f32
      %h = arith.addf %p, %bias : f32
      linalg.yield %h : f32
  } -> tensor<8192x768xf32>
  return %r : tensor<8192x768xf32>
}

func.func @layernorm_f32_8192x4096(%x: tensor<8192x4096xf32>, %g: tensor<4096xf32>, %b: tensor<4096xf32>) -> tensor<8192x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<8192x4096xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %a = arith.addf %acc, %in : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %v = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x, %s : tensor<8192x4096xf32>, tensor<8192xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f32, %s_: f32, %acc: f32):
      %mean = arith.divf %s_, %n : f32
      %d = arith.subf %in, %mean : f32
      %q = arith.mulf %d, %d : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %o = tensor.empty() : tensor<8192x4096xf32>
  %r = linalg.generic {indexing_maps = [#all, #column, #column, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %g, %b, %s, %v : tensor<8192x4096xf32>, tensor<4096xf32>, tensor<4096xf32>, tensor<8192xf32>, tensor<8192xf32>) outs(%o : tensor<8192x4096xf32>) {
    ^bb0(%in: f32, %gain: f32, %bias: f32, %sum: f32, %squares: f32, %out: f32):
      %mean = arith.divf %sum, %n : f32
      %d = arith.subf %in, %mean : f32
      %variance = arith.divf %squares, %n : f32
      %safe = arith.addf %variance, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %y = arith.mulf %d, %inv : f32
      %p = arith.mulf %y, %gain : f32
      %h = arith.addf %p, %bias : f32
      linalg.yield %h : f32
  } -> tensor<8192x4096xf32>
  return %r : tensor<8192x4096xf32>
}

func.func @rmsnorm_f32_8192x4096(%x: tensor<8192x4096xf32>, %g: tensor<4096xf32>) -> tensor<8192x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %tiny = arith.constant 1.0e-5 : f32
  %e = tensor.empty() : tensor<8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192xf32>) -> tensor<8192xf32>
  %v = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<8192x4096xf32>) outs(%z : tensor<8192xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %q = arith.mulf %in, %in : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<8192xf32>
  %o = tensor.empty() : tensor<8192x4096xf32>
  %r = linalg.generic {indexing_maps = [#all, #column, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %g, %v : tensor<8192x4096xf32>, tensor<4096xf32>, tensor<8192xf32>) outs(%o : tensor<8192x4096xf32>) {
    ^bb0(%in: f32, %gain: f32, %squares: f32, %out: f32):
      %variance = arith.divf %squares, %n : f32
      %safe = arith.addf %variance, %tiny : f32
      %inv = math.rsqrt %safe : f32
      %y = arith.mulf %in, %inv : f32
      %p = arith.mulf %y, %gain : f32
      linalg.yield %p : f32
  } -> tensor<8192x4096xf32>
  return %r : tensor<8192x4096xf32>
}

func.func @gelu_f32_8192x8192(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %root = arith.constant 0.70710678118654752 : f32
  %e = tensor.empty() : tensor<8192x8192xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x : tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) {
    ^bb0(%in: f32, %out: f32):
      %s = arith.mulf %in, %root : f32
      %f = math.erf %s : f32
      %g = arith.addf %f, %one : f32
      %h = arith.mulf %in, %half : f32
      %p = arith.mulf %h, %g : f32
      linalg.yield %p : f32
  } -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}

func.func @gelutanh_f32_8192x8192(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %half = arith.constant 0.5 : f32
  %one = arith.constant 1.0 : f32
  %a = arith.constant 0.044715 : f32
  %b = arith.constant 0.7978845608 : f32
  %e = tensor.empty() : tensor<8192x8192xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x : tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) {
    ^bb0(%in: f32, %out: f32):
      %x2 = arith.mulf %in, %in : f32
      %x3 = arith.mulf %x2, %in : f32
      %c = arith.mulf %x3, %a : f32
      %d = arith.addf %in, %c : f32
      %s = arith.mulf %d, %b : f32
      %f = math.tanh %s : f32
      %g = arith.addf %f, %one : f32
      %h = arith.mulf %in, %half : f32
      %p = arith.mulf %h, %g : f32
      linalg.yield %p : f32
  } -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}

func.func @silu_f32_8192x8192(%x: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<8192x8192xf32>
  %r = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x : tensor<8192x8192xf32>) outs(%e : tensor<8192x8192xf32>) {
    ^bb0(%in: f32, %out: f32):
      %n = arith.negf %in : f32
      %f = math.exp %n : f32
      %g = arith.addf %f, %one : f32
      %p = arith.divf %in, %g : f32
      linalg.yield %p : f32
  } -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}
