// The bounds of docs/math.md for what NVIDIA's kernels compute in their own way, as far as a simulator whose approximate instructions
// are exact can hold them, and what comes of zeros, infinities, NaN and numbers below the normal ones.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: rm -rf %t && mkdir %t && tilewright-compile %s --target=cuda:sm_80 -o %t/program.tw
// RUN: %python %S/Inputs/math-errors.py %t/program.tw %t | FileCheck %s

// CHECK: exp: within 1.5, zeros, infinities and NaN as they should be
// CHECK-NEXT: tanh: within 3, zeros, infinities and NaN as they should be
// CHECK-NEXT: rsqrt: within 1, zeros, infinities and NaN as they should be
// CHECK-NEXT: sigmoid: within 5, zeros, infinities and NaN as they should be
// CHECK-NEXT: quotients: within 0.501, zeros, infinities and NaN as they should be

func.func @exp(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %r = math.exp %x : tensor<65536xf32>
  return %r : tensor<65536xf32>
}

func.func @tanh(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %r = math.tanh %x : tensor<65536xf32>
  return %r : tensor<65536xf32>
}

func.func @rsqrt(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %r = math.rsqrt %x : tensor<65536xf32>
  return %r : tensor<65536xf32>
}

func.func @sigmoid(%x: tensor<65536xf32>) -> tensor<65536xf32> {
  %one = arith.constant dense<1.0> : tensor<65536xf32>
  %n = arith.negf %x : tensor<65536xf32>
  %e = math.exp %n : tensor<65536xf32>
  %s = arith.addf %e, %one : tensor<65536xf32>
  %r = arith.divf %one, %s : tensor<65536xf32>
  return %r : tensor<65536xf32>
}

func.func @quotients(%x: tensor<1024x64xf32>, %s: tensor<1024xf32>) -> tensor<1024x64xf32> {
  %e = tensor.empty() : tensor<1024x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<1024x64xf32>, tensor<1024xf32>) outs(%e : tensor<1024x64xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %q = arith.divf %a, %b : f32
    linalg.yield %q : f32
  } -> tensor<1024x64xf32>
  return %r : tensor<1024x64xf32>
}
