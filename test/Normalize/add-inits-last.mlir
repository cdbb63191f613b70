// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-add-inits-last))' | FileCheck %s

// Sums that begin with a broadcast bias begin with zero; the bias is added to the result, as it is, by what the body adds with.
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[COLUMN:.*]] = affine_map<(d0, d1) -> (d1)>
// CHECK-LABEL: func.func @Bias
// CHECK-SAME: %{{.*}}: tensor<8x64xf32>, %{{.*}}: tensor<64x32xf32>, %[[BIAS:.*]]: tensor<32xf32>
// CHECK: %[[Z:.*]] = linalg.fill ins(%{{.*}} : f32)
// CHECK: %[[P:.*]] = linalg.generic {{.*}} outs(%[[Z]] : tensor<8x32xf32>)
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[ID]], #[[COLUMN]], #[[ID]]], iterator_types = ["parallel", "parallel"]} ins(%[[P]], %[[BIAS]]
// CHECK: arith.addf {{.*}} fastmath<contract>
// CHECK: return %[[R]]
#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}
func.func @Bias(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>, %bias: tensor<32xf32>) -> tensor<8x32xf32> {
  %e = tensor.empty() : tensor<8x32xf32>
  %i = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%bias : tensor<32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%b: f32, %o: f32):
    linalg.yield %b : f32
  } -> tensor<8x32xf32>
  %r = linalg.generic #product ins(%x, %w : tensor<8x64xf32>, tensor<64x32xf32>) outs(%i : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m fastmath<contract> : f32
    linalg.yield %s : f32
  } -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// -----

// A tensor of the result's shape is what sums begin with, and the largest of products is no sum.
// CHECK-LABEL: func.func @Others
// CHECK-NOT: linalg.fill
#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}
func.func @Others(%x: tensor<8x64xf32>, %w: tensor<64x32xf32>, %old: tensor<32x8xf32>, %bias: tensor<32xf32>) -> (tensor<8x32xf32>, tensor<8x32xf32>) {
  %e = tensor.empty() : tensor<8x32xf32>
  %i = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n, m)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%old : tensor<32x8xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%b: f32, %o: f32):
    linalg.yield %b : f32
  } -> tensor<8x32xf32>
  %r = linalg.generic #product ins(%x, %w : tensor<8x64xf32>, tensor<64x32xf32>) outs(%i : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x32xf32>
  %j = linalg.generic {indexing_maps = [affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%bias : tensor<32xf32>) outs(%e : tensor<8x32xf32>) {
  ^bb0(%b: f32, %o: f32):
    linalg.yield %b : f32
  } -> tensor<8x32xf32>
  %q = linalg.generic #product ins(%x, %w : tensor<8x64xf32>, tensor<64x32xf32>) outs(%j : tensor<8x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.maximumf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<8x32xf32>
  return %r, %q : tensor<8x32xf32>, tensor<8x32xf32>
}
