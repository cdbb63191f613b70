// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of halves with f32 sums: large and square, long sums, a layer of a
// transformer, few rows, batches. Names are
// TYPE_MxNxK.

func.func @f16_8192x8192x8192(%a: tensor<8192x8192xf16>, %b: tensor<8192x8192xf16>) -> tensor<8192x8192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8192x8192xf16>, tensor<8192x8192xf16>) outs(%z : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}
func.func @f16_4096x4096x4096(%a: tensor<4096x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x4096xf16>) outs(%z : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
func.func @f16_4096x4096x16384(%a: tensor<4096x16384xf16>, %b: tensor<16384x4096xf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x16384xf16>, tensor<16384x4096xf16>) outs(%z : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
func.func @f16_4096x14336x4096(%a: tensor<4096x4096xf16>, %b: tensor<4096x14336xf16>) -> tensor<4096x14336xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x14336xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xf16>, tensor<4096x14336xf16>) outs(%z : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  return %r : tensor<4096x14336xf32>
}
func.func @f16_1x4096x4096(%a: tensor<1x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1x4096xf16>, tensor<4096x4096xf16>) outs(%z : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}
func.func @f16_16x4096x4096(%a: tensor<16x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<16x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<16x4096xf16>, tensor<4096x4096xf16>) outs(%z : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %r : tensor<16x4096xf32>
}
func.func @f16_64x4096x4096(%a: tensor<64x4096xf16>, %b: tensor<4096x4096xf16>) -> tensor<64x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x4096xf16>, tensor<4096x4096xf16>) outs(%z : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %r : tensor<64x4096xf32>
}
func.func @f16_32x1024x1024x1024(%a: tensor<32x1024x1024xf16>, %b: tensor<32x1024x1024xf16>) -> tensor<32x1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x1024x1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x1024x1024xf32>) -> tensor<32x1024x1024xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<32x1024x1024xf16>, tensor<32x1024x1024xf16>) outs(%z : tensor<32x1024x1024xf32>) -> tensor<32x1024x1024xf32>
  return %r : tensor<32x1024x1024xf32>
}
func.func @bf16_8192x8192x8192(%a: tensor<8192x8192xbf16>, %b: tensor<8192x8192xbf16>) -> tensor<8192x8192xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %r = linalg.matmul ins(%a, %b : tensor<8192x8192xbf16>, tensor<8192x8192xbf16>) outs(%z : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}
func.func @bf16_4096x4096x4096(%a: tensor<4096x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%z : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
func.func @bf16_4096x4096x16384(%a: tensor<4096x16384xbf16>, %b: tensor<16384x4096xbf16>) -> tensor<4096x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x16384xbf16>, tensor<16384x4096xbf16>) outs(%z : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
func.func @bf16_4096x14336x4096(%a: tensor<4096x4096xbf16>, %b: tensor<4096x14336xbf16>) -> tensor<4096x14336xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x14336xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xbf16>, tensor<4096x14336xbf16>) outs(%z : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  return %r : tensor<4096x14336xf32>
}
func.func @bf16_1x4096x4096(%a: tensor<1x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<1x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<1x4096xbf16>, tensor<4096x4096xbf16>) outs(%z : tensor<1x4096xf32>) -> tensor<1x4096xf32>
  return %r : tensor<1x4096xf32>
}
func.func @bf16_16x4096x4096(%a: tensor<16x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<16x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<16x4096xbf16>, tensor<4096x4096xbf16>) outs(%z : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  return %r : tensor<16x4096xf32>
}
func.func @bf16_64x4096x4096(%a: tensor<64x4096xbf16>, %b: tensor<4096x4096xbf16>) -> tensor<64x4096xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %r = linalg.matmul ins(%a, %b : tensor<64x4096xbf16>, tensor<4096x4096xbf16>) outs(%z : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  return %r : tensor<64x4096xf32>
}
func.func @bf16_32x1024x1024x1024(%a: tensor<32x1024x1024xbf16>, %b: tensor<32x1024x1024xbf16>) -> tensor<32x1024x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x1024x1024xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<32x1024x1024xf32>) -> tensor<32x1024x1024xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<32x1024x1024xbf16>, tensor<32x1024x1024xbf16>) outs(%z : tensor<32x1024x1024xf32>) -> tensor<32x1024x1024xf32>
  return %r : tensor<32x1024x1024xf32>
}
