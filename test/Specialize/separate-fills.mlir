// RUN: tilewright-opt %s -tilewright-specialize | FileCheck %s

// Two products of one size begin with zeros of their own: they run over other loops.
// CHECK-LABEL: func.func private @k(
// CHECK: %[[SECOND:.*]] = linalg.fill
// CHECK: %[[FIRST:.*]] = linalg.fill
// CHECK: %[[P:.*]] = linalg.matmul {{.*}} outs(%[[FIRST]]
// CHECK: linalg.matmul ins(%[[P]], {{.*}} outs(%[[SECOND]]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64}>} {
  func.func private @k(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32>
      attributes {tilewright.kernel} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
    %r = linalg.matmul ins(%p, %c : tensor<64x64xf32>, tensor<64x64xf32>) outs(%z : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}
