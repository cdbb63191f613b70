// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoder layer of a transformer as today's models have it, 128 tokens of 512, in f16 with f32 sums: normalisation by
// the root mean square, rotary embedding, causal attention of 8 heads of queries that share 2 of keys and values, and a
// gated SiLU network of 1408. The projection writes, for each head of keys, its 4 heads of queries, the keys and the
// values: rotary embedding and attention read them there.

#ij = affine_map<(i, j) -> (i, j)>
#i_of_ij = affine_map<(i, j) -> (i)>
#j_of_ij = affine_map<(i, j) -> (j)>

// Rows over the root of their mean square, times a gain for each column.
func.func private @normalise(%x: tensor<128x512xf16>, %gain: tensor<512xf16>) -> tensor<128x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<128xf32>) -> tensor<128xf32>
  %squares = linalg.generic {indexing_maps = [#ij, #i_of_ij], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<128x512xf16>) outs(%z : tensor<128xf32>) {
  ^bb0(%a: f16, %sum: f32):
    %0 = arith.extf %a : f16 to f32
    %1 = arith.mulf %0, %0 : f32
    %2 = arith.addf %sum, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<128xf32>
  %o = tensor.empty() : tensor<128x512xf16>
  %r = linalg.generic {indexing_maps = [#ij, #i_of_ij, #j_of_ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %squares, %gain : tensor<128x512xf16>, tensor<128xf32>, tensor<512xf16>) outs(%o : tensor<128x512xf16>) {
  ^bb0(%a: f16, %sum: f32, %g: f16, %out: f16):
    %part = arith.constant 0.001953125 : f32
    %least = arith.constant 1.0e-5 : f32
    %0 = arith.mulf %sum, %part : f32
    %1 = arith.addf %0, %least : f32
    %2 = math.rsqrt %1 : f32
    %3 = arith.extf %a : f16 to f32
    %4 = arith.extf %g : f16 to f32
    %5 = arith.mulf %3, %2 : f32
    %6 = arith.mulf %5, %4 : f32
    %7 = arith.truncf %6 : f32 to f16
    linalg.yield %7 : f16
  } -> tensor<128x512xf16>
  return %r : tensor<128x512xf16>
}

// The halves of each head's depth are turned against each other by an angle that grows with the token's position.
func.func private @rotate(%x: tensor<128x2x5x64xf16>, %cos: tensor<128x32xf32>, %sin: tensor<128x32xf32>) -> tensor<128x2x5x64xf16> {
  %halves = tensor.expand_shape %x [[0], [1], [2], [3, 4]] output_shape [128, 2, 5, 2, 32] : tensor<128x2x5x64xf16> into tensor<128x2x5x2x32xf16>
  %e = tensor.empty() : tensor<128x2x5x2x32xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, h, g, s, d) -> (i, h, g, 0, d)>, affine_map<(i, h, g, s, d) -> (i, h, g, 1, d)>,
                                        affine_map<(i, h, g, s, d) -> (i, d)>, affine_map<(i, h, g, s, d) -> (i, d)>,
                                        affine_map<(i, h, g, s, d) -> (i, h, g, s, d)>],
                       iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
      ins(%halves, %halves, %cos, %sin : tensor<128x2x5x2x32xf16>, tensor<128x2x5x2x32xf16>, tensor<128x32xf32>, tensor<128x32xf32>)
      outs(%e : tensor<128x2x5x2x32xf16>) {
  ^bb0(%a: f16, %b: f16, %c: f32, %s: f32, %out: f16):
    %half = linalg.index 3 : index
    %first = arith.constant 0 : index
    %is_first = arith.cmpi eq, %half, %first : index
    %0 = arith.extf %a : f16 to f32
    %1 = arith.extf %b : f16 to f32
    %own = arith.select %is_first, %0, %1 : f32
    %other = arith.select %is_first, %1, %0 : f32
    %minus = arith.negf %s : f32
    %sine = arith.select %is_first, %minus, %s : f32
    %2 = arith.mulf %own, %c : f32
    %3 = arith.mulf %other, %sine : f32
    %4 = arith.addf %2, %3 : f32
    %5 = arith.truncf %4 : f32 to f16
    linalg.yield %5 : f16
  } -> tensor<128x2x5x2x32xf16>
  %o = tensor.collapse_shape %r [[0], [1], [2], [3, 4]] : tensor<128x2x5x2x32xf16> into tensor<128x2x5x64xf16>
  return %o : tensor<128x2x5x64xf16>
}

func.func @main(%x: tensor<128x512xf16>, %cos: tensor<128x32xf32>, %sin: tensor<128x32xf32>, %gain0: tensor<512xf16>,
                %w_qkv: tensor<512x768xf16>, %w_out: tensor<512x512xf16>, %gain1: tensor<512xf16>, %w_gate: tensor<512x1408xf16>,
                %w_up: tensor<512x1408xf16>, %w_down: tensor<1408x512xf16>) -> tensor<128x512xf16> {
  %zero = arith.constant 0.0 : f32
  %n0 = call @normalise(%x, %gain0) : (tensor<128x512xf16>, tensor<512xf16>) -> tensor<128x512xf16>
  %qkv_e = tensor.empty() : tensor<128x768xf32>
  %qkv_z = linalg.fill ins(%zero : f32) outs(%qkv_e : tensor<128x768xf32>) -> tensor<128x768xf32>
  %qkv_sum = linalg.matmul ins(%n0, %w_qkv : tensor<128x512xf16>, tensor<512x768xf16>) outs(%qkv_z : tensor<128x768xf32>) -> tensor<128x768xf32>
  %qkv_o = tensor.empty() : tensor<128x768xf16>
  %qkv = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%qkv_sum : tensor<128x768xf32>) outs(%qkv_o : tensor<128x768xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %0 = arith.truncf %sum : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<128x768xf16>

  %heads = tensor.expand_shape %qkv [[0], [1, 2, 3]] output_shape [128, 2, 6, 64] : tensor<128x768xf16> into tensor<128x2x6x64xf16>
  %qk = tensor.extract_slice %heads[0, 0, 0, 0] [128, 2, 5, 64] [1, 1, 1, 1] : tensor<128x2x6x64xf16> to tensor<128x2x5x64xf16>
  %v = tensor.extract_slice %heads[0, 0, 5, 0] [128, 2, 1, 64] [1, 1, 1, 1] : tensor<128x2x6x64xf16> to tensor<128x2x64xf16>
  %turned = call @rotate(%qk, %cos, %sin) : (tensor<128x2x5x64xf16>, tensor<128x32xf32>, tensor<128x32xf32>) -> tensor<128x2x5x64xf16>
  %q = tensor.extract_slice %turned[0, 0, 0, 0] [128, 2, 4, 64] [1, 1, 1, 1] : tensor<128x2x5x64xf16> to tensor<128x2x4x64xf16>
  %k = tensor.extract_slice %turned[0, 0, 4, 0] [128, 2, 1, 64] [1, 1, 1, 1] : tensor<128x2x5x64xf16> to tensor<128x2x64xf16>
  %ea = tensor.empty() : tensor<128x2x4x64xf16>
  %seen = tilewright.attention ins(%q, %k, %v : tensor<128x2x4x64xf16>, tensor<128x2x64xf16>, tensor<128x2x64xf16>)
      outs(%ea : tensor<128x2x4x64xf16>)
      {indexing_maps = [affine_map<(h, g, i, j, d, e) -> (i, h, g, d)>, affine_map<(h, g, i, j, d, e) -> (j, h, d)>,
                        affine_map<(h, g, i, j, d, e) -> (j, h, e)>, affine_map<(h, g, i, j, d, e) -> (i, h, g, e)>],
       causal = "top_left", scale = 0.125} -> tensor<128x2x4x64xf16>
  %mixed = tensor.collapse_shape %seen [[0], [1, 2, 3]] : tensor<128x2x4x64xf16> into tensor<128x512xf16>
  %y_e = tensor.empty() : tensor<128x512xf32>
  %y_z = linalg.fill ins(%zero : f32) outs(%y_e : tensor<128x512xf32>) -> tensor<128x512xf32>
  %y_sum = linalg.matmul ins(%mixed, %w_out : tensor<128x512xf16>, tensor<512x512xf16>) outs(%y_z : tensor<128x512xf32>) -> tensor<128x512xf32>
  %y_o = tensor.empty() : tensor<128x512xf16>
  %y = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%y_sum, %x : tensor<128x512xf32>, tensor<128x512xf16>) outs(%y_o : tensor<128x512xf16>) {
  ^bb0(%sum: f32, %old: f16, %out: f16):
    %0 = arith.extf %old : f16 to f32
    %1 = arith.addf %0, %sum : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<128x512xf16>

  %n1 = call @normalise(%y, %gain1) : (tensor<128x512xf16>, tensor<512xf16>) -> tensor<128x512xf16>
  %gate_e = tensor.empty() : tensor<128x1408xf32>
  %gate_z = linalg.fill ins(%zero : f32) outs(%gate_e : tensor<128x1408xf32>) -> tensor<128x1408xf32>
  %gate_sum = linalg.matmul ins(%n1, %w_gate : tensor<128x512xf16>, tensor<512x1408xf16>) outs(%gate_z : tensor<128x1408xf32>) -> tensor<128x1408xf32>
  %gate_o = tensor.empty() : tensor<128x1408xf16>
  %gate = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%gate_sum : tensor<128x1408xf32>) outs(%gate_o : tensor<128x1408xf16>) {
  ^bb0(%sum: f32, %out: f16):
    %one = arith.constant 1.0 : f32
    %0 = arith.negf %sum : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %sum, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<128x1408xf16>
  %up_e = tensor.empty() : tensor<128x1408xf32>
  %up_z = linalg.fill ins(%zero : f32) outs(%up_e : tensor<128x1408xf32>) -> tensor<128x1408xf32>
  %up_sum = linalg.matmul ins(%n1, %w_up : tensor<128x512xf16>, tensor<512x1408xf16>) outs(%up_z : tensor<128x1408xf32>) -> tensor<128x1408xf32>
  %up_o = tensor.empty() : tensor<128x1408xf16>
  %up = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%up_sum, %gate : tensor<128x1408xf32>, tensor<128x1408xf16>) outs(%up_o : tensor<128x1408xf16>) {
  ^bb0(%sum: f32, %g: f16, %out: f16):
    %0 = arith.extf %g : f16 to f32
    %1 = arith.mulf %0, %sum : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<128x1408xf16>
  %down_e = tensor.empty() : tensor<128x512xf32>
  %down_z = linalg.fill ins(%zero : f32) outs(%down_e : tensor<128x512xf32>) -> tensor<128x512xf32>
  %down_sum = linalg.matmul ins(%up, %w_down : tensor<128x1408xf16>, tensor<1408x512xf16>) outs(%down_z : tensor<128x512xf32>) -> tensor<128x512xf32>
  %down_o = tensor.empty() : tensor<128x512xf16>
  %down = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%down_sum, %y : tensor<128x512xf32>, tensor<128x512xf16>) outs(%down_o : tensor<128x512xf16>) {
  ^bb0(%sum: f32, %old: f16, %out: f16):
    %0 = arith.extf %old : f16 to f32
    %1 = arith.addf %0, %sum : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<128x512xf16>
  return %down : tensor<128x512xf16>
}
