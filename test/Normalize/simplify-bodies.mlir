// RUN: tilewright-opt %s -tilewright-simplify-bodies | FileCheck %s

#id = affine_map<(i) -> (i)>
#none = affine_map<(i) -> ()>

// Both sides of a branch are computed (what divides by zero then: guard-divisions.mlir).
// CHECK-LABEL: func.func @Branch(
// CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[C:.*]] = arith.cmpi ne
// CHECK: %[[Q:.*]] = arith.divsi %[[A]], %[[B]]
// CHECK: %[[R:.*]] = arith.select %[[C]], %[[Q]], %[[A]]
// CHECK: linalg.yield %[[R]]
func.func @Branch(%x: tensor<9xi32>, %y: tensor<9xi32>, %o: tensor<9xi32>) -> tensor<9xi32> {
  %zero = arith.constant 0 : i32
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%x, %y : tensor<9xi32>, tensor<9xi32>) outs(%o : tensor<9xi32>) {
  ^bb0(%a: i32, %b: i32, %out: i32):
    %c = arith.cmpi ne, %b, %zero : i32
    %v = scf.if %c -> i32 {
      %q = arith.divsi %a, %b : i32
      scf.yield %q : i32
    } else {
      scf.yield %a : i32
    }
    linalg.yield %v : i32
  } -> tensor<9xi32>
  return %r : tensor<9xi32>
}

// CHECK-LABEL: func.func @Index(
// CHECK: %[[M:.*]] = arith.muli
// CHECK: arith.remui %[[M]]
// CHECK: arith.index_castui
// CHECK-NOT: index.mul
func.func @Index(%n: index, %o: tensor<9xi32>) -> tensor<9xi32> {
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%o : tensor<9xi32>) {
  ^bb0(%out: i32):
    %i = linalg.index 0 : index
    %m = index.mul %i, %n
    %q = index.remu %m, %n
    %v = index.castu %q : index to i32
    linalg.yield %v : i32
  } -> tensor<9xi32>
  return %r : tensor<9xi32>
}

// CHECK-LABEL: func.func @Float8(
// CHECK: arith.extf %{{.*}} : f8E5M2 to f32
// CHECK: %[[S:.*]] = arith.addf %{{.*}} : f32
// CHECK: arith.truncf %[[S]] : f32 to f8E5M2
func.func @Float8(%x: tensor<9xf8E5M2>, %o: tensor<9xf8E5M2>) -> tensor<9xf8E5M2> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<9xf8E5M2>) outs(%o : tensor<9xf8E5M2>) {
  ^bb0(%a: f8E5M2, %out: f8E5M2):
    %s = arith.addf %a, %a : f8E5M2
    linalg.yield %s : f8E5M2
  } -> tensor<9xf8E5M2>
  return %r : tensor<9xf8E5M2>
}

// CHECK-LABEL: func.func @Difference(
// CHECK: ^bb0(%[[A:.*]]: f32, %[[ACC:.*]]: f32):
// CHECK: %[[N:.*]] = arith.negf %[[A]]
// CHECK: arith.addf %[[ACC]], %[[N]]
func.func @Difference(%x: tensor<9xf32>, %o: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%x : tensor<9xf32>) outs(%o : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.subf %acc, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// A short loop of known bounds is unrolled, with those in it; a long one stays, and so does one whose end is not known.
// CHECK-LABEL: func.func @Polynomial
// CHECK: ^bb0(%[[X:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[A:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK-NEXT: %[[B:.*]] = arith.mulf %[[A]], %[[X]]
// CHECK-NEXT: %[[C:.*]] = arith.mulf %[[B]], %[[X]]
// CHECK-NEXT: linalg.yield %[[C]]
// CHECK: ^bb0
// CHECK-NEXT: scf.for
// CHECK: ^bb0
// CHECK-NEXT: scf.for
func.func @Polynomial(%x: tensor<8xf32>, %n: index) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %many = arith.constant 5000 : index
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %a) -> (f32) {
      %m = arith.mulf %v, %a : f32
      scf.yield %m : f32
    }
    linalg.yield %p : f32
  } -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = scf.for %i = %c0 to %n step %c1 iter_args(%v = %a) -> (f32) {
      %m = arith.mulf %v, %a : f32
      scf.yield %m : f32
    }
    linalg.yield %p : f32
  } -> tensor<8xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = scf.for %i = %c0 to %many step %c1 iter_args(%v = %a) -> (f32) {
      %m = arith.mulf %v, %a : f32
      scf.yield %m : f32
    }
    linalg.yield %p : f32
  } -> tensor<8xf32>
  return %r, %s, %t : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// Ops of two results are ops of one each: products of twice the width, sums that are less than what was added to.
// CHECK-LABEL: @TwoResults
// CHECK: %[[X:.*]] = arith.extsi %[[A:.*]] : i32 to i64
// CHECK: %[[Y:.*]] = arith.extsi %{{.*}} : i32 to i64
// CHECK: %[[P:.*]] = arith.muli %[[X]], %[[Y]] : i64
// CHECK: %[[S:.*]] = arith.shrui %[[P]], %{{.*}} : i64
// CHECK: arith.trunci %[[S]] : i64 to i32
// CHECK: %[[T:.*]] = arith.addi %[[A]], %{{.*}} : i32
// CHECK: arith.cmpi ult, %[[T]], %[[A]] : i32
// CHECK: math.sin
// CHECK: math.cos
// CHECK-NOT: extended
func.func @TwoResults(%x: tensor<8xi32>, %y: tensor<8xf32>, %i: tensor<8xi32>, %c: tensor<8xi1>, %f: tensor<8xf32>) -> (tensor<8xi32>, tensor<8xi1>, tensor<8xf32>) {
  %r:3 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x, %y : tensor<8xi32>, tensor<8xf32>) outs(%i, %c, %f : tensor<8xi32>, tensor<8xi1>, tensor<8xf32>) {
  ^bb0(%a: i32, %v: f32, %o: i32, %p: i1, %q: f32):
    %low, %high = arith.mulsi_extended %a, %o : i32
    %sum, %carry = arith.addui_extended %a, %o : i32, i1
    %s, %t = math.sincos %v : f32
    %u = arith.addf %s, %t : f32
    linalg.yield %high, %carry, %u : i32, i1, f32
  } -> (tensor<8xi32>, tensor<8xi1>, tensor<8xf32>)
  return %r#0, %r#1, %r#2 : tensor<8xi32>, tensor<8xi1>, tensor<8xf32>
}

// Of one bit, too, whose products have an upper half of nothing.
// CHECK-LABEL: @TwoResultsOfBits(
// CHECK: ^bb0(%[[A:[a-z0-9]+]]: i1, %[[B:[a-z0-9]+]]: i1
// CHECK: %[[T:.*]] = arith.addi %[[A]], %[[B]] : i1
// CHECK: arith.cmpi ult, %[[T]], %[[A]] : i1
// CHECK-NOT: extended
func.func @TwoResultsOfBits(%x: tensor<8xi1>, %i: tensor<8xi1>, %c: tensor<8xi1>) -> (tensor<8xi1>, tensor<8xi1>) {
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<8xi1>) outs(%i, %c : tensor<8xi1>, tensor<8xi1>) {
  ^bb0(%a: i1, %o: i1, %p: i1):
    %low, %high = arith.mulsi_extended %a, %o : i1
    %sum, %carry = arith.addui_extended %a, %o : i1, i1
    linalg.yield %high, %carry : i1, i1
  } -> (tensor<8xi1>, tensor<8xi1>)
  return %r#0, %r#1 : tensor<8xi1>, tensor<8xi1>
}
