// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// Numbers that are chosen in the place of scores, where one op is not what the text is: beside a guard
// by another mask, in sums that are rounded, and by conditions on the scores.

#idj_id = affine_map<(i, d, j) -> (i, d)>
#idj_ij = affine_map<(i, d, j) -> (i, j)>
#idj_jd = affine_map<(i, d, j) -> (j, d)>
#ij_i = affine_map<(i, j) -> (i)>
#ij_ij = affine_map<(i, j) -> (i, j)>
#ij_j = affine_map<(i, j) -> (j)>
#ijd_id = affine_map<(i, j, d) -> (i, d)>
#ijd_ij = affine_map<(i, j, d) -> (i, j)>
#ijd_jd = affine_map<(i, j, d) -> (j, d)>
#pp = ["parallel", "parallel"]
#ppr = ["parallel", "parallel", "reduction"]
#pr = ["parallel", "reduction"]

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
// Where the mask is -inf a score may still be the number that is chosen outside of it.
// CHECK-LABEL: func.func @chosen_outside(
// CHECK: tilewright.decomposed = "weights are replaced by zeros on a condition that is not known to mean that a query sees no key"
func.func @chosen_outside(%q: tensor<24x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x16xf32>, %seen: tensor<24x40xi1>, %m: tensor<24x40xf32>) -> tensor<24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<24x40xf32>) -> tensor<24x40xf32>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf32>, tensor<40x16xf32>) outs(%2 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%3, %seen, %m : tensor<24x40xf32>, tensor<24x40xi1>, tensor<24x40xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%s: f32, %x_seen: i1, %x_m: f32, %acc: f32): %n = arith.constant 5.0 : f32 %t = arith.addf %s, %x_m : f32 %y = arith.select %x_seen, %t, %n : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %5 = tensor.empty() : tensor<24xf32>
  %6 = linalg.fill ins(%k1 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.subf %x0, %x1 : f32 %y = math.exp %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf32>) outs(%9 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %11 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%m : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10, %11 : tensor<24x40xf32>, tensor<24xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %x2: f32, %acc: f32): %d = arith.divf %x0, %x1 : f32 %c = arith.cmpf oeq, %x2, %k1 : f32 %y = arith.select %c, %k0, %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = tensor.empty() : tensor<24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<24x16xf32>) -> tensor<24x16xf32>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf32>, tensor<40x16xf32>) outs(%14 : tensor<24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x16xf32>
  return %15 : tensor<24x16xf32>
}

// CHECK-LABEL: func.func @hidden_outside(
// CHECK: tilewright.decomposed = "weights are replaced by zeros on a condition that is not known to mean that a query sees no key"
func.func @hidden_outside(%q: tensor<24x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x16xf32>, %seen: tensor<24x40xi1>, %m: tensor<24x40xf32>) -> tensor<24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<24x40xf32>) -> tensor<24x40xf32>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf32>, tensor<40x16xf32>) outs(%2 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%3, %seen, %m : tensor<24x40xf32>, tensor<24x40xi1>, tensor<24x40xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%s: f32, %x_seen: i1, %x_m: f32, %acc: f32): %n = arith.constant -1.0e9 : f32 %t = arith.addf %s, %x_m : f32 %y = arith.select %x_seen, %t, %n : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %5 = tensor.empty() : tensor<24xf32>
  %6 = linalg.fill ins(%k1 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.subf %x0, %x1 : f32 %y = math.exp %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf32>) outs(%9 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %11 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%m : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10, %11 : tensor<24x40xf32>, tensor<24xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %x2: f32, %acc: f32): %d = arith.divf %x0, %x1 : f32 %c = arith.cmpf oeq, %x2, %k1 : f32 %y = arith.select %c, %k0, %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = tensor.empty() : tensor<24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<24x16xf32>) -> tensor<24x16xf32>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf32>, tensor<40x16xf32>) outs(%14 : tensor<24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x16xf32>
  return %15 : tensor<24x16xf32>
}

// A number that is chosen before -inf is added to it is -inf.
// CHECK-LABEL: func.func @chosen_inside(
// CHECK: tilewright.attention{{.*}} keep(
func.func @chosen_inside(%q: tensor<24x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x16xf32>, %seen: tensor<24x40xi1>, %m: tensor<24x40xf32>) -> tensor<24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<24x40xf32>) -> tensor<24x40xf32>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf32>, tensor<40x16xf32>) outs(%2 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%3, %seen, %m : tensor<24x40xf32>, tensor<24x40xi1>, tensor<24x40xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%s: f32, %x_seen: i1, %x_m: f32, %acc: f32): %n = arith.constant 5.0 : f32 %t = arith.select %x_seen, %s, %n : f32 %y = arith.addf %t, %x_m : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %5 = tensor.empty() : tensor<24xf32>
  %6 = linalg.fill ins(%k1 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.subf %x0, %x1 : f32 %y = math.exp %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf32>) outs(%9 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %11 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%m : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10, %11 : tensor<24x40xf32>, tensor<24xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %x2: f32, %acc: f32): %d = arith.divf %x0, %x1 : f32 %c = arith.cmpf oeq, %x2, %k1 : f32 %y = arith.select %c, %k0, %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = tensor.empty() : tensor<24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<24x16xf32>) -> tensor<24x16xf32>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf32>, tensor<40x16xf32>) outs(%14 : tensor<24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x16xf32>
  return %15 : tensor<24x16xf32>
}

// CHECK-LABEL: func.func @infinite_outside(
// CHECK: tilewright.attention
func.func @infinite_outside(%q: tensor<24x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x16xf32>, %seen: tensor<24x40xi1>, %m: tensor<24x40xf32>) -> tensor<24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<24x40xf32>) -> tensor<24x40xf32>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf32>, tensor<40x16xf32>) outs(%2 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%3, %seen, %m : tensor<24x40xf32>, tensor<24x40xi1>, tensor<24x40xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%s: f32, %x_seen: i1, %x_m: f32, %acc: f32): %n = arith.constant 0xFF800000 : f32 %t = arith.addf %s, %x_m : f32 %y = arith.select %x_seen, %t, %n : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %5 = tensor.empty() : tensor<24xf32>
  %6 = linalg.fill ins(%k1 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.subf %x0, %x1 : f32 %y = math.exp %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf32>) outs(%9 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %11 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%m : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10, %11 : tensor<24x40xf32>, tensor<24xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %x2: f32, %acc: f32): %d = arith.divf %x0, %x1 : f32 %c = arith.cmpf oeq, %x2, %k1 : f32 %y = arith.select %c, %k0, %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = tensor.empty() : tensor<24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<24x16xf32>) -> tensor<24x16xf32>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf32>, tensor<40x16xf32>) outs(%14 : tensor<24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x16xf32>
  return %15 : tensor<24x16xf32>
}

// f16 tells no sums of -65504 and small numbers apart, as f32 does.
// CHECK-LABEL: func.func @added_f16(
// CHECK: tilewright.decomposed = "keys are hidden by a finite number that is chosen, and the text rounds sums of it and what is added"
func.func @added_f16(%q: tensor<24x16xf16>, %k: tensor<40x16xf16>, %v: tensor<40x16xf16>, %seen: tensor<24x40xi1>, %m: tensor<40xf16>) -> tensor<24x16xf16> {
  %k0 = arith.constant 0.0 : f16
  %k1 = arith.constant 0xFC00 : f16
  %1 = tensor.empty() : tensor<24x40xf16>
  %2 = linalg.fill ins(%k0 : f16) outs(%1 : tensor<24x40xf16>) -> tensor<24x40xf16>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf16>, tensor<40x16xf16>) outs(%2 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_j, #ij_ij], iterator_types = #pp} ins(%3, %seen, %m : tensor<24x40xf16>, tensor<24x40xi1>, tensor<40xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%s: f16, %x_seen: i1, %x_m: f16, %acc: f16): %n = arith.constant -65504.0 : f16 %t = arith.select %x_seen, %s, %n : f16 %y = arith.addf %t, %x_m : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %5 = tensor.empty() : tensor<24xf16>
  %6 = linalg.fill ins(%k1 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf16>) outs(%6 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.maximumf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %d = arith.subf %x0, %x1 : f16 %y = math.exp %d : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %9 = linalg.fill ins(%k0 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf16>) outs(%9 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.addf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.divf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %13 = tensor.empty() : tensor<24x16xf16>
  %14 = linalg.fill ins(%k0 : f16) outs(%13 : tensor<24x16xf16>) -> tensor<24x16xf16>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf16>, tensor<40x16xf16>) outs(%14 : tensor<24x16xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x16xf16>
  return %15 : tensor<24x16xf16>
}

// CHECK-LABEL: func.func @added_bf16(
// CHECK: tilewright.decomposed = "keys are hidden by a finite number that is chosen, and the text rounds sums of it and what is added"
func.func @added_bf16(%q: tensor<24x16xbf16>, %k: tensor<40x16xbf16>, %v: tensor<40x16xbf16>, %seen: tensor<24x40xi1>, %m: tensor<40xbf16>) -> tensor<24x16xbf16> {
  %k0 = arith.constant 0.0 : bf16
  %k1 = arith.constant 0xFF80 : bf16
  %1 = tensor.empty() : tensor<24x40xbf16>
  %2 = linalg.fill ins(%k0 : bf16) outs(%1 : tensor<24x40xbf16>) -> tensor<24x40xbf16>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xbf16>, tensor<40x16xbf16>) outs(%2 : tensor<24x40xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %p = arith.mulf %x0, %x1 : bf16 %y = arith.addf %acc, %p : bf16 linalg.yield %y : bf16 } -> tensor<24x40xbf16>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_j, #ij_ij], iterator_types = #pp} ins(%3, %seen, %m : tensor<24x40xbf16>, tensor<24x40xi1>, tensor<40xbf16>) outs(%1 : tensor<24x40xbf16>) {
    ^bb0(%s: bf16, %x_seen: i1, %x_m: bf16, %acc: bf16): %n = arith.constant -1.0e4 : bf16 %t = arith.select %x_seen, %s, %n : bf16 %y = arith.addf %t, %x_m : bf16 linalg.yield %y : bf16 } -> tensor<24x40xbf16>
  %5 = tensor.empty() : tensor<24xbf16>
  %6 = linalg.fill ins(%k1 : bf16) outs(%5 : tensor<24xbf16>) -> tensor<24xbf16>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xbf16>) outs(%6 : tensor<24xbf16>) {
    ^bb0(%x0: bf16, %acc: bf16): %y = arith.maximumf %x0, %acc : bf16 linalg.yield %y : bf16 } -> tensor<24xbf16>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xbf16>, tensor<24xbf16>) outs(%1 : tensor<24x40xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %d = arith.subf %x0, %x1 : bf16 %y = math.exp %d : bf16 linalg.yield %y : bf16 } -> tensor<24x40xbf16>
  %9 = linalg.fill ins(%k0 : bf16) outs(%5 : tensor<24xbf16>) -> tensor<24xbf16>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xbf16>) outs(%9 : tensor<24xbf16>) {
    ^bb0(%x0: bf16, %acc: bf16): %y = arith.addf %x0, %acc : bf16 linalg.yield %y : bf16 } -> tensor<24xbf16>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xbf16>, tensor<24xbf16>) outs(%1 : tensor<24x40xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %y = arith.divf %x0, %x1 : bf16 linalg.yield %y : bf16 } -> tensor<24x40xbf16>
  %13 = tensor.empty() : tensor<24x16xbf16>
  %14 = linalg.fill ins(%k0 : bf16) outs(%13 : tensor<24x16xbf16>) -> tensor<24x16xbf16>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xbf16>, tensor<40x16xbf16>) outs(%14 : tensor<24x16xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %p = arith.mulf %x0, %x1 : bf16 %y = arith.addf %acc, %p : bf16 linalg.yield %y : bf16 } -> tensor<24x16xbf16>
  return %15 : tensor<24x16xbf16>
}

// CHECK-LABEL: func.func @sum_rounded(
// CHECK: tilewright.decomposed = "keys are hidden by a finite number that is chosen, and the text rounds sums of it and what is added"
func.func @sum_rounded(%q: tensor<24x16xf16>, %k: tensor<40x16xf16>, %v: tensor<40x16xf16>, %seen: tensor<24x40xi1>, %m: tensor<40xf16>) -> tensor<24x16xf16> {
  %k0 = arith.constant 0.0 : f16
  %k1 = arith.constant 0xFC00 : f16
  %1 = tensor.empty() : tensor<24x40xf16>
  %2 = linalg.fill ins(%k0 : f16) outs(%1 : tensor<24x40xf16>) -> tensor<24x40xf16>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf16>, tensor<40x16xf16>) outs(%2 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_j, #ij_ij], iterator_types = #pp} ins(%3, %seen, %m : tensor<24x40xf16>, tensor<24x40xi1>, tensor<40xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%s: f16, %x_seen: i1, %x_m: f16, %acc: f16): %n = arith.constant -65504.0 : f32 %w = arith.extf %s : f16 to f32 %b = arith.extf %x_m : f16 to f32 %t = arith.select %x_seen, %w, %n : f32 %z = arith.addf %t, %b : f32 %y = arith.truncf %z : f32 to f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %5 = tensor.empty() : tensor<24xf16>
  %6 = linalg.fill ins(%k1 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf16>) outs(%6 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.maximumf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %d = arith.subf %x0, %x1 : f16 %y = math.exp %d : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %9 = linalg.fill ins(%k0 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf16>) outs(%9 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.addf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.divf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %13 = tensor.empty() : tensor<24x16xf16>
  %14 = linalg.fill ins(%k0 : f16) outs(%13 : tensor<24x16xf16>) -> tensor<24x16xf16>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf16>, tensor<40x16xf16>) outs(%14 : tensor<24x16xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x16xf16>
  return %15 : tensor<24x16xf16>
}

// What is chosen last is not added to; beside bf16's lowest number small ones are lost in f32, too.
// CHECK-LABEL: func.func @chosen_f16(
// CHECK: tilewright.attention{{.*}} keep(
func.func @chosen_f16(%q: tensor<24x16xf16>, %k: tensor<40x16xf16>, %v: tensor<40x16xf16>, %seen: tensor<24x40xi1>, %m: tensor<40xf16>) -> tensor<24x16xf16> {
  %k0 = arith.constant 0.0 : f16
  %k1 = arith.constant 0xFC00 : f16
  %1 = tensor.empty() : tensor<24x40xf16>
  %2 = linalg.fill ins(%k0 : f16) outs(%1 : tensor<24x40xf16>) -> tensor<24x40xf16>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf16>, tensor<40x16xf16>) outs(%2 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_j, #ij_ij], iterator_types = #pp} ins(%3, %seen, %m : tensor<24x40xf16>, tensor<24x40xi1>, tensor<40xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%s: f16, %x_seen: i1, %x_m: f16, %acc: f16): %n = arith.constant -65504.0 : f16 %t = arith.addf %s, %x_m : f16 %y = arith.select %x_seen, %t, %n : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %5 = tensor.empty() : tensor<24xf16>
  %6 = linalg.fill ins(%k1 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf16>) outs(%6 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.maximumf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %d = arith.subf %x0, %x1 : f16 %y = math.exp %d : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %9 = linalg.fill ins(%k0 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf16>) outs(%9 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.addf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.divf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %13 = tensor.empty() : tensor<24x16xf16>
  %14 = linalg.fill ins(%k0 : f16) outs(%13 : tensor<24x16xf16>) -> tensor<24x16xf16>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf16>, tensor<40x16xf16>) outs(%14 : tensor<24x16xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x16xf16>
  return %15 : tensor<24x16xf16>
}

// CHECK-LABEL: func.func @lowest_bf16(
// CHECK: tilewright.attention
func.func @lowest_bf16(%q: tensor<24x16xbf16>, %k: tensor<40x16xbf16>, %v: tensor<40x16xbf16>, %seen: tensor<24x40xi1>, %m: tensor<40xbf16>) -> tensor<24x16xbf16> {
  %k0 = arith.constant 0.0 : bf16
  %k1 = arith.constant 0xFF80 : bf16
  %1 = tensor.empty() : tensor<24x40xbf16>
  %2 = linalg.fill ins(%k0 : bf16) outs(%1 : tensor<24x40xbf16>) -> tensor<24x40xbf16>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xbf16>, tensor<40x16xbf16>) outs(%2 : tensor<24x40xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %p = arith.mulf %x0, %x1 : bf16 %y = arith.addf %acc, %p : bf16 linalg.yield %y : bf16 } -> tensor<24x40xbf16>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_j, #ij_ij], iterator_types = #pp} ins(%3, %seen, %m : tensor<24x40xbf16>, tensor<24x40xi1>, tensor<40xbf16>) outs(%1 : tensor<24x40xbf16>) {
    ^bb0(%s: bf16, %x_seen: i1, %x_m: bf16, %acc: bf16): %n = arith.constant 0xFF7F : bf16 %t = arith.select %x_seen, %s, %n : bf16 %y = arith.addf %t, %x_m : bf16 linalg.yield %y : bf16 } -> tensor<24x40xbf16>
  %5 = tensor.empty() : tensor<24xbf16>
  %6 = linalg.fill ins(%k1 : bf16) outs(%5 : tensor<24xbf16>) -> tensor<24xbf16>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xbf16>) outs(%6 : tensor<24xbf16>) {
    ^bb0(%x0: bf16, %acc: bf16): %y = arith.maximumf %x0, %acc : bf16 linalg.yield %y : bf16 } -> tensor<24xbf16>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xbf16>, tensor<24xbf16>) outs(%1 : tensor<24x40xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %d = arith.subf %x0, %x1 : bf16 %y = math.exp %d : bf16 linalg.yield %y : bf16 } -> tensor<24x40xbf16>
  %9 = linalg.fill ins(%k0 : bf16) outs(%5 : tensor<24xbf16>) -> tensor<24xbf16>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xbf16>) outs(%9 : tensor<24xbf16>) {
    ^bb0(%x0: bf16, %acc: bf16): %y = arith.addf %x0, %acc : bf16 linalg.yield %y : bf16 } -> tensor<24xbf16>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xbf16>, tensor<24xbf16>) outs(%1 : tensor<24x40xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %y = arith.divf %x0, %x1 : bf16 linalg.yield %y : bf16 } -> tensor<24x40xbf16>
  %13 = tensor.empty() : tensor<24x16xbf16>
  %14 = linalg.fill ins(%k0 : bf16) outs(%13 : tensor<24x16xbf16>) -> tensor<24x16xbf16>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xbf16>, tensor<40x16xbf16>) outs(%14 : tensor<24x16xbf16>) {
    ^bb0(%x0: bf16, %x1: bf16, %acc: bf16): %p = arith.mulf %x0, %x1 : bf16 %y = arith.addf %acc, %p : bf16 linalg.yield %y : bf16 } -> tensor<24x16xbf16>
  return %15 : tensor<24x16xbf16>
}

// -1e9 is -inf in f16.
// CHECK-LABEL: func.func @rounded_to_infinity(
// CHECK: tilewright.decomposed = "weights are replaced where scores are -inf, which a number that is chosen is in the type that the text rounds them to"
func.func @rounded_to_infinity(%q: tensor<24x16xf16>, %k: tensor<40x16xf16>, %v: tensor<40x16xf16>, %seen: tensor<24x40xi1>) -> tensor<24x16xf16> {
  %k0 = arith.constant 0.0 : f16
  %k1 = arith.constant 0xFC00 : f16
  %1 = tensor.empty() : tensor<24x40xf16>
  %2 = linalg.fill ins(%k0 : f16) outs(%1 : tensor<24x40xf16>) -> tensor<24x40xf16>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf16>, tensor<40x16xf16>) outs(%2 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%3, %seen : tensor<24x40xf16>, tensor<24x40xi1>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%s: f16, %x_seen: i1, %acc: f16): %n = arith.constant -1.0e9 : f32 %w = arith.extf %s : f16 to f32 %t = arith.select %x_seen, %w, %n : f32 %y = arith.truncf %t : f32 to f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %5 = tensor.empty() : tensor<24xf16>
  %6 = linalg.fill ins(%k1 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf16>) outs(%6 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.maximumf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %d = arith.subf %x0, %x1 : f16 %y = math.exp %d : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %9 = linalg.fill ins(%k0 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf16>) outs(%9 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.addf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10, %7 : tensor<24x40xf16>, tensor<24xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %x2: f16, %acc: f16): %d = arith.divf %x0, %x1 : f16 %c = arith.cmpf oeq, %x2, %k1 : f16 %y = arith.select %c, %k0, %d : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %13 = tensor.empty() : tensor<24x16xf16>
  %14 = linalg.fill ins(%k0 : f16) outs(%13 : tensor<24x16xf16>) -> tensor<24x16xf16>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf16>, tensor<40x16xf16>) outs(%14 : tensor<24x16xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x16xf16>
  return %15 : tensor<24x16xf16>
}

// CHECK-LABEL: func.func @infinity_unguarded(
// CHECK: tilewright.attention
func.func @infinity_unguarded(%q: tensor<24x16xf16>, %k: tensor<40x16xf16>, %v: tensor<40x16xf16>, %seen: tensor<24x40xi1>) -> tensor<24x16xf16> {
  %k0 = arith.constant 0.0 : f16
  %k1 = arith.constant 0xFC00 : f16
  %1 = tensor.empty() : tensor<24x40xf16>
  %2 = linalg.fill ins(%k0 : f16) outs(%1 : tensor<24x40xf16>) -> tensor<24x40xf16>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf16>, tensor<40x16xf16>) outs(%2 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%3, %seen : tensor<24x40xf16>, tensor<24x40xi1>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%s: f16, %x_seen: i1, %acc: f16): %n = arith.constant -1.0e9 : f32 %w = arith.extf %s : f16 to f32 %t = arith.select %x_seen, %w, %n : f32 %y = arith.truncf %t : f32 to f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %5 = tensor.empty() : tensor<24xf16>
  %6 = linalg.fill ins(%k1 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf16>) outs(%6 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.maximumf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %d = arith.subf %x0, %x1 : f16 %y = math.exp %d : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %9 = linalg.fill ins(%k0 : f16) outs(%5 : tensor<24xf16>) -> tensor<24xf16>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf16>) outs(%9 : tensor<24xf16>) {
    ^bb0(%x0: f16, %acc: f16): %y = arith.addf %x0, %acc : f16 linalg.yield %y : f16 } -> tensor<24xf16>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xf16>, tensor<24xf16>) outs(%1 : tensor<24x40xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %y = arith.divf %x0, %x1 : f16 linalg.yield %y : f16 } -> tensor<24x40xf16>
  %13 = tensor.empty() : tensor<24x16xf16>
  %14 = linalg.fill ins(%k0 : f16) outs(%13 : tensor<24x16xf16>) -> tensor<24x16xf16>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf16>, tensor<40x16xf16>) outs(%14 : tensor<24x16xf16>) {
    ^bb0(%x0: f16, %x1: f16, %acc: f16): %p = arith.mulf %x0, %x1 : f16 %y = arith.addf %acc, %p : f16 linalg.yield %y : f16 } -> tensor<24x16xf16>
  return %15 : tensor<24x16xf16>
}

// A mask of the scores themselves would be computed of a second product.
// CHECK-LABEL: func.func @positive_scores(
// CHECK: tilewright.decomposed = "what hides keys or is added to the scores is computed of them"
func.func @positive_scores(%q: tensor<24x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x16xf32>) -> tensor<24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<24x40xf32>) -> tensor<24x40xf32>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf32>, tensor<40x16xf32>) outs(%2 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%3 : tensor<24x40xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%s: f32, %acc: f32): %n = arith.constant -1.0 : f32 %c = arith.cmpf ogt, %s, %k0 : f32 %y = arith.select %c, %s, %n : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %5 = tensor.empty() : tensor<24xf32>
  %6 = linalg.fill ins(%k1 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.subf %x0, %x1 : f32 %y = math.exp %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf32>) outs(%9 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = tensor.empty() : tensor<24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<24x16xf32>) -> tensor<24x16xf32>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf32>, tensor<40x16xf32>) outs(%14 : tensor<24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x16xf32>
  return %15 : tensor<24x16xf32>
}

// CHECK-LABEL: func.func @hidden_scores(
// CHECK: tilewright.decomposed = "what hides keys or is added to the scores is computed of them"
func.func @hidden_scores(%q: tensor<24x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x16xf32>) -> tensor<24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<24x40xf32>) -> tensor<24x40xf32>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf32>, tensor<40x16xf32>) outs(%2 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij], iterator_types = #pp} ins(%3 : tensor<24x40xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%s: f32, %acc: f32): %c = arith.cmpf ogt, %s, %k0 : f32 %y = arith.select %c, %s, %k1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %5 = tensor.empty() : tensor<24xf32>
  %6 = linalg.fill ins(%k1 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.subf %x0, %x1 : f32 %y = math.exp %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf32>) outs(%9 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = tensor.empty() : tensor<24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<24x16xf32>) -> tensor<24x16xf32>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf32>, tensor<40x16xf32>) outs(%14 : tensor<24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x16xf32>
  return %15 : tensor<24x16xf32>
}

// CHECK-LABEL: func.func @near_largest(
// CHECK: tilewright.decomposed = "what hides keys or is added to the scores is computed of them"
func.func @near_largest(%q: tensor<24x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x16xf32>) -> tensor<24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<24x40xf32>) -> tensor<24x40xf32>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf32>, tensor<40x16xf32>) outs(%2 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %e = tensor.empty() : tensor<24xf32>
  %f = linalg.fill ins(%k1 : f32) outs(%e : tensor<24xf32>) -> tensor<24xf32>
  %o = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%3 : tensor<24x40xf32>) outs(%f : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%3, %o : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%s: f32, %x_o: f32, %acc: f32): %c = arith.cmpf ogt, %x_o, %k0 : f32 %y = arith.select %c, %s, %k1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %5 = tensor.empty() : tensor<24xf32>
  %6 = linalg.fill ins(%k1 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.subf %x0, %x1 : f32 %y = math.exp %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf32>) outs(%9 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = tensor.empty() : tensor<24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<24x16xf32>) -> tensor<24x16xf32>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf32>, tensor<40x16xf32>) outs(%14 : tensor<24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x16xf32>
  return %15 : tensor<24x16xf32>
}

// That of another product is a mask.
// CHECK-LABEL: func.func @another_product(
// CHECK: tilewright.attention{{.*}} keep(
func.func @another_product(%q: tensor<24x16xf32>, %k: tensor<40x16xf32>, %v: tensor<40x16xf32>, %a: tensor<24x16xf32>, %b: tensor<40x16xf32>) -> tensor<24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<24x40xf32>) -> tensor<24x40xf32>
  %3 = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%q, %k : tensor<24x16xf32>, tensor<40x16xf32>) outs(%2 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %o = linalg.generic {indexing_maps = [#ijd_id, #ijd_jd, #ijd_ij], iterator_types = #ppr} ins(%a, %b : tensor<24x16xf32>, tensor<40x16xf32>) outs(%2 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %4 = linalg.generic {indexing_maps = [#ij_ij, #ij_ij, #ij_ij], iterator_types = #pp} ins(%3, %o : tensor<24x40xf32>, tensor<24x40xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%s: f32, %x_o: f32, %acc: f32): %n = arith.constant -1.0 : f32 %c = arith.cmpf ogt, %x_o, %k0 : f32 %y = arith.select %c, %s, %n : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %5 = tensor.empty() : tensor<24xf32>
  %6 = linalg.fill ins(%k1 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %7 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%4 : tensor<24x40xf32>) outs(%6 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.maximumf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %8 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%4, %7 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %d = arith.subf %x0, %x1 : f32 %y = math.exp %d : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %9 = linalg.fill ins(%k0 : f32) outs(%5 : tensor<24xf32>) -> tensor<24xf32>
  %10 = linalg.generic {indexing_maps = [#ij_ij, #ij_i], iterator_types = #pr} ins(%8 : tensor<24x40xf32>) outs(%9 : tensor<24xf32>) {
    ^bb0(%x0: f32, %acc: f32): %y = arith.addf %x0, %acc : f32 linalg.yield %y : f32 } -> tensor<24xf32>
  %12 = linalg.generic {indexing_maps = [#ij_ij, #ij_i, #ij_ij], iterator_types = #pp} ins(%8, %10 : tensor<24x40xf32>, tensor<24xf32>) outs(%1 : tensor<24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.divf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<24x40xf32>
  %13 = tensor.empty() : tensor<24x16xf32>
  %14 = linalg.fill ins(%k0 : f32) outs(%13 : tensor<24x16xf32>) -> tensor<24x16xf32>
  %15 = linalg.generic {indexing_maps = [#idj_ij, #idj_jd, #idj_id], iterator_types = #ppr} ins(%12, %v : tensor<24x40xf32>, tensor<40x16xf32>) outs(%14 : tensor<24x16xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<24x16xf32>
  return %15 : tensor<24x16xf32>
}
}
