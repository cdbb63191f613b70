// A decoder's keys as front ends write them, with rotary tables from positions, all sizes unknown, and asserts that compare
// them: the tables of both functions are one kernel, the turned keys another, which writes them behind those of the cache,
// and one moves the cache. The frequencies are computed when the program is loaded.
// RUN: tilewright-compile %s --target=cuda:sm_90a,vulkan,cpu:x86-64-v4 --explain -o %t.tw 2>&1 | FileCheck %s

// CHECK-COUNT-3: @keys({{.*}}): 3 kernels{{$}}

func.func @keys(%arg0: tensor<?x?x3x32xf16>, %arg1: tensor<?x?xi64>, %arg2: tensor<?x3x?x32xf16>) -> (tensor<?x3x?x32xf16>) {
  %v1 = arith.constant 0 : index
  %v2 = tensor.dim %arg0, %v1 : tensor<?x?x3x32xf16>
  %v3 = arith.constant 0 : index
  %v4 = tensor.dim %arg1, %v3 : tensor<?x?xi64>
  %v5 = arith.cmpi eq, %v2, %v4 : index
  cf.assert %v5, "mismatched size for broadcast"
  %v6 = arith.constant 1 : index
  %v7 = tensor.dim %arg0, %v6 : tensor<?x?x3x32xf16>
  %v8 = arith.constant 1 : index
  %v9 = tensor.dim %arg1, %v8 : tensor<?x?xi64>
  %v10 = arith.cmpi eq, %v7, %v9 : index
  cf.assert %v10, "mismatched size for broadcast"
  %v11 = arith.constant 2 : index
  %v12 = tensor.dim %arg2, %v11 : tensor<?x3x?x32xf16>
  %v13 = arith.addi %v12, %v7 : index
  %v14 = tensor.empty() : tensor<16xf32>
  %v15 = linalg.generic {indexing_maps = [affine_map<(d_H) -> (d_H)>], iterator_types = ["parallel"]} outs(%v14 : tensor<16xf32>) {
    ^bb0(%s0: f32):
      %i = linalg.index 0 : index
      %j = arith.index_cast %i : index to i32
      %k = arith.sitofp %j : i32 to f32
      %b = arith.constant 2.0 : f32
      %c = arith.constant -0.5 : f32
      %l = arith.mulf %k, %c : f32
      %t = math.powf %b, %l : f32
      linalg.yield %t : f32
  } -> tensor<16xf32>
  %v16 = tensor.empty(%v4, %v9) : tensor<?x?xf32>
  %v17 = linalg.generic {indexing_maps = [affine_map<(d_u, d_v) -> (d_u, d_v)>, affine_map<(d_u, d_v) -> (d_u, d_v)>], iterator_types = ["parallel", "parallel"]} ins(%arg1 : tensor<?x?xi64>) outs(%v16 : tensor<?x?xf32>) {
    ^bb0(%s0: i64, %s1: f32):
      %t = arith.sitofp %s0 : i64 to f32
      linalg.yield %t : f32
  } -> tensor<?x?xf32>
  %v18 = tensor.empty(%v4, %v9) : tensor<?x?x16xf32>
  %v19 = linalg.generic {indexing_maps = [affine_map<(d_u, d_v, d_H) -> (d_u, d_v)>, affine_map<(d_u, d_v, d_H) -> (d_H)>, affine_map<(d_u, d_v, d_H) -> (d_u, d_v, d_H)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v17, %v15 : tensor<?x?xf32>, tensor<16xf32>) outs(%v18 : tensor<?x?x16xf32>) {
    ^bb0(%s0: f32, %s1: f32, %s2: f32):
      %t = arith.mulf %s0, %s1 : f32
      linalg.yield %t : f32
  } -> tensor<?x?x16xf32>
  %v20 = tensor.concat dim(2) %v19, %v19 : (tensor<?x?x16xf32>, tensor<?x?x16xf32>) -> tensor<?x?x32xf32>
  %v21 = tensor.empty(%v4, %v9) : tensor<?x?x32xf32>
  %v22 = linalg.generic {indexing_maps = [affine_map<(d_u, d_v, d_W) -> (d_u, d_v, d_W)>, affine_map<(d_u, d_v, d_W) -> (d_u, d_v, d_W)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v20 : tensor<?x?x32xf32>) outs(%v21 : tensor<?x?x32xf32>) {
    ^bb0(%s0: f32, %s1: f32):
      %t = math.cos %s0 : f32
      linalg.yield %t : f32
  } -> tensor<?x?x32xf32>
  %v23 = tensor.expand_shape %v22 [[0], [1, 2], [3]] output_shape [%v4, 1, %v9, 32] : tensor<?x?x32xf32> into tensor<?x1x?x32xf32>
  %v24 = tensor.empty(%v4, %v9) : tensor<?x1x?x32xf16>
  %v25 = linalg.generic {indexing_maps = [affine_map<(d_u, d_E, d_v, d_W) -> (d_u, d_E, d_v, d_W)>, affine_map<(d_u, d_E, d_v, d_W) -> (d_u, d_E, d_v, d_W)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v23 : tensor<?x1x?x32xf32>) outs(%v24 : tensor<?x1x?x32xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %t = arith.truncf %s0 : f32 to f16
      linalg.yield %t : f16
  } -> tensor<?x1x?x32xf16>
  %v26 = tensor.empty(%v4, %v9) : tensor<?x?x32xf32>
  %v27 = linalg.generic {indexing_maps = [affine_map<(d_u, d_v, d_W) -> (d_u, d_v, d_W)>, affine_map<(d_u, d_v, d_W) -> (d_u, d_v, d_W)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v20 : tensor<?x?x32xf32>) outs(%v26 : tensor<?x?x32xf32>) {
    ^bb0(%s0: f32, %s1: f32):
      %t = math.sin %s0 : f32
      linalg.yield %t : f32
  } -> tensor<?x?x32xf32>
  %v28 = tensor.expand_shape %v27 [[0], [1, 2], [3]] output_shape [%v4, 1, %v9, 32] : tensor<?x?x32xf32> into tensor<?x1x?x32xf32>
  %v29 = tensor.empty(%v4, %v9) : tensor<?x1x?x32xf16>
  %v30 = linalg.generic {indexing_maps = [affine_map<(d_u, d_E, d_v, d_W) -> (d_u, d_E, d_v, d_W)>, affine_map<(d_u, d_E, d_v, d_W) -> (d_u, d_E, d_v, d_W)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v28 : tensor<?x1x?x32xf32>) outs(%v29 : tensor<?x1x?x32xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %t = arith.truncf %s0 : f32 to f16
      linalg.yield %t : f16
  } -> tensor<?x1x?x32xf16>
  %v31 = tensor.empty(%v2, %v7) : tensor<?x3x?x32xf16>
  %v32 = linalg.transpose ins(%arg0 : tensor<?x?x3x32xf16>) outs(%v31 : tensor<?x3x?x32xf16>) permutation = [0, 2, 1, 3]
  %v33 = tensor.extract_slice %v32[0, 0, 0, 0] [%v2, 3, %v7, 16] [1, 1, 1, 1] : tensor<?x3x?x32xf16> to tensor<?x3x?x16xf16>
  %v34 = tensor.extract_slice %v32[0, 0, 0, 16] [%v2, 3, %v7, 16] [1, 1, 1, 1] : tensor<?x3x?x32xf16> to tensor<?x3x?x16xf16>
  %v35 = tensor.empty(%v2, %v7) : tensor<?x3x?x16xf16>
  %v36 = linalg.generic {indexing_maps = [affine_map<(d_b, d_N, d_t, d_H) -> (d_b, d_N, d_t, d_H)>, affine_map<(d_b, d_N, d_t, d_H) -> (d_b, d_N, d_t, d_H)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v34 : tensor<?x3x?x16xf16>) outs(%v35 : tensor<?x3x?x16xf16>) {
    ^bb0(%s0: f16, %s1: f16):
      %t = arith.negf %s0 : f16
      linalg.yield %t : f16
  } -> tensor<?x3x?x16xf16>
  %v37 = tensor.concat dim(3) %v36, %v33 : (tensor<?x3x?x16xf16>, tensor<?x3x?x16xf16>) -> tensor<?x3x?x32xf16>
  %v38 = tensor.empty(%v2, %v7) : tensor<?x3x?x32xf16>
  %v39 = linalg.generic {indexing_maps = [affine_map<(b, n, t, w) -> (b, n, t, w)>, affine_map<(b, n, t, w) -> (b, 0, t, w)>, affine_map<(b, n, t, w) -> (b, n, t, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v32, %v25 : tensor<?x3x?x32xf16>, tensor<?x1x?x32xf16>) outs(%v38 : tensor<?x3x?x32xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %t = arith.mulf %a, %c : f16
    linalg.yield %t : f16
  } -> tensor<?x3x?x32xf16>
  %v40 = tensor.empty(%v2, %v7) : tensor<?x3x?x32xf16>
  %v41 = linalg.generic {indexing_maps = [affine_map<(b, n, t, w) -> (b, n, t, w)>, affine_map<(b, n, t, w) -> (b, 0, t, w)>, affine_map<(b, n, t, w) -> (b, n, t, w)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v37, %v30 : tensor<?x3x?x32xf16>, tensor<?x1x?x32xf16>) outs(%v40 : tensor<?x3x?x32xf16>) {
  ^bb0(%a: f16, %c: f16, %o: f16):
    %t = arith.mulf %a, %c : f16
    linalg.yield %t : f16
  } -> tensor<?x3x?x32xf16>
  %v42 = tensor.empty(%v2, %v7) : tensor<?x3x?x32xf16>
  %v43 = linalg.generic {indexing_maps = [affine_map<(d_b, d_N, d_t, d_W) -> (d_b, d_N, d_t, d_W)>, affine_map<(d_b, d_N, d_t, d_W) -> (d_b, d_N, d_t, d_W)>, affine_map<(d_b, d_N, d_t, d_W) -> (d_b, d_N, d_t, d_W)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v39, %v41 : tensor<?x3x?x32xf16>, tensor<?x3x?x32xf16>) outs(%v42 : tensor<?x3x?x32xf16>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f16):
      %t = arith.addf %s0, %s1 : f16
      linalg.yield %t : f16
  } -> tensor<?x3x?x32xf16>
  %v44 = tensor.concat dim(2) %arg2, %v43 : (tensor<?x3x?x32xf16>, tensor<?x3x?x32xf16>) -> tensor<?x3x?x32xf16>
  return %v44 : tensor<?x3x?x32xf16>
}
