// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu:x86-64-v4 --explain -o %t.tw 2>&1 | FileCheck %s --check-prefixes=CHECK,AVX512
// RUN: tilewright-compile %s --target=cpu:x86-64-v3 --explain -o %t.tw 2>&1 | FileCheck %s --check-prefixes=CHECK,AVX2

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// CHECK: variant softmax_
// CHECK: rows are pipelined: results of one are stored while the next is computed
func.func @softmax(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %e = tensor.empty() : tensor<4096x1024xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<4096x1024xf32>) outs(%e : tensor<4096x1024xf32>) -> tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}

// The first-level cache keeps few rows of 4 KiB: one at a time.
// AVX512: config: {{.*}} thread = [1, 64]>
// CHECK: variant scaled_
// AVX512: rows are pipelined: results of one are stored while the next is computed
// AVX2: rows are not pipelined: the target has too few registers for two loops in one
func.func @scaled(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<4096x1024xf32>) outs(%z : tensor<4096xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %a = arith.addf %acc, %in : f32
      linalg.yield %a : f32
  } -> tensor<4096xf32>
  %o = tensor.empty() : tensor<4096x1024xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %s : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%o : tensor<4096x1024xf32>) {
    ^bb0(%in: f32, %sum: f32, %out: f32):
      %q = arith.divf %in, %sum : f32
      linalg.yield %q : f32
  } -> tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}

// Longer rows come from the second-level cache, four at a time.
// AVX512: config: {{.*}} thread = [4, 32]>
// CHECK: variant centered_
// CHECK: a row is read once for its mean and its variance, around a running mean
// AVX512: rows are pipelined: results of one are stored while the next is computed
func.func @centered(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 4096.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x : tensor<4096x4096xf32>) outs(%z : tensor<4096xf32>) {
    ^bb0(%in: f32, %acc: f32):
      %a = arith.addf %acc, %in : f32
      linalg.yield %a : f32
  } -> tensor<4096xf32>
  %v = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
       ins(%x, %s : tensor<4096x4096xf32>, tensor<4096xf32>) outs(%z : tensor<4096xf32>) {
    ^bb0(%in: f32, %sum: f32, %acc: f32):
      %m = arith.divf %sum, %n : f32
      %d = arith.subf %in, %m : f32
      %q = arith.mulf %d, %d : f32
      %a = arith.addf %acc, %q : f32
      linalg.yield %a : f32
  } -> tensor<4096xf32>
  %o = tensor.empty() : tensor<4096x4096xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #row, #all], iterator_types = ["parallel", "parallel"]}
       ins(%x, %s, %v : tensor<4096x4096xf32>, tensor<4096xf32>, tensor<4096xf32>) outs(%o : tensor<4096x4096xf32>) {
    ^bb0(%in: f32, %sum: f32, %squares: f32, %out: f32):
      %m = arith.divf %sum, %n : f32
      %d = arith.subf %in, %m : f32
      %t = math.rsqrt %squares : f32
      %q = arith.mulf %d, %t : f32
      linalg.yield %q : f32
  } -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
