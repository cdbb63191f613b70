// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-split-arg-reductions))" | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
#i = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>

module attributes {tilewright.target = #target} {

// Element and place of each part, then of all parts; NaNs count as equal in both.
// CHECK-LABEL: func.func @Parts(
// CHECK-SAME: %[[X:.*]]: tensor<1048576xf32>, %[[V0:.*]]: tensor<f32>, %[[P0:.*]]: tensor<i32>)
// CHECK: %[[Y:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0, 1]] output_shape [256, 4096]
// CHECK: %[[W:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "reduction"]} ins(%[[Y]] : tensor<256x4096xf32>)
// CHECK: arith.maximumf
// CHECK: %[[Q:.*]] = linalg.generic
// CHECK-SAME: ins(%[[Y]], %[[W]] : tensor<256x4096xf32>, tensor<256xf32>)
// CHECK-DAG: %[[J:.*]] = linalg.index 1
// CHECK-DAG: %[[PART:.*]] = linalg.index 0
// CHECK: %[[FROM:.*]] = arith.muli %[[PART]], %{{.*}} : index
// CHECK: arith.addi %[[FROM]], %[[J]] : index
// CHECK: %[[V:.*]] = linalg.generic
// CHECK-SAME: iterator_types = ["reduction"]} ins(%[[W]] : tensor<256xf32>) outs(%[[V0]] : tensor<f32>)
// CHECK: arith.maximumf
// CHECK: %[[P:.*]] = linalg.generic
// CHECK-SAME: ins(%[[W]], %[[Q]], %[[V]] : tensor<256xf32>, tensor<256xi32>, tensor<f32>) outs(%[[P0]] : tensor<i32>)
// CHECK: ^bb0(%[[E:.*]]: f32, %[[AT:.*]]: i32, %[[BEST:.*]]: f32, %[[ACC:.*]]: i32):
// CHECK-DAG: %[[SAME:.*]] = arith.cmpf oeq, %[[E]], %[[BEST]]
// CHECK-DAG: %[[NAN:.*]] = arith.cmpf uno, %[[E]], %[[E]]
// CHECK: %[[FOUND:.*]] = arith.ori %[[SAME]], %[[NAN]]
// CHECK: arith.select %[[FOUND]], %[[AT]]
// CHECK: arith.minsi
// CHECK: return %[[V]], %[[P]]
func.func @Parts(%x: tensor<1048576xf32>, %v0: tensor<f32>, %p0: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %far = arith.constant 2147483647 : i32
  %v = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<1048576xf32>) outs(%v0 : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maximumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %p = linalg.generic {indexing_maps = [#i, #none, #none], iterator_types = ["reduction"]}
      ins(%x, %v : tensor<1048576xf32>, tensor<f32>) outs(%p0 : tensor<i32>) {
  ^bb0(%in: f32, %best: f32, %out: i32):
    %j = linalg.index 0 : index
    %k = arith.index_cast %j : index to i32
    %same = arith.cmpf oeq, %in, %best : f32
    %nan = arith.cmpf uno, %in, %in : f32
    %found = arith.ori %same, %nan : i1
    %at = arith.select %found, %k, %far : i32
    %m = arith.minsi %at, %out : i32
    linalg.yield %m : i32
  } -> tensor<i32>
  return %v, %p : tensor<f32>, tensor<i32>
}

// What equals the best of other elements is no place of the best.
// CHECK-LABEL: func.func @OfOthers(
// CHECK-NOT: tensor.expand_shape
func.func @OfOthers(%x: tensor<1048576xi32>, %y: tensor<1048576xi32>, %v0: tensor<i32>, %p0: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
  %far = arith.constant 2147483647 : i32
  %v = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<1048576xi32>) outs(%v0 : tensor<i32>) {
  ^bb0(%in: i32, %out: i32):
    %m = arith.maxsi %in, %out : i32
    linalg.yield %m : i32
  } -> tensor<i32>
  %p = linalg.generic {indexing_maps = [#i, #none, #none], iterator_types = ["reduction"]}
      ins(%y, %v : tensor<1048576xi32>, tensor<i32>) outs(%p0 : tensor<i32>) {
  ^bb0(%in: i32, %best: i32, %out: i32):
    %j = linalg.index 0 : index
    %k = arith.index_cast %j : index to i32
    %same = arith.cmpi eq, %in, %best : i32
    %at = arith.select %same, %k, %far : i32
    %m = arith.minsi %at, %out : i32
    linalg.yield %m : i32
  } -> tensor<i32>
  return %v, %p : tensor<i32>, tensor<i32>
}

// A place of NaN, which the best element passes over, is in no part that it is the best of.
// CHECK-LABEL: func.func @PassedOver(
// CHECK-NOT: tensor.expand_shape
func.func @PassedOver(%x: tensor<1048576xf32>, %v0: tensor<f32>, %p0: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %far = arith.constant 2147483647 : i32
  %v = linalg.generic {indexing_maps = [#i, #none], iterator_types = ["reduction"]}
      ins(%x : tensor<1048576xf32>) outs(%v0 : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %m = arith.maxnumf %in, %out : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  %p = linalg.generic {indexing_maps = [#i, #none, #none], iterator_types = ["reduction"]}
      ins(%x, %v : tensor<1048576xf32>, tensor<f32>) outs(%p0 : tensor<i32>) {
  ^bb0(%in: f32, %best: f32, %out: i32):
    %j = linalg.index 0 : index
    %k = arith.index_cast %j : index to i32
    %same = arith.cmpf oeq, %in, %best : f32
    %nan = arith.cmpf uno, %in, %in : f32
    %found = arith.ori %same, %nan : i1
    %at = arith.select %found, %k, %far : i32
    %m = arith.minsi %at, %out : i32
    linalg.yield %m : i32
  } -> tensor<i32>
  return %v, %p : tensor<f32>, tensor<i32>
}

}
