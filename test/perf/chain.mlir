// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Temporaries of growing and shrinking sizes, two of them alive at a time.

func.func @chain(%x: tensor<48x64xf32>, %w0: tensor<64x96xf32>, %w1: tensor<96x160xf32>, %w2: tensor<160x256xf32>, %w3: tensor<256x128xf32>, %w4: tensor<128x64xf32>, %w5: tensor<64x32xf32>) -> tensor<48x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<48x96xf32>
  %z0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<48x96xf32>) -> tensor<48x96xf32>
  %r0 = linalg.matmul ins(%x, %w0 : tensor<48x64xf32>, tensor<64x96xf32>) outs(%z0 : tensor<48x96xf32>) -> tensor<48x96xf32>
  %e1 = tensor.empty() : tensor<48x160xf32>
  %z1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<48x160xf32>) -> tensor<48x160xf32>
  %r1 = linalg.matmul ins(%r0, %w1 : tensor<48x96xf32>, tensor<96x160xf32>) outs(%z1 : tensor<48x160xf32>) -> tensor<48x160xf32>
  %e2 = tensor.empty() : tensor<48x256xf32>
  %z2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<48x256xf32>) -> tensor<48x256xf32>
  %r2 = linalg.matmul ins(%r1, %w2 : tensor<48x160xf32>, tensor<160x256xf32>) outs(%z2 : tensor<48x256xf32>) -> tensor<48x256xf32>
  %e3 = tensor.empty() : tensor<48x128xf32>
  %z3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<48x128xf32>) -> tensor<48x128xf32>
  %r3 = linalg.matmul ins(%r2, %w3 : tensor<48x256xf32>, tensor<256x128xf32>) outs(%z3 : tensor<48x128xf32>) -> tensor<48x128xf32>
  %e4 = tensor.empty() : tensor<48x64xf32>
  %z4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<48x64xf32>) -> tensor<48x64xf32>
  %r4 = linalg.matmul ins(%r3, %w4 : tensor<48x128xf32>, tensor<128x64xf32>) outs(%z4 : tensor<48x64xf32>) -> tensor<48x64xf32>
  %e5 = tensor.empty() : tensor<48x32xf32>
  %z5 = linalg.fill ins(%zero : f32) outs(%e5 : tensor<48x32xf32>) -> tensor<48x32xf32>
  %r5 = linalg.matmul ins(%r4, %w5 : tensor<48x64xf32>, tensor<64x32xf32>) outs(%z5 : tensor<48x32xf32>) -> tensor<48x32xf32>
  return %r5 : tensor<48x32xf32>
}
