// RUN: tilewright-opt %s -tilewright-write-diagonals | FileCheck %s

#loop = affine_map<(i) -> (i)>
#twice = affine_map<(i) -> (i, i)>

// CHECK: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @Diagonal(
// CHECK-NOT: cf.assert
// CHECK: linalg.generic {indexing_maps = [#[[ROW]], #[[ALL]]], iterator_types = ["parallel", "parallel"]}
// CHECK: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: f32):
// CHECK-DAG: %[[I:.*]] = linalg.index 0
// CHECK-DAG: %[[J:.*]] = linalg.index 1
// CHECK: %[[ON:.*]] = arith.cmpi eq, %[[I]], %[[J]]
// CHECK: %[[R:.*]] = arith.select %[[ON]], %[[A]], %[[B]]
// CHECK: linalg.yield %[[R]]
func.func @Diagonal(%x: tensor<8xf32>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.generic {indexing_maps = [#loop, #twice], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @OfUnknownSize(
// CHECK: cf.assert %{{.*}}, "dims 0 and 1 of a result that is written on its diagonal are not equal"
func.func @OfUnknownSize(%x: tensor<?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %r = linalg.generic {indexing_maps = [#loop, #twice], iterator_types = ["parallel"]} ins(%x : tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
