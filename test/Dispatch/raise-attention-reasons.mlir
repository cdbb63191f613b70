// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// What is no attention of ours, and why; and a mask for which a text's numbers count.

#hidj_hid = affine_map<(h, i, d, j) -> (h, i, d)>
#hidj_hij = affine_map<(h, i, d, j) -> (h, i, j)>
#hidj_hjd = affine_map<(h, i, d, j) -> (h, j, d)>
#hij_h = affine_map<(h, i, j) -> (h)>
#hij_hi = affine_map<(h, i, j) -> (h, i)>
#hij_hij = affine_map<(h, i, j) -> (h, i, j)>
#hij_i = affine_map<(h, i, j) -> (i)>
#hij_ij = affine_map<(h, i, j) -> (i, j)>
#hij_j = affine_map<(h, i, j) -> (j)>
#hijd_hid = affine_map<(h, i, j, d) -> (h, i, d)>
#hijd_hij = affine_map<(h, i, j, d) -> (h, i, j)>
#hijd_hjd = affine_map<(h, i, j, d) -> (h, j, d)>
#ij_ij = affine_map<(i, j) -> (i, j)>
#pp = ["parallel", "parallel"]
#ppp = ["parallel", "parallel", "parallel"]
#pppr = ["parallel", "parallel", "parallel", "reduction"]
#ppr = ["parallel", "parallel", "reduction"]

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
// CHECK-LABEL: func.func @used_elsewhere(
// CHECK: tilewright.decomposed = "the weights are used elsewhere, too"
func.func @used_elsewhere(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> (tensor<4x24x16xf32>, tensor<4x24x40xf32>) {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%3 : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%3, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = tensor.empty() : tensor<4x24x16xf32>
  %13 = linalg.fill ins(%k0 : f32) outs(%12 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %14 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%11, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%13 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %14, %11 : tensor<4x24x16xf32>, tensor<4x24x40xf32>
}

// Scores that something else reads, before their softmax, are a contraction of their own.
// CHECK-LABEL: func.func @scores_returned(
// CHECK-SAME: %[[Q:[^:]*]]: {{.*}}, %[[K:[^:]*]]: {{.*}}, %[[V:[^:]*]]:
// CHECK: %[[SCORES:.*]] = linalg.generic {{.*}} ins(%[[Q]], %[[K]] :
// CHECK: %[[OUT:.*]] = tilewright.attention ins(%[[Q]], %[[K]], %[[V]] :
// CHECK-SAME: tilewright.explain = ["scores are computed in front of it, too: something else reads them"]
// CHECK-NEXT: return %[[OUT]], %[[SCORES]]
func.func @scores_returned(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> (tensor<4x24x16xf32>, tensor<4x24x40xf32>) {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%3 : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%3, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = tensor.empty() : tensor<4x24x16xf32>
  %13 = linalg.fill ins(%k0 : f32) outs(%12 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %14 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%11, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%13 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %14, %3 : tensor<4x24x16xf32>, tensor<4x24x40xf32>
}

// CHECK-LABEL: func.func @unknown_scale(
// CHECK: tilewright.decomposed = "scores are multiplied by a number that is not known when compiling"
func.func @unknown_scale(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %s: tensor<4xf32>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = linalg.generic {indexing_maps = [#hij_hij, #hij_h, #hij_hij], iterator_types = #ppp} ins(%3, %s : tensor<4x24x40xf32>, tensor<4xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.mulf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %5 = tensor.empty() : tensor<4x24xf32>
  %6 = linalg.fill ins(%k1 : f32) outs(%5 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%4 : tensor<4x24x40xf32>) outs(%6 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%4, %7 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%8 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %10 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%9 : tensor<4x24x40xf32>) outs(%10 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %12 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%9, %11 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %13 = tensor.empty() : tensor<4x24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %15 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%12, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%14 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %15 : tensor<4x24x16xf32>
}

// A number that does not hide for sure is chosen, and the mask added elsewhere.
// CHECK-LABEL: func.func @large_number(
// CHECK-SAME: %[[SEEN:[^:]*]]: tensor<24x40xi1>)
// CHECK: %[[MASK:.*]] = linalg.generic
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : f32
// CHECK: tilewright.attention {{.*}} mask(%[[MASK]] : tensor<24x40xf32>) keep(%[[SEEN]] : tensor<24x40xi1>)
func.func @large_number(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<24x40xi1>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant -1.0e4 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = linalg.generic {indexing_maps = [#hij_hij, #hij_ij, #hij_hij], iterator_types = #ppp} ins(%3, %m : tensor<4x24x40xf32>, tensor<24x40xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %x0, %k1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %5 = tensor.empty() : tensor<4x24xf32>
  %6 = linalg.fill ins(%k2 : f32) outs(%5 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%4 : tensor<4x24x40xf32>) outs(%6 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%4, %7 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%8 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %10 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%9 : tensor<4x24x40xf32>) outs(%10 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %12 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%9, %11 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %13 = tensor.empty() : tensor<4x24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %15 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%12, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%14 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %15 : tensor<4x24x16xf32>
}

// Weights are zeros where another mask says so.
// CHECK-LABEL: func.func @unknown_zeros(
// CHECK: tilewright.decomposed = "weights are replaced by zeros on a condition that is not known to mean that a query sees no key"
func.func @unknown_zeros(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<4x24xi1>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%3 : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%3, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%11, %m : tensor<4x24x40xf32>, tensor<4x24xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %y = arith.select %x1, %k0, %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %13 = tensor.empty() : tensor<4x24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %15 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%12, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%14 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %15 : tensor<4x24x16xf32>
}

// Weights of f32 times values of f16 would be rounded.
// CHECK-LABEL: func.func @wide_weights(
// CHECK: tilewright.decomposed = "the weights are multiplied in a wider type than the values"
func.func @wide_weights(%q: tensor<4x24x16xf16>, %k: tensor<4x40x16xf16>, %v: tensor<4x40x16xf16>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf16>, tensor<4x40x16xf16>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f32): %a = arith.extf %x0 : f16 to f32 %b = arith.extf %x1 : f16 to f32 %p = arith.mulf %a, %b : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%3 : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%3, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = tensor.empty() : tensor<4x24x16xf32>
  %13 = linalg.fill ins(%k0 : f32) outs(%12 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %14 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%11, %v : tensor<4x24x40xf32>, tensor<4x40x16xf16>) outs(%13 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f16, %acc: f32): %b = arith.extf %x1 : f16 to f32 %p = arith.mulf %x0, %b : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %14 : tensor<4x24x16xf32>
}

// Every key but one is hidden by two finite numbers: as they are added, in one mask.
// CHECK-LABEL: func.func @average(
// CHECK: tilewright.attention {{.*}} mask(%{{.*}} : tensor<24x40xf32>)
func.func @average(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<40xi1>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant -1.0e9 : f32
  %k2 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<24x40xi1>
  %2 = linalg.generic {indexing_maps = [#ij_ij], iterator_types = #pp} outs(%1 : tensor<24x40xi1>) {
    ^bb0(%acc: i1): %i = linalg.index 0 : index %j = linalg.index 1 : index %y = arith.cmpi ule, %j, %i : index linalg.yield %y : i1 } -> tensor<24x40xi1>
  %3 = tensor.empty() : tensor<4x24x40xf32>
  %4 = linalg.fill ins(%k0 : f32) outs(%3 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %5 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%4 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_ij, #hij_j, #hij_hij], iterator_types = #ppp} ins(%5, %2, %m : tensor<4x24x40xf32>, tensor<24x40xi1>, tensor<40xi1>) outs(%3 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %x2: i1, %acc: f32): %a = arith.select %x1, %x0, %k1 : f32 %y = arith.select %x2, %a, %k1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %7 = tensor.empty() : tensor<4x24xf32>
  %8 = linalg.fill ins(%k2 : f32) outs(%7 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %9 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%6 : tensor<4x24x40xf32>) outs(%8 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%6, %9 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%3 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%10 : tensor<4x24x40xf32>) outs(%3 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = linalg.fill ins(%k0 : f32) outs(%7 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %13 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%11 : tensor<4x24x40xf32>) outs(%12 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %14 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%11, %13 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%3 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %15 = tensor.empty() : tensor<4x24x16xf32>
  %16 = linalg.fill ins(%k0 : f32) outs(%15 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %17 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%14, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%16 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %17 : tensor<4x24x16xf32>
}

// Weights that a body reads where it says, of a softmax and of anything else.
// CHECK-LABEL: func.func @gathered_weights(
// CHECK: tilewright.decomposed = "the weights are read by coordinates that are computed, as where sizes of a run decide whether a dim is repeated"
func.func @gathered_weights(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %t: tensor<24xi64>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%3 : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%3, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = linalg.generic {indexing_maps = [#hij_i, #hij_hij], iterator_types = #ppp} ins(%t : tensor<24xi64>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: i64, %acc: f32): %h = linalg.index 0 : index %i = arith.index_cast %x0 : i64 to index %j = linalg.index 2 : index %y = tensor.extract %11[%h, %i, %j] : tensor<4x24x40xf32> linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %13 = tensor.empty() : tensor<4x24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %15 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%12, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%14 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %15 : tensor<4x24x16xf32>
}

// CHECK-LABEL: func.func @gathered(
// CHECK-NOT: tilewright.decomposed
// CHECK: return
func.func @gathered(%w: tensor<4x12x24xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %1 = tensor.collapse_shape %w [[0], [1, 2]] : tensor<4x12x24xf32> into tensor<4x288xf32>
  %2 = tensor.empty() : tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hij_hij], iterator_types = #ppp} outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%acc: f32): %h = linalg.index 0 : index %i = linalg.index 1 : index %y = tensor.extract %1[%h, %i] : tensor<4x288xf32> linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24x16xf32>
  %5 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %6 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%3, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%5 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %6 : tensor<4x24x16xf32>
}

// A reshape of no elements is not looked through.
// CHECK-LABEL: func.func @no_elements(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x0xf32>, tensor<?x0xf32>)
func.func @no_elements(%a: tensor<4x0xf32>, %b: tensor<?x0x2xf32>, %o: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %c = tensor.collapse_shape %b [[0], [1, 2]] : tensor<?x0x2xf32> into tensor<?x0xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = #ppr} ins(%a, %c : tensor<4x0xf32>, tensor<?x0xf32>) outs(%o : tensor<4x?xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @no_elements_of_some(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x0xf32>, tensor<?x0xf32>)
func.func @no_elements_of_some(%a: tensor<4x0xf32>, %b: tensor<?x4xf32>, %n: index, %o: tensor<4x?xf32>) -> tensor<4x?xf32> {
  %c = tensor.collapse_shape %b [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
  %d = tensor.expand_shape %c [[0, 1]] output_shape [%n, 0] : tensor<?xf32> into tensor<?x0xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (j, k)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = #ppr} ins(%a, %d : tensor<4x0xf32>, tensor<?x0xf32>) outs(%o : tensor<4x?xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x?xf32>
  return %r : tensor<4x?xf32>
}

// Roundings to another type are the program's own: they stay.
// CHECK-LABEL: func.func @weights_rounded(
// CHECK: tilewright.decomposed = "scores or weights are rounded to bf16, which queries, keys and values are not of"
func.func @weights_rounded(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%3 : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%3, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.divf %x0, %x1 : f32 %n = arith.truncf %d : f32 to bf16 %y = arith.extf %n : bf16 to f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = tensor.empty() : tensor<4x24x16xf32>
  %13 = linalg.fill ins(%k0 : f32) outs(%12 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %14 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%11, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%13 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %14 : tensor<4x24x16xf32>
}

// CHECK-LABEL: func.func @scores_rounded(
// CHECK: tilewright.decomposed = "scores or weights are rounded to f8E4M3FN, which queries, keys and values are not of"
func.func @scores_rounded(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%3 : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %d = arith.truncf %x0 : f32 to f8E4M3FN %w = arith.extf %d : f8E4M3FN to f32 %y = arith.maximumf %w, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%3, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.truncf %x0 : f32 to f8E4M3FN %w = arith.extf %d : f8E4M3FN to f32 %y = arith.subf %w, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = tensor.empty() : tensor<4x24x16xf32>
  %13 = linalg.fill ins(%k0 : f32) outs(%12 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %14 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%11, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%13 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %14 : tensor<4x24x16xf32>
}

// Those of an operand stay in front of the op.
// CHECK-LABEL: func.func @queries_rounded(
// CHECK: %[[ROUNDED:.*]] = linalg.generic
// CHECK: arith.truncf {{.*}} : f32 to bf16
// CHECK: tilewright.attention ins(%[[ROUNDED]], %arg1, %arg2 :
func.func @queries_rounded(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %qe = tensor.empty() : tensor<4x24x16xf32>
  %qr = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%q : tensor<4x24x16xf32>) outs(%qe : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %acc: f32): %n = arith.truncf %x0 : f32 to bf16 %y = arith.extf %n : bf16 to f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%qr, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%3 : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%3, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = tensor.empty() : tensor<4x24x16xf32>
  %13 = linalg.fill ins(%k0 : f32) outs(%12 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %14 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%11, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%13 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %14 : tensor<4x24x16xf32>
}

// Of several finite numbers the one that is chosen last counts where all is hidden.
// CHECK-LABEL: func.func @two_numbers(
// CHECK: %[[INNER:.*]] = arith.select %{{.*}}, %{{.*}}, %[[SMALL:.*]] : f32
// CHECK: arith.select %{{.*}}, %[[INNER]], %[[LARGE:.*]] : f32
// CHECK: %[[KEEP:.*]] = linalg.generic
// CHECK: arith.andi
// CHECK: tilewright.attention {{.*}} keep(%[[KEEP]] : tensor<24x40xi1>)
func.func @two_numbers(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<40xi1>, %n: tensor<24xi1>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %hidden = linalg.generic {indexing_maps = [#hij_hij, #hij_j, #hij_hij], iterator_types = #ppp} ins(%3, %m : tensor<4x24x40xf32>, tensor<40xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %h = arith.constant -1.0e9 : f32 %y = arith.select %x1, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %both = linalg.generic {indexing_maps = [#hij_hij, #hij_i, #hij_hij], iterator_types = #ppp} ins(%hidden, %n : tensor<4x24x40xf32>, tensor<24xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %h = arith.constant -1.0e10 : f32 %y = arith.select %x1, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%both : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%both, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = tensor.empty() : tensor<4x24x16xf32>
  %13 = linalg.fill ins(%k0 : f32) outs(%12 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %14 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%11, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%13 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %14 : tensor<4x24x16xf32>
}

// Of a finite number and -inf, that which is chosen last.
// CHECK-LABEL: func.func @last_number(
// CHECK: ^bb0(%[[A:[^:]*]]: i1, %[[B:[^:]*]]: i1, %{{.*}}: f32):
// CHECK: %[[INNER:.*]] = arith.select %[[A]], %{{.*}}, %[[LOW:.*]] : f32
// CHECK: %[[OUTER:.*]] = arith.select %[[B]], %[[INNER]], %[[INF:.*]] : f32
// CHECK: tilewright.attention
func.func @last_number(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<40xi1>, %n: tensor<24xi1>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %hidden = linalg.generic {indexing_maps = [#hij_hij, #hij_j, #hij_hij], iterator_types = #ppp} ins(%3, %m : tensor<4x24x40xf32>, tensor<40xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %h = arith.constant -1.0e9 : f32 %y = arith.select %x1, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %both = linalg.generic {indexing_maps = [#hij_hij, #hij_i, #hij_hij], iterator_types = #ppp} ins(%hidden, %n : tensor<4x24x40xf32>, tensor<24xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %h = arith.constant 0xFF800000 : f32 %y = arith.select %x1, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %4 = tensor.empty() : tensor<4x24xf32>
  %5 = linalg.fill ins(%k1 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %6 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%both : tensor<4x24x40xf32>) outs(%5 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %7 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%both, %6 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.subf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %8 = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%7 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = math.exp %x0 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%4 : tensor<4x24xf32>) -> tensor<4x24xf32>
  %10 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi], iterator_types = #ppr} ins(%8 : tensor<4x24x40xf32>) outs(%9 : tensor<4x24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<4x24xf32>
  %11 = linalg.generic {indexing_maps = [#hij_hij, #hij_hi, #hij_hij], iterator_types = #ppp} ins(%8, %10 : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %12 = tensor.empty() : tensor<4x24x16xf32>
  %13 = linalg.fill ins(%k0 : f32) outs(%12 : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %14 = linalg.generic {indexing_maps = [#hidj_hij, #hidj_hjd, #hidj_hid], iterator_types = #pppr} ins(%11, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%13 : tensor<4x24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x16xf32>
  return %14 : tensor<4x24x16xf32>
}
}
