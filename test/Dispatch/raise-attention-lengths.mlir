// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// Keys that are hidden because their number is not less than one of the batch are behind its length,
// and are not read.

#q = affine_map<(h, i, j, d) -> (h, i, d)>
#k = affine_map<(h, i, j, d) -> (h, j, d)>
#s = affine_map<(h, i, j, d) -> (h, i, j)>
#w = affine_map<(h, i, d, j) -> (h, i, j)>
#v = affine_map<(h, i, d, j) -> (h, j, d)>
#o = affine_map<(h, i, d, j) -> (h, i, d)>
#h = affine_map<(h, i, j) -> (h)>
#ij = affine_map<(h, i, j) -> (h, i, j)>
#i = affine_map<(h, i, j) -> (h, i)>
#ppp = ["parallel", "parallel", "parallel"]
#ppr = ["parallel", "parallel", "reduction"]
#pppr = ["parallel", "parallel", "parallel", "reduction"]

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
// CHECK-LABEL: func.func @lengths(
// CHECK-SAME: %[[N:[a-z0-9]+]]: tensor<4xi64>)
// CHECK-NOT: linalg.generic
// CHECK: tilewright.attention {{.*}}) lengths(%[[N]] : tensor<4xi64>)
// CHECK-NOT: mask
// CHECK-NOT: linalg.generic
func.func @lengths(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %ew = tensor.empty() : tensor<4x24x40xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x24x40xf32>, tensor<4xi64>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %c = arith.cmpi slt, %a, %n0 : i64 %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%ew : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
// One query a head: it sees the last key, as ONNX writes a causal mask.
// CHECK-LABEL: func.func @twice(
// CHECK-NOT: linalg.generic
// CHECK: tilewright.attention {{.*}}) lengths(%{{.*}} : tensor<4xi64>)
// CHECK-NOT: mask
// CHECK-NOT: linalg.generic
func.func @twice(%q: tensor<4x1x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x1x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x1x40xf32>
  %er = tensor.empty() : tensor<4x1xf32>
  %ew = tensor.empty() : tensor<4x1x40xf32>
  %eo = tensor.empty() : tensor<4x1x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x1x40xf32>) -> tensor<4x1x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x1xf32>) -> tensor<4x1xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x1xf32>) -> tensor<4x1xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x1x16xf32>) -> tensor<4x1x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x1x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x1x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x1x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x1x40xf32>, tensor<4xi64>) outs(%es : tensor<4x1x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %one = arith.constant 1 : i64 %l = arith.subi %n0, %one : i64 %c = arith.cmpi slt, %l, %a : i64 %y = arith.select %c, %low, %x : f32 %d = arith.cmpi slt, %a, %n0 : i64 %z = arith.select %d, %y, %low : f32 linalg.yield %z : f32 } -> tensor<4x1x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x1x40xf32>) outs(%lr : tensor<4x1xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x1xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x1x40xf32>, tensor<4x1xf32>) outs(%es : tensor<4x1x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x1x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x1x40xf32>) outs(%zr : tensor<4x1xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x1xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x1x40xf32>, tensor<4x1xf32>) outs(%ew : tensor<4x1x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x1x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x1x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x1x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x1x16xf32>
  return %r : tensor<4x1x16xf32>
}
// Where a window counts from the first key.
// CHECK-LABEL: func.func @beside_a_window(
// CHECK: tilewright.attention {{.*}}) lengths(%{{.*}}causal = "top_left"
// CHECK-NOT: mask
func.func @beside_a_window(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %ew = tensor.empty() : tensor<4x24x40xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x24x40xf32>, tensor<4xi64>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %i = linalg.index 1 : index %v0 = arith.cmpi sle, %j, %i : index %y = arith.select %v0, %x, %low : f32 %c = arith.cmpi slt, %a, %n0 : i64 %z = arith.select %c, %y, %low : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%ew : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
// A diagonal that ends at the last key of all would end at the length.
// CHECK-LABEL: func.func @bottom_right(
// CHECK: tilewright.attention {{.*}} mask(
// CHECK-NOT: lengths
func.func @bottom_right(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %ew = tensor.empty() : tensor<4x24x40xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x24x40xf32>, tensor<4xi64>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %sixteen = arith.constant 16 : index %i = linalg.index 1 : index %o = arith.addi %i, %sixteen : index %v0 = arith.cmpi sle, %j, %o : index %y = arith.select %v0, %x, %low : f32 %c = arith.cmpi slt, %a, %n0 : i64 %z = arith.select %c, %y, %low : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%ew : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
// Each query has a length.
// CHECK-LABEL: func.func @of_queries(
// CHECK: tilewright.attention {{.*}} mask(
// CHECK-NOT: lengths
func.func @of_queries(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4x24xi64>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %ew = tensor.empty() : tensor<4x24x40xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x24x40xf32>, tensor<4x24xi64>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %c = arith.cmpi slt, %a, %n0 : i64 %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%ew : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
// A query without keys is the average of all.
// CHECK-LABEL: func.func @finite(
// CHECK: tilewright.attention {{.*}} mask(
// CHECK-NOT: lengths
func.func @finite(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %ew = tensor.empty() : tensor<4x24x40xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x24x40xf32>, tensor<4xi64>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %c = arith.cmpi slt, %a, %n0 : i64 %finite = arith.constant -1.0e9 : f32 %z = arith.select %c, %x, %finite : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%ew : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
// An unsigned number may be large.
// CHECK-LABEL: func.func @unsigned(
// CHECK: tilewright.attention {{.*}} mask(
// CHECK-NOT: lengths
func.func @unsigned(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %ew = tensor.empty() : tensor<4x24x40xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x24x40xf32>, tensor<4xi64>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %c = arith.cmpi ult, %a, %n0 : i64 %z = arith.select %c, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%ew : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
// The last query sees the last key of its batch.
// CHECK-LABEL: func.func @diagonal(
// CHECK-NOT: linalg.generic
// CHECK: tilewright.attention {{.*}}) lengths(%{{.*}} : tensor<4xi64>){{.*}}causal = "bottom_right"
// CHECK-NOT: window
// CHECK-NOT: linalg.generic
func.func @diagonal(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %ew = tensor.empty() : tensor<4x24x40xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x24x40xf32>, tensor<4xi64>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %i = linalg.index 1 : index %qi = arith.index_cast %i : index to i64 %m = arith.constant 24 : i64 %e = arith.subi %n0, %m : i64 %g = arith.addi %qi, %e : i64 %v0 = arith.cmpi slt, %g, %a : i64 %y = arith.select %v0, %low, %x : f32 %c = arith.cmpi slt, %a, %n0 : i64 %y1 = arith.select %c, %y, %low : f32 %z = arith.addf %y1, %zero : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%ew : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
// A window that counts from that diagonal.
// CHECK-LABEL: func.func @window_of_lengths(
// CHECK-NOT: linalg.generic
// CHECK: tilewright.attention {{.*}}) lengths(%{{.*}} : tensor<4xi64>){{.*}}causal = "bottom_right"{{.*}}window = array<i64: 7, -1>
// CHECK-NOT: linalg.generic
func.func @window_of_lengths(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %ew = tensor.empty() : tensor<4x24x40xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x24x40xf32>, tensor<4xi64>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %i = linalg.index 1 : index %qi = arith.index_cast %i : index to i64 %m = arith.constant 24 : i64 %e = arith.subi %n0, %m : i64 %g = arith.addi %qi, %e : i64 %v0 = arith.cmpi slt, %g, %a : i64 %y = arith.select %v0, %low, %x : f32 %c = arith.cmpi slt, %a, %n0 : i64 %y1 = arith.select %c, %y, %low : f32 %seven = arith.constant 7 : i64 %back = arith.subi %g, %a : i64 %near = arith.cmpi sle, %back, %seven : i64 %z = arith.select %near, %y1, %low : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%ew : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
// One that ends elsewhere is a mask.
// CHECK-LABEL: func.func @another_diagonal(
// CHECK: tilewright.attention {{.*}}) mask(%{{.*}} lengths(
// CHECK-NOT: causal
func.func @another_diagonal(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %m = arith.constant 20 : i64
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %ew = tensor.empty() : tensor<4x24x40xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x24x40xf32>, tensor<4xi64>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %i = linalg.index 1 : index %qi = arith.index_cast %i : index to i64 %e = arith.subi %n0, %m : i64 %g = arith.addi %qi, %e : i64 %v0 = arith.cmpi slt, %g, %a : i64 %y = arith.select %v0, %low, %x : f32 %c = arith.cmpi slt, %a, %n0 : i64 %y1 = arith.select %c, %y, %low : f32 %z = arith.addf %y1, %zero : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x24x40xf32>) outs(%lr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x24x40xf32>) outs(%zr : tensor<4x24xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x24xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x24x40xf32>, tensor<4x24xf32>) outs(%ew : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x24x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x24x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x24x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x16xf32>
  return %r : tensor<4x24x16xf32>
}
// A window of one query.
// CHECK-LABEL: func.func @window_of_one(
// CHECK-NOT: linalg.generic
// CHECK: tilewright.attention {{.*}}) lengths(%{{.*}} : tensor<4xi64>){{.*}}causal = "bottom_right"{{.*}}window = array<i64: 7, -1>
// CHECK-NOT: linalg.generic
func.func @window_of_one(%q: tensor<4x1x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %n: tensor<4xi64>) -> tensor<4x1x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %es = tensor.empty() : tensor<4x1x40xf32>
  %er = tensor.empty() : tensor<4x1xf32>
  %ew = tensor.empty() : tensor<4x1x40xf32>
  %eo = tensor.empty() : tensor<4x1x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x1x40xf32>) -> tensor<4x1x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x1xf32>) -> tensor<4x1xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x1xf32>) -> tensor<4x1xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x1x16xf32>) -> tensor<4x1x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x1x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x1x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x1x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #h, #ij], iterator_types = #ppp} ins(%s, %n : tensor<4x1x40xf32>, tensor<4xi64>) outs(%es : tensor<4x1x40xf32>) {
    ^bb0(%x: f32, %n0: i64, %acc: f32): %j = linalg.index 2 : index %a = arith.index_cast %j : index to i64 %one = arith.constant 1 : i64 %l = arith.subi %n0, %one : i64 %c = arith.cmpi slt, %l, %a : i64 %y = arith.select %c, %low, %x : f32 %seven = arith.constant 7 : i64 %back = arith.subi %l, %a : i64 %near = arith.cmpi sle, %back, %seven : i64 %z = arith.select %near, %y, %low : f32 linalg.yield %z : f32 } -> tensor<4x1x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x1x40xf32>) outs(%lr : tensor<4x1xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x1xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x1x40xf32>, tensor<4x1xf32>) outs(%es : tensor<4x1x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x1x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x1x40xf32>) outs(%zr : tensor<4x1xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x1xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x1x40xf32>, tensor<4x1xf32>) outs(%ew : tensor<4x1x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x1x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x1x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x1x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x1x16xf32>
  return %r : tensor<4x1x16xf32>
}
}
