// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-split-concat-readers))' -split-input-file | FileCheck %s

// CHECK-LABEL: func @PartsAreReadAndWritten
// CHECK-SAME: tilewright.explain = ["linalg.generic (line {{[0-9]+}}): each part of the concatenation that it reads is read by an op of its own"]
// CHECK-DAG: %[[X0:.*]] = tensor.extract_slice %arg0[0, 0] [4, 8] [1, 1]
// CHECK-DAG: %[[X1:.*]] = tensor.extract_slice %arg0[0, 8] [4, 8] [1, 1]
// CHECK: %[[Y0:.*]] = linalg.generic {{.*}} ins(%[[X0]], %arg1, %arg3 :
// CHECK: %[[Y1:.*]] = linalg.generic {{.*}} ins(%[[X1]], %arg2, %arg3 :
// CHECK: %[[I:.*]] = tensor.insert_slice %[[Y0]] into %{{.*}}[0, 0] [4, 8] [1, 1]
// CHECK: %[[R:.*]] = tensor.insert_slice %[[Y1]] into %[[I]][0, 8] [4, 8] [1, 1]
// CHECK: return %[[R]]
#id = affine_map<(i, j) -> (i, j)>
func.func @PartsAreReadAndWritten(%x: tensor<4x16xf32>, %a: tensor<4x8xf32>, %b: tensor<4x8xf32>, %row: tensor<4xf32>) -> tensor<4x16xf32> {
  %e = tensor.empty() : tensor<4x16xf32>
  %i = tensor.insert_slice %a into %e[0, 0] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x16xf32>
  %c = tensor.insert_slice %b into %i[0, 8] [4, 8] [1, 1] : tensor<4x8xf32> into tensor<4x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, affine_map<(i, j) -> (i)>, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %c, %row : tensor<4x16xf32>, tensor<4x16xf32>, tensor<4xf32>) outs(%e : tensor<4x16xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32, %o: f32):
    %3 = arith.mulf %0, %1 : f32
    %4 = arith.addf %3, %2 : f32
    linalg.yield %4 : f32
  } -> tensor<4x16xf32>
  return %r : tensor<4x16xf32>
}

// -----

// Coordinates of a part count from where it begins; dims of one element are dropped.
// CHECK-LABEL: func @CoordinatesAndUnitDims
// CHECK: %[[A:.*]] = tensor.collapse_shape %arg0 {{.*}} : tensor<1x3xi64> into tensor<3xi64>
// CHECK: linalg.generic {{.*}} ins(%[[A]] : tensor<3xi64>)
// CHECK: linalg.index 0
// CHECK-NOT: arith.addi {{.*}} : index
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<5xi64>)
// CHECK: %[[J:.*]] = linalg.index 0
// CHECK: %[[C:.*]] = arith.constant 3 : index
// CHECK: %[[K:.*]] = arith.addi %[[J]], %[[C]]
// CHECK: arith.index_cast %[[K]]
#id = affine_map<(i) -> (i)>
func.func @CoordinatesAndUnitDims(%a: tensor<1x3xi64>, %b: tensor<1x5xi64>) -> tensor<8xi64> {
  %e = tensor.empty() : tensor<1x8xi64>
  %i = tensor.insert_slice %b into %e[0, 3] [1, 5] [1, 1] : tensor<1x5xi64> into tensor<1x8xi64>
  %c = tensor.insert_slice %a into %i[0, 0] [1, 3] [1, 1] : tensor<1x3xi64> into tensor<1x8xi64>
  %d = tensor.collapse_shape %c [[0, 1]] : tensor<1x8xi64> into tensor<8xi64>
  %f = tensor.empty() : tensor<8xi64>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%d : tensor<8xi64>) outs(%f : tensor<8xi64>) {
  ^bb0(%0: i64, %o: i64):
    %1 = linalg.index 0 : index
    %2 = arith.index_cast %1 : index to i64
    %3 = arith.addi %0, %2 : i64
    linalg.yield %3 : i64
  } -> tensor<8xi64>
  return %r : tensor<8xi64>
}

// -----

// CHECK-LABEL: func @AnotherNeedsTheWhole
// CHECK-NOT: tilewright.explain
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<16xf32>)
#id = affine_map<(i) -> (i)>
func.func @AnotherNeedsTheWhole(%a: tensor<8xf32>, %b: tensor<8xf32>) -> (tensor<16xf32>, tensor<16xf32>) {
  %e = tensor.empty() : tensor<16xf32>
  %i = tensor.insert_slice %a into %e[0] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %c = tensor.insert_slice %b into %i[8] [8] [1] : tensor<8xf32> into tensor<16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%c : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%0: f32, %o: f32):
    %1 = math.absf %0 : f32
    linalg.yield %1 : f32
  } -> tensor<16xf32>
  return %c, %r : tensor<16xf32>, tensor<16xf32>
}

// -----

// What nobody puts anything into is no part.
// CHECK-LABEL: func @AGapStays
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<17xf32>)
#id = affine_map<(i) -> (i)>
func.func @AGapStays(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<17xf32> {
  %e = tensor.empty() : tensor<17xf32>
  %i = tensor.insert_slice %a into %e[0] [8] [1] : tensor<8xf32> into tensor<17xf32>
  %c = tensor.insert_slice %b into %i[9] [8] [1] : tensor<8xf32> into tensor<17xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%c : tensor<17xf32>) outs(%e : tensor<17xf32>) {
  ^bb0(%0: f32, %o: f32):
    %1 = math.absf %0 : f32
    linalg.yield %1 : f32
  } -> tensor<17xf32>
  return %r : tensor<17xf32>
}

// -----

// Parts of one element each, inside of another dim: every second element.
// CHECK-LABEL: func @Interleaved
// CHECK: %[[X0:.*]] = tensor.extract_slice %arg0[0] [8] [2]
// CHECK: %[[X1:.*]] = tensor.extract_slice %arg0[1] [8] [2]
// CHECK: %[[Y0:.*]] = linalg.generic {{.*}} ins(%arg1, %[[X0]] : tensor<8xf32>, tensor<8xf32>)
// CHECK: linalg.index 0
// CHECK: arith.muli %{{.*}}, %c2
// CHECK: linalg.generic {{.*}} ins(%arg2, %[[X1]] : tensor<8xf32>, tensor<8xf32>)
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[0] [8] [2]
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[1] [8] [2]
#id = affine_map<(i) -> (i)>
func.func @Interleaved(%x: tensor<16xf32>, %a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<16xf32> {
  %e = tensor.empty() : tensor<8x2xf32>
  %i = tensor.insert_slice %a into %e[0, 0] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %c = tensor.insert_slice %b into %i[0, 1] [8, 1] [1, 1] : tensor<8xf32> into tensor<8x2xf32>
  %d = tensor.collapse_shape %c [[0, 1]] : tensor<8x2xf32> into tensor<16xf32>
  %f = tensor.empty() : tensor<16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%d, %x : tensor<16xf32>, tensor<16xf32>) outs(%f : tensor<16xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = linalg.index 0 : index
    %3 = arith.index_cast %2 : index to i32
    %4 = arith.sitofp %3 : i32 to f32
    %5 = arith.mulf %0, %4 : f32
    %6 = arith.addf %5, %1 : f32
    linalg.yield %6 : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// One op that reads it twice, once with its dims exchanged: by the first operand, the other one stays whole.
// CHECK-LABEL: func @ReadTwice
// CHECK: tensor.insert_slice %arg1
// CHECK: %[[Y0:.*]] = linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<8x16xf32>, tensor<16x8xf32>)
// CHECK: %[[Y1:.*]] = linalg.generic {{.*}} ins(%arg1, %{{.*}} : tensor<8x16xf32>, tensor<16x8xf32>)
// CHECK: %[[I:.*]] = tensor.insert_slice %[[Y0]] into
// CHECK: %[[R:.*]] = tensor.insert_slice %[[Y1]] into %[[I]]
// CHECK: return %[[R]]
#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>
func.func @ReadTwice(%a: tensor<8x16xf32>, %b: tensor<8x16xf32>) -> tensor<16x16xf32> {
  %e = tensor.empty() : tensor<16x16xf32>
  %i = tensor.insert_slice %a into %e[0, 0] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<16x16xf32>
  %c = tensor.insert_slice %b into %i[8, 0] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<16x16xf32>
  %r = linalg.generic {indexing_maps = [#id, #turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c, %c : tensor<16x16xf32>, tensor<16x16xf32>) outs(%e : tensor<16x16xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<16x16xf32>
  return %r : tensor<16x16xf32>
}

// -----

// Another concatenation of the same places gives its parts, and sizes are those of arguments.
// CHECK-LABEL: func @PartsOfBoth
// CHECK-NOT: tensor.extract_slice
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg2 : tensor<?x4xf32>, tensor<?x4xf32>)
// CHECK: linalg.generic {{.*}} ins(%arg1, %arg2 : tensor<?x4xf32>, tensor<?x4xf32>)
#id = affine_map<(i, j) -> (i, j)>
func.func @PartsOfBoth(%a: tensor<?x4xf32>, %b: tensor<?x4xf32>, %t: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %a, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %i = tensor.insert_slice %a into %e[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %x = tensor.insert_slice %b into %i[0, 4] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %j = tensor.insert_slice %t into %e[0, 0] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %y = tensor.insert_slice %t into %j[0, 4] [%n, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<?x8xf32>, tensor<?x8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%0: f32, %1: f32, %o: f32):
    %2 = arith.mulf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x8xf32>
  return %r : tensor<?x8xf32>
}
