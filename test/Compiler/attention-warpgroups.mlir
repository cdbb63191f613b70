// On sm_90a attention is by warpgroups where copy engines can name its operands, and says why not
// where they cannot; no spills, no warning of ptxas.
// REQUIRES: tilewright-compile, ptxas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cuda:sm_90a --explain -o %t/a.tw 2>&1 | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t/ptx
// RUN: %ptxas -arch=sm_90a -v %t/ptx/cuda_sm_90a/rows_attention_0.ptx -o %t/a.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %ptxas -arch=sm_90a -v %t/ptx/cuda_sm_90a/lengths_attention_0.ptx -o %t/a.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS
// RUN: %ptxas -arch=sm_90a -v %t/ptx/cuda_sm_90a/pages_attention_0.ptx -o %t/a.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS

// CHECK-LABEL: {{^ *}}rows_attention_0: 1 op
// CHECK: config: #tilewright.lowering_config<strategy = attention, block = [128, 128], warps = [8, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], persistent = true, tma_store = true>
// CHECK: queries through a ring of 2 stages, keys and values through rings of 2 stages, filled by a warp through tensor maps, multiplied by 2 warpgroups
// CHECK: the second product of a step runs beside the first of the next, and the work between them
// CHECK-LABEL: {{^ *}}lengths_attention_0: 1 op
// CHECK: a block copies and multiplies keys up to its length: the copies of the last step end there
// CHECK: config: {{.*}} mma = "wgmma.m64n128k16.f16.f32"
// CHECK-LABEL: {{^ *}}pages_attention_0: 1 op
// CHECK: a step has 8 pages of 16 keys, each with copies of its own
// CHECK: config: {{.*}} mma = "wgmma.m64n128k16.f16.f32"
// CHECK-LABEL: {{^ *}}pages_of_8_attention_0: 1 op
// CHECK: not by warpgroups: pages have 8 keys; a step of 128, 64 or 32 is part of a page, or several of a multiple of 16
// CHECK-LABEL: {{^ *}}odd_attention_0: 1 op
// CHECK: not by warpgroups: the tensor of queries has rows of 36 bytes; a tensor map needs multiples of 16
// CHECK-LABEL: {{^ *}}few_attention_0: 1 op
// CHECK: not by warpgroups: there are 8 queries; they multiply 64 rows at a time

// PTXAS-NOT: warning
// PTXAS-NOT: C75
// PTXAS: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
// PTXAS-NOT: warning

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#n = affine_map<(h, i, j, d, e) -> (h)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
func.func @rows(%q: tensor<132x512x128xf16>, %k: tensor<132x512x128xf16>, %v: tensor<132x512x128xf16>) -> tensor<132x512x128xf16> {
  %e = tensor.empty() : tensor<132x512x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<132x512x128xf16>, tensor<132x512x128xf16>, tensor<132x512x128xf16>)
      outs(%e : tensor<132x512x128xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<132x512x128xf16>
  return %r : tensor<132x512x128xf16>
}
func.func @lengths(%q: tensor<132x512x128xf16>, %k: tensor<132x512x128xf16>, %v: tensor<132x512x128xf16>, %n: tensor<132xi32>) -> tensor<132x512x128xf16> {
  %e = tensor.empty() : tensor<132x512x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<132x512x128xf16>, tensor<132x512x128xf16>, tensor<132x512x128xf16>)
      lengths(%n : tensor<132xi32>) outs(%e : tensor<132x512x128xf16>) {indexing_maps = [#q, #k, #v, #n, #o], causal = "bottom_right"} -> tensor<132x512x128xf16>
  return %r : tensor<132x512x128xf16>
}
func.func @pages(%q: tensor<132x512x128xf16>, %k: tensor<999x16x132x128xf16>, %v: tensor<999x16x132x128xf16>, %t: tensor<132x32xi32>, %n: tensor<132xi32>) -> tensor<132x512x128xf16> {
  %e = tensor.empty() : tensor<132x512x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<132x512x128xf16>, tensor<999x16x132x128xf16>, tensor<999x16x132x128xf16>) table(%t : tensor<132x32xi32>)
      lengths(%n : tensor<132xi32>) outs(%e : tensor<132x512x128xf16>) {indexing_maps = [#q, affine_map<(h, i, j, d, e) -> (j floordiv 16, j mod 16, h, d)>,
        affine_map<(h, i, j, d, e) -> (j floordiv 16, j mod 16, h, e)>, affine_map<(h, i, j, d, e) -> (h, j floordiv 16)>, #n, #o], causal = "bottom_right"} -> tensor<132x512x128xf16>
  return %r : tensor<132x512x128xf16>
}
func.func @pages_of_8(%q: tensor<132x512x128xf16>, %k: tensor<999x8x132x128xf16>, %v: tensor<999x8x132x128xf16>, %t: tensor<132x32xi32>, %n: tensor<132xi32>) -> tensor<132x512x128xf16> {
  %e = tensor.empty() : tensor<132x512x128xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<132x512x128xf16>, tensor<999x8x132x128xf16>, tensor<999x8x132x128xf16>) table(%t : tensor<132x32xi32>)
      lengths(%n : tensor<132xi32>) outs(%e : tensor<132x512x128xf16>) {indexing_maps = [#q, affine_map<(h, i, j, d, e) -> (j floordiv 8, j mod 8, h, d)>,
        affine_map<(h, i, j, d, e) -> (j floordiv 8, j mod 8, h, e)>, affine_map<(h, i, j, d, e) -> (h, j floordiv 8)>, #n, #o], causal = "bottom_right"} -> tensor<132x512x128xf16>
  return %r : tensor<132x512x128xf16>
}
func.func @odd(%q: tensor<132x512x18xf16>, %k: tensor<132x512x18xf16>, %v: tensor<132x512x18xf16>) -> tensor<132x512x18xf16> {
  %e = tensor.empty() : tensor<132x512x18xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<132x512x18xf16>, tensor<132x512x18xf16>, tensor<132x512x18xf16>)
      outs(%e : tensor<132x512x18xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<132x512x18xf16>
  return %r : tensor<132x512x18xf16>
}
func.func @few(%q: tensor<132x8x64xf16>, %k: tensor<132x512x64xf16>, %v: tensor<132x512x64xf16>) -> tensor<132x8x64xf16> {
  %e = tensor.empty() : tensor<132x8x64xf16>
  %r = tilewright.attention ins(%q, %k, %v : tensor<132x8x64xf16>, tensor<132x512x64xf16>, tensor<132x512x64xf16>)
      outs(%e : tensor<132x8x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<132x8x64xf16>
  return %r : tensor<132x8x64xf16>
}
