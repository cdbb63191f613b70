// Keys and values that were put together of pages: what they were put together to is read, since a reshape that cuts the
// loop of the keys is not seen through.
// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

#ij = affine_map<(h, i, j) -> (h, i, j)>
#i = affine_map<(h, i, j) -> (h, i)>
#pij = affine_map<(h, i, j) -> (i, j)>
#sq = affine_map<(h, i, j, d) -> (h, i, d)>
#sk = affine_map<(h, i, j, d) -> (h, j, d)>
#ss = affine_map<(h, i, j, d) -> (h, i, j)>
#ow = affine_map<(h, i, e, j) -> (h, i, j)>
#ov = affine_map<(h, i, e, j) -> (h, j, e)>
#oo = affine_map<(h, i, e, j) -> (h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func @pages(
  // CHECK-DAG: %[[K:.*]] = tensor.collapse_shape %arg1
  // CHECK-DAG: %[[V:.*]] = tensor.collapse_shape %arg2
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention ins(%arg0, %[[K]], %[[V]] :
  // CHECK-NOT: linalg.generic
  func.func @pages(%q: tensor<2x32x16xf16>, %kp: tensor<2x3x16x16xf16>, %vp: tensor<2x3x16x16xf16>) -> tensor<2x32x16xf32> {
    %k = tensor.collapse_shape %kp [[0], [1, 2], [3]] : tensor<2x3x16x16xf16> into tensor<2x48x16xf16>
    %v = tensor.collapse_shape %vp [[0], [1, 2], [3]] : tensor<2x3x16x16xf16> into tensor<2x48x16xf16>
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %es = tensor.empty() : tensor<2x32x48xf32>
    %er = tensor.empty() : tensor<2x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%es : tensor<2x32x48xf32>) -> tensor<2x32x48xf32>
    %raw = linalg.generic {indexing_maps = [#sq, #sk, #ss], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x32x16xf16>, tensor<2x48x16xf16>) outs(%z : tensor<2x32x48xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x48xf32>
    %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%raw : tensor<2x32x48xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%s: f32, %out: f32):
      %f = arith.constant 0.25 : f32
      %r = arith.mulf %s, %f : f32
      linalg.yield %r : f32
    } -> tensor<2x32x48xf32>
    %m0 = linalg.fill ins(%low : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%t : tensor<2x32x48xf32>) outs(%m0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.maximumf %x, %acc : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %l0 = linalg.fill ins(%zero : f32) outs(%er : tensor<2x32xf32>) -> tensor<2x32xf32>
    %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%t, %m : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%es : tensor<2x32x48xf32>) {
    ^bb0(%x: f32, %y: f32, %o: f32):
      %0 = arith.subf %x, %y : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32x48xf32>
    %l = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%p : tensor<2x32x48xf32>) outs(%l0 : tensor<2x32xf32>) {
    ^bb0(%x: f32, %acc: f32):
      %0 = arith.addf %acc, %x : f32
      linalg.yield %0 : f32
    } -> tensor<2x32xf32>
    %eh = tensor.empty() : tensor<2x32x48xf16>
    %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%p, %l : tensor<2x32x48xf32>, tensor<2x32xf32>) outs(%eh : tensor<2x32x48xf16>) {
    ^bb0(%x: f32, %y: f32, %o: f16):
      %w0 = arith.divf %x, %y : f32
      %w1 = arith.truncf %w0 : f32 to f16
      linalg.yield %w1 : f16
    } -> tensor<2x32x48xf16>
    %eo = tensor.empty() : tensor<2x32x16xf32>
    %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<2x32x16xf32>) -> tensor<2x32x16xf32>
    %o = linalg.generic {indexing_maps = [#ow, #ov, #oo], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x32x48xf16>, tensor<2x48x16xf16>) outs(%zo : tensor<2x32x16xf32>) {
    ^bb0(%a: f16, %b: f16, %c: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %c, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x32x16xf32>
    return %o : tensor<2x32x16xf32>
  }
}
