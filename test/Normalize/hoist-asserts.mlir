// RUN: tilewright-opt %s -tilewright-hoist-asserts | FileCheck %s

#id = affine_map<(i) -> (i)>

// What elements decide about, a reduction finds out.
// CHECK-LABEL: func.func @Elements(
// CHECK: %[[TWO:.*]] = linalg.fill ins(%c2_i32
// CHECK: %[[FIRST:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]
// CHECK-SAME: outs(%[[TWO]] : tensor<i32>)
// CHECK: ^bb0(%[[A:.*]]: i64, %[[ACC:.*]]: i32):
// CHECK-DAG: %[[LESS:.*]] = arith.cmpi slt, %[[A]]
// CHECK-DAG: %[[MORE:.*]] = arith.cmpi sge, %[[A]]
// CHECK: %[[SECOND:.*]] = arith.select %[[MORE]], %c2_i32{{.*}}, %c1_i32
// CHECK: %[[N:.*]] = arith.select %[[LESS]], %[[SECOND]], %c0_i32
// CHECK: arith.minsi %[[ACC]], %[[N]]
// CHECK: tilewright.check %[[FIRST]], ["index out of bounds", "index is negative"] : tensor<i32>
// CHECK: linalg.generic
// CHECK-NOT: cf.assert
// CHECK: return
func.func @Elements(%x: tensor<9xi64>, %o: tensor<9xi64>) -> tensor<9xi64> {
  %c = arith.constant 100 : i64
  %z = arith.constant 0 : i64
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<9xi64>) outs(%o : tensor<9xi64>) {
  ^bb0(%a: i64, %out: i64):
    %k = arith.cmpi slt, %a, %c : i64
    cf.assert %k, "index out of bounds"
    %l = arith.cmpi sge, %a, %z : i64
    cf.assert %l, "index is negative"
    linalg.yield %a : i64
  } -> tensor<9xi64>
  return %r : tensor<9xi64>
}

// Only loops that the condition depends on; where others may have no iteration,
// nothing is asserted.
// CHECK-LABEL: func.func @Rows(
// CHECK: %[[D:.*]] = tensor.dim %arg2, %{{.*}} : tensor<9x7x?xf32>
// CHECK: %[[EMPTY:.*]] = arith.cmpi eq, %[[D]]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["reduction", "reduction"]
// CHECK-SAME: ins(%arg0 : tensor<9x7xi64>)
// CHECK: linalg.index 1
// CHECK: arith.ori %{{.*}}, %[[EMPTY]]
// CHECK: tilewright.check
// CHECK: linalg.generic
func.func @Rows(%x: tensor<9x7xi64>, %table: tensor<50x?xf32>, %o: tensor<9x7x?xf32>) -> tensor<9x7x?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>],
                       iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<9x7xi64>) outs(%o : tensor<9x7x?xf32>) {
  ^bb0(%a: i64, %out: f32):
    %at = arith.index_cast %a : i64 to index
    %j = linalg.index 1 : index
    %c = arith.cmpi uge, %at, %j : index
    cf.assert %c, "too small"
    %k = linalg.index 2 : index
    %v = tensor.extract %table[%at, %k] : tensor<50x?xf32>
    linalg.yield %v : f32
  } -> tensor<9x7x?xf32>
  return %r : tensor<9x7x?xf32>
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
