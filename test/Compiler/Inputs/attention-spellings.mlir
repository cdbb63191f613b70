// Attention as frameworks spell it, reduced: each function is one kernel, of which some have a small one in front that on CPUs
// computes a mask of keys. attention-spellings.mlir looks at the kernels and the memory plan, the family
// attention_spellings of test/e2e at the results.

#bhdj_0 = affine_map<(b, h, d, j) -> (0)>
#bhdj_bhdj = affine_map<(b, h, d, j) -> (b, h, d, j)>
#bhi_bhi = affine_map<(b, h, i) -> (b, h, i)>
#bhid_0 = affine_map<(b, h, i, d) -> (0)>
#bhid_bhid = affine_map<(b, h, i, d) -> (b, h, i, d)>
#bhij_b00j = affine_map<(b, h, i, j) -> (b, 0, 0, j)>
#bhij_b0ij = affine_map<(b, h, i, j) -> (b, 0, i, j)>
#bhij_bi = affine_map<(b, h, i, j) -> (b, i)>
#bhij_bij = affine_map<(b, h, i, j) -> (b, i, j)>
#bhij_bhi = affine_map<(b, h, i, j) -> (b, h, i)>
#bhij_bhij = affine_map<(b, h, i, j) -> (b, h, i, j)>
#bhij_bj = affine_map<(b, h, i, j) -> (b, j)>
#bhij_hij = affine_map<(b, h, i, j) -> (h, i, j)>
#bhij_i = affine_map<(b, h, i, j) -> (i)>
#bhij_ij = affine_map<(b, h, i, j) -> (i, j)>
#bi_bi = affine_map<(b, i) -> (b, i)>
#bij_b = affine_map<(b, i, j) -> (b)>
#bij_bi = affine_map<(b, i, j) -> (b, i)>
#bij_bij = affine_map<(b, i, j) -> (b, i, j)>
#bij_i = affine_map<(b, i, j) -> (i)>
#bij_j = affine_map<(b, i, j) -> (j)>
#bj_bj = affine_map<(b, j) -> (b, j)>
#bsgjd_bsgjd = affine_map<(b, s, g, j, d) -> (b, s, g, j, d)>
#bsgjd_bsjd = affine_map<(b, s, g, j, d) -> (b, s, j, d)>
#hij_h = affine_map<(h, i, j) -> (h)>
#hij_hij = affine_map<(h, i, j) -> (h, i, j)>
#hij_ij = affine_map<(h, i, j) -> (i, j)>
#i_i = affine_map<(i) -> (i)>
#ij_i = affine_map<(i, j) -> (i)>
#ij_ij = affine_map<(i, j) -> (i, j)>
#ij_j = affine_map<(i, j) -> (j)>
#j_j = affine_map<(j) -> (j)>
#l_l = affine_map<(l) -> (l)>
#nid_nid = affine_map<(n, i, d) -> (n, i, d)>
#nij_nij = affine_map<(n, i, j) -> (n, i, j)>
#p = ["parallel"]
#pp = ["parallel", "parallel"]
#ppp = ["parallel", "parallel", "parallel"]
#pppp = ["parallel", "parallel", "parallel", "parallel"]
#ppppp = ["parallel", "parallel", "parallel", "parallel", "parallel"]
#pppr = ["parallel", "parallel", "parallel", "reduction"]
#ppr = ["parallel", "parallel", "reduction"]
#pr = ["parallel", "reduction"]

// ONNX Attention: the root of the scale on both sides, a bias of zeros, zeros where it hides all.
func.func @onnx_plain(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = arith.constant dense<0.0> : tensor<24x40xf32>
  %2 = arith.constant dense<16.0> : tensor<1xf32>
  %3 = arith.constant dense<1.0> : tensor<1xf32>
  %4 = tensor.empty() : tensor<1xf32>
  %5 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%2 : tensor<1xf32>) outs(%4 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %6 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%3, %5 : tensor<1xf32>, tensor<1xf32>) outs(%4 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %7 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%6 : tensor<1xf32>) outs(%4 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %8 = tensor.empty() : tensor<2x4x24x16xf32>
  %9 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %7 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%8 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %10 = tensor.empty() : tensor<2x4x16x40xf32>
  %11 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%10 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %12 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%11, %7 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%10 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %13 = tensor.collapse_shape %9 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %14 = tensor.collapse_shape %12 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %15 = tensor.empty() : tensor<8x24x40xf32>
  %16 = linalg.fill ins(%k0 : f32) outs(%15 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %17 = linalg.batch_matmul ins(%13, %14 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%16 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %18 = tensor.expand_shape %17 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %19 = tensor.empty() : tensor<2x4x24x40xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%18, %1 : tensor<2x4x24x40xf32>, tensor<24x40xf32>) outs(%19 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %21 = tensor.empty() : tensor<2x4x24xf32>
  %22 = linalg.fill ins(%k1 : f32) outs(%21 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%20 : tensor<2x4x24x40xf32>) outs(%22 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %24 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%20, %23 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%19 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %25 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%24 : tensor<2x4x24x40xf32>) outs(%19 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %26 = linalg.fill ins(%k0 : f32) outs(%21 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %27 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%25 : tensor<2x4x24x40xf32>) outs(%26 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %28 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%25, %27 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%19 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %29 = tensor.empty() : tensor<24xf32>
  %30 = linalg.fill ins(%k1 : f32) outs(%29 : tensor<24xf32>) -> tensor<24xf32>
  %31 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%1 : tensor<24x40xf32>) outs(%30 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %32 = tensor.empty() : tensor<24xi1>
  %33 = linalg.generic {indexing_maps = [#i_i, #i_i], iterator_types = #p} ins(%31 : tensor<24xf32>) outs(%32 : tensor<24xi1>) {
    ^bb0(%x0: f32, %acc: i1): %y = arith.cmpf oeq, %x0, %k1 : f32 linalg.yield %y : i1 } -> tensor<24xi1>
  %34 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_i, #bhij_bhij], iterator_types = #pppp} ins(%28, %33 : tensor<2x4x24x40xf32>, tensor<24xi1>) outs(%19 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k0, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %35 = tensor.collapse_shape %34 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %36 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %37 = tensor.empty() : tensor<8x24x16xf32>
  %38 = linalg.fill ins(%k0 : f32) outs(%37 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %39 = linalg.batch_matmul ins(%35, %36 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%38 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %40 = tensor.expand_shape %39 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %40 : tensor<2x4x24x16xf32>
}

// The same in f16: scores are rounded, the softmax is of f32.
func.func @onnx_half(%q: tensor<2x4x24x16xf16>, %k: tensor<2x4x40x16xf16>, %v: tensor<2x4x40x16xf16>) -> tensor<2x4x24x16xf16> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = arith.constant dense<16.0> : tensor<1xf32>
  %2 = arith.constant dense<1.0> : tensor<1xf32>
  %3 = tensor.empty() : tensor<1xf32>
  %4 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%1 : tensor<1xf32>) outs(%3 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %5 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%2, %4 : tensor<1xf32>, tensor<1xf32>) outs(%3 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %6 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%5 : tensor<1xf32>) outs(%3 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %7 = tensor.empty() : tensor<1xf16>
  %8 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%6 : tensor<1xf32>) outs(%7 : tensor<1xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<1xf16>
  %9 = tensor.empty() : tensor<2x4x24x16xf16>
  %10 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %8 : tensor<2x4x24x16xf16>, tensor<1xf16>) outs(%9 : tensor<2x4x24x16xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.mulf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<2x4x24x16xf16>
  %11 = tensor.empty() : tensor<2x4x16x40xf16>
  %12 = linalg.transpose ins(%k : tensor<2x4x40x16xf16>) outs(%11 : tensor<2x4x16x40xf16>) permutation = [0, 1, 3, 2]
  %13 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%12, %8 : tensor<2x4x16x40xf16>, tensor<1xf16>) outs(%11 : tensor<2x4x16x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.mulf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<2x4x16x40xf16>
  %14 = tensor.collapse_shape %10 [[0, 1], [2], [3]] : tensor<2x4x24x16xf16> into tensor<8x24x16xf16>
  %15 = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<2x4x16x40xf16> into tensor<8x16x40xf16>
  %16 = tensor.empty() : tensor<8x24x40xf32>
  %17 = linalg.fill ins(%k0 : f32) outs(%16 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %18 = linalg.batch_matmul ins(%14, %15 : tensor<8x24x16xf16>, tensor<8x16x40xf16>) outs(%17 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %19 = tensor.empty() : tensor<8x24x40xf16>
  %20 = linalg.generic {indexing_maps = [#nij_nij, #nij_nij], iterator_types = #ppp} ins(%18 : tensor<8x24x40xf32>) outs(%19 : tensor<8x24x40xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<8x24x40xf16>
  %21 = tensor.expand_shape %20 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf16> into tensor<2x4x24x40xf16>
  %22 = tensor.empty() : tensor<2x4x24x40xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%21 : tensor<2x4x24x40xf16>) outs(%22 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f16, %acc: f32): %y = arith.extf %x0 : f16 to f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %24 = tensor.empty() : tensor<2x4x24xf32>
  %25 = linalg.fill ins(%k1 : f32) outs(%24 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %26 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%23 : tensor<2x4x24x40xf32>) outs(%25 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %27 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%23, %26 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%22 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %28 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%27 : tensor<2x4x24x40xf32>) outs(%22 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %29 = linalg.fill ins(%k0 : f32) outs(%24 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %30 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%28 : tensor<2x4x24x40xf32>) outs(%29 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %31 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%28, %30 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%22 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %32 = tensor.empty() : tensor<2x4x24x40xf16>
  %33 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%31 : tensor<2x4x24x40xf32>) outs(%32 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %34 = tensor.collapse_shape %33 [[0, 1], [2], [3]] : tensor<2x4x24x40xf16> into tensor<8x24x40xf16>
  %35 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf16> into tensor<8x40x16xf16>
  %36 = tensor.empty() : tensor<8x24x16xf32>
  %37 = linalg.fill ins(%k0 : f32) outs(%36 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %38 = linalg.batch_matmul ins(%34, %35 : tensor<8x24x40xf16>, tensor<8x40x16xf16>) outs(%37 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %39 = tensor.empty() : tensor<8x24x16xf16>
  %40 = linalg.generic {indexing_maps = [#nid_nid, #nid_nid], iterator_types = #ppp} ins(%38 : tensor<8x24x16xf32>) outs(%39 : tensor<8x24x16xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<8x24x16xf16>
  %41 = tensor.expand_shape %40 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf16> into tensor<2x4x24x16xf16>
  return %41 : tensor<2x4x24x16xf16>
}

// Causal: numbers of queries and keys in tensors, compared, chosen between 0 and -inf, added.
func.func @onnx_causal(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0xFF800000 : f32
  %k1 = arith.constant 0.0 : f32
  %1 = tensor.empty() : tensor<24xi64>
  %2 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%1 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %3 = tensor.empty() : tensor<40xi64>
  %4 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%3 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %5 = tensor.empty() : tensor<24x40xi1>
  %6 = linalg.generic {indexing_maps = [#ij_i, #ij_j, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<24xi64>, tensor<40xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %y = arith.cmpi slt, %x0, %x1 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %7 = tensor.empty() : tensor<24x40xf32>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%6 : tensor<24x40xi1>) outs(%7 : tensor<24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k0, %k1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %9 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%8 : tensor<24x40xf32>) outs(%7 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %10 = arith.constant dense<16.0> : tensor<1xf32>
  %11 = arith.constant dense<1.0> : tensor<1xf32>
  %12 = tensor.empty() : tensor<1xf32>
  %13 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%10 : tensor<1xf32>) outs(%12 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %14 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%11, %13 : tensor<1xf32>, tensor<1xf32>) outs(%12 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %15 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%14 : tensor<1xf32>) outs(%12 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %16 = tensor.empty() : tensor<2x4x24x16xf32>
  %17 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %15 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%16 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %18 = tensor.empty() : tensor<2x4x16x40xf32>
  %19 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%18 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %20 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%19, %15 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%18 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %21 = tensor.collapse_shape %17 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %22 = tensor.collapse_shape %20 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %23 = tensor.empty() : tensor<8x24x40xf32>
  %24 = linalg.fill ins(%k1 : f32) outs(%23 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %25 = linalg.batch_matmul ins(%21, %22 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%24 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %26 = tensor.expand_shape %25 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %27 = tensor.empty() : tensor<2x4x24x40xf32>
  %28 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%26, %9 : tensor<2x4x24x40xf32>, tensor<24x40xf32>) outs(%27 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %29 = tensor.empty() : tensor<2x4x24xf32>
  %30 = linalg.fill ins(%k0 : f32) outs(%29 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %31 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%28 : tensor<2x4x24x40xf32>) outs(%30 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %32 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%28, %31 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%27 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %33 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%32 : tensor<2x4x24x40xf32>) outs(%27 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %34 = linalg.fill ins(%k1 : f32) outs(%29 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %35 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%33 : tensor<2x4x24x40xf32>) outs(%34 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %36 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%33, %35 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%27 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %37 = tensor.empty() : tensor<24xf32>
  %38 = linalg.fill ins(%k0 : f32) outs(%37 : tensor<24xf32>) -> tensor<24xf32>
  %39 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%9 : tensor<24x40xf32>) outs(%38 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %40 = tensor.empty() : tensor<24xi1>
  %41 = linalg.generic {indexing_maps = [#i_i, #i_i], iterator_types = #p} ins(%39 : tensor<24xf32>) outs(%40 : tensor<24xi1>) {
    ^bb0(%x0: f32, %acc: i1): %y = arith.cmpf oeq, %x0, %k0 : f32 linalg.yield %y : i1 } -> tensor<24xi1>
  %42 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_i, #bhij_bhij], iterator_types = #pppp} ins(%36, %41 : tensor<2x4x24x40xf32>, tensor<24xi1>) outs(%27 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k1, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %43 = tensor.collapse_shape %42 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %44 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %45 = tensor.empty() : tensor<8x24x16xf32>
  %46 = linalg.fill ins(%k1 : f32) outs(%45 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %47 = linalg.batch_matmul ins(%43, %44 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%46 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %48 = tensor.expand_shape %47 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %48 : tensor<2x4x24x16xf32>
}

// The same in halves: the mask is rounded, which nothing in it minds.
func.func @onnx_causal_half(%q: tensor<2x4x24x16xf16>, %k: tensor<2x4x40x16xf16>, %v: tensor<2x4x40x16xf16>) -> tensor<2x4x24x16xf16> {
  %c0_i64 = arith.constant 0 : i64
  %cst = arith.constant 0.000000e+00 : f32
  %cst_0 = arith.constant 0xFF800000 : f32
  %cst_1 = arith.constant 0xFC00 : f16
  %cst_2 = arith.constant dense<0.000000e+00> : tensor<1xf16>
  %cst_3 = arith.constant dense<0xFC00> : tensor<1xf16>
  %cst_4 = arith.constant dense<0.000000e+00> : tensor<24x40xf32>
  %cst_5 = arith.constant dense<0.000000e+00> : tensor<1xf32>
  %cst_6 = arith.constant dense<0xFF800000> : tensor<1xf32>
  %cst_7 = arith.constant dense<1.000000e+00> : tensor<1xf32>
  %cst_8 = arith.constant dense<1.600000e+01> : tensor<1xf32>
  %cst_9 = arith.constant dense<0> : tensor<1xi64>
  %0 = tensor.empty() : tensor<1xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%cst_8 : tensor<1xf32>) outs(%0 : tensor<1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %59 = math.sqrt %in : f32
    linalg.yield %59 : f32
  } -> tensor<1xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%cst_7, %1 : tensor<1xf32>, tensor<1xf32>) outs(%0 : tensor<1xf32>) {
  ^bb0(%in: f32, %in_19: f32, %out: f32):
    %59 = arith.divf %in, %in_19 : f32
    linalg.yield %59 : f32
  } -> tensor<1xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%2 : tensor<1xf32>) outs(%0 : tensor<1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %59 = math.sqrt %in : f32
    linalg.yield %59 : f32
  } -> tensor<1xf32>
  %4 = tensor.empty() : tensor<1xf16>
  %5 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%3 : tensor<1xf32>) outs(%4 : tensor<1xf16>) {
  ^bb0(%in: f32, %out: f16):
    %59 = arith.truncf %in : f32 to f16
    linalg.yield %59 : f16
  } -> tensor<1xf16>
  %6 = tensor.empty() : tensor<24xi64>
  %7 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%6 : tensor<24xi64>) {
  ^bb0(%out: i64):
    %59 = linalg.index 0 : index
    %60 = arith.index_cast %59 : index to i64
    linalg.yield %60 : i64
  } -> tensor<24xi64>
  %expanded = tensor.expand_shape %7 [[0, 1]] output_shape [24, 1] : tensor<24xi64> into tensor<24x1xi64>
  %8 = tensor.empty() : tensor<40xi64>
  %9 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%8 : tensor<40xi64>) {
  ^bb0(%out: i64):
    %59 = linalg.index 0 : index
    %60 = arith.index_cast %59 : index to i64
    linalg.yield %60 : i64
  } -> tensor<40xi64>
  %expanded_10 = tensor.expand_shape %9 [[0, 1]] output_shape [1, 40] : tensor<40xi64> into tensor<1x40xi64>
  %10 = tensor.empty() : tensor<24x1xi64>
  %11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%expanded, %cst_9 : tensor<24x1xi64>, tensor<1xi64>) outs(%10 : tensor<24x1xi64>) {
  ^bb0(%in: i64, %in_19: i64, %out: i64):
    %59 = arith.addi %in, %in_19 : i64
    linalg.yield %59 : i64
  } -> tensor<24x1xi64>
  %12 = tensor.empty() : tensor<24x40xi1>
  %13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%11, %expanded_10 : tensor<24x1xi64>, tensor<1x40xi64>) outs(%12 : tensor<24x40xi1>) {
  ^bb0(%in: i64, %in_19: i64, %out: i1):
    %59 = arith.cmpi slt, %in, %in_19 : i64
    linalg.yield %59 : i1
  } -> tensor<24x40xi1>
  %14 = tensor.empty() : tensor<24x40xf32>
  %15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (0)>, affine_map<(d0, d1) -> (0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%13, %cst_6, %cst_5 : tensor<24x40xi1>, tensor<1xf32>, tensor<1xf32>) outs(%14 : tensor<24x40xf32>) {
  ^bb0(%in: i1, %in_19: f32, %in_20: f32, %out: f32):
    %59 = arith.select %in, %in_19, %in_20 : f32
    linalg.yield %59 : f32
  } -> tensor<24x40xf32>
  %16 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%cst_4, %15 : tensor<24x40xf32>, tensor<24x40xf32>) outs(%14 : tensor<24x40xf32>) {
  ^bb0(%in: f32, %in_19: f32, %out: f32):
    %59 = arith.addf %in, %in_19 : f32
    linalg.yield %59 : f32
  } -> tensor<24x40xf32>
  %17 = tensor.empty() : tensor<24x40xf16>
  %18 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%16 : tensor<24x40xf32>) outs(%17 : tensor<24x40xf16>) {
  ^bb0(%in: f32, %out: f16):
    %59 = arith.truncf %in : f32 to f16
    linalg.yield %59 : f16
  } -> tensor<24x40xf16>
  %19 = tensor.empty() : tensor<2x4x1x40x16xf16>
  %20 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<2x4x40x16xf16>) outs(%19 : tensor<2x4x1x40x16xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x4x1x40x16xf16>
  %21 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>, affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<2x4x40x16xf16>) outs(%19 : tensor<2x4x1x40x16xf16>) {
  ^bb0(%in: f16, %out: f16):
    linalg.yield %in : f16
  } -> tensor<2x4x1x40x16xf16>
  %collapsed = tensor.collapse_shape %20 [[0], [1], [2, 3], [4]] : tensor<2x4x1x40x16xf16> into tensor<2x4x40x16xf16>
  %22 = tensor.empty() : tensor<2x4x16x40xf16>
  %transposed = linalg.transpose ins(%collapsed : tensor<2x4x40x16xf16>) outs(%22 : tensor<2x4x16x40xf16>) permutation = [0, 1, 3, 2] 
  %23 = tensor.empty() : tensor<2x4x24x16xf16>
  %24 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q, %5 : tensor<2x4x24x16xf16>, tensor<1xf16>) outs(%23 : tensor<2x4x24x16xf16>) {
  ^bb0(%in: f16, %in_19: f16, %out: f16):
    %59 = arith.mulf %in, %in_19 : f16
    linalg.yield %59 : f16
  } -> tensor<2x4x24x16xf16>
  %25 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%transposed, %5 : tensor<2x4x16x40xf16>, tensor<1xf16>) outs(%22 : tensor<2x4x16x40xf16>) {
  ^bb0(%in: f16, %in_19: f16, %out: f16):
    %59 = arith.mulf %in, %in_19 : f16
    linalg.yield %59 : f16
  } -> tensor<2x4x16x40xf16>
  %collapsed_11 = tensor.collapse_shape %24 [[0, 1], [2], [3]] : tensor<2x4x24x16xf16> into tensor<8x24x16xf16>
  %collapsed_12 = tensor.collapse_shape %25 [[0, 1], [2], [3]] : tensor<2x4x16x40xf16> into tensor<8x16x40xf16>
  %26 = tensor.empty() : tensor<8x24x40xf32>
  %27 = linalg.fill ins(%cst : f32) outs(%26 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %28 = linalg.batch_matmul ins(%collapsed_11, %collapsed_12 : tensor<8x24x16xf16>, tensor<8x16x40xf16>) outs(%27 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %29 = tensor.empty() : tensor<8x24x40xf16>
  %30 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%28 : tensor<8x24x40xf32>) outs(%29 : tensor<8x24x40xf16>) {
  ^bb0(%in: f32, %out: f16):
    %59 = arith.truncf %in : f32 to f16
    linalg.yield %59 : f16
  } -> tensor<8x24x40xf16>
  %expanded_13 = tensor.expand_shape %30 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf16> into tensor<2x4x24x40xf16>
  %31 = tensor.empty() : tensor<2x4x24x40xf16>
  %32 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%expanded_13, %18 : tensor<2x4x24x40xf16>, tensor<24x40xf16>) outs(%31 : tensor<2x4x24x40xf16>) {
  ^bb0(%in: f16, %in_19: f16, %out: f16):
    %59 = arith.addf %in, %in_19 : f16
    linalg.yield %59 : f16
  } -> tensor<2x4x24x40xf16>
  %33 = tensor.empty() : tensor<2x4x24x40xf32>
  %34 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%32 : tensor<2x4x24x40xf16>) outs(%33 : tensor<2x4x24x40xf32>) {
  ^bb0(%in: f16, %out: f32):
    %59 = arith.extf %in : f16 to f32
    linalg.yield %59 : f32
  } -> tensor<2x4x24x40xf32>
  %35 = tensor.empty() : tensor<2x4x24xi64>
  %36 = linalg.fill ins(%c0_i64 : i64) outs(%35 : tensor<2x4x24xi64>) -> tensor<2x4x24xi64>
  %37 = tensor.empty() : tensor<2x4x24xf32>
  %38 = linalg.fill ins(%cst_0 : f32) outs(%37 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %39:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%34 : tensor<2x4x24x40xf32>) outs(%38, %36 : tensor<2x4x24xf32>, tensor<2x4x24xi64>) {
  ^bb0(%in: f32, %out: f32, %out_19: i64):
    %59 = linalg.index 3 : index
    %60 = arith.index_cast %59 : index to i64
    %61 = arith.maximumf %in, %out : f32
    %62 = arith.cmpf ogt, %in, %out : f32
    %63 = arith.select %62, %60, %out_19 : i64
    linalg.yield %61, %63 : f32, i64
  } -> (tensor<2x4x24xf32>, tensor<2x4x24xi64>)
  %expanded_14 = tensor.expand_shape %39#0 [[0], [1], [2, 3]] output_shape [2, 4, 24, 1] : tensor<2x4x24xf32> into tensor<2x4x24x1xf32>
  %40 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%34, %expanded_14 : tensor<2x4x24x40xf32>, tensor<2x4x24x1xf32>) outs(%33 : tensor<2x4x24x40xf32>) {
  ^bb0(%in: f32, %in_19: f32, %out: f32):
    %59 = arith.subf %in, %in_19 : f32
    linalg.yield %59 : f32
  } -> tensor<2x4x24x40xf32>
  %41 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%40 : tensor<2x4x24x40xf32>) outs(%33 : tensor<2x4x24x40xf32>) {
  ^bb0(%in: f32, %out: f32):
    %59 = math.exp %in : f32
    linalg.yield %59 : f32
  } -> tensor<2x4x24x40xf32>
  %42 = tensor.empty() : tensor<2x4x24x1xf32>
  %43 = linalg.fill ins(%cst : f32) outs(%42 : tensor<2x4x24x1xf32>) -> tensor<2x4x24x1xf32>
  %44 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%41 : tensor<2x4x24x40xf32>) outs(%43 : tensor<2x4x24x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %59 = arith.addf %in, %out : f32
    linalg.yield %59 : f32
  } -> tensor<2x4x24x1xf32>
  %45 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, 0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%41, %44 : tensor<2x4x24x40xf32>, tensor<2x4x24x1xf32>) outs(%33 : tensor<2x4x24x40xf32>) {
  ^bb0(%in: f32, %in_19: f32, %out: f32):
    %59 = arith.divf %in, %in_19 : f32
    linalg.yield %59 : f32
  } -> tensor<2x4x24x40xf32>
  %46 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%45 : tensor<2x4x24x40xf32>) outs(%31 : tensor<2x4x24x40xf16>) {
  ^bb0(%in: f32, %out: f16):
    %59 = arith.truncf %in : f32 to f16
    linalg.yield %59 : f16
  } -> tensor<2x4x24x40xf16>
  %47 = linalg.fill ins(%c0_i64 : i64) outs(%6 : tensor<24xi64>) -> tensor<24xi64>
  %48 = tensor.empty() : tensor<24xf16>
  %49 = linalg.fill ins(%cst_1 : f16) outs(%48 : tensor<24xf16>) -> tensor<24xf16>
  %50:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%18 : tensor<24x40xf16>) outs(%49, %47 : tensor<24xf16>, tensor<24xi64>) {
  ^bb0(%in: f16, %out: f16, %out_19: i64):
    %59 = linalg.index 1 : index
    %60 = arith.index_cast %59 : index to i64
    %61 = arith.maximumf %in, %out : f16
    %62 = arith.cmpf ogt, %in, %out : f16
    %63 = arith.select %62, %60, %out_19 : i64
    linalg.yield %61, %63 : f16, i64
  } -> (tensor<24xf16>, tensor<24xi64>)
  %expanded_15 = tensor.expand_shape %50#0 [[0, 1]] output_shape [24, 1] : tensor<24xf16> into tensor<24x1xf16>
  %51 = tensor.empty() : tensor<24x1xi1>
  %52 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%expanded_15, %cst_3 : tensor<24x1xf16>, tensor<1xf16>) outs(%51 : tensor<24x1xi1>) {
  ^bb0(%in: f16, %in_19: f16, %out: i1):
    %59 = arith.cmpf oeq, %in, %in_19 : f16
    linalg.yield %59 : i1
  } -> tensor<24x1xi1>
  %53 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d2, 0)>, affine_map<(d0, d1, d2, d3) -> (0)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%52, %cst_2, %46 : tensor<24x1xi1>, tensor<1xf16>, tensor<2x4x24x40xf16>) outs(%31 : tensor<2x4x24x40xf16>) {
  ^bb0(%in: i1, %in_19: f16, %in_20: f16, %out: f16):
    %59 = arith.select %in, %in_19, %in_20 : f16
    linalg.yield %59 : f16
  } -> tensor<2x4x24x40xf16>
  %collapsed_16 = tensor.collapse_shape %53 [[0, 1], [2], [3]] : tensor<2x4x24x40xf16> into tensor<8x24x40xf16>
  %collapsed_17 = tensor.collapse_shape %21 [[0, 1], [2, 3], [4]] : tensor<2x4x1x40x16xf16> into tensor<8x40x16xf16>
  %54 = tensor.empty() : tensor<8x24x16xf32>
  %55 = linalg.fill ins(%cst : f32) outs(%54 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %56 = linalg.batch_matmul ins(%collapsed_16, %collapsed_17 : tensor<8x24x40xf16>, tensor<8x40x16xf16>) outs(%55 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %57 = tensor.empty() : tensor<8x24x16xf16>
  %58 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} ins(%56 : tensor<8x24x16xf32>) outs(%57 : tensor<8x24x16xf16>) {
  ^bb0(%in: f32, %out: f16):
    %59 = arith.truncf %in : f32 to f16
    linalg.yield %59 : f16
  } -> tensor<8x24x16xf16>
  %expanded_18 = tensor.expand_shape %58 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf16> into tensor<2x4x24x16xf16>
  return %expanded_18 : tensor<2x4x24x16xf16>
}

// A boolean mask of each head.
func.func @onnx_boolean(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %m: tensor<2x4x24x40xi1>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0xFF800000 : f32
  %k1 = arith.constant 0.0 : f32
  %1 = tensor.empty() : tensor<2x4x24x40xf32>
  %2 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%m : tensor<2x4x24x40xi1>) outs(%1 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k1, %k0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %3 = arith.constant dense<16.0> : tensor<1xf32>
  %4 = arith.constant dense<1.0> : tensor<1xf32>
  %5 = tensor.empty() : tensor<1xf32>
  %6 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%3 : tensor<1xf32>) outs(%5 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %7 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%4, %6 : tensor<1xf32>, tensor<1xf32>) outs(%5 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %8 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%7 : tensor<1xf32>) outs(%5 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %9 = tensor.empty() : tensor<2x4x24x16xf32>
  %10 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %8 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%9 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %11 = tensor.empty() : tensor<2x4x16x40xf32>
  %12 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%11 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %13 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%12, %8 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%11 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %14 = tensor.collapse_shape %10 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %15 = tensor.collapse_shape %13 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %16 = tensor.empty() : tensor<8x24x40xf32>
  %17 = linalg.fill ins(%k1 : f32) outs(%16 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %18 = linalg.batch_matmul ins(%14, %15 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%17 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %19 = tensor.expand_shape %18 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%19, %2 : tensor<2x4x24x40xf32>, tensor<2x4x24x40xf32>) outs(%1 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %21 = tensor.empty() : tensor<2x4x24xf32>
  %22 = linalg.fill ins(%k0 : f32) outs(%21 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%20 : tensor<2x4x24x40xf32>) outs(%22 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %24 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%20, %23 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%1 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %25 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%24 : tensor<2x4x24x40xf32>) outs(%1 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %26 = linalg.fill ins(%k1 : f32) outs(%21 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %27 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%25 : tensor<2x4x24x40xf32>) outs(%26 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %28 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%25, %27 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%1 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %29 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%2 : tensor<2x4x24x40xf32>) outs(%22 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %30 = tensor.empty() : tensor<2x4x24xi1>
  %31 = linalg.generic {indexing_maps = [#bhi_bhi, #bhi_bhi], iterator_types = #ppp} ins(%29 : tensor<2x4x24xf32>) outs(%30 : tensor<2x4x24xi1>) {
    ^bb0(%x0: f32, %acc: i1): %y = arith.cmpf oeq, %x0, %k0 : f32 linalg.yield %y : i1 } -> tensor<2x4x24xi1>
  %32 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%28, %31 : tensor<2x4x24x40xf32>, tensor<2x4x24xi1>) outs(%1 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k1, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %33 = tensor.collapse_shape %32 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %34 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %35 = tensor.empty() : tensor<8x24x16xf32>
  %36 = linalg.fill ins(%k1 : f32) outs(%35 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %37 = linalg.batch_matmul ins(%33, %34 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%36 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %38 = tensor.expand_shape %37 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %38 : tensor<2x4x24x16xf32>
}

// A causal window: two comparisons, added.
func.func @onnx_window(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 5 : i64
  %k1 = arith.constant 0xFF800000 : f32
  %k2 = arith.constant 0.0 : f32
  %1 = tensor.empty() : tensor<24xi64>
  %2 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%1 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %3 = tensor.empty() : tensor<40xi64>
  %4 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%3 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %5 = tensor.empty() : tensor<24x40xi1>
  %6 = linalg.generic {indexing_maps = [#ij_i, #ij_j, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<24xi64>, tensor<40xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %y = arith.cmpi slt, %x0, %x1 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %7 = tensor.empty() : tensor<24x40xi64>
  %8 = linalg.generic {indexing_maps = [#ij_i, #ij_j, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<24xi64>, tensor<40xi64>) outs(%7 : tensor<24x40xi64>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i64): %y = arith.subi %x0, %x1 : i64 linalg.yield %y : i64 } -> tensor<24x40xi64>
  %9 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%8 : tensor<24x40xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %acc: i1): %y = arith.cmpi sle, %x0, %k0 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %10 = tensor.empty() : tensor<24x40xf32>
  %11 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%6 : tensor<24x40xi1>) outs(%10 : tensor<24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k1, %k2 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%9 : tensor<24x40xi1>) outs(%10 : tensor<24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k2, %k1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%11, %12 : tensor<24x40xf32>, tensor<24x40xf32>) outs(%10 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %14 = arith.constant dense<16.0> : tensor<1xf32>
  %15 = arith.constant dense<1.0> : tensor<1xf32>
  %16 = tensor.empty() : tensor<1xf32>
  %17 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%14 : tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %18 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%15, %17 : tensor<1xf32>, tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %19 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%18 : tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %20 = tensor.empty() : tensor<2x4x24x16xf32>
  %21 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %19 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%20 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %22 = tensor.empty() : tensor<2x4x16x40xf32>
  %23 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%22 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %24 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%23, %19 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%22 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %25 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %26 = tensor.collapse_shape %24 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %27 = tensor.empty() : tensor<8x24x40xf32>
  %28 = linalg.fill ins(%k2 : f32) outs(%27 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %29 = linalg.batch_matmul ins(%25, %26 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%28 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %30 = tensor.expand_shape %29 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %31 = tensor.empty() : tensor<2x4x24x40xf32>
  %32 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%30, %13 : tensor<2x4x24x40xf32>, tensor<24x40xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %33 = tensor.empty() : tensor<2x4x24xf32>
  %34 = linalg.fill ins(%k1 : f32) outs(%33 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %35 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%32 : tensor<2x4x24x40xf32>) outs(%34 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %36 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%32, %35 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %37 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%36 : tensor<2x4x24x40xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %38 = linalg.fill ins(%k2 : f32) outs(%33 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %39 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%37 : tensor<2x4x24x40xf32>) outs(%38 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %40 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%37, %39 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %41 = tensor.empty() : tensor<24xf32>
  %42 = linalg.fill ins(%k1 : f32) outs(%41 : tensor<24xf32>) -> tensor<24xf32>
  %43 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%13 : tensor<24x40xf32>) outs(%42 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %44 = tensor.empty() : tensor<24xi1>
  %45 = linalg.generic {indexing_maps = [#i_i, #i_i], iterator_types = #p} ins(%43 : tensor<24xf32>) outs(%44 : tensor<24xi1>) {
    ^bb0(%x0: f32, %acc: i1): %y = arith.cmpf oeq, %x0, %k1 : f32 linalg.yield %y : i1 } -> tensor<24xi1>
  %46 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_i, #bhij_bhij], iterator_types = #pppp} ins(%40, %45 : tensor<2x4x24x40xf32>, tensor<24xi1>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k2, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %47 = tensor.collapse_shape %46 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %48 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %49 = tensor.empty() : tensor<8x24x16xf32>
  %50 = linalg.fill ins(%k2 : f32) outs(%49 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %51 = linalg.batch_matmul ins(%47, %48 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%50 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %52 = tensor.expand_shape %51 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %52 : tensor<2x4x24x16xf32>
}

// The same, chosen: hidden scores are finite, and each query sees its own key, as JAX's users write it.
func.func @jax_window(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 5 : i64
  %k1 = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -3.40282347E+38 : f32
  %k2 = arith.constant 0.0 : f32
  %1 = tensor.empty() : tensor<24xi64>
  %2 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%1 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %3 = tensor.empty() : tensor<40xi64>
  %4 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%3 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %5 = tensor.empty() : tensor<24x40xi1>
  %6 = linalg.generic {indexing_maps = [#ij_i, #ij_j, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<24xi64>, tensor<40xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %y = arith.cmpi sge, %x0, %x1 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %7 = tensor.empty() : tensor<24x40xi64>
  %8 = linalg.generic {indexing_maps = [#ij_i, #ij_j, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<24xi64>, tensor<40xi64>) outs(%7 : tensor<24x40xi64>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i64): %y = arith.subi %x0, %x1 : i64 linalg.yield %y : i64 } -> tensor<24x40xi64>
  %9 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%8 : tensor<24x40xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %acc: i1): %y = arith.cmpi sle, %x0, %k0 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %13 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%6, %9 : tensor<24x40xi1>, tensor<24x40xi1>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i1, %x1: i1, %acc: i1): %y = arith.andi %x0, %x1 : i1 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %14 = arith.constant dense<16.0> : tensor<1xf32>
  %15 = arith.constant dense<1.0> : tensor<1xf32>
  %16 = tensor.empty() : tensor<1xf32>
  %17 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%14 : tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %18 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%15, %17 : tensor<1xf32>, tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %19 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%18 : tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %20 = tensor.empty() : tensor<2x4x24x16xf32>
  %21 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %19 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%20 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %22 = tensor.empty() : tensor<2x4x16x40xf32>
  %23 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%22 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %24 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%23, %19 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%22 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %25 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %26 = tensor.collapse_shape %24 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %27 = tensor.empty() : tensor<8x24x40xf32>
  %28 = linalg.fill ins(%k2 : f32) outs(%27 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %29 = linalg.batch_matmul ins(%25, %26 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%28 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %30 = tensor.expand_shape %29 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %31 = tensor.empty() : tensor<2x4x24x40xf32>
  %32 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%30, %13 : tensor<2x4x24x40xf32>, tensor<24x40xi1>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %x0, %hidden : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %33 = tensor.empty() : tensor<2x4x24xf32>
  %34 = linalg.fill ins(%k1 : f32) outs(%33 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %35 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%32 : tensor<2x4x24x40xf32>) outs(%34 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %36 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%32, %35 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %37 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%36 : tensor<2x4x24x40xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %38 = linalg.fill ins(%k2 : f32) outs(%33 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %39 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%37 : tensor<2x4x24x40xf32>) outs(%38 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %40 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%37, %39 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %47 = tensor.collapse_shape %40 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %48 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %49 = tensor.empty() : tensor<8x24x16xf32>
  %50 = linalg.fill ins(%k2 : f32) outs(%49 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %51 = linalg.batch_matmul ins(%47, %48 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%50 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %52 = tensor.expand_shape %51 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %52 : tensor<2x4x24x16xf32>
}

// Keys of each image up to a number of its own; its last query sees its last key.
func.func @onnx_lengths(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %n: tensor<2xi64>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 24 : i64
  %k1 = arith.constant 0xFF800000 : f32
  %k2 = arith.constant 0.0 : f32
  %1 = tensor.empty() : tensor<24xi64>
  %2 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%1 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %3 = tensor.empty() : tensor<40xi64>
  %4 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%3 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %5 = tensor.empty() : tensor<2x24x40xi1>
  %6 = linalg.generic {indexing_maps = [#bij_b, #bij_i, #bij_j, #bij_bij], iterator_types = #ppp} ins(%n, %2, %4 : tensor<2xi64>, tensor<24xi64>, tensor<40xi64>) outs(%5 : tensor<2x24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %x2: i64, %acc: i1): %w = arith.subi %x0, %k0 : i64 %o = arith.addi %x1, %w : i64 %y = arith.cmpi slt, %o, %x2 : i64 linalg.yield %y : i1 } -> tensor<2x24x40xi1>
  %9 = linalg.generic {indexing_maps = [#bij_b, #bij_j, #bij_bij], iterator_types = #ppp} ins(%n, %4 : tensor<2xi64>, tensor<40xi64>) outs(%5 : tensor<2x24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %y = arith.cmpi slt, %x1, %x0 : i64 linalg.yield %y : i1 } -> tensor<2x24x40xi1>
  %10 = tensor.empty() : tensor<2x24x40xf32>
  %11 = linalg.generic {indexing_maps = [#bij_bij, #bij_bij], iterator_types = #ppp} ins(%6 : tensor<2x24x40xi1>) outs(%10 : tensor<2x24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k1, %k2 : f32 linalg.yield %y : f32 } -> tensor<2x24x40xf32>
  %12 = linalg.generic {indexing_maps = [#bij_bij, #bij_bij], iterator_types = #ppp} ins(%9 : tensor<2x24x40xi1>) outs(%10 : tensor<2x24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k2, %k1 : f32 linalg.yield %y : f32 } -> tensor<2x24x40xf32>
  %13 = linalg.generic {indexing_maps = [#bij_bij, #bij_bij, #bij_bij], iterator_types = #ppp} ins(%11, %12 : tensor<2x24x40xf32>, tensor<2x24x40xf32>) outs(%10 : tensor<2x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x24x40xf32>
  %14 = arith.constant dense<16.0> : tensor<1xf32>
  %15 = arith.constant dense<1.0> : tensor<1xf32>
  %16 = tensor.empty() : tensor<1xf32>
  %17 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%14 : tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %18 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%15, %17 : tensor<1xf32>, tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %19 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%18 : tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %20 = tensor.empty() : tensor<2x4x24x16xf32>
  %21 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %19 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%20 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %22 = tensor.empty() : tensor<2x4x16x40xf32>
  %23 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%22 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %24 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%23, %19 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%22 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %25 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %26 = tensor.collapse_shape %24 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %27 = tensor.empty() : tensor<8x24x40xf32>
  %28 = linalg.fill ins(%k2 : f32) outs(%27 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %29 = linalg.batch_matmul ins(%25, %26 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%28 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %30 = tensor.expand_shape %29 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %31 = tensor.empty() : tensor<2x4x24x40xf32>
  %32 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bij, #bhij_bhij], iterator_types = #pppp} ins(%30, %13 : tensor<2x4x24x40xf32>, tensor<2x24x40xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %33 = tensor.empty() : tensor<2x4x24xf32>
  %34 = linalg.fill ins(%k1 : f32) outs(%33 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %35 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%32 : tensor<2x4x24x40xf32>) outs(%34 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %36 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%32, %35 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %37 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%36 : tensor<2x4x24x40xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %38 = linalg.fill ins(%k2 : f32) outs(%33 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %39 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%37 : tensor<2x4x24x40xf32>) outs(%38 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %40 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%37, %39 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %41 = tensor.empty() : tensor<2x24xf32>
  %42 = linalg.fill ins(%k1 : f32) outs(%41 : tensor<2x24xf32>) -> tensor<2x24xf32>
  %43 = linalg.generic {indexing_maps = [#bij_bij, #bij_bi], iterator_types = #ppr} ins(%13 : tensor<2x24x40xf32>) outs(%42 : tensor<2x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x24xf32>
  %44 = tensor.empty() : tensor<2x24xi1>
  %45 = linalg.generic {indexing_maps = [#bi_bi, #bi_bi], iterator_types = #pp} ins(%43 : tensor<2x24xf32>) outs(%44 : tensor<2x24xi1>) {
    ^bb0(%x0: f32, %acc: i1): %y = arith.cmpf oeq, %x0, %k1 : f32 linalg.yield %y : i1 } -> tensor<2x24xi1>
  %46 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bi, #bhij_bhij], iterator_types = #pppp} ins(%40, %45 : tensor<2x4x24x40xf32>, tensor<2x24xi1>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k2, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %47 = tensor.collapse_shape %46 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %48 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %49 = tensor.empty() : tensor<8x24x16xf32>
  %50 = linalg.fill ins(%k2 : f32) outs(%49 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %51 = linalg.batch_matmul ins(%47, %48 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%50 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %52 = tensor.expand_shape %51 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %52 : tensor<2x4x24x16xf32>
}

// A window on both sides: integers are negated as floats.
func.func @onnx_both_sides(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 5 : i64
  %k3 = arith.constant 3 : i64
  %k1 = arith.constant 0xFF800000 : f32
  %k2 = arith.constant 0.0 : f32
  %1 = tensor.empty() : tensor<24xi64>
  %2 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%1 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %3 = tensor.empty() : tensor<40xi64>
  %4 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%3 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %5 = tensor.empty() : tensor<24x40xi1>
  %7 = tensor.empty() : tensor<24x40xi64>
  %8 = linalg.generic {indexing_maps = [#ij_i, #ij_j, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<24xi64>, tensor<40xi64>) outs(%7 : tensor<24x40xi64>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i64): %y = arith.subi %x0, %x1 : i64 linalg.yield %y : i64 } -> tensor<24x40xi64>
  %negated = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%8 : tensor<24x40xi64>) outs(%7 : tensor<24x40xi64>) {
    ^bb0(%x0: i64, %acc: i64): %f = arith.sitofp %x0 : i64 to f32 %n = arith.negf %f : f32 %y = arith.fptosi %n : f32 to i64 linalg.yield %y : i64 } -> tensor<24x40xi64>
  %6 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%negated : tensor<24x40xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %acc: i1): %y = arith.cmpi sle, %x0, %k3 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %9 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%8 : tensor<24x40xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %acc: i1): %y = arith.cmpi sle, %x0, %k0 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %10 = tensor.empty() : tensor<24x40xf32>
  %11 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%6 : tensor<24x40xi1>) outs(%10 : tensor<24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k2, %k1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%9 : tensor<24x40xi1>) outs(%10 : tensor<24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k2, %k1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%11, %12 : tensor<24x40xf32>, tensor<24x40xf32>) outs(%10 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %14 = arith.constant dense<16.0> : tensor<1xf32>
  %15 = arith.constant dense<1.0> : tensor<1xf32>
  %16 = tensor.empty() : tensor<1xf32>
  %17 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%14 : tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %18 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%15, %17 : tensor<1xf32>, tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %19 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%18 : tensor<1xf32>) outs(%16 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %20 = tensor.empty() : tensor<2x4x24x16xf32>
  %21 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %19 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%20 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %22 = tensor.empty() : tensor<2x4x16x40xf32>
  %23 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%22 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %24 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%23, %19 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%22 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %25 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %26 = tensor.collapse_shape %24 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %27 = tensor.empty() : tensor<8x24x40xf32>
  %28 = linalg.fill ins(%k2 : f32) outs(%27 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %29 = linalg.batch_matmul ins(%25, %26 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%28 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %30 = tensor.expand_shape %29 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %31 = tensor.empty() : tensor<2x4x24x40xf32>
  %32 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%30, %13 : tensor<2x4x24x40xf32>, tensor<24x40xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %33 = tensor.empty() : tensor<2x4x24xf32>
  %34 = linalg.fill ins(%k1 : f32) outs(%33 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %35 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%32 : tensor<2x4x24x40xf32>) outs(%34 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %36 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%32, %35 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %37 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%36 : tensor<2x4x24x40xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %38 = linalg.fill ins(%k2 : f32) outs(%33 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %39 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%37 : tensor<2x4x24x40xf32>) outs(%38 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %40 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%37, %39 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %41 = tensor.empty() : tensor<24xf32>
  %42 = linalg.fill ins(%k1 : f32) outs(%41 : tensor<24xf32>) -> tensor<24xf32>
  %43 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%13 : tensor<24x40xf32>) outs(%42 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %44 = tensor.empty() : tensor<24xi1>
  %45 = linalg.generic {indexing_maps = [#i_i, #i_i], iterator_types = #p} ins(%43 : tensor<24xf32>) outs(%44 : tensor<24xi1>) {
    ^bb0(%x0: f32, %acc: i1): %y = arith.cmpf oeq, %x0, %k1 : f32 linalg.yield %y : i1 } -> tensor<24xi1>
  %46 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_i, #bhij_bhij], iterator_types = #pppp} ins(%40, %45 : tensor<2x4x24x40xf32>, tensor<24xi1>) outs(%31 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k2, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %47 = tensor.collapse_shape %46 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %48 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %49 = tensor.empty() : tensor<8x24x16xf32>
  %50 = linalg.fill ins(%k2 : f32) outs(%49 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %51 = linalg.batch_matmul ins(%47, %48 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%50 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %52 = tensor.expand_shape %51 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %52 : tensor<2x4x24x16xf32>
}

// Keys and values behind those of the past; the last query sees the last key.
func.func @onnx_past(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x24x16xf32>, %v: tensor<2x4x24x16xf32>, %pk: tensor<2x4x16x16xf32>, %pv: tensor<2x4x16x16xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 16 : i64
  %k1 = arith.constant 0.0 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.concat dim(2) %pk, %k : (tensor<2x4x16x16xf32>, tensor<2x4x24x16xf32>) -> tensor<2x4x40x16xf32>
  %2 = tensor.concat dim(2) %pv, %v : (tensor<2x4x16x16xf32>, tensor<2x4x24x16xf32>) -> tensor<2x4x40x16xf32>
  %3 = tensor.empty() : tensor<24xi64>
  %4 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%3 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %5 = linalg.generic {indexing_maps = [#i_i, #i_i], iterator_types = #p} ins(%4 : tensor<24xi64>) outs(%3 : tensor<24xi64>) {
    ^bb0(%x0: i64, %acc: i64): %y = arith.addi %x0, %k0 : i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %6 = tensor.empty() : tensor<40xi64>
  %7 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%6 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %8 = tensor.empty() : tensor<24x40xi1>
  %9 = linalg.generic {indexing_maps = [#ij_i, #ij_j, #ij_ij], iterator_types = #pp} ins(%5, %7 : tensor<24xi64>, tensor<40xi64>) outs(%8 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %y = arith.cmpi slt, %x0, %x1 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %10 = arith.constant dense<16.0> : tensor<1xf32>
  %11 = arith.constant dense<1.0> : tensor<1xf32>
  %12 = tensor.empty() : tensor<1xf32>
  %13 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%10 : tensor<1xf32>) outs(%12 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %14 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%11, %13 : tensor<1xf32>, tensor<1xf32>) outs(%12 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %15 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%14 : tensor<1xf32>) outs(%12 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %16 = tensor.empty() : tensor<2x4x24x16xf32>
  %17 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %15 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%16 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %18 = tensor.empty() : tensor<2x4x16x40xf32>
  %19 = linalg.transpose ins(%1 : tensor<2x4x40x16xf32>) outs(%18 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %20 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%19, %15 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%18 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %21 = tensor.collapse_shape %17 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %22 = tensor.collapse_shape %20 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %23 = tensor.empty() : tensor<8x24x40xf32>
  %24 = linalg.fill ins(%k1 : f32) outs(%23 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %25 = linalg.batch_matmul ins(%21, %22 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%24 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %26 = tensor.expand_shape %25 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %27 = tensor.empty() : tensor<24x40xf32>
  %28 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%9 : tensor<24x40xi1>) outs(%27 : tensor<24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k2, %k1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %29 = tensor.empty() : tensor<2x4x24x40xf32>
  %30 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%26, %28 : tensor<2x4x24x40xf32>, tensor<24x40xf32>) outs(%29 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %31 = tensor.empty() : tensor<2x4x24xf32>
  %32 = linalg.fill ins(%k2 : f32) outs(%31 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %33 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%30 : tensor<2x4x24x40xf32>) outs(%32 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %34 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%30, %33 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%29 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %35 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%34 : tensor<2x4x24x40xf32>) outs(%29 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %36 = linalg.fill ins(%k1 : f32) outs(%31 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %37 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%35 : tensor<2x4x24x40xf32>) outs(%36 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %38 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%35, %37 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%29 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %39 = tensor.collapse_shape %38 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %40 = tensor.collapse_shape %2 [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %41 = tensor.empty() : tensor<8x24x16xf32>
  %42 = linalg.fill ins(%k1 : f32) outs(%41 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %43 = linalg.batch_matmul ins(%39, %40 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%42 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %44 = tensor.expand_shape %43 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %44 : tensor<2x4x24x16xf32>
}
// A window behind a past that does not end where the queries do: query i is at i + 16.
func.func @onnx_past_window(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x20x16xf32>, %v: tensor<2x4x20x16xf32>, %pk: tensor<2x4x16x16xf32>, %pv: tensor<2x4x16x16xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 16 : i64
  %k1 = arith.constant 0.0 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %left = arith.constant 5 : i64
  %1 = tensor.concat dim(2) %pk, %k : (tensor<2x4x16x16xf32>, tensor<2x4x20x16xf32>) -> tensor<2x4x36x16xf32>
  %2 = tensor.concat dim(2) %pv, %v : (tensor<2x4x16x16xf32>, tensor<2x4x20x16xf32>) -> tensor<2x4x36x16xf32>
  %3 = tensor.empty() : tensor<24xi64>
  %4 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%3 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %5 = linalg.generic {indexing_maps = [#i_i, #i_i], iterator_types = #p} ins(%4 : tensor<24xi64>) outs(%3 : tensor<24xi64>) {
    ^bb0(%x0: i64, %acc: i64): %y = arith.addi %x0, %k0 : i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %6 = tensor.empty() : tensor<36xi64>
  %7 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%6 : tensor<36xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<36xi64>
  %8 = tensor.empty() : tensor<24x36xi1>
  %9 = linalg.generic {indexing_maps = [#ij_i, #ij_j, #ij_ij], iterator_types = #pp} ins(%5, %7 : tensor<24xi64>, tensor<36xi64>) outs(%8 : tensor<24x36xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %y = arith.cmpi slt, %x0, %x1 : i64 linalg.yield %y : i1 } -> tensor<24x36xi1>
  %10 = arith.constant dense<16.0> : tensor<1xf32>
  %11 = arith.constant dense<1.0> : tensor<1xf32>
  %12 = tensor.empty() : tensor<1xf32>
  %13 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%10 : tensor<1xf32>) outs(%12 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %14 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%11, %13 : tensor<1xf32>, tensor<1xf32>) outs(%12 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %15 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%14 : tensor<1xf32>) outs(%12 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %16 = tensor.empty() : tensor<2x4x24x16xf32>
  %17 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %15 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%16 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %18 = tensor.empty() : tensor<2x4x16x36xf32>
  %19 = linalg.transpose ins(%1 : tensor<2x4x36x16xf32>) outs(%18 : tensor<2x4x16x36xf32>) permutation = [0, 1, 3, 2]
  %20 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%19, %15 : tensor<2x4x16x36xf32>, tensor<1xf32>) outs(%18 : tensor<2x4x16x36xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x36xf32>
  %21 = tensor.collapse_shape %17 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %22 = tensor.collapse_shape %20 [[0, 1], [2], [3]] : tensor<2x4x16x36xf32> into tensor<8x16x36xf32>
  %23 = tensor.empty() : tensor<8x24x36xf32>
  %24 = linalg.fill ins(%k1 : f32) outs(%23 : tensor<8x24x36xf32>) -> tensor<8x24x36xf32>
  %25 = linalg.batch_matmul ins(%21, %22 : tensor<8x24x16xf32>, tensor<8x16x36xf32>) outs(%24 : tensor<8x24x36xf32>) -> tensor<8x24x36xf32>
  %26 = tensor.expand_shape %25 [[0, 1], [2], [3]] output_shape [2, 4, 24, 36] : tensor<8x24x36xf32> into tensor<2x4x24x36xf32>
  %27 = tensor.empty() : tensor<24x36xf32>
  %upper = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%9 : tensor<24x36xi1>) outs(%27 : tensor<24x36xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k2, %k1 : f32 linalg.yield %y : f32 } -> tensor<24x36xf32>
  %far = tensor.empty() : tensor<24x36xi64>
  %back = linalg.generic {indexing_maps = [#ij_i, #ij_j, #ij_ij], iterator_types = #pp} ins(%5, %7 : tensor<24xi64>, tensor<36xi64>) outs(%far : tensor<24x36xi64>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i64): %y = arith.subi %x0, %x1 : i64 linalg.yield %y : i64 } -> tensor<24x36xi64>
  %near = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%back : tensor<24x36xi64>) outs(%8 : tensor<24x36xi1>) {
    ^bb0(%x0: i64, %acc: i1): %y = arith.cmpi sle, %x0, %left : i64 linalg.yield %y : i1 } -> tensor<24x36xi1>
  %lower = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%near : tensor<24x36xi1>) outs(%27 : tensor<24x36xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k1, %k2 : f32 linalg.yield %y : f32 } -> tensor<24x36xf32>
  %28 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%upper, %lower : tensor<24x36xf32>, tensor<24x36xf32>) outs(%27 : tensor<24x36xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<24x36xf32>
  %29 = tensor.empty() : tensor<2x4x24x36xf32>
  %30 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%26, %28 : tensor<2x4x24x36xf32>, tensor<24x36xf32>) outs(%29 : tensor<2x4x24x36xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x36xf32>
  %31 = tensor.empty() : tensor<2x4x24xf32>
  %32 = linalg.fill ins(%k2 : f32) outs(%31 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %33 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%30 : tensor<2x4x24x36xf32>) outs(%32 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %34 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%30, %33 : tensor<2x4x24x36xf32>, tensor<2x4x24xf32>) outs(%29 : tensor<2x4x24x36xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x36xf32>
  %35 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%34 : tensor<2x4x24x36xf32>) outs(%29 : tensor<2x4x24x36xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x36xf32>
  %36 = linalg.fill ins(%k1 : f32) outs(%31 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %37 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%35 : tensor<2x4x24x36xf32>) outs(%36 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %38 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%35, %37 : tensor<2x4x24x36xf32>, tensor<2x4x24xf32>) outs(%29 : tensor<2x4x24x36xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x36xf32>
  %39 = tensor.collapse_shape %38 [[0, 1], [2], [3]] : tensor<2x4x24x36xf32> into tensor<8x24x36xf32>
  %40 = tensor.collapse_shape %2 [[0, 1], [2], [3]] : tensor<2x4x36x16xf32> into tensor<8x36x16xf32>
  %41 = tensor.empty() : tensor<8x24x16xf32>
  %42 = linalg.fill ins(%k1 : f32) outs(%41 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %43 = linalg.batch_matmul ins(%39, %40 : tensor<8x24x36xf32>, tensor<8x36x16xf32>) outs(%42 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %44 = tensor.expand_shape %43 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %44 : tensor<2x4x24x16xf32>
}
// Scores are a result, too.
func.func @onnx_scores(%q: tensor<2x4x20x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>) -> (tensor<2x4x20x16xf32>, tensor<2x4x20x40xf32>) {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = arith.constant dense<0.0> : tensor<20x40xf32>
  %2 = arith.constant dense<16.0> : tensor<1xf32>
  %3 = arith.constant dense<1.0> : tensor<1xf32>
  %4 = tensor.empty() : tensor<1xf32>
  %5 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%2 : tensor<1xf32>) outs(%4 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %6 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%3, %5 : tensor<1xf32>, tensor<1xf32>) outs(%4 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %7 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%6 : tensor<1xf32>) outs(%4 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %8 = tensor.empty() : tensor<2x4x20x16xf32>
  %9 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %7 : tensor<2x4x20x16xf32>, tensor<1xf32>) outs(%8 : tensor<2x4x20x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x20x16xf32>
  %10 = tensor.empty() : tensor<2x4x16x40xf32>
  %11 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%10 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %12 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%11, %7 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%10 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %13 = tensor.collapse_shape %9 [[0, 1], [2], [3]] : tensor<2x4x20x16xf32> into tensor<8x20x16xf32>
  %14 = tensor.collapse_shape %12 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %15 = tensor.empty() : tensor<8x20x40xf32>
  %16 = linalg.fill ins(%k0 : f32) outs(%15 : tensor<8x20x40xf32>) -> tensor<8x20x40xf32>
  %17 = linalg.batch_matmul ins(%13, %14 : tensor<8x20x16xf32>, tensor<8x16x40xf32>) outs(%16 : tensor<8x20x40xf32>) -> tensor<8x20x40xf32>
  %18 = tensor.expand_shape %17 [[0, 1], [2], [3]] output_shape [2, 4, 20, 40] : tensor<8x20x40xf32> into tensor<2x4x20x40xf32>
  %19 = tensor.empty() : tensor<2x4x20x40xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%18, %1 : tensor<2x4x20x40xf32>, tensor<20x40xf32>) outs(%19 : tensor<2x4x20x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x20x40xf32>
  %21 = tensor.empty() : tensor<2x4x20xf32>
  %22 = linalg.fill ins(%k1 : f32) outs(%21 : tensor<2x4x20xf32>) -> tensor<2x4x20xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%20 : tensor<2x4x20x40xf32>) outs(%22 : tensor<2x4x20xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x20xf32>
  %24 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%20, %23 : tensor<2x4x20x40xf32>, tensor<2x4x20xf32>) outs(%19 : tensor<2x4x20x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x20x40xf32>
  %25 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%24 : tensor<2x4x20x40xf32>) outs(%19 : tensor<2x4x20x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x20x40xf32>
  %26 = linalg.fill ins(%k0 : f32) outs(%21 : tensor<2x4x20xf32>) -> tensor<2x4x20xf32>
  %27 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%25 : tensor<2x4x20x40xf32>) outs(%26 : tensor<2x4x20xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x20xf32>
  %28 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%25, %27 : tensor<2x4x20x40xf32>, tensor<2x4x20xf32>) outs(%19 : tensor<2x4x20x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x20x40xf32>
  %29 = tensor.empty() : tensor<20xf32>
  %30 = linalg.fill ins(%k1 : f32) outs(%29 : tensor<20xf32>) -> tensor<20xf32>
  %31 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%1 : tensor<20x40xf32>) outs(%30 : tensor<20xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<20xf32>
  %32 = tensor.empty() : tensor<20xi1>
  %33 = linalg.generic {indexing_maps = [#i_i, #i_i], iterator_types = #p} ins(%31 : tensor<20xf32>) outs(%32 : tensor<20xi1>) {
    ^bb0(%x0: f32, %acc: i1): %y = arith.cmpf oeq, %x0, %k1 : f32 linalg.yield %y : i1 } -> tensor<20xi1>
  %34 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_i, #bhij_bhij], iterator_types = #pppp} ins(%28, %33 : tensor<2x4x20x40xf32>, tensor<20xi1>) outs(%19 : tensor<2x4x20x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k0, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x20x40xf32>
  %35 = tensor.collapse_shape %34 [[0, 1], [2], [3]] : tensor<2x4x20x40xf32> into tensor<8x20x40xf32>
  %36 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %37 = tensor.empty() : tensor<8x20x16xf32>
  %38 = linalg.fill ins(%k0 : f32) outs(%37 : tensor<8x20x16xf32>) -> tensor<8x20x16xf32>
  %39 = linalg.batch_matmul ins(%35, %36 : tensor<8x20x40xf32>, tensor<8x40x16xf32>) outs(%38 : tensor<8x20x16xf32>) -> tensor<8x20x16xf32>
  %40 = tensor.expand_shape %39 [[0, 1], [2], [3]] output_shape [2, 4, 20, 16] : tensor<8x20x16xf32> into tensor<2x4x20x16xf32>
  return %40, %18 : tensor<2x4x20x16xf32>, tensor<2x4x20x40xf32>
}

// Scores between two numbers, then a mask.
func.func @onnx_softcap(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %m: tensor<24x40xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 2.0 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %1 = arith.constant dense<16.0> : tensor<1xf32>
  %2 = arith.constant dense<1.0> : tensor<1xf32>
  %3 = tensor.empty() : tensor<1xf32>
  %4 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%1 : tensor<1xf32>) outs(%3 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %5 = linalg.generic {indexing_maps = [#l_l, #l_l, #l_l], iterator_types = #p} ins(%2, %4 : tensor<1xf32>, tensor<1xf32>) outs(%3 : tensor<1xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %6 = linalg.generic {indexing_maps = [#l_l, #l_l], iterator_types = #p} ins(%5 : tensor<1xf32>) outs(%3 : tensor<1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.sqrt %x0 : f32 linalg.yield %y : f32 } -> tensor<1xf32>
  %7 = tensor.empty() : tensor<2x4x24x16xf32>
  %8 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_0, #bhid_bhid], iterator_types = #pppp} ins(%q, %6 : tensor<2x4x24x16xf32>, tensor<1xf32>) outs(%7 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %9 = tensor.empty() : tensor<2x4x16x40xf32>
  %10 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%9 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %11 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_0, #bhdj_bhdj], iterator_types = #pppp} ins(%10, %6 : tensor<2x4x16x40xf32>, tensor<1xf32>) outs(%9 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %12 = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %13 = tensor.collapse_shape %11 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %14 = tensor.empty() : tensor<8x24x40xf32>
  %15 = linalg.fill ins(%k0 : f32) outs(%14 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %16 = linalg.batch_matmul ins(%12, %13 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%15 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %17 = tensor.expand_shape %16 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %18 = tensor.empty() : tensor<2x4x24x40xf32>
  %19 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%17 : tensor<2x4x24x40xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.divf %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%19 : tensor<2x4x24x40xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.tanh %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %21 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%20 : tensor<2x4x24x40xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%21, %m : tensor<2x4x24x40xf32>, tensor<24x40xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %23 = tensor.empty() : tensor<2x4x24xf32>
  %24 = linalg.fill ins(%k2 : f32) outs(%23 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %25 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%22 : tensor<2x4x24x40xf32>) outs(%24 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %26 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%22, %25 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %27 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%26 : tensor<2x4x24x40xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %28 = linalg.fill ins(%k0 : f32) outs(%23 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %29 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%27 : tensor<2x4x24x40xf32>) outs(%28 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %30 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%27, %29 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %31 = tensor.collapse_shape %30 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %32 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %33 = tensor.empty() : tensor<8x24x16xf32>
  %34 = linalg.fill ins(%k0 : f32) outs(%33 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %35 = linalg.batch_matmul ins(%31, %32 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%34 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %36 = tensor.expand_shape %35 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %36 : tensor<2x4x24x16xf32>
}

// An encoder: 1 or 0 for each key becomes 0 or -10000, which is added.
func.func @bert_padding(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %m: tensor<2x40xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 1.0 : f32
  %k1 = arith.constant -10000.0 : f32
  %k2 = arith.constant 0.0 : f32
  %k3 = arith.constant 0.25 : f32
  %k4 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<2x40xf32>
  %2 = linalg.generic {indexing_maps = [#bj_bj, #bj_bj], iterator_types = #pp} ins(%m : tensor<2x40xf32>) outs(%1 : tensor<2x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.subf %k0, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x40xf32>
  %3 = linalg.generic {indexing_maps = [#bj_bj, #bj_bj], iterator_types = #pp} ins(%2 : tensor<2x40xf32>) outs(%1 : tensor<2x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<2x40xf32>
  %4 = tensor.expand_shape %3 [[0], [1, 2, 3]] output_shape [2, 1, 1, 40] : tensor<2x40xf32> into tensor<2x1x1x40xf32>
  %5 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %6 = tensor.empty() : tensor<2x4x16x40xf32>
  %7 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%6 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %8 = tensor.collapse_shape %7 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %9 = tensor.empty() : tensor<8x24x40xf32>
  %10 = linalg.fill ins(%k2 : f32) outs(%9 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %11 = linalg.batch_matmul ins(%5, %8 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%10 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %12 = tensor.expand_shape %11 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %13 = tensor.empty() : tensor<2x4x24x40xf32>
  %14 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%12 : tensor<2x4x24x40xf32>) outs(%13 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k3 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_b00j, #bhij_bhij], iterator_types = #pppp} ins(%14, %4 : tensor<2x4x24x40xf32>, tensor<2x1x1x40xf32>) outs(%13 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %16 = tensor.empty() : tensor<2x4x24xf32>
  %17 = linalg.fill ins(%k4 : f32) outs(%16 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%15 : tensor<2x4x24x40xf32>) outs(%17 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %19 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%15, %18 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%13 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%19 : tensor<2x4x24x40xf32>) outs(%13 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %21 = linalg.fill ins(%k2 : f32) outs(%16 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%20 : tensor<2x4x24x40xf32>) outs(%21 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%20, %22 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%13 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %24 = tensor.collapse_shape %23 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %25 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %26 = tensor.empty() : tensor<8x24x16xf32>
  %27 = linalg.fill ins(%k2 : f32) outs(%26 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %28 = linalg.batch_matmul ins(%24, %25 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%27 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %29 = tensor.expand_shape %28 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %29 : tensor<2x4x24x16xf32>
}

// PyTorch scaled_dot_product_attention: zeros where all scores of a query are -inf.
func.func @torch_safe(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %m: tensor<24x40xi1>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0.5 : f32
  %k1 = arith.constant 0.0 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %k3 = arith.constant 0xFFF0000000000000 : f64
  %k4 = arith.constant true
  %1 = tensor.empty() : tensor<2x4x24x16xf32>
  %2 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_bhid], iterator_types = #pppp} ins(%q : tensor<2x4x24x16xf32>) outs(%1 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %3 = tensor.empty() : tensor<2x4x16x40xf32>
  %4 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%3 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %5 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_bhdj], iterator_types = #pppp} ins(%4 : tensor<2x4x16x40xf32>) outs(%3 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k0 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %6 = tensor.collapse_shape %2 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %7 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %8 = tensor.empty() : tensor<8x24x40xf32>
  %9 = linalg.fill ins(%k1 : f32) outs(%8 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %10 = linalg.batch_matmul ins(%6, %7 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%9 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %11 = tensor.expand_shape %10 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %12 = tensor.empty() : tensor<24x40xf32>
  %13 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%m : tensor<24x40xi1>) outs(%12 : tensor<24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k1, %k2 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %14 = tensor.empty() : tensor<2x4x24x40xf32>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%11, %13 : tensor<2x4x24x40xf32>, tensor<24x40xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %16 = tensor.empty() : tensor<2x4x24xf32>
  %17 = linalg.fill ins(%k2 : f32) outs(%16 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%15 : tensor<2x4x24x40xf32>) outs(%17 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %19 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%15, %18 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%19 : tensor<2x4x24x40xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %21 = linalg.fill ins(%k1 : f32) outs(%16 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%20 : tensor<2x4x24x40xf32>) outs(%21 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%20, %22 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %24 = tensor.empty() : tensor<2x4x24x40xi1>
  %25 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%15 : tensor<2x4x24x40xf32>) outs(%24 : tensor<2x4x24x40xi1>) {
    ^bb0(%x0: f32, %acc: i1): %w = arith.extf %x0 : f32 to f64 %y = arith.cmpf oeq, %w, %k3 : f64 linalg.yield %y : i1 } -> tensor<2x4x24x40xi1>
  %26 = tensor.empty() : tensor<2x4x24xi1>
  %27 = linalg.fill ins(%k4 : i1) outs(%26 : tensor<2x4x24xi1>) -> tensor<2x4x24xi1>
  %28 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%25 : tensor<2x4x24x40xi1>) outs(%27 : tensor<2x4x24xi1>) {
    ^bb0(%x0: i1, %acc: i1): %y = arith.andi %x0, %acc : i1 linalg.yield %y : i1 } -> tensor<2x4x24xi1>
  %29 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%23, %28 : tensor<2x4x24x40xf32>, tensor<2x4x24xi1>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k1, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %30 = tensor.collapse_shape %29 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %31 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %32 = tensor.empty() : tensor<8x24x16xf32>
  %33 = linalg.fill ins(%k1 : f32) outs(%32 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %34 = linalg.batch_matmul ins(%30, %31 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%33 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %35 = tensor.expand_shape %34 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %35 : tensor<2x4x24x16xf32>
}

// The maximum and the sum of a row without keys are others: its weights are zeros.
func.func @guarded_sums(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %m: tensor<24x40xi1>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0.5 : f32
  %k1 = arith.constant 0.0 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %k5 = arith.constant 1.0 : f32
  %1 = tensor.empty() : tensor<2x4x24x16xf32>
  %2 = linalg.generic {indexing_maps = [#bhid_bhid, #bhid_bhid], iterator_types = #pppp} ins(%q : tensor<2x4x24x16xf32>) outs(%1 : tensor<2x4x24x16xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x16xf32>
  %3 = tensor.empty() : tensor<2x4x16x40xf32>
  %4 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%3 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %5 = linalg.generic {indexing_maps = [#bhdj_bhdj, #bhdj_bhdj], iterator_types = #pppp} ins(%4 : tensor<2x4x16x40xf32>) outs(%3 : tensor<2x4x16x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k0 : f32 linalg.yield %y : f32 } -> tensor<2x4x16x40xf32>
  %6 = tensor.collapse_shape %2 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %7 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %8 = tensor.empty() : tensor<8x24x40xf32>
  %9 = linalg.fill ins(%k1 : f32) outs(%8 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %10 = linalg.batch_matmul ins(%6, %7 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%9 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %11 = tensor.expand_shape %10 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %12 = tensor.empty() : tensor<24x40xf32>
  %13 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%m : tensor<24x40xi1>) outs(%12 : tensor<24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %y = arith.select %x0, %k1, %k2 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %14 = tensor.empty() : tensor<2x4x24x40xf32>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%11, %13 : tensor<2x4x24x40xf32>, tensor<24x40xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %16 = tensor.empty() : tensor<2x4x24xf32>
  %17 = linalg.fill ins(%k2 : f32) outs(%16 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%15 : tensor<2x4x24x40xf32>) outs(%17 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %24 = linalg.generic {indexing_maps = [#bhi_bhi, #bhi_bhi], iterator_types = #ppp} ins(%18 : tensor<2x4x24xf32>) outs(%16 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %c = arith.cmpf oeq, %x0, %k2 : f32 %y = arith.select %c, %k1, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %19 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%15, %24 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%19 : tensor<2x4x24x40xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %21 = linalg.fill ins(%k1 : f32) outs(%16 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%20 : tensor<2x4x24x40xf32>) outs(%21 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %25 = linalg.generic {indexing_maps = [#bhi_bhi, #bhi_bhi], iterator_types = #ppp} ins(%22 : tensor<2x4x24xf32>) outs(%16 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %c = arith.cmpf une, %x0, %k1 : f32 %y = arith.select %c, %x0, %k5 : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%20, %25 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %30 = tensor.collapse_shape %23 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %31 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %32 = tensor.empty() : tensor<8x24x16xf32>
  %33 = linalg.fill ins(%k1 : f32) outs(%32 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %34 = linalg.batch_matmul ins(%30, %31 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%33 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %35 = tensor.expand_shape %34 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %35 : tensor<2x4x24x16xf32>
}

// softmax(q @ k.T / sqrt(d)) @ v in f16: each step is rounded.
func.func @torch_f16(%q: tensor<2x4x24x16xf16>, %k: tensor<2x4x40x16xf16>, %v: tensor<2x4x40x16xf16>) -> tensor<2x4x24x16xf16> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 4.0 : f16
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf16> into tensor<8x24x16xf16>
  %2 = tensor.empty() : tensor<2x4x16x40xf16>
  %3 = linalg.transpose ins(%k : tensor<2x4x40x16xf16>) outs(%2 : tensor<2x4x16x40xf16>) permutation = [0, 1, 3, 2]
  %4 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x4x16x40xf16> into tensor<8x16x40xf16>
  %5 = tensor.empty() : tensor<8x24x40xf32>
  %6 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %7 = linalg.batch_matmul ins(%1, %4 : tensor<8x24x16xf16>, tensor<8x16x40xf16>) outs(%6 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %8 = tensor.expand_shape %7 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %9 = tensor.empty() : tensor<2x4x24x40xf16>
  %10 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%8 : tensor<2x4x24x40xf32>) outs(%9 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %11 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%10 : tensor<2x4x24x40xf16>) outs(%9 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.divf %x0, %k1 : f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %12 = tensor.empty() : tensor<2x4x24x40xf32>
  %13 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%11 : tensor<2x4x24x40xf16>) outs(%12 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f16, %acc: f32): %y = arith.extf %x0 : f16 to f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %14 = tensor.empty() : tensor<2x4x24xf32>
  %15 = linalg.fill ins(%k2 : f32) outs(%14 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %16 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%13 : tensor<2x4x24x40xf32>) outs(%15 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%13, %16 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%12 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%17 : tensor<2x4x24x40xf32>) outs(%12 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %19 = linalg.fill ins(%k0 : f32) outs(%14 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%18 : tensor<2x4x24x40xf32>) outs(%19 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %21 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%18, %20 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%12 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%21 : tensor<2x4x24x40xf32>) outs(%9 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %23 = tensor.collapse_shape %22 [[0, 1], [2], [3]] : tensor<2x4x24x40xf16> into tensor<8x24x40xf16>
  %24 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf16> into tensor<8x40x16xf16>
  %25 = tensor.empty() : tensor<8x24x16xf32>
  %26 = linalg.fill ins(%k0 : f32) outs(%25 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %27 = linalg.batch_matmul ins(%23, %24 : tensor<8x24x40xf16>, tensor<8x40x16xf16>) outs(%26 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %28 = tensor.empty() : tensor<8x24x16xf16>
  %29 = linalg.generic {indexing_maps = [#nid_nid, #nid_nid], iterator_types = #ppp} ins(%27 : tensor<8x24x16xf32>) outs(%28 : tensor<8x24x16xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<8x24x16xf16>
  %30 = tensor.expand_shape %29 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf16> into tensor<2x4x24x16xf16>
  return %30 : tensor<2x4x24x16xf16>
}

// softmax(q @ k.T / sqrt(d)) @ v in bf16: each step is rounded.
func.func @torch_bf16(%q: tensor<2x4x24x16xbf16>, %k: tensor<2x4x40x16xbf16>, %v: tensor<2x4x40x16xbf16>) -> tensor<2x4x24x16xbf16> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 4.0 : bf16
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xbf16> into tensor<8x24x16xbf16>
  %2 = tensor.empty() : tensor<2x4x16x40xbf16>
  %3 = linalg.transpose ins(%k : tensor<2x4x40x16xbf16>) outs(%2 : tensor<2x4x16x40xbf16>) permutation = [0, 1, 3, 2]
  %4 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x4x16x40xbf16> into tensor<8x16x40xbf16>
  %5 = tensor.empty() : tensor<8x24x40xf32>
  %6 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %7 = linalg.batch_matmul ins(%1, %4 : tensor<8x24x16xbf16>, tensor<8x16x40xbf16>) outs(%6 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %8 = tensor.expand_shape %7 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %9 = tensor.empty() : tensor<2x4x24x40xbf16>
  %10 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%8 : tensor<2x4x24x40xf32>) outs(%9 : tensor<2x4x24x40xbf16>) {
    ^bb0(%x0: f32, %acc: bf16): %y = arith.truncf %x0 : f32 to bf16 linalg.yield %y : bf16 } -> tensor<2x4x24x40xbf16>
  %11 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%10 : tensor<2x4x24x40xbf16>) outs(%9 : tensor<2x4x24x40xbf16>) {
    ^bb0(%x0: bf16, %acc: bf16): %y = arith.divf %x0, %k1 : bf16 linalg.yield %y : bf16 } -> tensor<2x4x24x40xbf16>
  %12 = tensor.empty() : tensor<2x4x24x40xf32>
  %13 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%11 : tensor<2x4x24x40xbf16>) outs(%12 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: bf16, %acc: f32): %y = arith.extf %x0 : bf16 to f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %14 = tensor.empty() : tensor<2x4x24xf32>
  %15 = linalg.fill ins(%k2 : f32) outs(%14 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %16 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%13 : tensor<2x4x24x40xf32>) outs(%15 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%13, %16 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%12 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%17 : tensor<2x4x24x40xf32>) outs(%12 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %19 = linalg.fill ins(%k0 : f32) outs(%14 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%18 : tensor<2x4x24x40xf32>) outs(%19 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %21 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%18, %20 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%12 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%21 : tensor<2x4x24x40xf32>) outs(%9 : tensor<2x4x24x40xbf16>) {
    ^bb0(%x0: f32, %acc: bf16): %y = arith.truncf %x0 : f32 to bf16 linalg.yield %y : bf16 } -> tensor<2x4x24x40xbf16>
  %23 = tensor.collapse_shape %22 [[0, 1], [2], [3]] : tensor<2x4x24x40xbf16> into tensor<8x24x40xbf16>
  %24 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xbf16> into tensor<8x40x16xbf16>
  %25 = tensor.empty() : tensor<8x24x16xf32>
  %26 = linalg.fill ins(%k0 : f32) outs(%25 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %27 = linalg.batch_matmul ins(%23, %24 : tensor<8x24x40xbf16>, tensor<8x40x16xbf16>) outs(%26 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %28 = tensor.empty() : tensor<8x24x16xbf16>
  %29 = linalg.generic {indexing_maps = [#nid_nid, #nid_nid], iterator_types = #ppp} ins(%27 : tensor<8x24x16xf32>) outs(%28 : tensor<8x24x16xbf16>) {
    ^bb0(%x0: f32, %acc: bf16): %y = arith.truncf %x0 : f32 to bf16 linalg.yield %y : bf16 } -> tensor<8x24x16xbf16>
  %30 = tensor.expand_shape %29 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xbf16> into tensor<2x4x24x16xbf16>
  return %30 : tensor<2x4x24x16xbf16>
}

// Scores of keys that are padding become -1e9: a query without keys gets the average of all.
func.func @torch_masked_fill(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %m: tensor<2x40xi64>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 0.0 : f32
  %k2 = arith.constant 0.25 : f32
  %k3 = arith.constant -1.0e9 : f32
  %k4 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<2x40xi1>
  %2 = linalg.generic {indexing_maps = [#bj_bj, #bj_bj], iterator_types = #pp} ins(%m : tensor<2x40xi64>) outs(%1 : tensor<2x40xi1>) {
    ^bb0(%x0: i64, %acc: i1): %y = arith.cmpi eq, %x0, %k0 : i64 linalg.yield %y : i1 } -> tensor<2x40xi1>
  %3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %4 = tensor.empty() : tensor<2x4x16x40xf32>
  %5 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%4 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %6 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %7 = tensor.empty() : tensor<8x24x40xf32>
  %8 = linalg.fill ins(%k1 : f32) outs(%7 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %9 = linalg.batch_matmul ins(%3, %6 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%8 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %10 = tensor.expand_shape %9 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %11 = tensor.empty() : tensor<2x4x24x40xf32>
  %12 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%10 : tensor<2x4x24x40xf32>) outs(%11 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k2 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %13 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bj, #bhij_bhij], iterator_types = #pppp} ins(%12, %2 : tensor<2x4x24x40xf32>, tensor<2x40xi1>) outs(%11 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k3, %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %14 = tensor.empty() : tensor<2x4x24xf32>
  %15 = linalg.fill ins(%k4 : f32) outs(%14 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %16 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%13 : tensor<2x4x24x40xf32>) outs(%15 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%13, %16 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%11 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%17 : tensor<2x4x24x40xf32>) outs(%11 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %19 = linalg.fill ins(%k1 : f32) outs(%14 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%18 : tensor<2x4x24x40xf32>) outs(%19 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %21 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%18, %20 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%11 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %22 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %23 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %24 = tensor.empty() : tensor<8x24x16xf32>
  %25 = linalg.fill ins(%k1 : f32) outs(%24 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %26 = linalg.batch_matmul ins(%22, %23 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%25 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %27 = tensor.expand_shape %26 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %27 : tensor<2x4x24x16xf32>
}

// The same in bf16, which has another number in place of -1e9.
func.func @torch_masked_fill_bf16(%q: tensor<2x4x24x16xbf16>, %k: tensor<2x4x40x16xbf16>, %v: tensor<2x4x40x16xbf16>, %m: tensor<2x40xi64>) -> tensor<2x4x24x16xbf16> {
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 0.0 : bf16
  %k2 = arith.constant 0.25 : bf16
  %k3 = arith.constant -1.0e9 : bf16
  %k4 = arith.constant 0xFF80 : bf16
  %1 = tensor.empty() : tensor<2x40xi1>
  %2 = linalg.generic {indexing_maps = [#bj_bj, #bj_bj], iterator_types = #pp} ins(%m : tensor<2x40xi64>) outs(%1 : tensor<2x40xi1>) {
    ^bb0(%x0: i64, %acc: i1): %y = arith.cmpi eq, %x0, %k0 : i64 linalg.yield %y : i1 } -> tensor<2x40xi1>
  %3 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xbf16> into tensor<8x24x16xbf16>
  %4 = tensor.empty() : tensor<2x4x16x40xbf16>
  %5 = linalg.transpose ins(%k : tensor<2x4x40x16xbf16>) outs(%4 : tensor<2x4x16x40xbf16>) permutation = [0, 1, 3, 2]
  %6 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x16x40xbf16> into tensor<8x16x40xbf16>
  %7 = tensor.empty() : tensor<8x24x40xbf16>
  %8 = linalg.fill ins(%k1 : bf16) outs(%7 : tensor<8x24x40xbf16>) -> tensor<8x24x40xbf16>
  %9 = linalg.batch_matmul ins(%3, %6 : tensor<8x24x16xbf16>, tensor<8x16x40xbf16>) outs(%8 : tensor<8x24x40xbf16>) -> tensor<8x24x40xbf16>
  %10 = tensor.expand_shape %9 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xbf16> into tensor<2x4x24x40xbf16>
  %11 = tensor.empty() : tensor<2x4x24x40xbf16>
  %12 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%10 : tensor<2x4x24x40xbf16>) outs(%11 : tensor<2x4x24x40xbf16>) {
    ^bb0(%x0: bf16, %acc: bf16): %y = arith.mulf %x0, %k2 : bf16 linalg.yield %y : bf16 } -> tensor<2x4x24x40xbf16>
  %13 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bj, #bhij_bhij], iterator_types = #pppp} ins(%12, %2 : tensor<2x4x24x40xbf16>, tensor<2x40xi1>) outs(%11 : tensor<2x4x24x40xbf16>) {
    ^bb0(%x0: bf16, %x1: i1, %acc: bf16): %y = arith.select %x1, %k3, %x0 : bf16 linalg.yield %y : bf16 } -> tensor<2x4x24x40xbf16>
  %14 = tensor.empty() : tensor<2x4x24xbf16>
  %15 = linalg.fill ins(%k4 : bf16) outs(%14 : tensor<2x4x24xbf16>) -> tensor<2x4x24xbf16>
  %16 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%13 : tensor<2x4x24x40xbf16>) outs(%15 : tensor<2x4x24xbf16>) {
    ^bb0(%x0: bf16, %acc: bf16): %y = arith.maximumf %x0, %acc : bf16 linalg.yield %y : bf16 } -> tensor<2x4x24xbf16>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%13, %16 : tensor<2x4x24x40xbf16>, tensor<2x4x24xbf16>) outs(%11 : tensor<2x4x24x40xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %y = arith.subf %x0, %x1 : bf16 linalg.yield %y : bf16 } -> tensor<2x4x24x40xbf16>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%17 : tensor<2x4x24x40xbf16>) outs(%11 : tensor<2x4x24x40xbf16>) {
    ^bb0(%x0: bf16, %acc: bf16): %y = math.exp %x0 : bf16 linalg.yield %y : bf16 } -> tensor<2x4x24x40xbf16>
  %19 = linalg.fill ins(%k1 : bf16) outs(%14 : tensor<2x4x24xbf16>) -> tensor<2x4x24xbf16>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%18 : tensor<2x4x24x40xbf16>) outs(%19 : tensor<2x4x24xbf16>) {
    ^bb0(%x0: bf16, %acc: bf16): %y = arith.addf %x0, %acc : bf16 linalg.yield %y : bf16 } -> tensor<2x4x24xbf16>
  %21 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%18, %20 : tensor<2x4x24x40xbf16>, tensor<2x4x24xbf16>) outs(%11 : tensor<2x4x24x40xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %y = arith.divf %x0, %x1 : bf16 linalg.yield %y : bf16 } -> tensor<2x4x24x40xbf16>
  %22 = tensor.collapse_shape %21 [[0, 1], [2], [3]] : tensor<2x4x24x40xbf16> into tensor<8x24x40xbf16>
  %23 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xbf16> into tensor<8x40x16xbf16>
  %24 = tensor.empty() : tensor<8x24x16xbf16>
  %25 = linalg.fill ins(%k1 : bf16) outs(%24 : tensor<8x24x16xbf16>) -> tensor<8x24x16xbf16>
  %26 = linalg.batch_matmul ins(%22, %23 : tensor<8x24x40xbf16>, tensor<8x40x16xbf16>) outs(%25 : tensor<8x24x16xbf16>) -> tensor<8x24x16xbf16>
  %27 = tensor.expand_shape %26 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xbf16> into tensor<2x4x24x16xbf16>
  return %27 : tensor<2x4x24x16xbf16>
}

// torch.where of a triangle and the lowest number.
func.func @gpt2_causal(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 0.0 : f32
  %k2 = arith.constant 0.25 : f32
  %k3 = arith.constant -3.40282347E+38 : f32
  %k4 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<40xi64>
  %2 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%1 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %3 = tensor.empty() : tensor<24xi64>
  %4 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%3 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %5 = tensor.empty() : tensor<24x40xi1>
  %6 = linalg.generic {indexing_maps = [#ij_j, #ij_i, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<40xi64>, tensor<24xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %w = arith.subi %x0, %x1 : i64 %y = arith.cmpi sle, %w, %k0 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %7 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %8 = tensor.empty() : tensor<2x4x16x40xf32>
  %9 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%8 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %10 = tensor.collapse_shape %9 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %11 = tensor.empty() : tensor<8x24x40xf32>
  %12 = linalg.fill ins(%k1 : f32) outs(%11 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %13 = linalg.batch_matmul ins(%7, %10 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%12 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %14 = tensor.expand_shape %13 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %15 = tensor.empty() : tensor<2x4x24x40xf32>
  %16 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%14 : tensor<2x4x24x40xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k2 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%16, %6 : tensor<2x4x24x40xf32>, tensor<24x40xi1>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %x0, %k3 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %18 = tensor.empty() : tensor<2x4x24xf32>
  %19 = linalg.fill ins(%k4 : f32) outs(%18 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%17 : tensor<2x4x24x40xf32>) outs(%19 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %21 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%17, %20 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%21 : tensor<2x4x24x40xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %23 = linalg.fill ins(%k1 : f32) outs(%18 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %24 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%22 : tensor<2x4x24x40xf32>) outs(%23 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %25 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%22, %24 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %26 = tensor.collapse_shape %25 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %27 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %28 = tensor.empty() : tensor<8x24x16xf32>
  %29 = linalg.fill ins(%k1 : f32) outs(%28 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %30 = linalg.batch_matmul ins(%26, %27 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%29 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %31 = tensor.expand_shape %30 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %31 : tensor<2x4x24x16xf32>
}

// The same with a number that does not hide for sure, and what a mask has for each key added.
func.func @gpt2_masked_bias(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %m: tensor<2x40xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 0.0 : f32
  %k2 = arith.constant 0.25 : f32
  %k3 = arith.constant -1.0e4 : f32
  %k4 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<40xi64>
  %2 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%1 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %3 = tensor.empty() : tensor<24xi64>
  %4 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%3 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %5 = tensor.empty() : tensor<24x40xi1>
  %6 = linalg.generic {indexing_maps = [#ij_j, #ij_i, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<40xi64>, tensor<24xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %w = arith.subi %x0, %x1 : i64 %y = arith.cmpi sle, %w, %k0 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %7 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %8 = tensor.empty() : tensor<2x4x16x40xf32>
  %9 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%8 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %10 = tensor.collapse_shape %9 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %11 = tensor.empty() : tensor<8x24x40xf32>
  %12 = linalg.fill ins(%k1 : f32) outs(%11 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %13 = linalg.batch_matmul ins(%7, %10 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%12 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %14 = tensor.expand_shape %13 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %15 = tensor.empty() : tensor<2x4x24x40xf32>
  %16 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%14 : tensor<2x4x24x40xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k2 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%16, %6 : tensor<2x4x24x40xf32>, tensor<24x40xi1>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %x0, %k3 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %masked = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bj, #bhij_bhij], iterator_types = #pppp} ins(%17, %m : tensor<2x4x24x40xf32>, tensor<2x40xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %18 = tensor.empty() : tensor<2x4x24xf32>
  %19 = linalg.fill ins(%k4 : f32) outs(%18 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%masked : tensor<2x4x24x40xf32>) outs(%19 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %21 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%masked, %20 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%21 : tensor<2x4x24x40xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %23 = linalg.fill ins(%k1 : f32) outs(%18 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %24 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%22 : tensor<2x4x24x40xf32>) outs(%23 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %25 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%22, %24 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %26 = tensor.collapse_shape %25 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %27 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %28 = tensor.empty() : tensor<8x24x16xf32>
  %29 = linalg.fill ins(%k1 : f32) outs(%28 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %30 = linalg.batch_matmul ins(%26, %27 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%29 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %31 = tensor.expand_shape %30 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %31 : tensor<2x4x24x16xf32>
}

// ALiBi: distances times a slope of each head are added, under a triangle and the lowest number.
func.func @alibi_causal(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %m: tensor<4xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant 0 : i64
  %k1 = arith.constant 0.0 : f32
  %k2 = arith.constant 0.25 : f32
  %k3 = arith.constant -3.40282347E+38 : f32
  %k4 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<40xi64>
  %2 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%1 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %3 = tensor.empty() : tensor<24xi64>
  %4 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%3 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %5 = tensor.empty() : tensor<24x40xi1>
  %6 = linalg.generic {indexing_maps = [#ij_j, #ij_i, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<40xi64>, tensor<24xi64>) outs(%5 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %w = arith.subi %x0, %x1 : i64 %y = arith.cmpi sle, %w, %k0 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %7 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %8 = tensor.empty() : tensor<2x4x16x40xf32>
  %9 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%8 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %10 = tensor.collapse_shape %9 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %11 = tensor.empty() : tensor<8x24x40xf32>
  %12 = linalg.fill ins(%k1 : f32) outs(%11 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %13 = linalg.batch_matmul ins(%7, %10 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%12 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %14 = tensor.expand_shape %13 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %15 = tensor.empty() : tensor<2x4x24x40xf32>
  %16 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%14 : tensor<2x4x24x40xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k2 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %d = tensor.empty() : tensor<24x40xf32>
  %far = linalg.generic {indexing_maps = [#ij_j, #ij_i, #ij_ij], iterator_types = #pp} ins(%2, %4 : tensor<40xi64>, tensor<24xi64>) outs(%d : tensor<24x40xf32>) {
    ^bb0(%x0: i64, %x1: i64, %acc: f32): %w = arith.subi %x0, %x1 : i64 %y = arith.sitofp %w : i64 to f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %b = tensor.empty() : tensor<4x24x40xf32>
  %bias = linalg.generic {indexing_maps = [#hij_h, #hij_ij, #hij_hij], iterator_types = #ppp} ins(%m, %far : tensor<4xf32>, tensor<24x40xf32>) outs(%b : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_hij, #bhij_bhij], iterator_types = #pppp} ins(%16, %bias : tensor<2x4x24x40xf32>, tensor<4x24x40xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%sum, %6 : tensor<2x4x24x40xf32>, tensor<24x40xi1>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %x0, %k3 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %18 = tensor.empty() : tensor<2x4x24xf32>
  %19 = linalg.fill ins(%k4 : f32) outs(%18 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%17 : tensor<2x4x24x40xf32>) outs(%19 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %21 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%17, %20 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%21 : tensor<2x4x24x40xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %23 = linalg.fill ins(%k1 : f32) outs(%18 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %24 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%22 : tensor<2x4x24x40xf32>) outs(%23 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %25 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%22, %24 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%15 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %26 = tensor.collapse_shape %25 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %27 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %28 = tensor.empty() : tensor<8x24x16xf32>
  %29 = linalg.fill ins(%k1 : f32) outs(%28 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %30 = linalg.batch_matmul ins(%26, %27 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%29 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %31 = tensor.expand_shape %30 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %31 : tensor<2x4x24x16xf32>
}

// A decoder: repeated heads, a mask that is added, softmax of f32, heads side by side.
func.func @llama_half(%q: tensor<2x4x24x16xf16>, %k: tensor<2x2x40x16xf16>, %v: tensor<2x2x40x16xf16>, %m: tensor<2x1x24x40xf16>) -> tensor<2x24x4x16xf16> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0.25 : f16
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<2x2x2x40x16xf16>
  %2 = linalg.generic {indexing_maps = [#bsgjd_bsjd, #bsgjd_bsgjd], iterator_types = #ppppp} ins(%k : tensor<2x2x40x16xf16>) outs(%1 : tensor<2x2x2x40x16xf16>) {
    ^bb0(%x0: f16, %acc: f16): linalg.yield %x0 : f16 } -> tensor<2x2x2x40x16xf16>
  %3 = tensor.collapse_shape %2 [[0], [1, 2], [3], [4]] : tensor<2x2x2x40x16xf16> into tensor<2x4x40x16xf16>
  %4 = linalg.generic {indexing_maps = [#bsgjd_bsjd, #bsgjd_bsgjd], iterator_types = #ppppp} ins(%v : tensor<2x2x40x16xf16>) outs(%1 : tensor<2x2x2x40x16xf16>) {
    ^bb0(%x0: f16, %acc: f16): linalg.yield %x0 : f16 } -> tensor<2x2x2x40x16xf16>
  %5 = tensor.collapse_shape %4 [[0], [1, 2], [3], [4]] : tensor<2x2x2x40x16xf16> into tensor<2x4x40x16xf16>
  %6 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf16> into tensor<8x24x16xf16>
  %7 = tensor.empty() : tensor<2x4x16x40xf16>
  %8 = linalg.transpose ins(%3 : tensor<2x4x40x16xf16>) outs(%7 : tensor<2x4x16x40xf16>) permutation = [0, 1, 3, 2]
  %9 = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<2x4x16x40xf16> into tensor<8x16x40xf16>
  %10 = tensor.empty() : tensor<8x24x40xf32>
  %11 = linalg.fill ins(%k0 : f32) outs(%10 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %12 = linalg.batch_matmul ins(%6, %9 : tensor<8x24x16xf16>, tensor<8x16x40xf16>) outs(%11 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %13 = tensor.expand_shape %12 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %14 = tensor.empty() : tensor<2x4x24x40xf16>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%13 : tensor<2x4x24x40xf32>) outs(%14 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %16 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%15 : tensor<2x4x24x40xf16>) outs(%14 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.mulf %x0, %k1 : f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_b0ij, #bhij_bhij], iterator_types = #pppp} ins(%16, %m : tensor<2x4x24x40xf16>, tensor<2x1x24x40xf16>) outs(%14 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.addf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %18 = tensor.empty() : tensor<2x4x24x40xf32>
  %19 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%17 : tensor<2x4x24x40xf16>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f16, %acc: f32): %y = arith.extf %x0 : f16 to f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %20 = tensor.empty() : tensor<2x4x24xf32>
  %21 = linalg.fill ins(%k2 : f32) outs(%20 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%19 : tensor<2x4x24x40xf32>) outs(%21 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%19, %22 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %24 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%23 : tensor<2x4x24x40xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %25 = linalg.fill ins(%k0 : f32) outs(%20 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %26 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%24 : tensor<2x4x24x40xf32>) outs(%25 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %27 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%24, %26 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%18 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %28 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%27 : tensor<2x4x24x40xf32>) outs(%14 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %29 = tensor.collapse_shape %28 [[0, 1], [2], [3]] : tensor<2x4x24x40xf16> into tensor<8x24x40xf16>
  %30 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x40x16xf16> into tensor<8x40x16xf16>
  %31 = tensor.empty() : tensor<8x24x16xf32>
  %32 = linalg.fill ins(%k0 : f32) outs(%31 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %33 = linalg.batch_matmul ins(%29, %30 : tensor<8x24x40xf16>, tensor<8x40x16xf16>) outs(%32 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %34 = tensor.empty() : tensor<8x24x16xf16>
  %35 = linalg.generic {indexing_maps = [#nid_nid, #nid_nid], iterator_types = #ppp} ins(%33 : tensor<8x24x16xf32>) outs(%34 : tensor<8x24x16xf16>) {
    ^bb0(%x0: f32, %acc: f16): %y = arith.truncf %x0 : f32 to f16 linalg.yield %y : f16 } -> tensor<8x24x16xf16>
  %36 = tensor.expand_shape %35 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf16> into tensor<2x4x24x16xf16>
  %37 = tensor.empty() : tensor<2x24x4x16xf16>
  %38 = linalg.transpose ins(%36 : tensor<2x4x24x16xf16>) outs(%37 : tensor<2x24x4x16xf16>) permutation = [0, 2, 1, 3]
  return %38 : tensor<2x24x4x16xf16>
}

// Grouped heads under a triangle times the lowest number.
func.func @llama_causal(%q: tensor<2x4x24x16xf32>, %k: tensor<2x2x40x16xf32>, %v: tensor<2x2x40x16xf32>) -> tensor<2x4x24x16xf32> {
  %k0 = arith.constant -3.40282347E+38 : f32
  %k1 = arith.constant 0.0 : f32
  %k2 = arith.constant 0.25 : f32
  %k3 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<2x2x2x40x16xf32>
  %2 = linalg.generic {indexing_maps = [#bsgjd_bsjd, #bsgjd_bsgjd], iterator_types = #ppppp} ins(%k : tensor<2x2x40x16xf32>) outs(%1 : tensor<2x2x2x40x16xf32>) {
    ^bb0(%x0: f32, %acc: f32): linalg.yield %x0 : f32 } -> tensor<2x2x2x40x16xf32>
  %3 = tensor.collapse_shape %2 [[0], [1, 2], [3], [4]] : tensor<2x2x2x40x16xf32> into tensor<2x4x40x16xf32>
  %4 = linalg.generic {indexing_maps = [#bsgjd_bsjd, #bsgjd_bsgjd], iterator_types = #ppppp} ins(%v : tensor<2x2x40x16xf32>) outs(%1 : tensor<2x2x2x40x16xf32>) {
    ^bb0(%x0: f32, %acc: f32): linalg.yield %x0 : f32 } -> tensor<2x2x2x40x16xf32>
  %5 = tensor.collapse_shape %4 [[0], [1, 2], [3], [4]] : tensor<2x2x2x40x16xf32> into tensor<2x4x40x16xf32>
  %6 = tensor.empty() : tensor<40xi64>
  %7 = linalg.generic {indexing_maps = [#j_j], iterator_types = #p} outs(%6 : tensor<40xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<40xi64>
  %8 = tensor.empty() : tensor<24xi64>
  %9 = linalg.generic {indexing_maps = [#i_i], iterator_types = #p} outs(%8 : tensor<24xi64>) {
    ^bb0(%acc: i64): %w = linalg.index 0 : index %y = arith.index_cast %w : index to i64 linalg.yield %y : i64 } -> tensor<24xi64>
  %10 = tensor.empty() : tensor<24x40xi1>
  %11 = linalg.generic {indexing_maps = [#ij_j, #ij_i, #ij_ij], iterator_types = #pp} ins(%7, %9 : tensor<40xi64>, tensor<24xi64>) outs(%10 : tensor<24x40xi1>) {
    ^bb0(%x0: i64, %x1: i64, %acc: i1): %y = arith.cmpi sgt, %x0, %x1 : i64 linalg.yield %y : i1 } -> tensor<24x40xi1>
  %12 = tensor.empty() : tensor<24x40xf32>
  %13 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%11 : tensor<24x40xi1>) outs(%12 : tensor<24x40xf32>) {
    ^bb0(%x0: i1, %acc: f32): %w = arith.uitofp %x0 : i1 to f32 %y = arith.mulf %w, %k0 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %14 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %15 = tensor.empty() : tensor<2x4x16x40xf32>
  %16 = linalg.transpose ins(%3 : tensor<2x4x40x16xf32>) outs(%15 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %17 = tensor.collapse_shape %16 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %18 = tensor.empty() : tensor<8x24x40xf32>
  %19 = linalg.fill ins(%k1 : f32) outs(%18 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %20 = linalg.batch_matmul ins(%14, %17 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%19 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %21 = tensor.expand_shape %20 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %22 = tensor.empty() : tensor<2x4x24x40xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%21 : tensor<2x4x24x40xf32>) outs(%22 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k2 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %24 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_ij, #bhij_bhij], iterator_types = #pppp} ins(%23, %13 : tensor<2x4x24x40xf32>, tensor<24x40xf32>) outs(%22 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %25 = tensor.empty() : tensor<2x4x24xf32>
  %26 = linalg.fill ins(%k3 : f32) outs(%25 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %27 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%24 : tensor<2x4x24x40xf32>) outs(%26 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %28 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%24, %27 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%22 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %29 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%28 : tensor<2x4x24x40xf32>) outs(%22 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %30 = linalg.fill ins(%k1 : f32) outs(%25 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %31 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%29 : tensor<2x4x24x40xf32>) outs(%30 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %32 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%29, %31 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%22 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %33 = tensor.collapse_shape %32 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %34 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %35 = tensor.empty() : tensor<8x24x16xf32>
  %36 = linalg.fill ins(%k1 : f32) outs(%35 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %37 = linalg.batch_matmul ins(%33, %34 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%36 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %38 = tensor.expand_shape %37 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %38 : tensor<2x4x24x16xf32>
}

// Heads behind tokens: operands and result transposed for the products.
func.func @einsum_tokens_first(%q: tensor<2x24x4x16xf32>, %k: tensor<2x40x4x16xf32>, %v: tensor<2x40x4x16xf32>) -> tensor<2x24x4x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0.25 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<2x4x24x16xf32>
  %2 = linalg.transpose ins(%q : tensor<2x24x4x16xf32>) outs(%1 : tensor<2x4x24x16xf32>) permutation = [0, 2, 1, 3]
  %3 = tensor.empty() : tensor<2x4x40x16xf32>
  %4 = linalg.transpose ins(%k : tensor<2x40x4x16xf32>) outs(%3 : tensor<2x4x40x16xf32>) permutation = [0, 2, 1, 3]
  %5 = linalg.transpose ins(%v : tensor<2x40x4x16xf32>) outs(%3 : tensor<2x4x40x16xf32>) permutation = [0, 2, 1, 3]
  %6 = tensor.collapse_shape %2 [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %7 = tensor.empty() : tensor<2x4x16x40xf32>
  %8 = linalg.transpose ins(%4 : tensor<2x4x40x16xf32>) outs(%7 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %9 = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %10 = tensor.empty() : tensor<8x24x40xf32>
  %11 = linalg.fill ins(%k0 : f32) outs(%10 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %12 = linalg.batch_matmul ins(%6, %9 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%11 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %13 = tensor.expand_shape %12 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %14 = tensor.empty() : tensor<2x4x24x40xf32>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%13 : tensor<2x4x24x40xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %16 = tensor.empty() : tensor<2x4x24xf32>
  %17 = linalg.fill ins(%k2 : f32) outs(%16 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%15 : tensor<2x4x24x40xf32>) outs(%17 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %19 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%15, %18 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%19 : tensor<2x4x24x40xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %21 = linalg.fill ins(%k0 : f32) outs(%16 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%20 : tensor<2x4x24x40xf32>) outs(%21 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%20, %22 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%14 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %24 = tensor.collapse_shape %23 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %25 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %26 = tensor.empty() : tensor<8x24x16xf32>
  %27 = linalg.fill ins(%k0 : f32) outs(%26 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %28 = linalg.batch_matmul ins(%24, %25 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%27 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %29 = tensor.expand_shape %28 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  %30 = tensor.empty() : tensor<2x24x4x16xf32>
  %31 = linalg.transpose ins(%29 : tensor<2x4x24x16xf32>) outs(%30 : tensor<2x24x4x16xf32>) permutation = [0, 2, 1, 3]
  return %31 : tensor<2x24x4x16xf32>
}

// A text that is continued: no loop of the queries.
func.func @one_query(%q: tensor<2x4x1x16xf32>, %k: tensor<2x2x40x16xf32>, %v: tensor<2x2x40x16xf32>) -> tensor<2x4x1x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0.25 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<2x2x2x40x16xf32>
  %2 = linalg.generic {indexing_maps = [#bsgjd_bsjd, #bsgjd_bsgjd], iterator_types = #ppppp} ins(%k : tensor<2x2x40x16xf32>) outs(%1 : tensor<2x2x2x40x16xf32>) {
    ^bb0(%x0: f32, %acc: f32): linalg.yield %x0 : f32 } -> tensor<2x2x2x40x16xf32>
  %3 = tensor.collapse_shape %2 [[0], [1, 2], [3], [4]] : tensor<2x2x2x40x16xf32> into tensor<2x4x40x16xf32>
  %4 = linalg.generic {indexing_maps = [#bsgjd_bsjd, #bsgjd_bsgjd], iterator_types = #ppppp} ins(%v : tensor<2x2x40x16xf32>) outs(%1 : tensor<2x2x2x40x16xf32>) {
    ^bb0(%x0: f32, %acc: f32): linalg.yield %x0 : f32 } -> tensor<2x2x2x40x16xf32>
  %5 = tensor.collapse_shape %4 [[0], [1, 2], [3], [4]] : tensor<2x2x2x40x16xf32> into tensor<2x4x40x16xf32>
  %6 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x1x16xf32> into tensor<8x1x16xf32>
  %7 = tensor.empty() : tensor<2x4x16x40xf32>
  %8 = linalg.transpose ins(%3 : tensor<2x4x40x16xf32>) outs(%7 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %9 = tensor.collapse_shape %8 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %10 = tensor.empty() : tensor<8x1x40xf32>
  %11 = linalg.fill ins(%k0 : f32) outs(%10 : tensor<8x1x40xf32>) -> tensor<8x1x40xf32>
  %12 = linalg.batch_matmul ins(%6, %9 : tensor<8x1x16xf32>, tensor<8x16x40xf32>) outs(%11 : tensor<8x1x40xf32>) -> tensor<8x1x40xf32>
  %13 = tensor.expand_shape %12 [[0, 1], [2], [3]] output_shape [2, 4, 1, 40] : tensor<8x1x40xf32> into tensor<2x4x1x40xf32>
  %14 = tensor.empty() : tensor<2x4x1x40xf32>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%13 : tensor<2x4x1x40xf32>) outs(%14 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %16 = tensor.empty() : tensor<2x4x1xf32>
  %17 = linalg.fill ins(%k2 : f32) outs(%16 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%15 : tensor<2x4x1x40xf32>) outs(%17 : tensor<2x4x1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x1xf32>
  %19 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%15, %18 : tensor<2x4x1x40xf32>, tensor<2x4x1xf32>) outs(%14 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %20 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%19 : tensor<2x4x1x40xf32>) outs(%14 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %21 = linalg.fill ins(%k0 : f32) outs(%16 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %22 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%20 : tensor<2x4x1x40xf32>) outs(%21 : tensor<2x4x1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x1xf32>
  %23 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%20, %22 : tensor<2x4x1x40xf32>, tensor<2x4x1xf32>) outs(%14 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %24 = tensor.collapse_shape %23 [[0, 1], [2], [3]] : tensor<2x4x1x40xf32> into tensor<8x1x40xf32>
  %25 = tensor.collapse_shape %5 [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %26 = tensor.empty() : tensor<8x1x16xf32>
  %27 = linalg.fill ins(%k0 : f32) outs(%26 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
  %28 = linalg.batch_matmul ins(%24, %25 : tensor<8x1x40xf32>, tensor<8x40x16xf32>) outs(%27 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
  %29 = tensor.expand_shape %28 [[0, 1], [2], [3]] output_shape [2, 4, 1, 16] : tensor<8x1x16xf32> into tensor<2x4x1x16xf32>
  return %29 : tensor<2x4x1x16xf32>
}

// The same without groups.
func.func @one_query_a_head(%q: tensor<2x4x1x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>) -> tensor<2x4x1x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0.25 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x1x16xf32> into tensor<8x1x16xf32>
  %2 = tensor.empty() : tensor<2x4x16x40xf32>
  %3 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%2 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %4 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %5 = tensor.empty() : tensor<8x1x40xf32>
  %6 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<8x1x40xf32>) -> tensor<8x1x40xf32>
  %7 = linalg.batch_matmul ins(%1, %4 : tensor<8x1x16xf32>, tensor<8x16x40xf32>) outs(%6 : tensor<8x1x40xf32>) -> tensor<8x1x40xf32>
  %8 = tensor.expand_shape %7 [[0, 1], [2], [3]] output_shape [2, 4, 1, 40] : tensor<8x1x40xf32> into tensor<2x4x1x40xf32>
  %9 = tensor.empty() : tensor<2x4x1x40xf32>
  %10 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%8 : tensor<2x4x1x40xf32>) outs(%9 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %11 = tensor.empty() : tensor<2x4x1xf32>
  %12 = linalg.fill ins(%k2 : f32) outs(%11 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %13 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%10 : tensor<2x4x1x40xf32>) outs(%12 : tensor<2x4x1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x1xf32>
  %14 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%10, %13 : tensor<2x4x1x40xf32>, tensor<2x4x1xf32>) outs(%9 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%14 : tensor<2x4x1x40xf32>) outs(%9 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %16 = linalg.fill ins(%k0 : f32) outs(%11 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%15 : tensor<2x4x1x40xf32>) outs(%16 : tensor<2x4x1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x1xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%15, %17 : tensor<2x4x1x40xf32>, tensor<2x4x1xf32>) outs(%9 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %19 = tensor.collapse_shape %18 [[0, 1], [2], [3]] : tensor<2x4x1x40xf32> into tensor<8x1x40xf32>
  %20 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %21 = tensor.empty() : tensor<8x1x16xf32>
  %22 = linalg.fill ins(%k0 : f32) outs(%21 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
  %23 = linalg.batch_matmul ins(%19, %20 : tensor<8x1x40xf32>, tensor<8x40x16xf32>) outs(%22 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
  %24 = tensor.expand_shape %23 [[0, 1], [2], [3]] output_shape [2, 4, 1, 16] : tensor<8x1x16xf32> into tensor<2x4x1x16xf32>
  return %24 : tensor<2x4x1x16xf32>
}

// What the heads of one token give is projected.
func.func @one_query_projected(%q: tensor<2x4x1x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>, %w: tensor<64x24xf32>) -> tensor<2x24xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0.25 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x1x16xf32> into tensor<8x1x16xf32>
  %2 = tensor.empty() : tensor<2x4x16x40xf32>
  %3 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%2 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %4 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %5 = tensor.empty() : tensor<8x1x40xf32>
  %6 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<8x1x40xf32>) -> tensor<8x1x40xf32>
  %7 = linalg.batch_matmul ins(%1, %4 : tensor<8x1x16xf32>, tensor<8x16x40xf32>) outs(%6 : tensor<8x1x40xf32>) -> tensor<8x1x40xf32>
  %8 = tensor.expand_shape %7 [[0, 1], [2], [3]] output_shape [2, 4, 1, 40] : tensor<8x1x40xf32> into tensor<2x4x1x40xf32>
  %9 = tensor.empty() : tensor<2x4x1x40xf32>
  %10 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%8 : tensor<2x4x1x40xf32>) outs(%9 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %11 = tensor.empty() : tensor<2x4x1xf32>
  %12 = linalg.fill ins(%k2 : f32) outs(%11 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %13 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%10 : tensor<2x4x1x40xf32>) outs(%12 : tensor<2x4x1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x1xf32>
  %14 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%10, %13 : tensor<2x4x1x40xf32>, tensor<2x4x1xf32>) outs(%9 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%14 : tensor<2x4x1x40xf32>) outs(%9 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %16 = linalg.fill ins(%k0 : f32) outs(%11 : tensor<2x4x1xf32>) -> tensor<2x4x1xf32>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%15 : tensor<2x4x1x40xf32>) outs(%16 : tensor<2x4x1xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x1xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%15, %17 : tensor<2x4x1x40xf32>, tensor<2x4x1xf32>) outs(%9 : tensor<2x4x1x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x1x40xf32>
  %19 = tensor.collapse_shape %18 [[0, 1], [2], [3]] : tensor<2x4x1x40xf32> into tensor<8x1x40xf32>
  %20 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %21 = tensor.empty() : tensor<8x1x16xf32>
  %22 = linalg.fill ins(%k0 : f32) outs(%21 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
  %23 = linalg.batch_matmul ins(%19, %20 : tensor<8x1x40xf32>, tensor<8x40x16xf32>) outs(%22 : tensor<8x1x16xf32>) -> tensor<8x1x16xf32>
  %24 = tensor.expand_shape %23 [[0, 1], [2], [3]] output_shape [2, 4, 1, 16] : tensor<8x1x16xf32> into tensor<2x4x1x16xf32>
  %25 = tensor.collapse_shape %24 [[0], [1, 2, 3]] : tensor<2x4x1x16xf32> into tensor<2x64xf32>
  %26 = tensor.empty() : tensor<2x24xf32>
  %27 = linalg.fill ins(%k0 : f32) outs(%26 : tensor<2x24xf32>) -> tensor<2x24xf32>
  %28 = linalg.matmul ins(%25, %w : tensor<2x64xf32>, tensor<64x24xf32>) outs(%27 : tensor<2x24xf32>) -> tensor<2x24xf32>
  return %28 : tensor<2x24xf32>
}

// A forward pass that keeps what its backward pass needs.
func.func @log_sum_exp(%q: tensor<2x4x24x16xf32>, %k: tensor<2x4x40x16xf32>, %v: tensor<2x4x40x16xf32>) -> (tensor<2x4x24x16xf32>, tensor<2x4x24xf32>) {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0.25 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf32> into tensor<8x24x16xf32>
  %2 = tensor.empty() : tensor<2x4x16x40xf32>
  %3 = linalg.transpose ins(%k : tensor<2x4x40x16xf32>) outs(%2 : tensor<2x4x16x40xf32>) permutation = [0, 1, 3, 2]
  %4 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x4x16x40xf32> into tensor<8x16x40xf32>
  %5 = tensor.empty() : tensor<8x24x40xf32>
  %6 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %7 = linalg.batch_matmul ins(%1, %4 : tensor<8x24x16xf32>, tensor<8x16x40xf32>) outs(%6 : tensor<8x24x40xf32>) -> tensor<8x24x40xf32>
  %8 = tensor.expand_shape %7 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf32> into tensor<2x4x24x40xf32>
  %9 = tensor.empty() : tensor<2x4x24x40xf32>
  %10 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%8 : tensor<2x4x24x40xf32>) outs(%9 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.mulf %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %11 = tensor.empty() : tensor<2x4x24xf32>
  %12 = linalg.fill ins(%k2 : f32) outs(%11 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %13 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%10 : tensor<2x4x24x40xf32>) outs(%12 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %14 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%10, %13 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%9 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%14 : tensor<2x4x24x40xf32>) outs(%9 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %16 = linalg.fill ins(%k0 : f32) outs(%11 : tensor<2x4x24xf32>) -> tensor<2x4x24xf32>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%15 : tensor<2x4x24x40xf32>) outs(%16 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%15, %17 : tensor<2x4x24x40xf32>, tensor<2x4x24xf32>) outs(%9 : tensor<2x4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24x40xf32>
  %19 = linalg.generic {indexing_maps = [#bhi_bhi, #bhi_bhi], iterator_types = #ppp} ins(%17 : tensor<2x4x24xf32>) outs(%11 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.log %x0 : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %20 = linalg.generic {indexing_maps = [#bhi_bhi, #bhi_bhi, #bhi_bhi], iterator_types = #ppp} ins(%19, %13 : tensor<2x4x24xf32>, tensor<2x4x24xf32>) outs(%11 : tensor<2x4x24xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<2x4x24xf32>
  %21 = tensor.collapse_shape %18 [[0, 1], [2], [3]] : tensor<2x4x24x40xf32> into tensor<8x24x40xf32>
  %22 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf32> into tensor<8x40x16xf32>
  %23 = tensor.empty() : tensor<8x24x16xf32>
  %24 = linalg.fill ins(%k0 : f32) outs(%23 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %25 = linalg.batch_matmul ins(%21, %22 : tensor<8x24x40xf32>, tensor<8x40x16xf32>) outs(%24 : tensor<8x24x16xf32>) -> tensor<8x24x16xf32>
  %26 = tensor.expand_shape %25 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf32> into tensor<2x4x24x16xf32>
  return %26, %20 : tensor<2x4x24x16xf32>, tensor<2x4x24xf32>
}

// The same, all of it in f16.
func.func @log_sum_exp_f16(%q: tensor<2x4x24x16xf16>, %k: tensor<2x4x40x16xf16>, %v: tensor<2x4x40x16xf16>) -> (tensor<2x4x24x16xf16>, tensor<2x4x24xf16>) {
  %k0 = arith.constant 0.0 : f16
  %k1 = arith.constant 0.25 : f16
  %k2 = arith.constant 0xFC00 : f16
  %1 = tensor.collapse_shape %q [[0, 1], [2], [3]] : tensor<2x4x24x16xf16> into tensor<8x24x16xf16>
  %2 = tensor.empty() : tensor<2x4x16x40xf16>
  %3 = linalg.transpose ins(%k : tensor<2x4x40x16xf16>) outs(%2 : tensor<2x4x16x40xf16>) permutation = [0, 1, 3, 2]
  %4 = tensor.collapse_shape %3 [[0, 1], [2], [3]] : tensor<2x4x16x40xf16> into tensor<8x16x40xf16>
  %5 = tensor.empty() : tensor<8x24x40xf16>
  %6 = linalg.fill ins(%k0 : f16) outs(%5 : tensor<8x24x40xf16>) -> tensor<8x24x40xf16>
  %7 = linalg.batch_matmul ins(%1, %4 : tensor<8x24x16xf16>, tensor<8x16x40xf16>) outs(%6 : tensor<8x24x40xf16>) -> tensor<8x24x40xf16>
  %8 = tensor.expand_shape %7 [[0, 1], [2], [3]] output_shape [2, 4, 24, 40] : tensor<8x24x40xf16> into tensor<2x4x24x40xf16>
  %9 = tensor.empty() : tensor<2x4x24x40xf16>
  %10 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%8 : tensor<2x4x24x40xf16>) outs(%9 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.mulf %x0, %k1 : f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %11 = tensor.empty() : tensor<2x4x24xf16>
  %12 = linalg.fill ins(%k2 : f16) outs(%11 : tensor<2x4x24xf16>) -> tensor<2x4x24xf16>
  %13 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%10 : tensor<2x4x24x40xf16>) outs(%12 : tensor<2x4x24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.maximumf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<2x4x24xf16>
  %14 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%10, %13 : tensor<2x4x24x40xf16>, tensor<2x4x24xf16>) outs(%9 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.subf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %15 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhij], iterator_types = #pppp} ins(%14 : tensor<2x4x24x40xf16>) outs(%9 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = math.exp %x0 : f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %16 = linalg.fill ins(%k0 : f16) outs(%11 : tensor<2x4x24xf16>) -> tensor<2x4x24xf16>
  %17 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi], iterator_types = #pppr} ins(%15 : tensor<2x4x24x40xf16>) outs(%16 : tensor<2x4x24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.addf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<2x4x24xf16>
  %18 = linalg.generic {indexing_maps = [#bhij_bhij, #bhij_bhi, #bhij_bhij], iterator_types = #pppp} ins(%15, %17 : tensor<2x4x24x40xf16>, tensor<2x4x24xf16>) outs(%9 : tensor<2x4x24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.divf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<2x4x24x40xf16>
  %19 = linalg.generic {indexing_maps = [#bhi_bhi, #bhi_bhi], iterator_types = #ppp} ins(%17 : tensor<2x4x24xf16>) outs(%11 : tensor<2x4x24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = math.log %x0 : f16 linalg.yield %y : f16 } -> tensor<2x4x24xf16>
  %20 = linalg.generic {indexing_maps = [#bhi_bhi, #bhi_bhi, #bhi_bhi], iterator_types = #ppp} ins(%19, %13 : tensor<2x4x24xf16>, tensor<2x4x24xf16>) outs(%11 : tensor<2x4x24xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.addf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<2x4x24xf16>
  %21 = tensor.collapse_shape %18 [[0, 1], [2], [3]] : tensor<2x4x24x40xf16> into tensor<8x24x40xf16>
  %22 = tensor.collapse_shape %v [[0, 1], [2], [3]] : tensor<2x4x40x16xf16> into tensor<8x40x16xf16>
  %23 = tensor.empty() : tensor<8x24x16xf16>
  %24 = linalg.fill ins(%k0 : f16) outs(%23 : tensor<8x24x16xf16>) -> tensor<8x24x16xf16>
  %25 = linalg.batch_matmul ins(%21, %22 : tensor<8x24x40xf16>, tensor<8x40x16xf16>) outs(%24 : tensor<8x24x16xf16>) -> tensor<8x24x16xf16>
  %26 = tensor.expand_shape %25 [[0, 1], [2], [3]] output_shape [2, 4, 24, 16] : tensor<8x24x16xf16> into tensor<2x4x24x16xf16>
  return %26, %20 : tensor<2x4x24x16xf16>, tensor<2x4x24xf16>
}
