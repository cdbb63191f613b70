// RUN: tilewright-compile %s --target=cuda:sm_90a --explain -o %t.tw 2>&1 | FileCheck %s

// By warpgroups, whether two products of one operand are one kernel is asked of what is predicted of one and of two.

// CHECK-LABEL: Wide_matmul_0: 3 ops in one kernel
// CHECK: two products of operand 0 run side by side in one kernel, a dual product: {{.*}}; {{[0-9.]+}} us as one kernel, {{[0-9.]+}} us as two and a launch, as predicted

// Longer sums, fewer results: tiles of both leave more of the last wave without work.
// CHECK-LABEL: Deep_matmul_0
// CHECK: a kernel of its own: two products of one operand are not computed in one kernel: that would save a kernel, and {{.*}}; {{[0-9.]+}} us as one kernel, {{[0-9.]+}} us as two and a launch, as predicted
// CHECK-LABEL: Deep_matmul_1
func.func @Wide(%x: tensor<4096x1024xf16>, %w: tensor<1024x4096xf16>, %v: tensor<1024x4096xf16>) -> tensor<4096x4096xf16> {
  %e = tensor.empty() : tensor<4096x4096xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %g = linalg.matmul ins(%x, %w : tensor<4096x1024xf16>, tensor<1024x4096xf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %gh0 = tensor.empty() : tensor<4096x4096xf16>
  %gh = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<4096x4096xf32>) outs(%gh0 : tensor<4096x4096xf16>) {
    ^bb0(%a: f32, %o: f16):
      %h = arith.truncf %a : f32 to f16
      linalg.yield %h : f16
  } -> tensor<4096x4096xf16>
  %u = linalg.matmul ins(%x, %v : tensor<4096x1024xf16>, tensor<1024x4096xf16>) outs(%f : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r0 = tensor.empty() : tensor<4096x4096xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%gh, %u : tensor<4096x4096xf16>, tensor<4096x4096xf32>) outs(%r0 : tensor<4096x4096xf16>) {
    ^bb0(%a: f16, %b: f32, %o: f16):
      %a32 = arith.extf %a : f16 to f32
      %p = arith.mulf %a32, %b : f32
      %h = arith.truncf %p : f32 to f16
      linalg.yield %h : f16
  } -> tensor<4096x4096xf16>
  return %r : tensor<4096x4096xf16>
}
func.func @Deep(%x: tensor<2048x8192xf16>, %w: tensor<8192x2048xf16>, %v: tensor<8192x2048xf16>) -> tensor<2048x2048xf16> {
  %e = tensor.empty() : tensor<2048x2048xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %g = linalg.matmul ins(%x, %w : tensor<2048x8192xf16>, tensor<8192x2048xf16>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %gh0 = tensor.empty() : tensor<2048x2048xf16>
  %gh = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%g : tensor<2048x2048xf32>) outs(%gh0 : tensor<2048x2048xf16>) {
    ^bb0(%a: f32, %o: f16):
      %h = arith.truncf %a : f32 to f16
      linalg.yield %h : f16
  } -> tensor<2048x2048xf16>
  %u = linalg.matmul ins(%x, %v : tensor<2048x8192xf16>, tensor<8192x2048xf16>) outs(%f : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %r0 = tensor.empty() : tensor<2048x2048xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%gh, %u : tensor<2048x2048xf16>, tensor<2048x2048xf32>) outs(%r0 : tensor<2048x2048xf16>) {
    ^bb0(%a: f16, %b: f32, %o: f16):
      %a32 = arith.extf %a : f16 to f32
      %p = arith.mulf %a32, %b : f32
      %h = arith.truncf %p : f32 to f16
      linalg.yield %h : f16
  } -> tensor<2048x2048xf16>
  return %r : tensor<2048x2048xf16>
}
