// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// Scores that several steps hide, and what the largest of them begins with: a query whose keys are
// all hidden has what the text computes.

#hidj_hid = affine_map<(h, i, d, j) -> (h, i, d)>
#hidj_hij = affine_map<(h, i, d, j) -> (h, i, j)>
#hidj_hjd = affine_map<(h, i, d, j) -> (h, j, d)>
#hij_hi = affine_map<(h, i, j) -> (h, i)>
#hij_hij = affine_map<(h, i, j) -> (h, i, j)>
#hij_j = affine_map<(h, i, j) -> (j)>
#hijd_hid = affine_map<(h, i, j, d) -> (h, i, d)>
#hijd_hij = affine_map<(h, i, j, d) -> (h, i, j)>
#hijd_hjd = affine_map<(h, i, j, d) -> (h, j, d)>
#ppp = ["parallel", "parallel", "parallel"]
#pppr = ["parallel", "parallel", "parallel", "reduction"]
#ppr = ["parallel", "parallel", "reduction"]

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
// A triangle of -inf, in place of which a finite number is chosen, is a part of the mask.
// CHECK-LABEL: func.func @inner_triangle(
// CHECK: arith.cmpi
// CHECK: %[[INNER:.*]] = arith.select %{{.*}}, %{{.*}}, %[[INF:.*]] : f32
// CHECK: arith.select %{{.*}}, %[[INNER]], %[[LOW:.*]] : f32
// CHECK: tilewright.attention
// CHECK-NOT: causal
func.func @inner_triangle(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<40xi1>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %hidden = linalg.generic {indexing_maps = [#hij_hij, #hij_hij], iterator_types = #ppp} ins(%3 : tensor<4x24x40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %acc: f32): %h = arith.constant 0xFF800000 : f32 %i = linalg.index 1 : index %j = linalg.index 2 : index %c = arith.cmpi ule, %j, %i : index %y = arith.select %c, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %both = linalg.generic {indexing_maps = [#hij_hij, #hij_j, #hij_hij], iterator_types = #ppp} ins(%hidden, %m : tensor<4x24x40xf32>, tensor<40xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %h = arith.constant -1.0e9 : f32 %y = arith.select %x1, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
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

// So are lengths.
// CHECK-LABEL: func.func @inner_lengths(
// CHECK: tilewright.attention
// CHECK-NOT: lengths
func.func @inner_lengths(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<40xi1>, %n: tensor<4xi64>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %hidden = linalg.generic {indexing_maps = [#hij_hij, affine_map<(h, i, j) -> (h)>, #hij_hij], iterator_types = #ppp} ins(%3, %n : tensor<4x24x40xf32>, tensor<4xi64>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i64, %acc: f32): %h = arith.constant 0xFF800000 : f32 %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %c = arith.cmpi slt, %a, %x1 : i64 %y = arith.select %c, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %both = linalg.generic {indexing_maps = [#hij_hij, #hij_j, #hij_hij], iterator_types = #ppp} ins(%hidden, %m : tensor<4x24x40xf32>, tensor<40xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %h = arith.constant -1.0e9 : f32 %y = arith.select %x1, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
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

// What is added to a number that hides may hide more.
// CHECK-LABEL: func.func @added_last(
// CHECK: %[[HIDDEN:.*]] = arith.constant {{-1.000000e\+30|-1.*e\+30}} : f32
// CHECK: ^bb0(%[[SEEN:[^:]*]]: i1, %[[TERM:[^:]*]]: f32, %{{.*}}: f32):
// CHECK: %[[INNER:.*]] = arith.select %[[SEEN]], %{{.*}}, %[[HIDDEN]] : f32
// CHECK: arith.addf %[[INNER]], %[[TERM]] : f32
// CHECK: tilewright.attention
func.func @added_last(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<40xi1>, %n: tensor<40xf32>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant 0xFF800000 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %hidden = linalg.generic {indexing_maps = [#hij_hij, #hij_j, #hij_hij], iterator_types = #ppp} ins(%3, %m : tensor<4x24x40xf32>, tensor<40xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %h = arith.constant -1.0e30 : f32 %y = arith.select %x1, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %both = linalg.generic {indexing_maps = [#hij_hij, #hij_j, #hij_hij], iterator_types = #ppp} ins(%hidden, %n : tensor<4x24x40xf32>, tensor<40xf32>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %y = arith.addf %x0, %x1 : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
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

// The largest score may begin with a number that none is below.
// CHECK-LABEL: func.func @begins_below(
// CHECK: tilewright.attention
func.func @begins_below(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<40xi1>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant -1.0e30 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %both = linalg.generic {indexing_maps = [#hij_hij, #hij_j, #hij_hij], iterator_types = #ppp} ins(%3, %m : tensor<4x24x40xf32>, tensor<40xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %h = arith.constant -1.0e9 : f32 %y = arith.select %x1, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
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

// Where it begins above the number that hides, all exponentials are zeros.
// CHECK-LABEL: func.func @begins_above(
// CHECK: tilewright.decomposed = "the largest score begins with a number that may be above those that hide keys"
func.func @begins_above(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %m: tensor<40xi1>) -> tensor<4x24x16xf32> {
  %k0 = arith.constant 0.0 : f32
  %k1 = arith.constant -1.0e30 : f32
  %1 = tensor.empty() : tensor<4x24x40xf32>
  %2 = linalg.fill ins(%k0 : f32) outs(%1 : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %3 = linalg.generic {indexing_maps = [#hijd_hid, #hijd_hjd, #hijd_hij], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%2 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: f32, %acc: f32): %p = arith.mulf %x0, %x1 : f32 %y = arith.addf %acc, %p : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
  %both = linalg.generic {indexing_maps = [#hij_hij, #hij_j, #hij_hij], iterator_types = #ppp} ins(%3, %m : tensor<4x24x40xf32>, tensor<40xi1>) outs(%1 : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %x1: i1, %acc: f32): %h = arith.constant -3.0e38 : f32 %y = arith.select %x1, %x0, %h : f32 linalg.yield %y : f32 } -> tensor<4x24x40xf32>
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
