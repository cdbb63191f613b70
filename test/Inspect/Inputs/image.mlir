func.func @main(%x: tensor<2x18x18x64xf16>, %w: tensor<3x3x64x128xf16>) -> tensor<2x16x16x128xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x16x16x128xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2x16x16x128xf32>) -> tensor<2x16x16x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<2x18x18x64xf16>, tensor<3x3x64x128xf16>)
       outs(%i : tensor<2x16x16x128xf32>) -> tensor<2x16x16x128xf32>
  return %r : tensor<2x16x16x128xf32>
}
