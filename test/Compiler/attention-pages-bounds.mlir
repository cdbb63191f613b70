// The oracle has a bound for attention whose keys and values are in pages: what it reads of them is exact.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=3x2x4x1x64xf16=random:1 --input=64x16x2x64xf16=random:2 --input=64x16x2x64xf16=random:3 --input=3x70xi32=int:0:63:4 --input=3xi32=int:1:1100:5 | FileCheck %s --implicit-check-not="NOT CHECKED"
// RUN: tilewright-run %t.tw --device=ptxsim --check=oracle --input=2x2x4x1x64xf16=random:1 --input=9x16x2x64xf16=random:2 --input=9x16x2x64xf16=random:3 --input=2x5xi32=int:0:8:4 --input=2xi32=int:1:80:5 | FileCheck %s --implicit-check-not="NOT CHECKED"
// CHECK: result[0]: ok: {{.*}}error bounds of the oracle

#q = affine_map<(b, h, g, i, j, d, e) -> (b, h, g, i, d)>
#k = affine_map<(b, h, g, i, j, d, e) -> (j floordiv 16, j mod 16, h, d)>
#v = affine_map<(b, h, g, i, j, d, e) -> (j floordiv 16, j mod 16, h, e)>
#t = affine_map<(b, h, g, i, j, d, e) -> (b, j floordiv 16)>
#n = affine_map<(b, h, g, i, j, d, e) -> (b)>
#o = affine_map<(b, h, g, i, j, d, e) -> (b, h, g, i, e)>
func.func @paged(%q: tensor<?x2x4x1x64xf16>, %k: tensor<?x16x2x64xf16>, %v: tensor<?x16x2x64xf16>, %t: tensor<?x?xi32>, %n: tensor<?xi32>) -> tensor<?x2x4x1x64xf16> {
  %c0 = arith.constant 0 : index
  %b = tensor.dim %q, %c0 : tensor<?x2x4x1x64xf16>
  %e = tensor.empty(%b) : tensor<?x2x4x1x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<?x2x4x1x64xf16>, tensor<?x16x2x64xf16>, tensor<?x16x2x64xf16>) table(%t : tensor<?x?xi32>) lengths(%n : tensor<?xi32>) outs(%e : tensor<?x2x4x1x64xf16>) {indexing_maps = [#q, #k, #v, #t, #n, #o], causal = "bottom_right"} -> tensor<?x2x4x1x64xf16>
  return %r : tensor<?x2x4x1x64xf16>
}
