// RUN: tilewright-compile %s --target=cuda:sm_90a --explain -o %t.tw 2>&1 | FileCheck %s

// Elements of a mask whose rows may have odd lengths wait in a register each: half as many keys a step.
// CHECK: block tile 128 x 64, {{.*}} wgmma
// CHECK: variant attention_attention_0_aligned
// CHECK: block tile 128 x 128, {{.*}} wgmma
// CHECK: variant attention_attention_0:
func.func @attention(%q: tensor<?x?x32xf16>, %k: tensor<?x?x32xf16>, %v: tensor<?x?x32xf16>, %m: tensor<?x?xi1>) -> tensor<?x?x32xf16> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %q, %c0 : tensor<?x?x32xf16>
  %n = tensor.dim %q, %c1 : tensor<?x?x32xf16>
  %e = tensor.empty(%h, %n) : tensor<?x?x32xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<?x?x32xf16>, tensor<?x?x32xf16>, tensor<?x?x32xf16>) mask(%m : tensor<?x?xi1>) outs(%e : tensor<?x?x32xf16>) {
    indexing_maps = [affine_map<(h, i, j, d, e) -> (h, i, d)>, affine_map<(h, i, j, d, e) -> (h, j, d)>,
                     affine_map<(h, i, j, d, e) -> (h, j, e)>, affine_map<(h, i, j, d, e) -> (i, j)>, affine_map<(h, i, j, d, e) -> (h, i, e)>]
  } -> tensor<?x?x32xf16>
  return %r : tensor<?x?x32xf16>
}

// So do those of a mask whose neighbours in memory are queries.
// CHECK: attention_turned_attention_0
// CHECK: block tile 128 x 64, {{.*}} wgmma
func.func @attention_turned(%q: tensor<2x512x32xf16>, %k: tensor<2x512x32xf16>, %v: tensor<2x512x32xf16>, %m: tensor<512x512xf16>) -> tensor<2x512x32xf16> {
  %e = tensor.empty() : tensor<2x512x32xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x512x32xf16>, tensor<2x512x32xf16>, tensor<2x512x32xf16>) mask(%m : tensor<512x512xf16>) outs(%e : tensor<2x512x32xf16>) {
    indexing_maps = [affine_map<(h, i, j, d, e) -> (h, i, d)>, affine_map<(h, i, j, d, e) -> (h, j, d)>,
                     affine_map<(h, i, j, d, e) -> (h, j, e)>, affine_map<(h, i, j, d, e) -> (j, i)>, affine_map<(h, i, j, d, e) -> (h, i, e)>]
  } -> tensor<2x512x32xf16>
  return %r : tensor<2x512x32xf16>
}
