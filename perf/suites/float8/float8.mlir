// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of 8-bit floats with f32 sums, the sums along the rows of both operands: large and square, of another shape,
// few rows; rounded to bf16. Names are TYPE_MxNxK.

func.func @e4m3_8192x8192x8192(%a: tensor<8192x8192xf8E4M3FN>, %b: tensor<8192x8192xf8E4M3FN>) -> tensor<8192x8192xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8192x8192xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<8192x8192xf8E4M3FN>, tensor<8192x8192xf8E4M3FN>) outs(%z : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  %o = tensor.empty() : tensor<8192x8192xbf16>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<8192x8192xf32>) outs(%o : tensor<8192x8192xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<8192x8192xbf16>
  return %c : tensor<8192x8192xbf16>
}
func.func @e4m3_4096x14336x4096(%a: tensor<4096x4096xf8E4M3FN>, %b: tensor<14336x4096xf8E4M3FN>) -> tensor<4096x14336xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x14336xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4096x4096xf8E4M3FN>, tensor<14336x4096xf8E4M3FN>) outs(%z : tensor<4096x14336xf32>) -> tensor<4096x14336xf32>
  %o = tensor.empty() : tensor<4096x14336xbf16>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<4096x14336xf32>) outs(%o : tensor<4096x14336xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x14336xbf16>
  return %c : tensor<4096x14336xbf16>
}
func.func @e4m3_64x4096x4096(%a: tensor<64x4096xf8E4M3FN>, %b: tensor<4096x4096xf8E4M3FN>) -> tensor<64x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<64x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>) outs(%z : tensor<64x4096xf32>) -> tensor<64x4096xf32>
  %o = tensor.empty() : tensor<64x4096xbf16>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<64x4096xf32>) outs(%o : tensor<64x4096xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<64x4096xbf16>
  return %c : tensor<64x4096xbf16>
}
func.func @e5m2_4096x4096x4096(%a: tensor<4096x4096xf8E5M2>, %b: tensor<4096x4096xf8E4M3FN>) -> tensor<4096x4096xbf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x4096xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %r = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4096x4096xf8E5M2>, tensor<4096x4096xf8E4M3FN>) outs(%z : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %o = tensor.empty() : tensor<4096x4096xbf16>
  %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%r : tensor<4096x4096xf32>) outs(%o : tensor<4096x4096xbf16>) {
  ^bb0(%x: f32, %out: bf16):
    %t = arith.truncf %x : f32 to bf16
    linalg.yield %t : bf16
  } -> tensor<4096x4096xbf16>
  return %c : tensor<4096x4096xbf16>
}
