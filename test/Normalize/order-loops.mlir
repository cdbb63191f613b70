// RUN: tilewright-opt %s -tilewright-order-loops | FileCheck %s

// CHECK-DAG: #[[$KN:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[$NM:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[$MK:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>

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

