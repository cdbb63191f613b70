// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A decoder layer of a transformer, 128 tokens of 512, 8 heads of 64, in halves with
// f32 sums: normalisation, causal attention and a SiLU network of 2048, each with
// what went in added to what comes out. All sizes are static, so that the
// temporaries share one allocation.

#ij = affine_map<(i, j) -> (i, j)>
#i_of_ij = affine_map<(i, j) -> (i)>
#j_of_ij = affine_map<(i, j) -> (j)>
#hij = affine_map<(h, i, j) -> (h, i, j)>
#hi_of_hij = affine_map<(h, i, j) -> (h, i)>

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

// Of each head: softmax of the scores of all tokens up to one's own, times the values.
func.func private @attend(%q: tensor<128x8x64xf16>, %k: tensor<128x8x64xf16>, %v: tensor<128x8x64xf16>) -> tensor<128x8x64xf16> {
  %zero = arith.constant 0.0 : f32
  %lowest = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<8x128x128xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
  %scores = linalg.contract indexing_maps = [affine_map<(h, i, j, d) -> (i, h, d)>, affine_map<(h, i, j, d) -> (j, h, d)>, affine_map<(h, i, j, d) -> (h, i, j)>]
      ins(%q, %k : tensor<128x8x64xf16>, tensor<128x8x64xf16>) outs(%zs : tensor<8x128x128xf32>) -> tensor<8x128x128xf32>
  %masked = linalg.generic {indexing_maps = [#hij, #hij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%scores : tensor<8x128x128xf32>) outs(%es : tensor<8x128x128xf32>) {
  ^bb0(%s: f32, %out: f32):
    %scale = arith.constant 0.125 : f32
    %never = arith.constant -1.0e30 : f32
    %i = linalg.index 1 : index
    %j = linalg.index 2 : index
    %0 = arith.mulf %s, %scale : f32
    %1 = arith.cmpi ule, %j, %i : index
    %2 = arith.select %1, %0, %never : f32
    linalg.yield %2 : f32
  } -> tensor<8x128x128xf32>
  %er = tensor.empty() : tensor<8x128xf32>
  %zm = linalg.fill ins(%lowest : f32) outs(%er : tensor<8x128xf32>) -> tensor<8x128xf32>
  %most = linalg.generic {indexing_maps = [#hij, #hi_of_hij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%masked : tensor<8x128x128xf32>) outs(%zm : tensor<8x128xf32>) {
  ^bb0(%s: f32, %m: f32):
    %0 = arith.maximumf %m, %s : f32
    linalg.yield %0 : f32
  } -> tensor<8x128xf32>
  %powers = linalg.generic {indexing_maps = [#hij, #hi_of_hij, #hij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%masked, %most : tensor<8x128x128xf32>, tensor<8x128xf32>) outs(%es : tensor<8x128x128xf32>) {
  ^bb0(%s: f32, %m: f32, %out: f32):
    %0 = arith.subf %s, %m : f32
    %1 = math.exp %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x128x128xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<8x128xf32>) -> tensor<8x128xf32>
  %sums = linalg.generic {indexing_maps = [#hij, #hi_of_hij], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%powers : tensor<8x128x128xf32>) outs(%zr : tensor<8x128xf32>) {
  ^bb0(%p: f32, %sum: f32):
    %0 = arith.addf %sum, %p : f32
    linalg.yield %0 : f32
  } -> tensor<8x128xf32>
  %ep = tensor.empty() : tensor<8x128x128xf16>
  %shares = linalg.generic {indexing_maps = [#hij, #hi_of_hij, #hij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%powers, %sums : tensor<8x128x128xf32>, tensor<8x128xf32>) outs(%ep : tensor<8x128x128xf16>) {
  ^bb0(%p: f32, %sum: f32, %out: f16):
    %0 = arith.divf %p, %sum : f32
    %1 = arith.truncf %0 : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<8x128x128xf16>
  %eo = tensor.empty() : tensor<128x8x64xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<128x8x64xf32>) -> tensor<128x8x64xf32>
  %mixed = linalg.contract indexing_maps = [affine_map<(h, i, d, j) -> (h, i, j)>, affine_map<(h, i, d, j) -> (j, h, d)>, affine_map<(h, i, d, j) -> (i, h, d)>]
      ins(%shares, %v : tensor<8x128x128xf16>, tensor<128x8x64xf16>) outs(%zo : tensor<128x8x64xf32>) -> tensor<128x8x64xf32>
  %eh = tensor.empty() : tensor<128x8x64xf16>
  %r = linalg.generic {indexing_maps = [#hij, #hij], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%mixed : tensor<128x8x64xf32>) outs(%eh : tensor<128x8x64xf16>) {
  ^bb0(%a: f32, %out: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<128x8x64xf16>
  return %r : tensor<128x8x64xf16>
}

// x + a b, rounded once.
func.func private @add_product_512(%x: tensor<128x512xf16>, %a: tensor<128x512xf16>, %b: tensor<512x512xf16>) -> tensor<128x512xf16> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128x512xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<128x512xf32>) -> tensor<128x512xf32>
  %p = linalg.matmul ins(%a, %b : tensor<128x512xf16>, tensor<512x512xf16>) outs(%z : tensor<128x512xf32>) -> tensor<128x512xf32>
  %o = tensor.empty() : tensor<128x512xf16>
  %r = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%x, %p : tensor<128x512xf16>, tensor<128x512xf32>) outs(%o : tensor<128x512xf16>) {
  ^bb0(%old: f16, %sum: f32, %out: f16):
    %0 = arith.extf %old : f16 to f32
    %1 = arith.addf %0, %sum : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<128x512xf16>
  return %r : tensor<128x512xf16>
}

func.func @main(%x: tensor<128x512xf16>, %gain0: tensor<512xf16>, %w_qkv: tensor<512x1536xf16>, %w_out: tensor<512x512xf16>,
                %gain1: tensor<512xf16>, %w_up: tensor<512x2048xf16>, %w_down: tensor<2048x512xf16>) -> tensor<128x512xf16> {
  %zero = arith.constant 0.0 : f32
  %n0 = call @normalise(%x, %gain0) : (tensor<128x512xf16>, tensor<512xf16>) -> tensor<128x512xf16>
  %eq = tensor.empty() : tensor<128x1536xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<128x1536xf32>) -> tensor<128x1536xf32>
  %pq = linalg.matmul ins(%n0, %w_qkv : tensor<128x512xf16>, tensor<512x1536xf16>) outs(%zq : tensor<128x1536xf32>) -> tensor<128x1536xf32>
  %eqh = tensor.empty() : tensor<128x1536xf16>
  %qkv = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%pq : tensor<128x1536xf32>) outs(%eqh : tensor<128x1536xf16>) {
  ^bb0(%a: f32, %out: f16):
    %0 = arith.truncf %a : f32 to f16
    linalg.yield %0 : f16
  } -> tensor<128x1536xf16>
  %q0 = tensor.extract_slice %qkv[0, 0] [128, 512] [1, 1] : tensor<128x1536xf16> to tensor<128x512xf16>
  %k0 = tensor.extract_slice %qkv[0, 512] [128, 512] [1, 1] : tensor<128x1536xf16> to tensor<128x512xf16>
  %v0 = tensor.extract_slice %qkv[0, 1024] [128, 512] [1, 1] : tensor<128x1536xf16> to tensor<128x512xf16>
  %q = tensor.expand_shape %q0 [[0], [1, 2]] output_shape [128, 8, 64] : tensor<128x512xf16> into tensor<128x8x64xf16>
  %k = tensor.expand_shape %k0 [[0], [1, 2]] output_shape [128, 8, 64] : tensor<128x512xf16> into tensor<128x8x64xf16>
  %v = tensor.expand_shape %v0 [[0], [1, 2]] output_shape [128, 8, 64] : tensor<128x512xf16> into tensor<128x8x64xf16>
  %heads = call @attend(%q, %k, %v) : (tensor<128x8x64xf16>, tensor<128x8x64xf16>, tensor<128x8x64xf16>) -> tensor<128x8x64xf16>
  %mixed = tensor.collapse_shape %heads [[0], [1, 2]] : tensor<128x8x64xf16> into tensor<128x512xf16>
  %y = call @add_product_512(%x, %mixed, %w_out) : (tensor<128x512xf16>, tensor<128x512xf16>, tensor<512x512xf16>) -> tensor<128x512xf16>

  %n1 = call @normalise(%y, %gain1) : (tensor<128x512xf16>, tensor<512xf16>) -> tensor<128x512xf16>
  %eu = tensor.empty() : tensor<128x2048xf32>
  %zu = linalg.fill ins(%zero : f32) outs(%eu : tensor<128x2048xf32>) -> tensor<128x2048xf32>
  %pu = linalg.matmul ins(%n1, %w_up : tensor<128x512xf16>, tensor<512x2048xf16>) outs(%zu : tensor<128x2048xf32>) -> tensor<128x2048xf32>
  %euh = tensor.empty() : tensor<128x2048xf16>
  %up = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%pu : tensor<128x2048xf32>) outs(%euh : tensor<128x2048xf16>) {
  ^bb0(%a: f32, %out: f16):
    %one = arith.constant 1.0 : f32
    %0 = arith.negf %a : f32
    %1 = math.exp %0 : f32
    %2 = arith.addf %1, %one : f32
    %3 = arith.divf %a, %2 : f32
    %4 = arith.truncf %3 : f32 to f16
    linalg.yield %4 : f16
  } -> tensor<128x2048xf16>
  %ed = tensor.empty() : tensor<128x512xf32>
  %zd = linalg.fill ins(%zero : f32) outs(%ed : tensor<128x512xf32>) -> tensor<128x512xf32>
  %down = linalg.matmul ins(%up, %w_down : tensor<128x2048xf16>, tensor<2048x512xf16>) outs(%zd : tensor<128x512xf32>) -> tensor<128x512xf32>
  %eo = tensor.empty() : tensor<128x512xf16>
  %r = linalg.generic {indexing_maps = [#ij, #ij, #ij], iterator_types = ["parallel", "parallel"]}
      ins(%y, %down : tensor<128x512xf16>, tensor<128x512xf32>) outs(%eo : tensor<128x512xf16>) {
  ^bb0(%old: f16, %sum: f32, %out: f16):
    %0 = arith.extf %old : f16 to f32
    %1 = arith.addf %0, %sum : f32
    %2 = arith.truncf %1 : f32 to f16
    linalg.yield %2 : f16
  } -> tensor<128x512xf16>
  return %r : tensor<128x512xf16>
}
