// Many long heads: blocks of 128 queries, of which four warps take 32 rows each, or eight 16, as
// the depth allows. The same blocks, pinned, are right on lengths that are no multiples of theirs.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80 --explain -o %t.tw 2>&1 | FileCheck %s
// RUN: tilewright-compile %S/Inputs/attention-pinned.mlir --target=cuda:sm_80,cpu-reference -o %t.pinned.tw
// RUN: env PTXSIM_ARCH=sm_80 tilewright-run %t.pinned.tw --function=four --device=ptxsim --check=oracle --input=1x150x64xf16=random --input=1x200x64xf16=random --input=1x200x64xf16=random | FileCheck %s --check-prefix=RIGHT
// RUN: env PTXSIM_ARCH=sm_80 tilewright-run %t.pinned.tw --function=eight --device=ptxsim --check=oracle --input=1x150x128xf16=random --input=1x200x128xf16=random --input=1x200x128xf16=random | FileCheck %s --check-prefix=RIGHT

// CHECK: config: #tilewright.lowering_config<strategy = attention, block = [128, 64], warps = [4, 1]
// CHECK: config: #tilewright.lowering_config<strategy = attention, block = [128, 64], warps = [8, 1]
// RIGHT: result[0]: ok

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
func.func @four(%q: tensor<32x512x64xf16>) -> tensor<32x512x64xf16> {
  %e = tensor.empty() : tensor<32x512x64xf16>
  %r = tilewright.attention ins(%q, %q, %q : tensor<32x512x64xf16>, tensor<32x512x64xf16>, tensor<32x512x64xf16>)
    outs(%e : tensor<32x512x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<32x512x64xf16>
  return %r : tensor<32x512x64xf16>
}
func.func @eight(%q: tensor<32x512x128xf16>) -> tensor<32x512x128xf16> {
  %e = tensor.empty() : tensor<32x512x128xf16>
  %r = tilewright.attention ins(%q, %q, %q : tensor<32x512x128xf16>, tensor<32x512x128xf16>, tensor<32x512x128xf16>)
    outs(%e : tensor<32x512x128xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<32x512x128xf16>
  return %r : tensor<32x512x128xf16>
}
