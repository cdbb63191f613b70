// RUN: tilewright-opt %s -tilewright-generalize -tilewright-fold-relayouts -split-input-file | FileCheck %s

// CHECK: affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK: #[[$BT:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func @TransposeIsReadThrough
// CHECK-COUNT-1: linalg.generic {indexing_maps = [#{{.*}}, #[[$BT]], #{{.*}}]
// CHECK-NOT: linalg.generic
func.func @TransposeIsReadThrough(%a: tensor<?x8xf32>, %b: tensor<16x8xf32>, %c: tensor<?x16xf32>, %e: tensor<8x16xf32>) -> tensor<?x16xf32> {
  %t = linalg.transpose ins(%b : tensor<16x8xf32>) outs(%e : tensor<8x16xf32>) permutation = [1, 0]
  %r = linalg.matmul ins(%a, %t : tensor<?x8xf32>, tensor<8x16xf32>) outs(%c : tensor<?x16xf32>) -> tensor<?x16xf32>
  return %r : tensor<?x16xf32>
}

// -----

// CHECK: #[[$ROW:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func @BroadcastAndFillAreReadThrough
// CHECK: tensor.empty
// CHECK-NEXT: linalg.generic {{.*}}#[[$ROW]]
// CHECK: arith.addf
// CHECK: arith.maximumf %{{.*}}, %cst
// CHECK-NOT: linalg.generic
func.func @BroadcastAndFillAreReadThrough(%x: tensor<4x8xf32>, %b: tensor<8xf32>, %out: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %cst = arith.constant dense<0.0> : tensor<4x8xf32>
  %bb = linalg.broadcast ins(%b : tensor<8xf32>) outs(%out : tensor<4x8xf32>) dimensions = [0]
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%x, %bb, %cst : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) outs(%out : tensor<4x8xf32>) {
  ^bb0(%p: f32, %q: f32, %z: f32, %o: f32):
    %s = arith.addf %p, %q : f32
    %m = arith.maximumf %s, %z : f32
    linalg.yield %m : f32
  } -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: func @InitReadByElementwiseOpBecomesInput
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : {{.*}}) outs(%[[E]]
func.func @InitReadByElementwiseOpBecomesInput(%x: tensor<8xf32>, %acc: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x : tensor<8xf32>) outs(%acc : tensor<8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %s = arith.addf %p, %o : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @UnitDimsAreDropped
// CHECK: tensor.collapse_shape %arg0 {{.*}} into tensor<64xf32>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]
func.func @UnitDimsAreDropped(%a: tensor<1x64xf32>, %b: tensor<64x32xf32>, %c: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1x64xf32>, tensor<64x32xf32>) outs(%c : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func @UnitDimsOfPinnedOpsStay
// CHECK-NOT: collapse_shape
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
func.func @UnitDimsOfPinnedOpsStay(%a: tensor<1x64xf32>, %b: tensor<64x32xf32>, %c: tensor<1x32xf32>) -> tensor<1x32xf32> {
  %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [1, 32, 16]>}
    ins(%a, %b : tensor<1x64xf32>, tensor<64x32xf32>) outs(%c : tensor<1x32xf32>) -> tensor<1x32xf32>
  return %r : tensor<1x32xf32>
}

// -----

// CHECK-LABEL: func @ScalarInputsAreCapturedRank0TensorsStay
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<8xf32>, tensor<f32>)
// CHECK: arith.mulf %{{.*}}, %arg2 : f32
func.func @ScalarInputsAreCapturedRank0TensorsStay(%x: tensor<8xf32>, %t: tensor<f32>, %s: f32, %e: tensor<8xf32>) -> tensor<8xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    ins(%x, %t, %s : tensor<8xf32>, tensor<f32>, f32) outs(%e : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %p = arith.addf %a, %b : f32
    %q = arith.mulf %p, %c : f32
    linalg.yield %q : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
