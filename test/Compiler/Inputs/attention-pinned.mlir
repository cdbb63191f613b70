#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
func.func @four(%q: tensor<1x150x64xf16>, %k: tensor<1x200x64xf16>, %v: tensor<1x200x64xf16>) -> tensor<1x150x64xf16> {
  %e = tensor.empty() : tensor<1x150x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<1x150x64xf16>, tensor<1x200x64xf16>, tensor<1x200x64xf16>)
    outs(%e : tensor<1x150x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "bottom_right", tilewright.lowering_config = {
      cuda = #tilewright.lowering_config<strategy = attention, block = [128, 64], warps = [4, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}} -> tensor<1x150x64xf16>
  return %r : tensor<1x150x64xf16>
}
func.func @eight(%q: tensor<1x150x128xf16>, %k: tensor<1x200x128xf16>, %v: tensor<1x200x128xf16>) -> tensor<1x150x128xf16> {
  %e = tensor.empty() : tensor<1x150x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<1x150x128xf16>, tensor<1x200x128xf16>, tensor<1x200x128xf16>)
    outs(%e : tensor<1x150x128xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "bottom_right", tilewright.lowering_config = {
      cuda = #tilewright.lowering_config<strategy = attention, block = [128, 64], warps = [8, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}} -> tensor<1x150x128xf16>
  return %r : tensor<1x150x128xf16>
}
