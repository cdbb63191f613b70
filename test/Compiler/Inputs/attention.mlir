func.func @main(%q: tensor<16x16xf32>, %k: tensor<128x16xf32>, %v: tensor<128x16xf32>) -> tensor<16x16xf32> {
  %e = tensor.empty() : tensor<16x16xf32>
  %o = tilewright.attention ins(%q, %k, %v : tensor<16x16xf32>, tensor<128x16xf32>, tensor<128x16xf32>)
      outs(%e : tensor<16x16xf32>)
      {indexing_maps = [affine_map<(i, j, d, e) -> (i, d)>, affine_map<(i, j, d, e) -> (j, d)>,
                        affine_map<(i, j, d, e) -> (j, e)>, affine_map<(i, j, d, e) -> (i, e)>]} -> tensor<16x16xf32>
  return %o : tensor<16x16xf32>
}
