#q = affine_map<(p, i, j, d, e) -> (i, d)>
#k = affine_map<(p, i, j, d, e) -> (j, d)>
#v = affine_map<(p, i, j, d, e) -> (j, e)>
#o = affine_map<(p, i, j, d, e) -> (p, i, e)>
#l = affine_map<(p, i, j, d, e) -> (p, i)>
func.func @main(%q: tensor<16x32xf16>, %k: tensor<300x32xf16>, %v: tensor<300x32xf16>) -> (tensor<4x16x32xf32>, tensor<4x16xf32>) {
  %e = tensor.empty() : tensor<4x16x32xf32>
  %s = tensor.empty() : tensor<4x16xf32>
  %r:2 = tilewright.attention ins(%q, %k, %v : tensor<16x32xf16>, tensor<300x32xf16>, tensor<300x32xf16>)
    outs(%e, %s : tensor<4x16x32xf32>, tensor<4x16xf32>)
    {indexing_maps = [#q, #k, #v, #o, #l], key_parts = 32 : i64} -> tensor<4x16x32xf32>, tensor<4x16xf32>
  return %r#0, %r#1 : tensor<4x16x32xf32>, tensor<4x16xf32>
}
