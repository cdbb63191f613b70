// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// Values that a projection's kernel converts, then transposed and repeated for the heads that share them, are read where that
// leaves them.
#ij = affine_map<(h, i, j) -> (h, i, j)>
#i = affine_map<(h, i, j) -> (h, i)>
#sq = affine_map<(h, i, j, d) -> (h, i, d)>
#sk = affine_map<(h, i, j, d) -> (h, j, d)>
#ss = affine_map<(h, i, j, d) -> (h, i, j)>
#ow = affine_map<(h, i, e, j) -> (h, i, j)>
#ov = affine_map<(h, i, e, j) -> (h, j, e)>
#oo = affine_map<(h, i, e, j) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func @repeated_values(
  // CHECK: %[[V:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<48x2x16xf32>)
  // CHECK: tilewright.attention ins(%{{.*}}, %{{.*}}, %[[V]] : tensor<2x2x32x16xf16>, tensor<2x2x48x16xf16>, tensor<48x2x16xf16>)
  func.func @repeated_values(%q: tensor<4x32x16xf16>, %k: tensor<4x48x16xf16>, %x: tensor<48x2x16xf32>) -> tensor<4x32x16xf32> {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %ev = tensor.empty() : tensor<48x2x16xf16>
    %c = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<48x2x16xf32>) outs(%ev : tensor<48x2x16xf16>) {
    ^bb0(%a: f32, %o: f16):
      %0 = arith.truncf %a : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<48x2x16xf16>
    %eb = tensor.empty() : tensor<2x2x48x16xf16>
    %b = linalg.generic {indexing_maps = [affine_map<(h, g, j, e) -> (j, h, e)>, affine_map<(h, g, j, e) -> (h, g, j, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
        ins(%c : tensor<48x2x16xf16>) outs(%eb : tensor<2x2x48x16xf16>) {
    ^bb0(%a: f16, %o: f16):
      linalg.yield %a : f16
    } -> tensor<2x2x48x16xf16>
    %v = tensor.collapse_shape %b [[0, 1], [2], [3]] : tensor<2x2x48x16xf16> into tensor<4x48x16xf16>
    %es = tensor.empty() : tensor<4x32x48xf32>
    %er = tensor.empty() : tensor<4x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<4x32x48xf32>) -> tensor<4x32x48xf32>
    %t = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<4x32x16xf16>, tensor<4x48x16xf16>) outs(%z : tensor<4x32x48xf32>) {
    ^bb0(%a: f16, %d: f16, %s: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %d : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %s, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<4x32xf32>) -> tensor<4x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<4x32x48xf32>) outs(%m0 : tensor<4x32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %0 = arith.maximumf %a, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<4x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<4x32xf32>) -> tensor<4x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<4x32x48xf32>, tensor<4x32xf32>) outs(%es : tensor<4x32x48xf32>) {
    ^bb0(%a: f32, %y: f32, %o: f32):
      %0 = arith.subf %a, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<4x32x48xf32>) outs(%l0 : tensor<4x32xf32>) {
    ^bb0(%a: f32, %acc: f32):
      %0 = arith.addf %acc, %a : f32
      linalg.yield %0 : f32
    } -> tensor<4x32xf32>
    %eh = tensor.empty() : tensor<4x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<4x32x48xf32>, tensor<4x32xf32>) outs(%eh : tensor<4x32x48xf16>) {
    ^bb0(%a: f32, %y: f32, %o: f16):
      %w0 = arith.divf %a, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<4x32x48xf16>
    %eo = tensor.empty() : tensor<4x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x32x16xf32>) -> tensor<4x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<4x32x48xf16>, tensor<4x48x16xf16>) outs(%zo : tensor<4x32x16xf32>) {
    ^bb0(%a: f16, %d: f16, %s: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %d : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %s, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x32x16xf32>
    return %o : tensor<4x32x16xf32>
  }
}
