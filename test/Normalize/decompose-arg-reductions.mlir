// RUN: tilewright-opt %s -tilewright-decompose-arg-reductions -split-input-file | FileCheck %s

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The first of equal elements; NaNs are passed over.
// CHECK-LABEL: func.func @First(
// CHECK-SAME: %[[X:.*]]: tensor<?x64xf32>, %[[AT:.*]]: tensor<?xi32>
// CHECK-DAG: %[[LOW:.*]] = arith.constant 0xFF800000 : f32
// CHECK-DAG: %[[NONE:.*]] = arith.constant 2147483647 : i32
// CHECK-DAG: %[[BEGIN:.*]] = linalg.fill ins(%[[LOW]]
// CHECK-DAG: %[[PLACES:.*]] = linalg.fill ins(%[[NONE]]
// CHECK: %[[V:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]] : tensor<?x64xf32>) outs(%[[BEGIN]] : tensor<?xf32>)
// CHECK-NOT: linalg.index
// CHECK: arith.maxnumf
// CHECK: %[[P:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]], %[[V]] : tensor<?x64xf32>, tensor<?xf32>) outs(%[[PLACES]] : tensor<?xi32>)
// CHECK: ^bb0(%[[E:.*]]: f32, %[[B:.*]]: f32, %[[ACC:.*]]: i32):
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[K:.*]] = arith.index_cast %[[J]]
// CHECK: %[[SAME:.*]] = arith.cmpf oeq, %[[E]], %[[B]]
// CHECK: %[[HERE:.*]] = arith.select %[[SAME]], %[[K]], %{{.*}} : i32
// CHECK: arith.minsi %[[HERE]], %[[ACC]]
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: ins(%[[V]], %[[BEGIN]], %[[P]], %[[AT]]
// CHECK: arith.cmpf ogt
// CHECK: return %[[V]], %[[R]]
func.func @First(%x: tensor<?x64xf32>, %at: tensor<?xi32>, %e: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<?x64xf32>) outs(%l, %at : tensor<?xf32>, tensor<?xi32>) {
    ^bb0(%in: f32, %best: f32, %place: i32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %c = arith.cmpf ogt, %in, %best : f32
      %b = arith.select %c, %in, %best : f32
      %p = arith.select %c, %k, %place : i32
      linalg.yield %b, %p : f32, i32
  } -> (tensor<?xf32>, tensor<?xi32>)
  return %r#0, %r#1 : tensor<?xf32>, tensor<?xi32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The last of the least; results the other way round; what begins need not be known of integers.
// CHECK-LABEL: func.func @LastUnsigned(
// CHECK: arith.minui
// CHECK: arith.cmpi eq
// CHECK: arith.maxsi
// CHECK: arith.cmpi ne
func.func @LastUnsigned(%x: tensor<8x64xi8>, %at: tensor<8xi64>, %l: tensor<8xi8>) -> (tensor<8xi64>, tensor<8xi8>) {
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<8x64xi8>) outs(%at, %l : tensor<8xi64>, tensor<8xi8>) {
    ^bb0(%in: i8, %place: i64, %best: i8):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %c = arith.cmpi uge, %best, %in : i8
      %b = arith.minui %in, %best : i8
      %p = arith.select %c, %k, %place : i64
      linalg.yield %p, %b : i64, i8
  } -> (tensor<8xi64>, tensor<8xi8>)
  return %r#0, %r#1 : tensor<8xi64>, tensor<8xi8>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// The first NaN wins, and counts as equal to the best.
// CHECK-LABEL: func.func @Wins(
// CHECK: arith.maximumf
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf uno
// CHECK: arith.ori
// CHECK: arith.minsi
// CHECK: arith.cmpf ugt
// CHECK-LABEL: func.func @Ends(
// CHECK: arith.maximumf
// CHECK: arith.cmpf uno
// CHECK: arith.minsi
// CHECK: arith.cmpi slt
// CHECK: arith.maxnumf
// CHECK: arith.cmpf oeq
// CHECK: arith.andi
// CHECK: arith.minsi
func.func @Wins(%x: tensor<8x64xf32>, %at: tensor<8xi64>, %e: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<8x64xf32>) outs(%l, %at : tensor<8xf32>, tensor<8xi64>) {
    ^bb0(%in: f32, %best: f32, %place: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %g = arith.cmpf ugt, %in, %best : f32
      %o = arith.cmpf ord, %best, %best : f32
      %c = arith.andi %g, %o : i1
      %b = arith.select %c, %in, %best : f32
      %p = arith.select %c, %k, %place : i64
      linalg.yield %b, %p : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi64>
}

// Behind a NaN nothing is larger: its place is that of the largest element before.
func.func @Ends(%x: tensor<8x64xf32>, %at: tensor<8xi64>, %e: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xi64>) {
  %low = arith.constant 0xFF800000 : f32
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<8x64xf32>) outs(%l, %at : tensor<8xf32>, tensor<8xi64>) {
    ^bb0(%in: f32, %best: f32, %place: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %c = arith.cmpf ogt, %in, %best : f32
      %b = arith.maximumf %in, %best : f32
      %p = arith.select %c, %k, %place : i64
      linalg.yield %b, %p : f32, i64
  } -> (tensor<8xf32>, tensor<8xi64>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi64>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// What begins may be a NaN, which nothing is larger than; and an index that is computed need not grow.
// CHECK-LABEL: func.func @Stay(
// CHECK-COUNT-2: linalg.generic
// CHECK-NOT: linalg.generic
func.func @Stay(%x: tensor<8x64xf32>, %at: tensor<8xi32>, %l: tensor<8xf32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %seven = arith.constant 7 : i32
  %z = linalg.fill ins(%low : f32) outs(%l : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<8x64xf32>) outs(%l, %at : tensor<8xf32>, tensor<8xi32>) {
    ^bb0(%in: f32, %best: f32, %place: i32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %c = arith.cmpf ogt, %in, %best : f32
      %b = arith.select %c, %in, %best : f32
      %p = arith.select %c, %k, %place : i32
      linalg.yield %b, %p : f32, i32
  } -> (tensor<8xf32>, tensor<8xi32>)
  %s:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<8x64xf32>) outs(%z, %at : tensor<8xf32>, tensor<8xi32>) {
    ^bb0(%in: f32, %best: f32, %place: i32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %m = arith.remsi %k, %seven : i32
      %c = arith.cmpf ogt, %in, %best : f32
      %b = arith.select %c, %in, %best : f32
      %p = arith.select %c, %m, %place : i32
      linalg.yield %b, %p : f32, i32
  } -> (tensor<8xf32>, tensor<8xi32>)
  return %r#1, %s#1 : tensor<8xi32>, tensor<8xi32>
}
