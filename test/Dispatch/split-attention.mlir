// RUN: tilewright-opt %s -tilewright-split-attention | FileCheck %s

// Attention that has no kernel: its depth is too large, or not known.

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func @deep
  // CHECK-NOT: tilewright.attention
  // CHECK: linalg.generic {{.*}}"parallel", "parallel", "parallel", "reduction"]} ins(%{{.*}}, %{{.*}} : tensor<2x16x512xf16>, tensor<2x32x512xf16>) outs(%{{.*}} : tensor<2x16x32xf32>)
  // CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK: linalg.index 1
  // CHECK: linalg.index 2
  // CHECK: arith.cmpi sle
  // CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
  // CHECK: arith.maximumf
  // CHECK: math.exp
  // CHECK: arith.addf
  // CHECK: arith.divf
  // CHECK: arith.truncf
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<2x16x32xf16>, tensor<2x32x512xf16>) outs(%{{.*}} : tensor<2x16x512xf32>)
  // CHECK: tilewright.decomposed = "depth 512 and 512 columns of the values; a block has all of 1 to 256"
  func.func @deep(%q: tensor<2x16x512xf16>, %k: tensor<2x32x512xf16>) -> tensor<2x16x512xf16> {
    %e = tensor.empty() : tensor<2x16x512xf16>
    %o = tilewright.attention ins(%q, %k, %k : tensor<2x16x512xf16>, tensor<2x32x512xf16>, tensor<2x32x512xf16>)
        outs(%e : tensor<2x16x512xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<2x16x512xf16>
    return %o : tensor<2x16x512xf16>
  }
  // CHECK-LABEL: func.func @any_depth
  // CHECK: tilewright.decomposed = "depth and columns of the values are not known when compiling"
  func.func @any_depth(%q: tensor<2x16x?xf16>, %k: tensor<2x32x?xf16>, %e: tensor<2x16x?xf16>) -> tensor<2x16x?xf16> {
    %o = tilewright.attention ins(%q, %k, %k : tensor<2x16x?xf16>, tensor<2x32x?xf16>, tensor<2x32x?xf16>)
        outs(%e : tensor<2x16x?xf16>) {indexing_maps = [#q, #k, #v, #o], scale = 0.5 : f64} -> tensor<2x16x?xf16>
    return %o : tensor<2x16x?xf16>
  }
  // CHECK-LABEL: func.func @kernel
  // CHECK: tilewright.attention
  func.func @kernel(%q: tensor<2x16x64xf16>, %k: tensor<2x32x64xf16>, %e: tensor<2x16x64xf16>) -> tensor<2x16x64xf16> {
    %o = tilewright.attention ins(%q, %k, %k : tensor<2x16x64xf16>, tensor<2x32x64xf16>, tensor<2x32x64xf16>)
        outs(%e : tensor<2x16x64xf16>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x16x64xf16>
    return %o : tensor<2x16x64xf16>
  }
}
