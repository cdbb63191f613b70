// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of attention as plain linalg, with and without a causal mask: scores again from queries, keys and the
// log-sum-exps, five contractions and what is between them. 16 heads of 4096 tokens and 128 halves; the result of attention,
// its gradient and the log-sum-exps are inputs. Results are the gradients of queries, keys and values.

#hiD_hiD = affine_map<(h, i, D) -> (h, i, D)>
#hiDj_hiD = affine_map<(h, i, D, j) -> (h, i, D)>
#hiDj_hij = affine_map<(h, i, D, j) -> (h, i, j)>
#hiDj_hjD = affine_map<(h, i, D, j) -> (h, j, D)>
#hiE_hi = affine_map<(h, i, E) -> (h, i)>
#hiE_hiE = affine_map<(h, i, E) -> (h, i, E)>
#hijD_hiD = affine_map<(h, i, j, D) -> (h, i, D)>
#hijD_hij = affine_map<(h, i, j, D) -> (h, i, j)>
#hijD_hjD = affine_map<(h, i, j, D) -> (h, j, D)>
#hijE_hiE = affine_map<(h, i, j, E) -> (h, i, E)>
#hijE_hij = affine_map<(h, i, j, E) -> (h, i, j)>
#hijE_hjE = affine_map<(h, i, j, E) -> (h, j, E)>
#hij_hi = affine_map<(h, i, j) -> (h, i)>
#hij_hij = affine_map<(h, i, j) -> (h, i, j)>
#hjD_hjD = affine_map<(h, j, D) -> (h, j, D)>
#hjDi_hiD = affine_map<(h, j, D, i) -> (h, i, D)>
#hjDi_hij = affine_map<(h, j, D, i) -> (h, i, j)>
#hjDi_hjD = affine_map<(h, j, D, i) -> (h, j, D)>
#hjE_hjE = affine_map<(h, j, E) -> (h, j, E)>
#hjEi_hiE = affine_map<(h, j, E, i) -> (h, i, E)>
#hjEi_hij = affine_map<(h, j, E, i) -> (h, i, j)>
#hjEi_hjE = affine_map<(h, j, E, i) -> (h, j, E)>

func.func @f16_d128_4096(%arg0: tensor<16x4096x128xf16>, %arg1: tensor<16x4096x128xf16>, %arg2: tensor<16x4096x128xf16>, %arg3: tensor<16x4096x128xf16>, %arg4: tensor<16x4096x128xf16>, %arg5: tensor<16x4096xf32>) -> (tensor<16x4096x128xf16>, tensor<16x4096x128xf16>, tensor<16x4096x128xf16>) {
  %v1 = arith.constant 0.0 : f32
  %v2 = tensor.empty() : tensor<16x4096x4096xf32>
  %v3 = linalg.fill ins(%v1 : f32) outs(%v2 : tensor<16x4096x4096xf32>) -> tensor<16x4096x4096xf32>
  %v4 = linalg.generic {indexing_maps = [#hijD_hiD, #hijD_hjD, #hijD_hij], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<16x4096x128xf16>, tensor<16x4096x128xf16>) outs(%v3 : tensor<16x4096x4096xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x4096xf32>
  %v5 = tensor.empty() : tensor<16x4096x4096xf32>
  %v6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %arg5 : tensor<16x4096x4096xf32>, tensor<16x4096xf32>) outs(%v5 : tensor<16x4096x4096xf32>) {
    ^bb0(%s0: f32, %s1: f32, %s2: f32):
      %scale = arith.constant 0.08838834764831845 : f32
      %t = arith.mulf %s0, %scale : f32
      %u = arith.subf %t, %s1 : f32
      %w = math.exp %u : f32
      linalg.yield %w : f32
  } -> tensor<16x4096x4096xf32>
  %v7 = arith.constant 0.0 : f32
  %v8 = tensor.empty() : tensor<16x4096xf32>
  %v9 = linalg.fill ins(%v7 : f32) outs(%v8 : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %v10 = linalg.generic {indexing_maps = [#hiE_hiE, #hiE_hiE, #hiE_hi], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg4, %arg3 : tensor<16x4096x128xf16>, tensor<16x4096x128xf16>) outs(%v9 : tensor<16x4096xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096xf32>
  %v11 = arith.constant 0.0 : f32
  %v12 = tensor.empty() : tensor<16x4096x4096xf32>
  %v13 = linalg.fill ins(%v11 : f32) outs(%v12 : tensor<16x4096x4096xf32>) -> tensor<16x4096x4096xf32>
  %v14 = linalg.generic {indexing_maps = [#hijE_hiE, #hijE_hjE, #hijE_hij], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg4, %arg2 : tensor<16x4096x128xf16>, tensor<16x4096x128xf16>) outs(%v13 : tensor<16x4096x4096xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x4096xf32>
  %v15 = tensor.empty() : tensor<16x4096x4096xf16>
  %v16 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij, #hij_hi, #hij_hij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v6, %v14, %v10 : tensor<16x4096x4096xf32>, tensor<16x4096x4096xf32>, tensor<16x4096xf32>) outs(%v15 : tensor<16x4096x4096xf16>) {
    ^bb0(%s0: f32, %s1: f32, %s2: f32, %s3: f16):
      %scale = arith.constant 0.08838834764831845 : f32
      %t = arith.subf %s1, %s2 : f32
      %u = arith.mulf %s0, %t : f32
      %g = arith.mulf %u, %scale : f32
      %stored = arith.truncf %g : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x4096xf16>
  %v17 = arith.constant 0.0 : f32
  %v18 = tensor.empty() : tensor<16x4096x128xf32>
  %v19 = linalg.fill ins(%v17 : f32) outs(%v18 : tensor<16x4096x128xf32>) -> tensor<16x4096x128xf32>
  %v20 = linalg.generic {indexing_maps = [#hiDj_hij, #hiDj_hjD, #hiDj_hiD], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v16, %arg1 : tensor<16x4096x4096xf16>, tensor<16x4096x128xf16>) outs(%v19 : tensor<16x4096x128xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x128xf32>
  %v21 = tensor.empty() : tensor<16x4096x128xf16>
  %v22 = linalg.generic {indexing_maps = [#hiD_hiD, #hiD_hiD], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v20 : tensor<16x4096x128xf32>) outs(%v21 : tensor<16x4096x128xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %stored = arith.truncf %s0 : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x128xf16>
  %v23 = arith.constant 0.0 : f32
  %v24 = tensor.empty() : tensor<16x4096x128xf32>
  %v25 = linalg.fill ins(%v23 : f32) outs(%v24 : tensor<16x4096x128xf32>) -> tensor<16x4096x128xf32>
  %v26 = linalg.generic {indexing_maps = [#hjDi_hij, #hjDi_hiD, #hjDi_hjD], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v16, %arg0 : tensor<16x4096x4096xf16>, tensor<16x4096x128xf16>) outs(%v25 : tensor<16x4096x128xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x128xf32>
  %v27 = tensor.empty() : tensor<16x4096x128xf16>
  %v28 = linalg.generic {indexing_maps = [#hjD_hjD, #hjD_hjD], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v26 : tensor<16x4096x128xf32>) outs(%v27 : tensor<16x4096x128xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %stored = arith.truncf %s0 : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x128xf16>
  %v29 = tensor.empty() : tensor<16x4096x4096xf16>
  %v30 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v6 : tensor<16x4096x4096xf32>) outs(%v29 : tensor<16x4096x4096xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %stored = arith.truncf %s0 : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x4096xf16>
  %v31 = arith.constant 0.0 : f32
  %v32 = tensor.empty() : tensor<16x4096x128xf32>
  %v33 = linalg.fill ins(%v31 : f32) outs(%v32 : tensor<16x4096x128xf32>) -> tensor<16x4096x128xf32>
  %v34 = linalg.generic {indexing_maps = [#hjEi_hij, #hjEi_hiE, #hjEi_hjE], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v30, %arg4 : tensor<16x4096x4096xf16>, tensor<16x4096x128xf16>) outs(%v33 : tensor<16x4096x128xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x128xf32>
  %v35 = tensor.empty() : tensor<16x4096x128xf16>
  %v36 = linalg.generic {indexing_maps = [#hjE_hjE, #hjE_hjE], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v34 : tensor<16x4096x128xf32>) outs(%v35 : tensor<16x4096x128xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %stored = arith.truncf %s0 : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x128xf16>
  return %v22, %v28, %v36 : tensor<16x4096x128xf16>, tensor<16x4096x128xf16>, tensor<16x4096x128xf16>
}

func.func @f16_d128_4096_causal(%arg0: tensor<16x4096x128xf16>, %arg1: tensor<16x4096x128xf16>, %arg2: tensor<16x4096x128xf16>, %arg3: tensor<16x4096x128xf16>, %arg4: tensor<16x4096x128xf16>, %arg5: tensor<16x4096xf32>) -> (tensor<16x4096x128xf16>, tensor<16x4096x128xf16>, tensor<16x4096x128xf16>) {
  %v1 = arith.constant 0.0 : f32
  %v2 = tensor.empty() : tensor<16x4096x4096xf32>
  %v3 = linalg.fill ins(%v1 : f32) outs(%v2 : tensor<16x4096x4096xf32>) -> tensor<16x4096x4096xf32>
  %v4 = linalg.generic {indexing_maps = [#hijD_hiD, #hijD_hjD, #hijD_hij], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<16x4096x128xf16>, tensor<16x4096x128xf16>) outs(%v3 : tensor<16x4096x4096xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x4096xf32>
  %v5 = tensor.empty() : tensor<16x4096x4096xf32>
  %v6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v4, %arg5 : tensor<16x4096x4096xf32>, tensor<16x4096xf32>) outs(%v5 : tensor<16x4096x4096xf32>) {
    ^bb0(%s0: f32, %s1: f32, %s2: f32):
      %scale = arith.constant 0.08838834764831845 : f32
      %t = arith.mulf %s0, %scale : f32
      %u = arith.subf %t, %s1 : f32
      %w = math.exp %u : f32
      %zero = arith.constant 0.0 : f32
      %i = linalg.index 1 : index
      %j = linalg.index 2 : index
      %seen = arith.cmpi ule, %j, %i : index
      %m = arith.select %seen, %w, %zero : f32
      linalg.yield %m : f32
  } -> tensor<16x4096x4096xf32>
  %v7 = arith.constant 0.0 : f32
  %v8 = tensor.empty() : tensor<16x4096xf32>
  %v9 = linalg.fill ins(%v7 : f32) outs(%v8 : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %v10 = linalg.generic {indexing_maps = [#hiE_hiE, #hiE_hiE, #hiE_hi], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg4, %arg3 : tensor<16x4096x128xf16>, tensor<16x4096x128xf16>) outs(%v9 : tensor<16x4096xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096xf32>
  %v11 = arith.constant 0.0 : f32
  %v12 = tensor.empty() : tensor<16x4096x4096xf32>
  %v13 = linalg.fill ins(%v11 : f32) outs(%v12 : tensor<16x4096x4096xf32>) -> tensor<16x4096x4096xf32>
  %v14 = linalg.generic {indexing_maps = [#hijE_hiE, #hijE_hjE, #hijE_hij], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%arg4, %arg2 : tensor<16x4096x128xf16>, tensor<16x4096x128xf16>) outs(%v13 : tensor<16x4096x4096xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x4096xf32>
  %v15 = tensor.empty() : tensor<16x4096x4096xf16>
  %v16 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij, #hij_hi, #hij_hij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v6, %v14, %v10 : tensor<16x4096x4096xf32>, tensor<16x4096x4096xf32>, tensor<16x4096xf32>) outs(%v15 : tensor<16x4096x4096xf16>) {
    ^bb0(%s0: f32, %s1: f32, %s2: f32, %s3: f16):
      %scale = arith.constant 0.08838834764831845 : f32
      %t = arith.subf %s1, %s2 : f32
      %u = arith.mulf %s0, %t : f32
      %g = arith.mulf %u, %scale : f32
      %stored = arith.truncf %g : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x4096xf16>
  %v17 = arith.constant 0.0 : f32
  %v18 = tensor.empty() : tensor<16x4096x128xf32>
  %v19 = linalg.fill ins(%v17 : f32) outs(%v18 : tensor<16x4096x128xf32>) -> tensor<16x4096x128xf32>
  %v20 = linalg.generic {indexing_maps = [#hiDj_hij, #hiDj_hjD, #hiDj_hiD], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v16, %arg1 : tensor<16x4096x4096xf16>, tensor<16x4096x128xf16>) outs(%v19 : tensor<16x4096x128xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x128xf32>
  %v21 = tensor.empty() : tensor<16x4096x128xf16>
  %v22 = linalg.generic {indexing_maps = [#hiD_hiD, #hiD_hiD], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v20 : tensor<16x4096x128xf32>) outs(%v21 : tensor<16x4096x128xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %stored = arith.truncf %s0 : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x128xf16>
  %v23 = arith.constant 0.0 : f32
  %v24 = tensor.empty() : tensor<16x4096x128xf32>
  %v25 = linalg.fill ins(%v23 : f32) outs(%v24 : tensor<16x4096x128xf32>) -> tensor<16x4096x128xf32>
  %v26 = linalg.generic {indexing_maps = [#hjDi_hij, #hjDi_hiD, #hjDi_hjD], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v16, %arg0 : tensor<16x4096x4096xf16>, tensor<16x4096x128xf16>) outs(%v25 : tensor<16x4096x128xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x128xf32>
  %v27 = tensor.empty() : tensor<16x4096x128xf16>
  %v28 = linalg.generic {indexing_maps = [#hjD_hjD, #hjD_hjD], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v26 : tensor<16x4096x128xf32>) outs(%v27 : tensor<16x4096x128xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %stored = arith.truncf %s0 : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x128xf16>
  %v29 = tensor.empty() : tensor<16x4096x4096xf16>
  %v30 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v6 : tensor<16x4096x4096xf32>) outs(%v29 : tensor<16x4096x4096xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %stored = arith.truncf %s0 : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x4096xf16>
  %v31 = arith.constant 0.0 : f32
  %v32 = tensor.empty() : tensor<16x4096x128xf32>
  %v33 = linalg.fill ins(%v31 : f32) outs(%v32 : tensor<16x4096x128xf32>) -> tensor<16x4096x128xf32>
  %v34 = linalg.generic {indexing_maps = [#hjEi_hij, #hjEi_hiE, #hjEi_hjE], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%v30, %arg4 : tensor<16x4096x4096xf16>, tensor<16x4096x128xf16>) outs(%v33 : tensor<16x4096x128xf32>) {
    ^bb0(%s0: f16, %s1: f16, %s2: f32):
      %x = arith.extf %s0 : f16 to f32
      %y = arith.extf %s1 : f16 to f32
      %p = arith.mulf %x, %y : f32
      %s = arith.addf %s2, %p : f32
      linalg.yield %s : f32
  } -> tensor<16x4096x128xf32>
  %v35 = tensor.empty() : tensor<16x4096x128xf16>
  %v36 = linalg.generic {indexing_maps = [#hjE_hjE, #hjE_hjE], iterator_types = ["parallel", "parallel", "parallel"]} ins(%v34 : tensor<16x4096x128xf32>) outs(%v35 : tensor<16x4096x128xf16>) {
    ^bb0(%s0: f32, %s1: f16):
      %stored = arith.truncf %s0 : f32 to f16
      linalg.yield %stored : f16
  } -> tensor<16x4096x128xf16>
  return %v22, %v28, %v36 : tensor<16x4096x128xf16>, tensor<16x4096x128xf16>, tensor<16x4096x128xf16>
}
