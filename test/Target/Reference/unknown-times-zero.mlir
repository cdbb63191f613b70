// What nothing is known of, times zero, may be anything, NaN included: its bound is
// infinite, not NaN, and the verdict says that nothing was checked.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cpu,cpu-reference -o %t.tw
// RUN: not tilewright-run %t.tw --device=cpu --check=oracle --input=8x64xf32=random:1 --input=64x8xf32=random:2 --input=8x8xf32=0 | FileCheck %s

// CHECK: result[0]: NOTHING CHECKED: 8x8xf32
// CHECK-SAME: of inf allowed
// CHECK: result[1]: ok

func.func @main(%a: tensor<8x64xf32>, %b: tensor<64x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%a, %b : tensor<8x64xf32>, tensor<64x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %t = math.tan %p : tensor<8x8xf32>
  %m = arith.mulf %t, %y : tensor<8x8xf32>
  %r = arith.addf %p, %m : tensor<8x8xf32>
  return %r, %p : tensor<8x8xf32>, tensor<8x8xf32>
}
