// RUN: tilewright-opt %s -tilewright-fold-scalars -canonicalize | FileCheck %s

#none = affine_map<() -> ()>
#scalar = affine_map<(i) -> ()>
#id = affine_map<(i) -> (i)>

// The count of a variance, and whether it is positive.
// CHECK-LABEL: func.func @Count(
// CHECK-SAME: %[[DDOF:[a-z0-9]+]]: f32
// CHECK: %[[COUNT:.*]] = arith.subf %{{.*}}, %[[DDOF]] : f32
// CHECK-NEXT: %[[SOME:.*]] = arith.cmpf ogt, %[[COUNT]]
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{[^,]*}} : tensor<?xf32>)
// CHECK: %[[Q:.*]] = arith.divf %{{.*}}, %[[COUNT]]
// CHECK: arith.select %[[SOME]], %[[Q]]
func.func @Count(%x: tensor<?xf32>, %ddof: f32, %o: tensor<?xf32>) -> tensor<?xf32> {
  %n = arith.constant 128.0 : f32
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %i = tensor.empty() : tensor<i1>
  %f = linalg.fill ins(%ddof : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %c = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%f : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.subf %n, %a : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  %p = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%c : tensor<f32>) outs(%i : tensor<i1>) {
  ^bb0(%a: f32, %out: i1):
    %s = arith.cmpf ogt, %a, %zero : f32
    linalg.yield %s : i1
  } -> tensor<i1>
  %some = tensor.extract %p[] : tensor<i1>
  %r = linalg.generic {indexing_maps = [#id, #scalar, #id], iterator_types = ["parallel"]} ins(%x, %c : tensor<?xf32>, tensor<f32>) outs(%o : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %q = arith.divf %a, %b : f32
    %s = arith.select %some, %q, %zero : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @Everywhere(
// CHECK-NOT: linalg.generic
// CHECK: linalg.fill
func.func @Everywhere(%v: i32, %o: tensor<4x5xi32>) -> tensor<4x5xi32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<4x5xi32>) {
  ^bb0(%out: i32):
    linalg.yield %v : i32
  } -> tensor<4x5xi32>
  return %r : tensor<4x5xi32>
}

// What is not written keeps the init's value: one column, and a diagonal.
// CHECK-LABEL: func.func @PartOfInit(
// CHECK-NOT: linalg.fill
// CHECK-COUNT-2: linalg.generic
func.func @PartOfInit(%v: f32, %o: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = linalg.generic {indexing_maps = [affine_map<(i) -> (i, 1)>], iterator_types = ["parallel"]} outs(%o : tensor<4x4xf32>) {
  ^bb0(%out: f32):
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  %b = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>], iterator_types = ["parallel"]} outs(%o : tensor<4x4xf32>) {
  ^bb0(%out: f32):
    linalg.yield %v : f32
  } -> tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}

// Elements, coordinates and other tensors differ from place to place.
// CHECK-LABEL: func.func @Stays(
// CHECK-COUNT-3: linalg.generic
func.func @Stays(%t: tensor<f32>, %o: tensor<4xf32>, %i: tensor<4xi64>) -> (tensor<4xf32>, tensor<4xi64>, tensor<4xf32>) {
  %one = arith.constant 1.0 : f32
  %a = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%o : tensor<4xf32>) {
  ^bb0(%out: f32):
    %s = arith.addf %out, %one : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  %b = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%i : tensor<4xi64>) {
  ^bb0(%out: i64):
    %n = linalg.index 0 : index
    %s = arith.index_cast %n : index to i64
    linalg.yield %s : i64
  } -> tensor<4xi64>
  %c = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%o : tensor<4xf32>) {
  ^bb0(%out: f32):
    %s = tensor.extract %t[] : tensor<f32>
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xi64>, tensor<4xf32>
}

// What asserts something stays as it is, though nobody reads its result.
// CHECK-LABEL: func.func @Asserts(
// CHECK: linalg.generic
// CHECK-SAME: outs(
// CHECK: cf.assert
func.func @Asserts(%x: tensor<4xi64>, %o: tensor<4xi64>) -> tensor<4xi64> {
  %zero = arith.constant 0 : i64
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xi64>) outs(%o : tensor<4xi64>) {
  ^bb0(%a: i64, %out: i64):
    %p = arith.cmpi sge, %a, %zero : i64
    cf.assert %p, "it is negative"
    linalg.yield %a : i64
  } -> tensor<4xi64>
  return %x : tensor<4xi64>
}

// An element at a known place is read where it comes from: of a fill its value, of an argument the argument's.
// CHECK-LABEL: func.func @Pieces(
// CHECK-SAME: %[[A:.*]]: tensor<2xi64>, %[[I:.*]]: index, %[[S:.*]]: tensor<?xi64>
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[THREE:.*]] = arith.constant 3 : i64
// CHECK: %[[SECOND:.*]] = tensor.extract %[[A]][%[[C1]]]
// CHECK: %[[WINDOW:.*]] = tensor.insert_slice
// CHECK: %[[UNKNOWN:.*]] = tensor.extract %[[WINDOW]][%[[C0]]]
// CHECK: return %[[THREE]], %[[SECOND]], %[[UNKNOWN]]
func.func @Pieces(%a: tensor<2xi64>, %i: index, %small: tensor<?xi64>) -> (i64, i64, i64) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %three = arith.constant 3 : i64
  %e1 = tensor.empty() : tensor<1xi64>
  %one = linalg.fill ins(%three : i64) outs(%e1 : tensor<1xi64>) -> tensor<1xi64>
  %e = tensor.empty() : tensor<5xi64>
  %first = tensor.insert_slice %one into %e[2] [1] [1] : tensor<1xi64> into tensor<5xi64>
  %shape = tensor.insert_slice %a into %first[3] [2] [1] : tensor<2xi64> into tensor<5xi64>
  %s = tensor.extract_slice %shape[2] [3] [1] : tensor<5xi64> to tensor<3xi64>
  %c2 = arith.constant 2 : index
  %x = tensor.extract %s[%c0] : tensor<3xi64>
  %y = tensor.extract %s[%c2] : tensor<3xi64>
  // Which elements a window of unknown size covers nobody knows.
  %n = tensor.dim %small, %c0 : tensor<?xi64>
  %w = tensor.insert_slice %small into %shape[0] [%n] [1] : tensor<?xi64> into tensor<5xi64>
  %z = tensor.extract %w[%c0] : tensor<5xi64>
  return %x, %y, %z : i64, i64, i64
}

// A scale that is rounded to f16, as ONNX's attention has it, is a constant: 0.59460354 becomes
// 0.594727. One that is rounded otherwise stays.
// CHECK-LABEL: func.func @Rounded(
// CHECK: %[[SCALE:.*]] = arith.constant 5.947270e-01 : f16
// CHECK: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[SCALE]] : f16
// CHECK: arith.truncf %{{.*}} toward_zero
func.func @Rounded(%x: tensor<?xf16>, %o: tensor<?xf16>) -> (tensor<?xf16>, f16) {
  %c = arith.constant 0.353553385 : f32
  %e = tensor.empty() : tensor<1xf32>
  %h = tensor.empty() : tensor<1xf16>
  %f = linalg.fill ins(%c : f32) outs(%e : tensor<1xf32>) -> tensor<1xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%f : tensor<1xf32>) outs(%h : tensor<1xf16>) {
  ^bb0(%a: f32, %out: f16):
    %q = math.sqrt %a : f32
    %t = arith.truncf %q : f32 to f16
    linalg.yield %t : f16
  } -> tensor<1xf16>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> (0)>, #id], iterator_types = ["parallel"]} ins(%x, %s : tensor<?xf16>, tensor<1xf16>) outs(%o : tensor<?xf16>) {
  ^bb0(%a: f16, %b: f16, %out: f16):
    %m = arith.mulf %a, %b : f16
    linalg.yield %m : f16
  } -> tensor<?xf16>
  %z = arith.truncf %c toward_zero : f32 to f16
  return %r, %z : tensor<?xf16>, f16
}

// One element of a shape is a scalar of the body; which one a slice at an unknown place has nobody
// knows.
// CHECK-LABEL: func.func @OfShape(
// CHECK-SAME: %[[A:[^:]*]]: i64, %[[B:[^:]*]]: i64
// CHECK: %[[SHAPE:.*]] = tensor.from_elements
// CHECK: linalg.generic
// CHECK: arith.addi %{{.*}}, %[[B]] : i64
// CHECK: %[[OTHER:.*]] = tensor.extract_slice %[[SHAPE]]
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[OTHER]] :
// CHECK: ^bb0(%[[X:.*]]: i64, %[[Y:.*]]: i64, %{{.*}}: i64):
// CHECK-NEXT: arith.addi %[[X]], %[[Y]] : i64
func.func @OfShape(%a: i64, %b: i64, %at: index, %x: tensor<?xi64>, %o: tensor<?xi64>) -> (tensor<?xi64>, tensor<?xi64>) {
  %shape = tensor.from_elements %a, %a, %b, %a : tensor<4xi64>
  %third = tensor.extract_slice %shape[2] [1] [1] : tensor<4xi64> to tensor<i64>
  %r = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%x, %third : tensor<?xi64>, tensor<i64>) outs(%o : tensor<?xi64>) {
  ^bb0(%v: i64, %n: i64, %out: i64):
    %s = arith.addi %v, %n : i64
    linalg.yield %s : i64
  } -> tensor<?xi64>
  %some = tensor.extract_slice %shape[%at] [1] [1] : tensor<4xi64> to tensor<i64>
  %q = linalg.generic {indexing_maps = [#id, affine_map<(i) -> ()>, #id], iterator_types = ["parallel"]} ins(%x, %some : tensor<?xi64>, tensor<i64>) outs(%o : tensor<?xi64>) {
  ^bb0(%v: i64, %n: i64, %out: i64):
    %s = arith.addi %v, %n : i64
    linalg.yield %s : i64
  } -> tensor<?xi64>
  return %r, %q : tensor<?xi64>, tensor<?xi64>
}

// A division by a scalar stays where there may be no element, which it would be done without.
// CHECK-LABEL: func.func @Division(
// CHECK: linalg.generic
// CHECK: arith.divsi
// CHECK-NOT: linalg.generic
// CHECK: arith.divsi
// CHECK: linalg.fill
func.func @Division(%a: i32, %b: i32, %o: tensor<?xi32>, %p: tensor<4xi32>) -> (tensor<?xi32>, tensor<4xi32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%o : tensor<?xi32>) {
  ^bb0(%x: i32):
    %d = arith.divsi %a, %b : i32
    linalg.yield %d : i32
  } -> tensor<?xi32>
  %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%p : tensor<4xi32>) {
  ^bb0(%x: i32):
    %d = arith.divsi %a, %b : i32
    linalg.yield %d : i32
  } -> tensor<4xi32>
  return %r, %s : tensor<?xi32>, tensor<4xi32>
}

// The host computes numbers that it reads, where no division may trap; what kernels read of them stays.
// CHECK-LABEL: func @ComputedNumbers
// CHECK-COUNT-1: linalg.generic
// CHECK: arith.divsi
// CHECK-NOT: linalg.generic
// CHECK: %[[P:.*]] = tensor.extract %arg0[]
// CHECK: %[[N:.*]] = arith.addi %[[P]], %{{.*}} : i32
// CHECK: return %[[N]]
func.func @ComputedNumbers(%p: tensor<i32>, %q: tensor<i32>) -> (i32, i32) {
  %c1 = arith.constant 1 : i32
  %e = tensor.empty() : tensor<i32>
  %n = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%p : tensor<i32>) outs(%e : tensor<i32>) {
  ^bb0(%a: i32, %o: i32):
    %v = arith.addi %a, %c1 : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %d = linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []} ins(%p, %q : tensor<i32>, tensor<i32>) outs(%e : tensor<i32>) {
  ^bb0(%a: i32, %b: i32, %o: i32):
    %v = arith.divsi %a, %b : i32
    linalg.yield %v : i32
  } -> tensor<i32>
  %i = tensor.extract %n[] : tensor<i32>
  %j = tensor.extract %d[] : tensor<i32>
  return %i, %j : i32, i32
}

// An input that is what a sum begins with is not the sum.
// CHECK-LABEL: func.func @ReadsStart(
// CHECK: ^bb0(%{{.*}}: f32, %[[START:.*]]: f32, %[[SUM:.*]]: f32):
// CHECK: %[[P:.*]] = arith.mulf %{{.*}}, %[[START]] : f32
// CHECK: arith.addf %[[SUM]], %[[P]] : f32
func.func @ReadsStart(%x: tensor<4x3xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]} ins(%x, %y : tensor<4x3xf32>, tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b : f32
    %s = arith.addf %out, %p : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}
