// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One step of a decoder with 8 heads of queries that share 2 of keys and values, in f16: the new token's key and value go to
// row %at of caches for 4096 tokens, and its queries attend to the tokens up to it. The caches are given away
// (tf.aliasing_output says which result is in an argument's memory): two kernels write a row of each, and nothing copies them.

#query = affine_map<(h, g, i, j, d, e) -> (h, g, i, d)>
#key = affine_map<(h, g, i, j, d, e) -> (h, j, d)>
#value = affine_map<(h, g, i, j, d, e) -> (h, j, e)>
#result = affine_map<(h, g, i, j, d, e) -> (h, g, i, e)>

func.func @main(%keys: tensor<2x4096x64xf16> {tf.aliasing_output = 0 : i32},
                %values: tensor<2x4096x64xf16> {tf.aliasing_output = 1 : i32}, %key: tensor<2x1x64xf16>,
                %value: tensor<2x1x64xf16>, %query: tensor<2x4x1x64xf16>, %at: index)
    -> (tensor<2x4096x64xf16>, tensor<2x4096x64xf16>, tensor<2x4x1x64xf16>) {
  %one = arith.constant 1 : index
  %so_far = arith.addi %at, %one : index
  %keys_now = tensor.insert_slice %key into %keys[0, %at, 0] [2, 1, 64] [1, 1, 1] : tensor<2x1x64xf16> into tensor<2x4096x64xf16>
  %values_now = tensor.insert_slice %value into %values[0, %at, 0] [2, 1, 64] [1, 1, 1] : tensor<2x1x64xf16> into tensor<2x4096x64xf16>
  %k = tensor.extract_slice %keys_now[0, 0, 0] [2, %so_far, 64] [1, 1, 1] : tensor<2x4096x64xf16> to tensor<2x?x64xf16>
  %v = tensor.extract_slice %values_now[0, 0, 0] [2, %so_far, 64] [1, 1, 1] : tensor<2x4096x64xf16> to tensor<2x?x64xf16>
  %e = tensor.empty() : tensor<2x4x1x64xf16>
  %o = tilewright.attention ins(%query, %k, %v : tensor<2x4x1x64xf16>, tensor<2x?x64xf16>, tensor<2x?x64xf16>)
      outs(%e : tensor<2x4x1x64xf16>) {indexing_maps = [#query, #key, #value, #result]} -> tensor<2x4x1x64xf16>
  return %keys_now, %values_now, %o : tensor<2x4096x64xf16>, tensor<2x4096x64xf16>, tensor<2x4x1x64xf16>
}
