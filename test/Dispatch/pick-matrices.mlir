// RUN: tilewright-opt %s -split-input-file -tilewright-pick-matrices -tilewright-form-dispatches | FileCheck %s

#x = affine_map<(b, m, n, k) -> (b, m, k)>
#w = affine_map<(b, m, n, k) -> (b, k, n)>
#r = affine_map<(b, m, n, k) -> (b, m, n)>
#e = affine_map<(b, k, n) -> (b)>
#id = affine_map<(b, k, n) -> (b, k, n)>

// The kernel has all matrices, as many as entries by its type, and the table.
// CHECK-LABEL: func.func @Experts(
// CHECK-SAME: %[[X:.*]]: tensor<6x4x8xf32>, %[[W:.*]]: tensor<3x8x16xf32>, %[[E:.*]]: tensor<6xi64>
// CHECK: %[[P:.*]] = tilewright.pick %[[W]][%[[E]]] : tensor<3x8x16xf32>, tensor<6xi64> to tensor<6x8x16xf32>
// CHECK: tilewright.dispatch @Experts_matmul_0(%[[X]], %[[P]], %[[E]]
// CHECK-NOT: tilewright.dispatch
// CHECK: func.func private @Experts_matmul_0(%{{.*}}: tensor<6x4x8xf32>, %{{.*}}: tensor<6x8x16xf32>, %{{.*}}: tensor<6xi64>
// CHECK-SAME: tilewright.picks = [{argument = 1 : i64, count = 3 : i64, table = 2 : i64}]
func.func @Experts(%x: tensor<6x4x8xf32>, %w: tensor<3x8x16xf32>, %e: tensor<6xi64>) -> tensor<6x4x16xf32> {
  %zero = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<6x8x16xf32>
  %g = linalg.generic {indexing_maps = [#e, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e : tensor<6xi64>) outs(%we : tensor<6x8x16xf32>) {
  ^bb0(%i: i64, %o: f32):
    %b = arith.index_cast %i : i64 to index
    %k = linalg.index 1 : index
    %n = linalg.index 2 : index
    %v = tensor.extract %w[%b, %k, %n] : tensor<3x8x16xf32>
    linalg.yield %v : f32
  } -> tensor<6x8x16xf32>
  %re = tensor.empty() : tensor<6x4x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%re : tensor<6x4x16xf32>) -> tensor<6x4x16xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %g : tensor<6x4x8xf32>, tensor<6x8x16xf32>) outs(%z : tensor<6x4x16xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %m = arith.mulf %a, %c : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<6x4x16xf32>
  return %p : tensor<6x4x16xf32>
}

// -----

#x = affine_map<(b, m, n, k) -> (b, m, k)>
#w = affine_map<(b, m, n, k) -> (b, k, n)>
#r = affine_map<(b, m, n, k) -> (b, m, n)>
#e = affine_map<(b, k, n) -> (b)>
#id = affine_map<(b, k, n) -> (b, k, n)>

// Others read the matrices, too: they are copied.
// CHECK-LABEL: func.func @Returned(
// CHECK-NOT: tilewright.pick
// CHECK: tilewright.dispatch @Returned_elementwise_0(
// CHECK: tilewright.dispatch @Returned_matmul_1(
func.func @Returned(%x: tensor<6x4x8xf32>, %w: tensor<3x8x16xf32>, %e: tensor<6xi64>) -> (tensor<6x4x16xf32>, tensor<6x8x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %we = tensor.empty() : tensor<6x8x16xf32>
  %g = linalg.generic {indexing_maps = [#e, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e : tensor<6xi64>) outs(%we : tensor<6x8x16xf32>) {
  ^bb0(%i: i64, %o: f32):
    %b = arith.index_cast %i : i64 to index
    %k = linalg.index 1 : index
    %n = linalg.index 2 : index
    %v = tensor.extract %w[%b, %k, %n] : tensor<3x8x16xf32>
    linalg.yield %v : f32
  } -> tensor<6x8x16xf32>
  %re = tensor.empty() : tensor<6x4x16xf32>
  %z = linalg.fill ins(%zero : f32) outs(%re : tensor<6x4x16xf32>) -> tensor<6x4x16xf32>
  %p = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %g : tensor<6x4x8xf32>, tensor<6x8x16xf32>) outs(%z : tensor<6x4x16xf32>) {
  ^bb0(%a: f32, %c: f32, %s: f32):
    %m = arith.mulf %a, %c : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<6x4x16xf32>
  return %p, %g : tensor<6x4x16xf32>, tensor<6x8x16xf32>
}
