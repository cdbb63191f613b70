// RUN: tilewright-opt %s -tilewright-split-keys | FileCheck %s

// Two blocks of this config are on a multiprocessor at once: 8 heads of keys in 17 parts
// are 136 blocks on the 68 of them that a chip which is not known is taken to have.
#q = affine_map<(h, g, i, j, d, e) -> (i, h, g, d)>
#k = affine_map<(h, g, i, j, d, e) -> (j, h, d)>
#v = affine_map<(h, g, i, j, d, e) -> (j, h, e)>
#o = affine_map<(h, g, i, j, d, e) -> (i, h, g, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func @one_wave(
  // CHECK: tilewright.attention {{.*}} outs(%{{.*}}, %{{.*}} : tensor<17x4x8x4x128xf32>, tensor<17x4x8x4xf32>)
  func.func @one_wave(%q: tensor<4x8x4x128xf16>, %k: tensor<32768x8x128xf16>, %v: tensor<32768x8x128xf16>) -> tensor<4x8x4x128xf16> {
    %e = tensor.empty() : tensor<4x8x4x128xf16>
    %o = tilewright.attention ins(%q, %k, %v : tensor<4x8x4x128xf16>, tensor<32768x8x128xf16>, tensor<32768x8x128xf16>)
        outs(%e : tensor<4x8x4x128xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "bottom_right"} -> tensor<4x8x4x128xf16>
    return %o : tensor<4x8x4x128xf16>
  }
}
