// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-split-exponential-sums))" | FileCheck %s

#target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, chip = "sm_80", index_bits = 32 : i64, max_threads = 1024 : i64, registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>
#ij = affine_map<(i, j) -> (i, j)>
#i = affine_map<(i, j) -> (i)>

module attributes {tilewright.target = #target} {
// Each part has a largest element and a sum of exponentials below it. The exponentials are computed where the quotient is.
// CHECK-DAG: #[[IPK:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[IP:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @Softmax(
// CHECK-SAME: %[[X:.*]]: tensor<2x1048576xf32>)
// CHECK-DAG: %[[NONE:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[ROWS:.*]] = tensor.expand_shape %[[X]] {{\[\[}}0], [1, 2]] output_shape [2, [[PARTS:[0-9]+]], [[LENGTH:[0-9]+]]]
// CHECK: %[[LARGEST:.*]] = linalg.generic {indexing_maps = [#[[IPK]], #[[IP]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[ROWS]] :
// CHECK: arith.maximumf
// CHECK: %[[SUMS:.*]] = linalg.generic {{.*}} ins(%[[ROWS]], %[[LARGEST]] :
// CHECK: arith.cmpf oeq
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: %[[MOST:.*]] = linalg.generic {{.*}} ins(%[[LARGEST]] : tensor<2x[[PARTS]]xf32>)
// CHECK: arith.maximumf
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[LARGEST]], %[[SUMS]], %[[MOST]] :
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.mulf
// CHECK: arith.addf
// CHECK: linalg.generic {{.*}} ins(%[[X]], %[[MOST]], %[[SUM]] :
// CHECK: arith.subf
// CHECK: math.exp
// CHECK: arith.divf
func.func @Softmax(%x: tensor<2x1048576xf32>) -> tensor<2x1048576xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<2xf32>
  %all = tensor.empty() : tensor<2x1048576xf32>
  %0 = linalg.fill ins(%least : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x1048576xf32>) outs(%0 : tensor<2xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %y = arith.maximumf %a, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2xf32>
  %e = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<2x1048576xf32>, tensor<2xf32>) outs(%all : tensor<2x1048576xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %d = arith.subf %a, %b : f32
    %y = math.exp %d : f32
    linalg.yield %y : f32
  } -> tensor<2x1048576xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%e : tensor<2x1048576xf32>) outs(%1 : tensor<2xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %y = arith.addf %acc, %a : f32
    linalg.yield %y : f32
  } -> tensor<2xf32>
  %r = linalg.generic {indexing_maps = [#ij, #i, #ij], iterator_types = ["parallel", "parallel"]} ins(%e, %s : tensor<2x1048576xf32>, tensor<2xf32>) outs(%all : tensor<2x1048576xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %y = arith.divf %a, %b : f32
    linalg.yield %y : f32
  } -> tensor<2x1048576xf32>
  return %r : tensor<2x1048576xf32>
}

// The exponentials of another tensor.
// CHECK-LABEL: func.func @Others(
// CHECK-NOT: tensor.expand_shape
// CHECK: return
func.func @Others(%x: tensor<2x1048576xf32>, %z: tensor<2x1048576xf32>) -> tensor<2xf32> {
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %row = tensor.empty() : tensor<2xf32>
  %0 = linalg.fill ins(%least : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %m = linalg.generic {indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x1048576xf32>) outs(%0 : tensor<2xf32>) {
  ^bb0(%a: f32, %acc: f32):
    %y = arith.maximumf %a, %acc : f32
    linalg.yield %y : f32
  } -> tensor<2xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%row : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.generic {indexing_maps = [#ij, #i, #i], iterator_types = ["parallel", "reduction"]} ins(%z, %m : tensor<2x1048576xf32>, tensor<2xf32>) outs(%1 : tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %d = arith.subf %a, %b : f32
    %e = math.exp %d : f32
    %y = arith.addf %acc, %e : f32
    linalg.yield %y : f32
  } -> tensor<2xf32>
  return %s : tensor<2xf32>
}
}
