// Heads of a group and a dynamic number of queries, which a reshape joins for the second contraction: the loop of both is a known number
// of times a size.
// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

#map = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d5)>
#map1 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d4, d5)>
#map2 = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2, d3, d4)>
#map3 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>
#map4 = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#map5 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map6 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#map7 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func @grouped(
  // CHECK-NOT: linalg.generic
  // CHECK: tilewright.attention ins(%arg0, %arg1, %arg2 : tensor<3x2x3x?x32xf32>, tensor<3x2x?x32xf32>, tensor<3x2x?x32xf32>)
  // CHECK-SAME: -> tensor<3x2x3x?x32xf32>
  // CHECK-NOT: linalg.generic
  // CHECK: return
  func.func @grouped(%arg0: tensor<3x2x3x?x32xf32>, %arg1: tensor<3x2x?x32xf32>, %arg2: tensor<3x2x?x32xf32>) -> tensor<3x2x3x?x32xf32> {
    %c3 = arith.constant 3 : index
    %c2 = arith.constant 2 : index
    %cst = arith.constant 0.176776692 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %cst_1 = arith.constant 0xFF800000 : f32
    %dim = tensor.dim %arg0, %c3 : tensor<3x2x3x?x32xf32>
    %dim_2 = tensor.dim %arg1, %c2 : tensor<3x2x?x32xf32>
    %0 = tensor.empty(%dim, %dim_2) : tensor<3x2x3x?x?xf32>
    %1 = linalg.fill ins(%cst_0 : f32) outs(%0 : tensor<3x2x3x?x?xf32>) -> tensor<3x2x3x?x?xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<3x2x3x?x32xf32>, tensor<3x2x?x32xf32>) outs(%1 : tensor<3x2x3x?x?xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %15 = arith.mulf %in, %in_4 : f32
      %16 = arith.addf %out, %15 : f32
      linalg.yield %16 : f32
    } -> tensor<3x2x3x?x?xf32>
    %3 = linalg.generic {indexing_maps = [#map3, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%2 : tensor<3x2x3x?x?xf32>) outs(%0 : tensor<3x2x3x?x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %15 = arith.mulf %in, %cst : f32
      linalg.yield %15 : f32
    } -> tensor<3x2x3x?x?xf32>
    %4 = tensor.empty(%dim) : tensor<3x2x3x?xf32>
    %5 = linalg.fill ins(%cst_1 : f32) outs(%4 : tensor<3x2x3x?xf32>) -> tensor<3x2x3x?xf32>
    %6 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%3 : tensor<3x2x3x?x?xf32>) outs(%5 : tensor<3x2x3x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %15 = arith.maximumf %in, %out : f32
      linalg.yield %15 : f32
    } -> tensor<3x2x3x?xf32>
    %7 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%3, %6 : tensor<3x2x3x?x?xf32>, tensor<3x2x3x?xf32>) outs(%0 : tensor<3x2x3x?x?xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %15 = arith.subf %in, %in_4 : f32
      %16 = math.exp %15 : f32
      linalg.yield %16 : f32
    } -> tensor<3x2x3x?x?xf32>
    %8 = linalg.fill ins(%cst_0 : f32) outs(%4 : tensor<3x2x3x?xf32>) -> tensor<3x2x3x?xf32>
    %9 = linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%7 : tensor<3x2x3x?x?xf32>) outs(%8 : tensor<3x2x3x?xf32>) {
    ^bb0(%in: f32, %out: f32):
      %15 = arith.addf %in, %out : f32
      linalg.yield %15 : f32
    } -> tensor<3x2x3x?xf32>
    %10 = linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%7, %9 : tensor<3x2x3x?x?xf32>, tensor<3x2x3x?xf32>) outs(%0 : tensor<3x2x3x?x?xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %15 = arith.divf %in, %in_4 : f32
      linalg.yield %15 : f32
    } -> tensor<3x2x3x?x?xf32>
    %collapsed = tensor.collapse_shape %10 [[0, 1], [2, 3], [4]] : tensor<3x2x3x?x?xf32> into tensor<6x?x?xf32>
    %collapsed_3 = tensor.collapse_shape %arg2 [[0, 1], [2], [3]] : tensor<3x2x?x32xf32> into tensor<6x?x32xf32>
    %11 = arith.muli %dim, %c3 : index
    %12 = tensor.empty(%11) : tensor<6x?x32xf32>
    %13 = linalg.fill ins(%cst_0 : f32) outs(%12 : tensor<6x?x32xf32>) -> tensor<6x?x32xf32>
    %14 = linalg.generic {indexing_maps = [#map5, #map6, #map7], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%collapsed, %collapsed_3 : tensor<6x?x?xf32>, tensor<6x?x32xf32>) outs(%13 : tensor<6x?x32xf32>) {
    ^bb0(%in: f32, %in_4: f32, %out: f32):
      %15 = arith.mulf %in, %in_4 : f32
      %16 = arith.addf %out, %15 : f32
      linalg.yield %16 : f32
    } -> tensor<6x?x32xf32>
    %expanded = tensor.expand_shape %14 [[0, 1], [2, 3], [4]] output_shape [3, 2, 3, %dim, 32] : tensor<6x?x32xf32> into tensor<3x2x3x?x32xf32>
    return %expanded : tensor<3x2x3x?x32xf32>
  }
}
