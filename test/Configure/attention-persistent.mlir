// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_90a", clusters, index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 232448 : i64, sm = 90 : i64, subgroup = 32 : i64, tma, warpgroup_mma = ["wgmma.m64n128k16.f16.f32", "wgmma.m64n64k16.f16.f32"]}>} {
  // More tiles than multiprocessors.
  // CHECK-LABEL: func.func private @many(
  // CHECK-SAME: "as many blocks as multiprocessors compute tile after tile, there and back"
  // CHECK: block = [128, 128]{{.*}}, registers = [40, 232], persistent = true, tma_store = true>
  func.func private @many(%q: tensor<64x512x64xf16>, %out: tensor<64x512x64xf16>) -> tensor<64x512x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<64x512x64xf16>, tensor<64x512x64xf16>, tensor<64x512x64xf16>)
        outs(%out : tensor<64x512x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<64x512x64xf16>
    return %o : tensor<64x512x64xf16>
  }

  // Below a causal mask tiles of all heads that take equally long follow each other: keys and
  // values are in L2.
  // CHECK-LABEL: func.func private @causal(
  // CHECK-SAME: there and back, of 64 heads side by side"
  // CHECK: raster = 64, registers = [40, 232], persistent = true
  func.func private @causal(%q: tensor<64x512x64xf16>, %out: tensor<64x512x64xf16>) -> tensor<64x512x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<64x512x64xf16>, tensor<64x512x64xf16>, tensor<64x512x64xf16>)
        outs(%out : tensor<64x512x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<64x512x64xf16>
    return %o : tensor<64x512x64xf16>
  }

  // They are not, and few blocks read the same.
  // CHECK-LABEL: func.func private @long(
  // CHECK-SAME: there and back"
  // CHECK: mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], persistent = true
  func.func private @long(%q: tensor<64x8192x64xf16>, %out: tensor<64x8192x64xf16>) -> tensor<64x8192x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<64x8192x64xf16>, tensor<64x8192x64xf16>, tensor<64x8192x64xf16>)
        outs(%out : tensor<64x8192x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<64x8192x64xf16>
    return %o : tensor<64x8192x64xf16>
  }

  // CHECK-LABEL: func.func private @few(
  // CHECK-SAME: "a block computes one tile: there are 128 of them for 132 multiprocessors"
  // CHECK-NOT: persistent = true
  func.func private @few(%q: tensor<32x512x64xf16>, %out: tensor<32x512x64xf16>) -> tensor<32x512x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<32x512x64xf16>, tensor<32x512x64xf16>, tensor<32x512x64xf16>)
        outs(%out : tensor<32x512x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<32x512x64xf16>
    return %o : tensor<32x512x64xf16>
  }

  // CHECK-LABEL: func.func private @heads(
  // CHECK-SAME: "a block computes one tile: a causal mask makes some take longer, which many heads even out, or heads side by side; how many there are is not known"
  // CHECK-NOT: persistent = true
  func.func private @heads(%q: tensor<?x8192x64xf16>, %out: tensor<?x8192x64xf16>) -> tensor<?x8192x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<?x8192x64xf16>, tensor<?x8192x64xf16>, tensor<?x8192x64xf16>)
        outs(%out : tensor<?x8192x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<?x8192x64xf16>
    return %o : tensor<?x8192x64xf16>
  }

  // CHECK-LABEL: func.func private @lengths(
  // CHECK-SAME: "a block computes one tile: numbers of keys that are known at run time alone may differ from block to block"
  // CHECK-NOT: persistent = true
  func.func private @lengths(%q: tensor<64x512x64xf16>, %n: tensor<64xi32>, %out: tensor<64x512x64xf16>) -> tensor<64x512x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<64x512x64xf16>, tensor<64x512x64xf16>, tensor<64x512x64xf16>) lengths(%n : tensor<64xi32>)
        outs(%out : tensor<64x512x64xf16>) {indexing_maps = [#q, #k, #v, affine_map<(h, i, j, d, e) -> (h)>, #o]} -> tensor<64x512x64xf16>
    return %o : tensor<64x512x64xf16>
  }
}
