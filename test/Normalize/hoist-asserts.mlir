// RUN: tilewright-opt %s -tilewright-hoist-asserts | FileCheck %s

#id = affine_map<(i) -> (i)>

// What elements decide about, a reduction finds out.
// CHECK-LABEL: func.func @Elements(
// CHECK: %[[ALL:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK: ^bb0(%[[A:.*]]: i64, %{{.*}}: i64, %[[ACC:.*]]: i1):
// CHECK: %[[OK:.*]] = arith.cmpi slt, %[[A]]
// CHECK: arith.andi %[[ACC]], %[[OK]]
// CHECK: %[[HOLDS:.*]] = tensor.extract %[[ALL]][]
// CHECK: cf.assert %[[HOLDS]], "index out of bounds"
// CHECK: linalg.generic
// CHECK-NOT: cf.assert
// CHECK: return
func.func @Elements(%x: tensor<9xi64>, %o: tensor<9xi64>) -> tensor<9xi64> {
  %c = arith.constant 100 : i64
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<9xi64>) outs(%o : tensor<9xi64>) {
  ^bb0(%a: i64, %out: i64):
    %k = arith.cmpi slt, %a, %c : i64
    cf.assert %k, "index out of bounds"
    linalg.yield %a : i64
  } -> tensor<9xi64>
  return %r : tensor<9xi64>
}

// What the host knows, it asserts, if there is an iteration at all.
// CHECK-LABEL: func.func @Known(
// CHECK-SAME: %[[C:arg2]]: i1
// CHECK: %[[N:.*]] = tensor.dim
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %[[N]]
// CHECK: %[[HOLDS:.*]] = arith.ori %[[C]], %[[EMPTY]]
// CHECK: cf.assert %[[HOLDS]], "sizes differ"
// CHECK: linalg.generic
// CHECK-NOT: cf.assert
// CHECK: return
func.func @Known(%x: tensor<?xi64>, %o: tensor<?xi64>, %c: i1) -> tensor<?xi64> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<?xi64>) outs(%o : tensor<?xi64>) {
  ^bb0(%a: i64, %out: i64):
    cf.assert %c, "sizes differ"
    linalg.yield %a : i64
  } -> tensor<?xi64>
  return %r : tensor<?xi64>
}
