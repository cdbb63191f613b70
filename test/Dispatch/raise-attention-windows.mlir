// RUN: tilewright-opt %s -tilewright-raise-attention -canonicalize | FileCheck %s

// Windows on the sides of the query. Of the first, what is behind it is compared with a number of integers
// that are negated as floats, as torch-mlir writes ONNX's Neg: f32 has that number, and rounding
// keeps the order.

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
// CHECK-LABEL: func.func @both_sides(
// CHECK-NOT: linalg.generic
// CHECK: tilewright.attention {{.*}}window = array<i64: 5, 3>
// CHECK-NOT: linalg.generic
func.func @both_sides(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c5 = arith.constant 5 : i64
  %reach = arith.constant 3 : i64
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
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.subi %i, %j : index %b = arith.index_cast %a : index to i64 %l = arith.cmpi sle, %b, %c5 : i64 %f = arith.sitofp %b : i64 to f32 %n = arith.negf %f : f32 %m = arith.fptosi %n : f32 to i64 %d = arith.cmpi sle, %m, %reach : i64 %both = arith.andi %l, %d : i1 %z = arith.select %both, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
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
// A number that f32 rounds.
// CHECK-LABEL: func.func @too_large(
// CHECK: arith.fptosi
// CHECK: tilewright.attention {{.*}} mask(
func.func @too_large(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %c5 = arith.constant 5 : i64
  %reach = arith.constant 16777217 : i64
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
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.subi %i, %j : index %b = arith.index_cast %a : index to i64 %l = arith.cmpi sle, %b, %c5 : i64 %f = arith.sitofp %b : i64 to f32 %n = arith.negf %f : f32 %m = arith.fptosi %n : f32 to i64 %d = arith.cmpi sle, %m, %reach : i64 %both = arith.andi %l, %d : i1 %z = arith.select %both, %x, %low : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
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
// Each query sees its own key: what is hidden by a finite number is hidden.
// CHECK-LABEL: func.func @finite(
// CHECK-NOT: linalg.generic
// CHECK: tilewright.attention {{.*}}causal = "top_left"{{.*}}window = array<i64: 15, -1>
func.func @finite(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -1.0e9 : f32
  %c16 = arith.constant 16 : i32
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
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.index_cast %i : index to i32 %b = arith.index_cast %j : index to i32 %l = arith.cmpi sle, %b, %a : i32 %c = arith.subi %a, %c16 : i32 %d = arith.cmpi sgt, %b, %c : i32 %both = arith.andi %l, %d : i1 %z = arith.select %both, %x, %hidden : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
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
// The same beside distances times a slope (ALiBi), which choose no keys: the mask is of these alone.
// CHECK-LABEL: func.func @alibi(
// CHECK: linalg.generic
// CHECK-NOT: arith.select
// CHECK: tilewright.attention {{.*}}mask({{.*}}causal = "top_left"{{.*}}window = array<i64: 15, -1>
func.func @alibi(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %slopes: tensor<4xf32>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -1.0e9 : f32
  %c16 = arith.constant 16 : i32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, affine_map<(h, i, j) -> (h)>, #ij], iterator_types = #ppp} ins(%s, %slopes : tensor<4x24x40xf32>, tensor<4xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %slope: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.index_cast %i : index to i32 %b = arith.index_cast %j : index to i32 %n = arith.subi %b, %a : i32 %f = arith.sitofp %n : i32 to f32 %far = arith.mulf %slope, %f : f32 %x = arith.addf %x0, %far : f32 %l = arith.cmpi sle, %b, %a : i32 %c = arith.subi %a, %c16 : i32 %d = arith.cmpi sgt, %b, %c : i32 %both = arith.andi %l, %d : i1 %z = arith.select %both, %x, %hidden : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
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
// Beside numbers for each key, which may hide all but those that the comparison hides, it is in the mask.
// CHECK-LABEL: func.func @beside_keys(
// CHECK: arith.select
// CHECK: tilewright.attention {{.*}}mask(
// CHECK-NOT: window
func.func @beside_keys(%q: tensor<4x24x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>, %slopes: tensor<40xf32>) -> tensor<4x24x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -1.0e30 : f32
  %c16 = arith.constant 16 : i32
  %es = tensor.empty() : tensor<4x24x40xf32>
  %er = tensor.empty() : tensor<4x24xf32>
  %eo = tensor.empty() : tensor<4x24x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x24x40xf32>) -> tensor<4x24x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x24xf32>) -> tensor<4x24xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x24x16xf32>) -> tensor<4x24x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x24x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x24x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x24x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, affine_map<(h, i, j) -> (j)>, #ij], iterator_types = #ppp} ins(%s, %slopes : tensor<4x24x40xf32>, tensor<40xf32>) outs(%es : tensor<4x24x40xf32>) {
    ^bb0(%x0: f32, %slope: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.index_cast %i : index to i32 %b = arith.index_cast %j : index to i32 %n = arith.subi %b, %a : i32 %f = arith.sitofp %n : i32 to f32 %far = arith.mulf %slope, %f : f32 %x = arith.addf %x0, %far : f32 %l = arith.cmpi sle, %b, %a : i32 %c = arith.subi %a, %c16 : i32 %d = arith.cmpi sgt, %b, %c : i32 %both = arith.andi %l, %d : i1 %z = arith.select %both, %x, %hidden : f32 linalg.yield %z : f32 } -> tensor<4x24x40xf32>
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
// The last queries see no key: the average of all values.
// CHECK-LABEL: func.func @last_sees_none(
// CHECK: tilewright.attention {{.*}} mask(
func.func @last_sees_none(%q: tensor<4x60x16xf32>, %k: tensor<4x40x16xf32>, %v: tensor<4x40x16xf32>) -> tensor<4x60x16xf32> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -1.0e9 : f32
  %c16 = arith.constant 16 : i32
  %es = tensor.empty() : tensor<4x60x40xf32>
  %er = tensor.empty() : tensor<4x60xf32>
  %eo = tensor.empty() : tensor<4x60x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x60x40xf32>) -> tensor<4x60x40xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x60xf32>) -> tensor<4x60xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x60xf32>) -> tensor<4x60xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x60x16xf32>) -> tensor<4x60x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x60x16xf32>, tensor<4x40x16xf32>) outs(%zs : tensor<4x60x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x60x40xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<4x60x40xf32>) outs(%es : tensor<4x60x40xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.index_cast %i : index to i32 %b = arith.index_cast %j : index to i32 %l = arith.cmpi sle, %b, %a : i32 %c = arith.subi %a, %c16 : i32 %d = arith.cmpi sgt, %b, %c : i32 %both = arith.andi %l, %d : i1 %z = arith.select %both, %x, %hidden : f32 linalg.yield %z : f32 } -> tensor<4x60x40xf32>
  %max = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%t : tensor<4x60x40xf32>) outs(%lr : tensor<4x60xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.maximumf %x, %acc : f32 linalg.yield %0 : f32 } -> tensor<4x60xf32>
  %p = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%t, %max : tensor<4x60x40xf32>, tensor<4x60xf32>) outs(%es : tensor<4x60x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.subf %x, %y : f32 %1 = math.exp %0 : f32 linalg.yield %1 : f32 } -> tensor<4x60x40xf32>
  %sum = linalg.generic {indexing_maps = [#ij, #i], iterator_types = #ppr} ins(%p : tensor<4x60x40xf32>) outs(%zr : tensor<4x60xf32>) {
    ^bb0(%x: f32, %acc: f32): %0 = arith.addf %acc, %x : f32 linalg.yield %0 : f32 } -> tensor<4x60xf32>
  %w = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = #ppp} ins(%p, %sum : tensor<4x60x40xf32>, tensor<4x60xf32>) outs(%es : tensor<4x60x40xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.divf %x, %y : f32 linalg.yield %0 : f32 } -> tensor<4x60x40xf32>
  %r = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = #pppr} ins(%w, %v : tensor<4x60x40xf32>, tensor<4x40x16xf32>) outs(%zo : tensor<4x60x16xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x60x16xf32>
  return %r : tensor<4x60x16xf32>
}
// As many queries as keys, which follows from the text.
// CHECK-LABEL: func.func @finite_dynamic(
// CHECK-NOT: linalg.generic
// CHECK: tilewright.attention {{.*}}causal = "top_left"{{.*}}window = array<i64: 15, -1>
func.func @finite_dynamic(%q: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>) -> tensor<4x?x16xf32> {
  %c1 = arith.constant 1 : index
  %t0 = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -1.0e9 : f32
  %c16 = arith.constant 16 : i32
  %es = tensor.empty(%t0, %t0) : tensor<4x?x?xf32>
  %er = tensor.empty(%t0) : tensor<4x?xf32>
  %eo = tensor.empty(%t0) : tensor<4x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %q : tensor<4x?x16xf32>, tensor<4x?x16xf32>) outs(%zs : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x?xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<4x?x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.index_cast %i : index to i32 %b = arith.index_cast %j : index to i32 %l = arith.cmpi sle, %b, %a : i32 %c = arith.subi %a, %c16 : i32 %d = arith.cmpi sgt, %b, %c : i32 %both = arith.andi %l, %d : i1 %z = arith.select %both, %x, %hidden : f32 linalg.yield %z : f32 } -> tensor<4x?x?xf32>
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
// There may be more queries than keys.
// CHECK-LABEL: func.func @finite_unknown(
// CHECK: tilewright.attention {{.*}} mask(
func.func @finite_unknown(%q: tensor<4x?x16xf32>, %k: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>) -> tensor<4x?x16xf32> {
  %c1 = arith.constant 1 : index
  %t0 = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %t1 = tensor.dim %k, %c1 : tensor<4x?x16xf32>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -1.0e9 : f32
  %c16 = arith.constant 16 : i32
  %es = tensor.empty(%t0, %t1) : tensor<4x?x?xf32>
  %er = tensor.empty(%t0) : tensor<4x?xf32>
  %eo = tensor.empty(%t0) : tensor<4x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x?x16xf32>, tensor<4x?x16xf32>) outs(%zs : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x?xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<4x?x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.index_cast %i : index to i32 %b = arith.index_cast %j : index to i32 %l = arith.cmpi sle, %b, %a : i32 %c = arith.subi %a, %c16 : i32 %d = arith.cmpi sgt, %b, %c : i32 %both = arith.andi %l, %d : i1 %z = arith.select %both, %x, %hidden : f32 linalg.yield %z : f32 } -> tensor<4x?x?xf32>
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
// Keys in front of the queries', of which there are as many as a size says: each query sees the first key.
// CHECK-LABEL: func.func @finite_behind(
// CHECK-NOT: linalg.generic
// CHECK: tilewright.attention {{.*}} lengths({{.*}}causal = "bottom_right"
func.func @finite_behind(%q: tensor<4x?x16xf32>, %k: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>, %cache: tensor<4x?x16xf32>) -> tensor<4x?x16xf32> {
  %c1 = arith.constant 1 : index
  %t0 = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %t1 = tensor.dim %k, %c1 : tensor<4x?x16xf32>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -1.0e9 : f32
  %t2 = tensor.dim %cache, %c1 : tensor<4x?x16xf32>
  %n = arith.index_cast %t2 : index to i64
  %es = tensor.empty(%t0, %t1) : tensor<4x?x?xf32>
  %er = tensor.empty(%t0) : tensor<4x?xf32>
  %eo = tensor.empty(%t0) : tensor<4x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x?x16xf32>, tensor<4x?x16xf32>) outs(%zs : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x?xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<4x?x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.index_cast %i : index to i64 %b = arith.index_cast %j : index to i64 %l = arith.addi %a, %n : i64 %g = arith.cmpi sgt, %b, %l : i64 %z = arith.select %g, %hidden, %x : f32 linalg.yield %z : f32 } -> tensor<4x?x?xf32>
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
// A number that may be negative: then the first queries see no key.
// CHECK-LABEL: func.func @finite_behind_unknown(
// CHECK: tilewright.attention {{.*}} mask(
func.func @finite_behind_unknown(%q: tensor<4x?x16xf32>, %k: tensor<4x?x16xf32>, %v: tensor<4x?x16xf32>, %n: i64) -> tensor<4x?x16xf32> {
  %c1 = arith.constant 1 : index
  %t0 = tensor.dim %q, %c1 : tensor<4x?x16xf32>
  %t1 = tensor.dim %k, %c1 : tensor<4x?x16xf32>
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %hidden = arith.constant -1.0e9 : f32
  %es = tensor.empty(%t0, %t1) : tensor<4x?x?xf32>
  %er = tensor.empty(%t0) : tensor<4x?xf32>
  %eo = tensor.empty(%t0) : tensor<4x?x16xf32>
  %zs = linalg.fill ins(%zero : f32) outs(%es : tensor<4x?x?xf32>) -> tensor<4x?x?xf32>
  %zr = linalg.fill ins(%zero : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %lr = linalg.fill ins(%low : f32) outs(%er : tensor<4x?xf32>) -> tensor<4x?xf32>
  %zo = linalg.fill ins(%zero : f32) outs(%eo : tensor<4x?x16xf32>) -> tensor<4x?x16xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #s], iterator_types = #pppr} ins(%q, %k : tensor<4x?x16xf32>, tensor<4x?x16xf32>) outs(%zs : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %y: f32, %acc: f32): %0 = arith.mulf %x, %y : f32 %1 = arith.addf %acc, %0 : f32 linalg.yield %1 : f32 } -> tensor<4x?x?xf32>
  %t = linalg.generic {indexing_maps = [#ij, #ij], iterator_types = #ppp} ins(%s : tensor<4x?x?xf32>) outs(%es : tensor<4x?x?xf32>) {
    ^bb0(%x: f32, %acc: f32): %i = linalg.index 1 : index %j = linalg.index 2 : index %a = arith.index_cast %i : index to i64 %b = arith.index_cast %j : index to i64 %l = arith.addi %a, %n : i64 %g = arith.cmpi sgt, %b, %l : i64 %z = arith.select %g, %hidden, %x : f32 linalg.yield %z : f32 } -> tensor<4x?x?xf32>
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
}
