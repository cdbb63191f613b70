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

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// As JAX compares, places beside the elements: a NaN is better than anything, the last of them; of equals the lower place, also in
// front of the one that the search begins with.
// CHECK-LABEL: func.func @LowerPlace(
// CHECK: arith.maximumf
// CHECK: %[[P:.*]] = linalg.generic
// CHECK: ^bb0(%[[E:.*]]: f32, %[[B:.*]]: f32, %[[ACC:.*]]: i32):
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[K:.*]] = arith.index_cast %[[J]]
// CHECK: arith.cmpf oeq, %[[E]], %[[B]]
// CHECK: %[[FOUND:.*]] = arith.ori
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[E]], %[[E]]
// CHECK: %[[TURNED:.*]] = arith.xori %[[K]], %{{.*}} : i32
// CHECK: %[[PLACE:.*]] = arith.select %[[NAN]], %[[TURNED]], %[[K]]
// CHECK: arith.select %[[FOUND]], %[[PLACE]]
// CHECK: arith.minsi
// CHECK: ^bb0(%[[V:.*]]: f32, %[[V0:.*]]: f32, %[[FIRST:.*]]: i32, %[[AT0:.*]]: i32, %{{.*}}: i32):
// CHECK: arith.xori %[[FIRST]]
// CHECK: %[[AT:.*]] = arith.select
// CHECK: %[[LOWER:.*]] = arith.minsi %[[AT]], %[[AT0]]
// CHECK: %[[BETTER:.*]] = arith.cmpf ugt, %[[V]], %[[V0]]
// CHECK: arith.select %[[BETTER]], %[[AT]], %[[LOWER]]
func.func @LowerPlace(%x: tensor<8x64xf32>, %at: tensor<8xi32>, %e: tensor<8xf32>, %f: tensor<8x64xi32>) -> (tensor<8xf32>, tensor<8xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %places = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel", "parallel"]} outs(%f : tensor<8x64xi32>) {
    ^bb0(%o: i32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      linalg.yield %k : i32
  } -> tensor<8x64xi32>
  %r:2 = linalg.generic {indexing_maps = [#all, #all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x, %places : tensor<8x64xf32>, tensor<8x64xi32>) outs(%l, %at : tensor<8xf32>, tensor<8xi32>) {
    ^bb0(%in: f32, %k: i32, %best: f32, %place: i32):
      %g = arith.cmpf ogt, %in, %best : f32
      %n = arith.cmpf une, %in, %in : f32
      %taken = arith.ori %g, %n : i1
      %q = arith.cmpf oeq, %in, %best : f32
      %s = arith.cmpi slt, %k, %place : i32
      %t = arith.andi %q, %s : i1
      %c = arith.ori %taken, %t : i1
      %b = arith.select %taken, %in, %best : f32
      %p = arith.select %c, %k, %place : i32
      linalg.yield %b, %p : f32, i32
  } -> (tensor<8xf32>, tensor<8xi32>)
  return %r#0, %r#1 : tensor<8xf32>, tensor<8xi32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// Larger elements and equal ones apart.
// CHECK-LABEL: func.func @Ties(
// CHECK: arith.maxsi
// CHECK: arith.cmpi eq
// CHECK: arith.minsi
// CHECK: arith.cmpi sgt
// CHECK-LABEL: func.func @FloatTies(
// CHECK: arith.minimumf
// CHECK: arith.cmpf uno
// CHECK: arith.minsi
func.func @Ties(%x: tensor<8x64xi32>, %at: tensor<8xi32>, %l: tensor<8xi32>) -> tensor<8xi32> {
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<8x64xi32>) outs(%l, %at : tensor<8xi32>, tensor<8xi32>) {
    ^bb0(%in: i32, %best: i32, %place: i32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %b = arith.maxsi %in, %best : i32
      %g = arith.cmpi sgt, %in, %best : i32
      %q = arith.cmpi eq, %in, %best : i32
      %m = arith.minsi %k, %place : i32
      %s = arith.select %q, %m, %place : i32
      %p = arith.select %g, %k, %s : i32
      linalg.yield %b, %p : i32, i32
  } -> (tensor<8xi32>, tensor<8xi32>)
  return %r#1 : tensor<8xi32>
}

func.func @FloatTies(%x: tensor<8x64xf32>, %at: tensor<8xi32>, %e: tensor<8xf32>) -> tensor<8xi32> {
  %high = arith.constant 0x7F800000 : f32
  %l = linalg.fill ins(%high : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<8x64xf32>) outs(%l, %at : tensor<8xf32>, tensor<8xi32>) {
    ^bb0(%in: f32, %best: f32, %place: i32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %b = arith.minimumf %in, %best : f32
      %g = arith.cmpf olt, %in, %best : f32
      %q = arith.cmpf oeq, %in, %best : f32
      %m = arith.minsi %k, %place : i32
      %s = arith.select %q, %m, %place : i32
      %p = arith.select %g, %k, %s : i32
      linalg.yield %b, %p : f32, i32
  } -> (tensor<8xf32>, tensor<8xi32>)
  return %r#1 : tensor<8xi32>
}

// -----

#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>

// After a NaN the search begins anew; and of equals the place may be that of neither.
// CHECK-LABEL: func.func @BeginsAnew(
// CHECK: linalg.generic
// CHECK: arith.cmpf ugt
// CHECK: linalg.generic
// CHECK: arith.addi
// CHECK-NOT: linalg.generic
func.func @BeginsAnew(%x: tensor<8x64xf32>, %at: tensor<8xi32>, %e: tensor<8xf32>) -> (tensor<8xi32>, tensor<8xi32>) {
  %low = arith.constant 0xFF800000 : f32
  %l = linalg.fill ins(%low : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %r:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<8x64xf32>) outs(%l, %at : tensor<8xf32>, tensor<8xi32>) {
    ^bb0(%in: f32, %best: f32, %place: i32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %c = arith.cmpf ugt, %in, %best : f32
      %b = arith.select %c, %in, %best : f32
      %p = arith.select %c, %k, %place : i32
      linalg.yield %b, %p : f32, i32
  } -> (tensor<8xf32>, tensor<8xi32>)
  %s:2 = linalg.generic {indexing_maps = [#all, #row, #row], iterator_types = ["parallel", "reduction"]}
         ins(%x : tensor<8x64xf32>) outs(%l, %at : tensor<8xf32>, tensor<8xi32>) {
    ^bb0(%in: f32, %best: f32, %place: i32):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i32
      %c = arith.cmpf ogt, %in, %best : f32
      %q = arith.cmpf oeq, %in, %best : f32
      %b = arith.select %c, %in, %best : f32
      %m = arith.addi %k, %place : i32
      %t = arith.select %q, %m, %place : i32
      %p = arith.select %c, %k, %t : i32
      linalg.yield %b, %p : f32, i32
  } -> (tensor<8xf32>, tensor<8xi32>)
  return %r#1, %s#1 : tensor<8xi32>, tensor<8xi32>
}

// -----

#row = affine_map<(a, b) -> (a, b)>
#one = affine_map<(a, b) -> (a)>

// Behind a NaN the place moves to the front, where that of the beginning may lie behind: not one of the searches.
// CHECK-LABEL: func.func @MovesBehindNan(
// CHECK: arith.cmpf uno
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i32
func.func @MovesBehindNan(%x: tensor<9x300xf32>, %v0: tensor<9xf32>, %p0: tensor<9xi32>) -> (tensor<9xf32>, tensor<9xi32>) {
  %i = arith.constant 2.0 : f32
  %j = arith.constant 1000 : i32
  %vi = linalg.fill ins(%i : f32) outs(%v0 : tensor<9xf32>) -> tensor<9xf32>
  %pi = linalg.fill ins(%j : i32) outs(%p0 : tensor<9xi32>) -> tensor<9xi32>
  %r:2 = linalg.generic {indexing_maps = [#row, #one, #one], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<9x300xf32>) outs(%vi, %pi : tensor<9xf32>, tensor<9xi32>) {
  ^bb0(%v: f32, %b: f32, %a: i32):
    %n = linalg.index 1 : index
    %k = arith.index_cast %n : index to i32
    %w = arith.maximumf %v, %b : f32
    %c = arith.cmpf ogt, %v, %b : f32
    %nb = arith.cmpf uno, %b, %b : f32
    %l = arith.cmpi slt, %k, %a : i32
    %u = arith.andi %nb, %l : i1
    %o = arith.ori %c, %u : i1
    %y = arith.select %o, %k, %a : i32
    linalg.yield %w, %y : f32, i32
  } -> (tensor<9xf32>, tensor<9xi32>)
  return %r#0, %r#1 : tensor<9xf32>, tensor<9xi32>
}

// -----

#row = affine_map<(a, b) -> (a, b)>
#one = affine_map<(a, b) -> (a)>

// What a branch takes of the best so far is not of elements alone.
// CHECK-LABEL: func.func @Branch(
// CHECK: scf.if
// CHECK: linalg.yield %{{.*}}, %{{.*}} : f32, i32
func.func @Branch(%x: tensor<9x300xf32>, %v0: tensor<9xf32>, %p0: tensor<9xi32>) -> (tensor<9xf32>, tensor<9xi32>) {
  %i = arith.constant 0xFF800000 : f32
  %j = arith.constant 0 : i32
  %zero = arith.constant 0.0 : f32
  %vi = linalg.fill ins(%i : f32) outs(%v0 : tensor<9xf32>) -> tensor<9xf32>
  %pi = linalg.fill ins(%j : i32) outs(%p0 : tensor<9xi32>) -> tensor<9xi32>
  %r:2 = linalg.generic {indexing_maps = [#row, #one, #one], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<9x300xf32>) outs(%vi, %pi : tensor<9xf32>, tensor<9xi32>) {
  ^bb0(%v: f32, %b: f32, %a: i32):
    %n = linalg.index 1 : index
    %k = arith.index_cast %n : index to i32
    %q = arith.cmpf ogt, %v, %zero : f32
    %e = scf.if %q -> (f32) {
      %s = arith.subf %v, %b : f32
      scf.yield %s : f32
    } else {
      scf.yield %v : f32
    }
    %c = arith.cmpf ogt, %e, %b : f32
    %w = arith.select %c, %e, %b : f32
    %y = arith.select %c, %k, %a : i32
    linalg.yield %w, %y : f32, i32
  } -> (tensor<9xf32>, tensor<9xi32>)
  return %r#0, %r#1 : tensor<9xf32>, tensor<9xi32>
}
