// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
// CHECK: tilewright.explain = ["strategy attention: one kernel for both contractions and the softmax between them; no scores in memory"
// CHECK: tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  func.func private @k(%q: tensor<2x64x64xf16>, %out: tensor<2x64x64xf16>) -> tensor<2x64x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x64x64xf16>, tensor<2x64x64xf16>, tensor<2x64x64xf16>)
        outs(%out : tensor<2x64x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x64x64xf16>
    return %o : tensor<2x64x64xf16>
  }
}
