// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// Windows behind a past: the diagonal lies where the text says, not where the numbers of queries and keys have it. A length that
// ends there says so, which may be more than there are keys.

#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#w = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#ij = affine_map<(h, i, j) -> (h, i, j)>
#i = affine_map<(h, i, j) -> (h, i)>
#ppp = ["parallel", "parallel", "parallel"]
#ppr = ["parallel", "parallel", "reduction"]
#pppr = ["parallel", "parallel", "parallel", "reduction"]

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
// CHECK-LABEL: func.func @past(
// CHECK-SAME: %[[Q:[^:]*]]: tensor<4x?x16xf32>, {{.*}}, %[[PAST:[^:]*]]: i64)
// CHECK: %[[QUERIES:.*]] = tensor.dim %[[Q]], %c1
// CHECK: %[[CAST:.*]] = arith.index_cast %[[PAST]] : i64 to index
// CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %[[CAST]] : index
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[SUM]] : index to i64
// CHECK: %[[LENGTHS:.*]] = tensor.from_elements %[[LENGTH]] : tensor<i64>
// CHECK: tilewright.attention {{.*}} lengths(%[[LENGTHS]] : tensor<i64>) {{.*}}causal = "bottom_right"{{.*}}window = array<i64: 2, -1>
// CHECK-NOT: linalg.generic
func.func @past(%q: tensor<4x?x16xf32>, %k: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>, %past: i64) -> tensor<4x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<4x?x16xf32>
  %two = arith.constant 2 : i64
  %es = tensor.empty(%m, %n) : tensor<4x?x?xf32>
  %er = tensor.empty(%m) : tensor<4x?xf32>
  %eo = tensor.empty(%m) : tensor<4x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x?x16xf32>, tensor<4x?x16xf32>) outs(%zs : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x?xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<4x?x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %i64 = arith.index_cast %i : index to i64 %j64 = arith.index_cast %j : index to i64 %at = arith.addi %i64, %past : i64
      %near = arith.cmpi sge, %at, %j64 : i64 %far = arith.subi %at, %j64 : i64 %in = arith.cmpi sle, %far, %two : i64
      %c = arith.andi %near, %in : i1 %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x?x?xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x?x?xf32>) outs(%lr : tensor<4x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x?xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x?xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x?x?xf32>) outs(%zr : tensor<4x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x?xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x?x?xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x?x?xf32>, tensor<4x?x16xf32>) outs(%zo : tensor<4x?x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x16xf32>
  return %r : tensor<4x?x16xf32>
}
// The number is what it has been extended to: a past of 2^31 is not -2^31.
// CHECK-LABEL: func.func @past_of_unsigned(
// CHECK: %[[PAST:.*]] = arith.extui %{{.*}} : i32 to i64
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[PAST]] : i64 to index
// CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %[[LENGTH]] : index
// CHECK: arith.index_cast %[[SUM]] : index to i64
// CHECK: tilewright.attention {{.*}} lengths(%{{.*}} : tensor<i64>) {{.*}}causal = "bottom_right"{{.*}}window = array<i64: 2, -1>
func.func @past_of_unsigned(%q: tensor<4x?x16xf32>, %k: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>, %past: i32) -> tensor<4x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<4x?x16xf32>
  %two = arith.constant 2 : i64
  %wide = arith.extui %past : i32 to i64
  %es = tensor.empty(%m, %n) : tensor<4x?x?xf32>
  %er = tensor.empty(%m) : tensor<4x?xf32>
  %eo = tensor.empty(%m) : tensor<4x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x?x16xf32>, tensor<4x?x16xf32>) outs(%zs : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x?xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<4x?x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %i64 = arith.index_cast %i : index to i64 %j64 = arith.index_cast %j : index to i64 %at = arith.addi %i64, %wide : i64
      %near = arith.cmpi sge, %at, %j64 : i64 %far = arith.subi %at, %j64 : i64 %in = arith.cmpi sle, %far, %two : i64
      %c = arith.andi %near, %in : i1 %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x?x?xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x?x?xf32>) outs(%lr : tensor<4x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x?xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x?xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x?x?xf32>) outs(%zr : tensor<4x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x?xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x?x?xf32>, tensor<4x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x?x?xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x?x?xf32>, tensor<4x?x16xf32>) outs(%zo : tensor<4x?x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x16xf32>
  return %r : tensor<4x?x16xf32>
}
// 24 queries, 40 keys, and query i is at i + 20, not at i + 16.
// CHECK-LABEL: func.func @past_of_known_size(
// CHECK: %[[LENGTHS:.*]] = arith.constant dense<44> : tensor<i64>
// CHECK: tilewright.attention {{.*}} lengths(%[[LENGTHS]] : tensor<i64>) {{.*}}causal = "bottom_right"{{.*}}window = array<i64: 2, -1>
// CHECK-NOT: linalg.generic
func.func @past_of_known_size(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %past = arith.constant 20 : i64
  %two = arith.constant 2 : i64
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<4x24x40xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %i64 = arith.index_cast %i : index to i64 %j64 = arith.index_cast %j : index to i64 %at = arith.addi %i64, %past : i64
      %near = arith.cmpi sge, %at, %j64 : i64 %far = arith.subi %at, %j64 : i64 %in = arith.cmpi sle, %far, %two : i64
      %c = arith.andi %near, %in : i1 %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
}
