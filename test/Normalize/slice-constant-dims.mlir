// RUN: tilewright-opt %s -tilewright-slice-constant-dims | FileCheck %s

// CHECK: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK: #[[BOTH:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @Read(
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[2, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
// CHECK: linalg.generic {indexing_maps = [#[[COLUMN]], #[[BOTH]]]
// CHECK-SAME: ins(%[[S]] : tensor<4xf32>)
func.func @Read(%x: tensor<?x4xf32>, %o: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (2, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<?x4xf32>) outs(%o : tensor<9x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// CHECK-LABEL: func.func @Write(
// CHECK: %[[S:.*]] = tensor.extract_slice %[[O:.*]][0, 2] [9, 1] [1, 1]
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: outs(%[[S]] : tensor<9xf32>)
// CHECK: %[[I:.*]] = tensor.insert_slice %[[R]] into %[[O]][0, 2] [9, 1] [1, 1]
// CHECK: return %[[I]]
func.func @Write(%x: tensor<9xf32>, %o: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 2)>], iterator_types = ["parallel"]} ins(%x : tensor<9xf32>) outs(%o : tensor<9x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    %s = arith.addf %a, %out : f32
    linalg.yield %s : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// A dim of size one is left to the folding of unit dims.
// CHECK-LABEL: func.func @Unit(
// CHECK-NOT: tensor.extract_slice
func.func @Unit(%x: tensor<1x4xf32>, %o: tensor<9x4xf32>) -> tensor<9x4xf32> {
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (0, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1x4xf32>) outs(%o : tensor<9x4xf32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<9x4xf32>
  return %r : tensor<9x4xf32>
}

// Of an op without loops no dim is a unit loop's, which would be folded.
// CHECK-LABEL: func.func @NoLoops(
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[0, 0] [1, 1] [1, 1] : tensor<1x1xf32> to tensor<f32>
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<f32>)
func.func @NoLoops(%x: tensor<1x1xf32>, %o: tensor<f32>) -> tensor<f32> {
  %r = linalg.generic {indexing_maps = [affine_map<() -> (0, 0)>, affine_map<() -> ()>], iterator_types = []} ins(%x : tensor<1x1xf32>) outs(%o : tensor<f32>) {
  ^bb0(%a: f32, %out: f32):
    linalg.yield %a : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
