// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80 --emit=manifest -o - | tr -d ' \n' | FileCheck %s

// A sum in four parts is the work of one sum, 2 * 64 * 4096 * 4096, and that of
// adding the parts, 4 * 64 * 4096.
// CHECK: "flops":2148532224,"inputs"
func.func @parts(%a: tensor<64x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<64x4096xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4096xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x4096xf16>, tensor<4096x4096xf16>) outs(%f : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %r : tensor<64x4096xf32>
}
