// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// Sizes that a run decides: what compares numbers of queries and keys by their difference is `bottom_right`, of which a
// window counts; heads that are joined with an unknown batch are cut from it.

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
// CHECK-LABEL: func.func @bottom_right(
// CHECK: tilewright.attention {{.*}}causal = "bottom_right"
// CHECK-NOT: mask
func.func @bottom_right(%q: tensor<4x?x16xf32>, %k: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>) -> tensor<4x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<4x?x16xf32>
  %behind = arith.subi %n, %m : index
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
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.addi %i, %behind : index %c = arith.cmpi sle, %j, %a : index %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x?x?xf32>
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
// CHECK-LABEL: func.func @bottom_right_of_known_keys(
// CHECK: tilewright.attention {{.*}}causal = "bottom_right"
func.func @bottom_right_of_known_keys(%q: tensor<4x?x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<4x40x16xf32>
  %behind = arith.subi %n, %m : index
  %es = tensor.empty(%m) : tensor<4x?x40xf32>
  %er = tensor.empty(%m) : tensor<4x?xf32>
  %eo = tensor.empty(%m) : tensor<4x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x?x40xf32>) -> tensor<4x?x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x?x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x?x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<4x?x40xf32>) outs(%es : tensor<4x?x40xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.addi %i, %behind : index %c = arith.cmpi sle, %j, %a : index %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x?x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x?x40xf32>) outs(%lr : tensor<4x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x?xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x?x40xf32>, tensor<4x?xf32>) outs(%es : tensor<4x?x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x?x40xf32>) outs(%zr : tensor<4x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x?xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x?x40xf32>, tensor<4x?xf32>) outs(%es : tensor<4x?x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x?x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x?x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x?x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x16xf32>
  return %r : tensor<4x?x16xf32>
}
// CHECK-LABEL: func.func @window(
// CHECK: tilewright.attention {{.*}}causal = "bottom_right"{{.*}}window = array<i64: 7, -1>
func.func @window(%q: tensor<4x?x16xf32>, %k: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>) -> tensor<4x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<4x?x16xf32>
  %behind = arith.subi %n, %m : index
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
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.addi %i, %behind : index %c8 = arith.constant 8 : index %f = arith.subi %a, %c8 : index %up = arith.cmpi sle, %j, %a : index %down = arith.cmpi sgt, %j, %f : index %c = arith.andi %up, %down : i1 %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x?x?xf32>
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
// A diagonal that is no one's: that of a length, the sum of both sizes.
// CHECK-LABEL: func.func @elsewhere(
// CHECK: %[[SUM:.*]] = arith.addi %{{.*}}, %{{.*}} : index
// CHECK: %[[LENGTH:.*]] = arith.index_cast %[[SUM]] : index to i64
// CHECK: %[[LENGTHS:.*]] = tensor.from_elements %[[LENGTH]] : tensor<i64>
// CHECK: tilewright.attention {{.*}} lengths(%[[LENGTHS]] : tensor<i64>) {{.*}}causal = "bottom_right"
// CHECK-NOT: mask
func.func @elsewhere(%q: tensor<4x?x16xf32>, %k: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>) -> tensor<4x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<4x?x16xf32>
  %behind = arith.subi %n, %m : index
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
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.addi %i, %n : index %c = arith.cmpi sle, %j, %a : index %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x?x?xf32>
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
// The text says 0 where the number of heads is 1, which changes nothing; of queries, it would.
// CHECK-LABEL: func.func @repeated_heads(
// CHECK: tilewright.attention {{.*}}causal = "bottom_right"
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @repeated_heads(%q: tensor<?x?x16xf32>, %k: tensor<?x?x16xf32>, %v: tensor<?x?x16xf32>) -> tensor<?x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %q, %c0 : tensor<?x?x16xf32>
  %m = tensor.dim %q, %c1 : tensor<?x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<?x?x16xf32>
  %behind = arith.subi %n, %m : index
  %es = tensor.empty(%h, %m, %n) : tensor<?x?x?xf32>
  %er = tensor.empty(%h, %m) : tensor<?x?xf32>
  %eo = tensor.empty(%h, %m) : tensor<?x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<?x?xf32>) -> tensor<?x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<?x?xf32>) -> tensor<?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<?x?x16xf32>, tensor<?x?x16xf32>) outs(%zs : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<?x?x?xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<?x?x?xf32>) outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.addi %i, %behind : index %c = arith.cmpi sle, %j, %a : index %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<?x?x?xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<?x?x?xf32>) outs(%lr : tensor<?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<?x?x?xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<?x?x?xf32>) outs(%zr : tensor<?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<?x?x?xf32>
  %c4 = arith.constant 4 : index
  %b = arith.muli %h, %c4 : index
  %once = arith.divsi %b, %c4 : index
  %g = linalg.generic {indexing_maps = [#ij], iterator_types = #ppp} outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%acc: f32): %x = linalg.index 0 : index %i = linalg.index 1 : index %j = linalg.index 2 : index %is = arith.cmpi eq, %once, %c1 : index
      %y = arith.select %is, %c0, %x : index %z = tensor.extract %w[%y, %i, %j] : tensor<?x?x?xf32> linalg.yield %z : f32 } -> tensor<?x?x?xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%g, %v : tensor<?x?x?xf32>, tensor<?x?x16xf32>) outs(%zo : tensor<?x?x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<?x?x16xf32>
  return %r : tensor<?x?x16xf32>
}
// CHECK-LABEL: func.func @repeated_by_another_size(
// CHECK: tilewright.decomposed = "the weights are read by coordinates that are computed, as where sizes of a run decide whether a dim is repeated"
func.func @repeated_by_another_size(%q: tensor<?x?x16xf32>, %k: tensor<?x?x16xf32>, %v: tensor<?x?x16xf32>) -> tensor<?x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %h = tensor.dim %q, %c0 : tensor<?x?x16xf32>
  %m = tensor.dim %q, %c1 : tensor<?x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<?x?x16xf32>
  %behind = arith.subi %n, %m : index
  %es = tensor.empty(%h, %m, %n) : tensor<?x?x?xf32>
  %er = tensor.empty(%h, %m) : tensor<?x?xf32>
  %eo = tensor.empty(%h, %m) : tensor<?x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<?x?xf32>) -> tensor<?x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<?x?xf32>) -> tensor<?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<?x?x16xf32>, tensor<?x?x16xf32>) outs(%zs : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<?x?x?xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<?x?x?xf32>) outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.addi %i, %behind : index %c = arith.cmpi sle, %j, %a : index %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<?x?x?xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<?x?x?xf32>) outs(%lr : tensor<?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<?x?x?xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<?x?x?xf32>) outs(%zr : tensor<?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<?x?x?xf32>
  %c4 = arith.constant 4 : index
  %b = arith.muli %m, %c4 : index
  %once = arith.divsi %b, %c4 : index
  %g = linalg.generic {indexing_maps = [#ij], iterator_types = #ppp} outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%acc: f32): %x = linalg.index 0 : index %i = linalg.index 1 : index %j = linalg.index 2 : index %is = arith.cmpi eq, %once, %c1 : index
      %y = arith.select %is, %c0, %x : index %z = tensor.extract %w[%y, %i, %j] : tensor<?x?x?xf32> linalg.yield %z : f32 } -> tensor<?x?x?xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%g, %v : tensor<?x?x?xf32>, tensor<?x?x16xf32>) outs(%zo : tensor<?x?x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<?x?x16xf32>
  return %r : tensor<?x?x16xf32>
}
// CHECK-LABEL: func.func @joined(
// CHECK: tilewright.attention ins({{.*}} : tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>, tensor<?x4x?x16xf32>) outs({{.*}} : tensor<?x4x?x16xf32>) {causal = "top_left"
// CHECK-NOT: collapse_shape
func.func @joined(%q4: tensor<?x4x?x16xf32>, %k4: tensor<?x4x?x16xf32>, %v4: tensor<?x4x?x16xf32>) -> tensor<?x4x?x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %q = tensor.collapse_shape %q4 [[0, 1], [2], [3]] : tensor<?x4x?x16xf32> into tensor<?x?x16xf32>
  %k = tensor.collapse_shape %k4 [[0, 1], [2], [3]] : tensor<?x4x?x16xf32> into tensor<?x?x16xf32>
  %v = tensor.collapse_shape %v4 [[0, 1], [2], [3]] : tensor<?x4x?x16xf32> into tensor<?x?x16xf32>
  %h = tensor.dim %q, %c0 : tensor<?x?x16xf32>
  %m = tensor.dim %q, %c1 : tensor<?x?x16xf32>
  %n = tensor.dim %k, %c1 : tensor<?x?x16xf32>
  %behind = arith.subi %n, %m : index
  %es = tensor.empty(%h, %m, %n) : tensor<?x?x?xf32>
  %er = tensor.empty(%h, %m) : tensor<?x?xf32>
  %eo = tensor.empty(%h, %m) : tensor<?x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<?x?x?xf32>) -> tensor<?x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<?x?xf32>) -> tensor<?x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<?x?xf32>) -> tensor<?x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<?x?x16xf32>) -> tensor<?x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<?x?x16xf32>, tensor<?x?x16xf32>) outs(%zs : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<?x?x?xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<?x?x?xf32>) outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %c = arith.cmpi ule, %j, %i : index %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<?x?x?xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<?x?x?xf32>) outs(%lr : tensor<?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<?x?xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<?x?x?xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<?x?x?xf32>) outs(%zr : tensor<?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<?x?xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<?x?x?xf32>, tensor<?x?xf32>) outs(%es : tensor<?x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<?x?x?xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<?x?x?xf32>, tensor<?x?x16xf32>) outs(%zo : tensor<?x?x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<?x?x16xf32>
  %b = tensor.dim %q4, %c0 : tensor<?x4x?x16xf32>
  %r4 = tensor.expand_shape %r [[0, 1], [2], [3]] output_shape [%b, 4, %m, 16] : tensor<?x?x16xf32> into tensor<?x4x?x16xf32>
  return %r4 : tensor<?x4x?x16xf32>
}
}
