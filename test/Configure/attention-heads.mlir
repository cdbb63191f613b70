// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// Four queries of each of four heads are the sixteen rows of a block; without a loop of
// heads that share keys, and of more queries than fit beside others, a head has blocks of
// its own.

#q = affine_map<(h, g, i, j, d, e) -> (i, h, g, d)>
#k = affine_map<(h, g, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, g, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, g, i, j, d, e) -> (i, h, g, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK: func.func private @rows
  // CHECK-SAME: "rows of a block are 4 queries of each of 4 heads, which share keys and values: these are read once for all of them"
  // CHECK: block = [4, 4, 64], warps = [1, 1, 1], stages = 2
  func.func private @rows(%q: tensor<3x8x4x64xf16>, %k: tensor<8x512x64xf16>, %out: tensor<3x8x4x64xf16>) -> tensor<3x8x4x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %k : tensor<3x8x4x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>)
        outs(%out : tensor<3x8x4x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<3x8x4x64xf16>
    return %o : tensor<3x8x4x64xf16>
  }

  // CHECK: func.func private @no_more_than_a_block
  // CHECK-SAME: "rows of a block are 16 queries of each of 8 heads
  // CHECK: block = [8, 16, 64], warps = [4, 1, 1], stages = 2
  func.func private @no_more_than_a_block(%q: tensor<16x2x40x64xf16>, %k: tensor<2x512x64xf16>, %out: tensor<16x2x40x64xf16>) -> tensor<16x2x40x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %k : tensor<16x2x40x64xf16>, tensor<2x512x64xf16>, tensor<2x512x64xf16>)
        outs(%out : tensor<16x2x40x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<16x2x40x64xf16>
    return %o : tensor<16x2x40x64xf16>
  }

  // CHECK: func.func private @many_queries
  // CHECK-SAME: "heads that share keys and values have blocks of their own: 17 queries of a head are a block of their own"
  // CHECK: block = [64, 64], warps = [4, 1]
  func.func private @many_queries(%q: tensor<17x8x4x64xf16>, %k: tensor<8x512x64xf16>, %out: tensor<17x8x4x64xf16>) -> tensor<17x8x4x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
    %o = tilewright.attention ins(%q, %k, %k : tensor<17x8x4x64xf16>, tensor<8x512x64xf16>, tensor<8x512x64xf16>)
        outs(%out : tensor<17x8x4x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<17x8x4x64xf16>
    return %o : tensor<17x8x4x64xf16>
  }
}
