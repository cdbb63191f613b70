// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

func.func @f16_64x96x128(%a: tensor<64x128xf16>, %b: tensor<128x96xf16>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x96xf16>) outs(%z : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}
func.func @bf16_2x64x96x128(%a: tensor<2x64x128xbf16>, %b: tensor<2x128x96xbf16>) -> tensor<2x64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x64x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x64x128xbf16>, tensor<2x128x96xbf16>) outs(%z : tensor<2x64x96xf32>) -> tensor<2x64x96xf32>
  return %r : tensor<2x64x96xf32>
}
func.func @wrong_f16_64x96x128(%a: tensor<64x128xf16>, %b: tensor<128x96xf16>) -> tensor<64x96xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x96xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x96xf32>) -> tensor<64x96xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x128xf16>, tensor<128x96xf16>) outs(%z : tensor<64x96xf32>) -> tensor<64x96xf32>
  return %r : tensor<64x96xf32>
}
