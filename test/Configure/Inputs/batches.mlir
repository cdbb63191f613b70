func.func @main(%a: tensor<2x64x4096xf32>, %b: tensor<2x4096x64xf32>) -> tensor<2x64x64xf32> {
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x64x64xf32>
  %i = linalg.fill ins(%z : f32) outs(%e : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  %r = linalg.batch_matmul ins(%a, %b : tensor<2x64x4096xf32>, tensor<2x4096x64xf32>) outs(%i : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  return %r : tensor<2x64x64xf32>
}
