// RUN: tilewright-opt %s -tilewright-order-loops | FileCheck %s

// CHECK-DAG: #[[$KN:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$NM:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

// CHECK-DAG: #[[$LK:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-DAG: #[[$KL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[$NONE:.*]] = affine_map<(d0, d1) -> ()>

// CHECK-LABEL: func @ParallelLoopsFollowTheResult
// CHECK: linalg.generic {indexing_maps = [#[[$KN]], #[[$NM]], #[[$MK]]], iterator_types = ["parallel", "parallel", "reduction"]}
// CHECK-SAME: block = [16, 64, 32]
func.func @ParallelLoopsFollowTheResult(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>, %c: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(k, n, m) -> (m, k)>, affine_map<(k, n, m) -> (k, n)>, affine_map<(k, n, m) -> (m, n)>],
                       iterator_types = ["reduction", "parallel", "parallel"]}
    ins(%a, %b : tensor<8x8xf32>, tensor<8x8xf32>) outs(%c : tensor<8x8xf32>)
    attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 64, 32]>} {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %z, %p : f32
    linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}


// Terms are combined in the order of the loops, where the combiner is not known to be associative.
// CHECK-LABEL: func @SequentialReductionLoopsStay
// CHECK: linalg.generic {indexing_maps = [#[[$LK]], #[[$NONE]]],
func.func @SequentialReductionLoopsStay(%x: tensor<3x4xi32>, %a: tensor<i32>) -> tensor<i32> {
  %c3 = arith.constant 3 : i32
  %r = linalg.generic {indexing_maps = [affine_map<(k, l) -> (l, k)>, affine_map<(k, l) -> ()>], iterator_types = ["reduction", "reduction"]}
    ins(%x : tensor<3x4xi32>) outs(%a : tensor<i32>) {
  ^bb0(%v: i32, %o: i32):
    %m = arith.muli %o, %c3 : i32
    %s = arith.addi %m, %v : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// CHECK-LABEL: func @AssociativeReductionLoopsFollowTheInput
// CHECK: linalg.generic {indexing_maps = [#[[$KL]], #[[$NONE]]],
func.func @AssociativeReductionLoopsFollowTheInput(%x: tensor<3x4xi32>, %a: tensor<i32>) -> tensor<i32> {
  %r = linalg.generic {indexing_maps = [affine_map<(k, l) -> (l, k)>, affine_map<(k, l) -> ()>], iterator_types = ["reduction", "reduction"]}
    ins(%x : tensor<3x4xi32>) outs(%a : tensor<i32>) attrs = {tilewright.associative = [-1 : i32]} {
  ^bb0(%v: i32, %o: i32):
    %m = arith.muli %o, %v : i32
    %n = arith.addi %m, %o : i32
    %s = arith.addi %n, %v : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}
