// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-read-other-maps))' | FileCheck %s

// An elementwise op reads elements of inputs that are indexed by divisions, remainders or backwards in its body; no loop is
// negative, so that of a sum of loops alone is divided as a natural number.
// CHECK: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @Elementwise
// CHECK-SAME: %[[X:.*]]: tensor<3x10xf32>, %[[Y:.*]]: tensor<6x10xf32>
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[Y]] : tensor<6x10xf32>)
// CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[I:.*]] = linalg.index 0
// CHECK-NEXT: %[[J:.*]] = linalg.index 1
// CHECK-DAG: %[[TWO:.*]] = arith.constant 2 : index
// CHECK-DAG: %[[ROW:.*]] = arith.divui %[[I]], %[[TWO]]
// CHECK-DAG: %[[MINUS:.*]] = arith.constant -1 : index
// CHECK-DAG: %[[BACK:.*]] = arith.muli %[[J]], %[[MINUS]]
// CHECK-DAG: %[[NINE:.*]] = arith.constant 9 : index
// CHECK-DAG: %[[COLUMN:.*]] = arith.addi %[[BACK]], %[[NINE]]
// CHECK: %[[V:.*]] = tensor.extract %[[X]][%[[ROW]], %[[COLUMN]]]
// CHECK: arith.addf %[[V]], %[[IN]]
func.func @Elementwise(%x: tensor<3x10xf32>, %y: tensor<6x10xf32>) -> tensor<6x10xf32> {
  %e = tensor.empty() : tensor<6x10xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i floordiv 2, 9 - j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%x, %y : tensor<3x10xf32>, tensor<6x10xf32>) outs(%e : tensor<6x10xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<6x10xf32>
  return %r : tensor<6x10xf32>
}

// -----

// A flipped filter is gathered once, in front of the sum; a window of loops stays.
// CHECK-DAG: #[[WINDOW:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-DAG: #[[FIRST:.*]] = affine_map<(d0) -> (d0)>
// CHECK-DAG: #[[SECOND:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func @Filter
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[W:.*]]: tensor<3xf32>, %[[V:.*]]: tensor<3xf32>
// CHECK: %[[FLIPPED:.*]] = linalg.generic {indexing_maps = [#[[FIRST]]], iterator_types = ["parallel"]} outs(%{{.*}} : tensor<3xf32>)
// CHECK: tensor.extract %[[W]]
// CHECK: linalg.generic {indexing_maps = [#[[WINDOW]], #[[SECOND]], #[[SECOND]], #[[RESULT]]], iterator_types = ["parallel", "reduction"]} ins(%[[X]], %[[FLIPPED]], %[[V]]
func.func @Filter(%x: tensor<?xf32>, %w: tensor<3xf32>, %v: tensor<3xf32>, %z: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k)>, affine_map<(i, k) -> (2 - k)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %w, %v : tensor<?xf32>, tensor<3xf32>, tensor<3xf32>) outs(%z : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %d = arith.mulf %b, %c : f32
    %m = arith.mulf %a, %d : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

// Every k-th window has elements of its own: they are read in the body.
// CHECK-LABEL: func.func @Window
// CHECK-NOT: tensor.empty
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<3xf32>)
// CHECK: tensor.extract
func.func @Window(%x: tensor<9xf32>, %w: tensor<3xf32>, %z: tensor<16xf32>) -> tensor<16xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, k) -> ((i + k) floordiv 2)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>],
                       iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<9xf32>, tensor<3xf32>) outs(%z : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}

// -----

// A constant that is added to loops is the offset of a slice: as long as the loop, or as all that a window may reach.
// CHECK: #[[ID:.*]] = affine_map<(d0) -> (d0)>
// CHECK: #[[WINDOW:.*]] = affine_map<(d0, d1) -> (d0 + d1)>
// CHECK-LABEL: func.func @Offset
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[2] [10] [1] : tensor<14xf32> to tensor<10xf32>
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], {{.*}} ins(%[[S]] :
// CHECK: %[[T:.*]] = tensor.extract_slice %{{.*}}[1] [13] [1] : tensor<14xf32> to tensor<13xf32>
// CHECK: linalg.generic {indexing_maps = [#[[WINDOW]], {{.*}} ins(%[[T]], 
func.func @Offset(%x: tensor<14xf32>, %w: tensor<2xf32>, %o: tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>) {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i + 2)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<14xf32>) outs(%o : tensor<10xf32>) {
  ^bb0(%a: f32, %c: f32):
    %s = arith.addf %a, %c : f32
    linalg.yield %s : f32
  } -> tensor<10xf32>
  %t = linalg.generic {indexing_maps = [affine_map<(i, k) -> (i + k + 1)>, affine_map<(i, k) -> (k)>, affine_map<(i, k) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<14xf32>, tensor<2xf32>) outs(%o : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<10xf32>
  return %r, %t : tensor<10xf32>, tensor<10xf32>
}
