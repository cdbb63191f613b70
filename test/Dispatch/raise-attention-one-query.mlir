// One query a head: the loop of queries that is made lies in front of the columns, though a reshape has joined these with
// heads for a projection.
// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

#hj_h = affine_map<(h, j) -> (h)>
#hj_hj = affine_map<(h, j) -> (h, j)>
#hjd_hd = affine_map<(h, j, d) -> (h, d)>
#hjd_hj = affine_map<(h, j, d) -> (h, j)>
#hjd_hjd = affine_map<(h, j, d) -> (h, j, d)>
#hdj_hd = affine_map<(h, d, j) -> (h, d)>
#hdj_hj = affine_map<(h, d, j) -> (h, j)>
#hdj_hjd = affine_map<(h, d, j) -> (h, j, d)>
#pp = ["parallel", "parallel"]
#ppr = ["parallel", "parallel", "reduction"]
#pr = ["parallel", "reduction"]

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
// CHECK-LABEL: func.func @projected(
// CHECK-SAME: %[[Q:[^:]*]]: {{.*}}, %[[K:[^:]*]]: {{.*}}, %[[V:[^:]*]]:
// CHECK: %[[Q1:.*]] = tensor.expand_shape %[[Q]] {{\[}}[0], [1, 2]] output_shape [4, 1, 16]
// CHECK: %[[R:.*]] = tilewright.attention ins(%[[Q1]], %[[K]], %[[V]] :
// CHECK-SAME: -> tensor<4x1x16xf32>
// CHECK: %[[ROW:.*]] = tensor.collapse_shape %[[R]] {{\[}}[0, 1, 2]] : tensor<4x1x16xf32> into tensor<64xf32>
// CHECK: return %[[ROW]]
func.func @projected(%q: tensor<4x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<64xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x40xf32>) -> tensor<4x40xf32>
  %3 = linalg.generic {indexing_maps = [#hjd_hd, #hjd_hjd, #hjd_hj], iterator_types = #ppr} ins(%q, %k : tensor<4x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x40xf32>
  %4 = tensor.empty() : tensor<4xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4xf32>) -> tensor<4xf32>
  %6 = linalg.generic {indexing_maps = [#hj_hj, #hj_h], iterator_types = #pr} ins(%3 : tensor<4x40xf32>) outs(%5 : tensor<4xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4xf32>
  %7 = linalg.generic {indexing_maps = [#hj_hj, #hj_h, #hj_hj], iterator_types = #pp} ins(%3, %6 : tensor<4x40xf32>, tensor<4xf32>) outs(%1 : tensor<4x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.subf %x0, %x1 : f32 %y = math.exp %d : f32 linalg.yield %y : f32 } -> tensor<4x40xf32>
  %8 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4xf32>) -> tensor<4xf32>
  %9 = linalg.generic {indexing_maps = [#hj_hj, #hj_h], iterator_types = #pr} ins(%7 : tensor<4x40xf32>) outs(%8 : tensor<4xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4xf32>
  %10 = linalg.generic {indexing_maps = [#hj_hj, #hj_h, #hj_hj], iterator_types = #pp} ins(%7, %9 : tensor<4x40xf32>, tensor<4xf32>) outs(%1 : tensor<4x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x40xf32>
  %11 = tensor.empty() : tensor<4x16xf32>
  %12 = linalg.fill ins(%k0 : f32) outs(%11 : tensor<4x16xf32>) -> tensor<4x16xf32>
  %13 = linalg.generic {indexing_maps = [#hdj_hj, #hdj_hjd, #hdj_hd], iterator_types = #ppr} ins(%10, %v : tensor<4x40xf32>, tensor<4x40x16xf32>) outs(%12 : tensor<4x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x16xf32>
  %14 = tensor.collapse_shape %13 [[0, 1]] : tensor<4x16xf32> into tensor<64xf32>
  return %14 : tensor<64xf32>
}
}
