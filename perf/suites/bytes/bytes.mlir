// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of bytes with i32 sums, both operands row after row: large and square, few
// rows; with a scale for each column, rounded back to bytes. Names are
// TYPE_MxNxK, and _scaled.

func.func @i8_8192x8192x8192(%a: tensor<8192x8192xi8>, %b: tensor<8192x8192xi8>) -> tensor<8192x8192xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<8192x8192xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<8192x8192xi32>) -> tensor<8192x8192xi32>
  %r = linalg.matmul ins(%a, %b : tensor<8192x8192xi8>, tensor<8192x8192xi8>) outs(%z : tensor<8192x8192xi32>) -> tensor<8192x8192xi32>
  return %r : tensor<8192x8192xi32>
}
func.func @i8_4096x4096x4096(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8>) -> tensor<4096x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8>) outs(%z : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  return %r : tensor<4096x4096xi32>
}
func.func @i8_4096x4096x4096_scaled(%a: tensor<4096x4096xi8>, %b: tensor<4096x4096xi8>, %s: tensor<4096xf32>) -> tensor<4096x4096xi8> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4096x4096xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<4096x4096xi8>, tensor<4096x4096xi8>) outs(%z : tensor<4096x4096xi32>) -> tensor<4096x4096xi32>
  %o = tensor.empty() : tensor<4096x4096xi8>
  %q = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%r, %s : tensor<4096x4096xi32>, tensor<4096xf32>) outs(%o : tensor<4096x4096xi8>) {
  ^bb0(%sum: i32, %scale: f32, %out: i8):
    %low = arith.constant -128.0 : f32
    %high = arith.constant 127.0 : f32
    %step = arith.constant 1.220703125e-4 : f32
    %0 = arith.sitofp %sum : i32 to f32
    %1 = arith.mulf %scale, %step : f32
    %2 = arith.mulf %0, %1 : f32
    %3 = math.roundeven %2 : f32
    %4 = arith.maximumf %3, %low : f32
    %5 = arith.minimumf %4, %high : f32
    %6 = arith.fptosi %5 : f32 to i8
    linalg.yield %6 : i8
  } -> tensor<4096x4096xi8>
  return %q : tensor<4096x4096xi8>
}
func.func @i8_64x4096x4096(%a: tensor<64x4096xi8>, %b: tensor<4096x4096xi8>) -> tensor<64x4096xi32> {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<64x4096xi32>
  %z = linalg.fill ins(%zero : i32) outs(%e : tensor<64x4096xi32>) -> tensor<64x4096xi32>
  %r = linalg.matmul ins(%a, %b : tensor<64x4096xi8>, tensor<4096x4096xi8>) outs(%z : tensor<64x4096xi32>) -> tensor<64x4096xi32>
  return %r : tensor<64x4096xi32>
}
