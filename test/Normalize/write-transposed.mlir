// RUN: tilewright-opt %s -tilewright-write-transposed | FileCheck %s

#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#swap = affine_map<(i, j) -> (j, i)>
#row = affine_map<(i, j) -> (j)>

// CHECK-DAG: #[[MN:.*]] = affine_map<(d0, d1, d2) -> (d1, d0)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>

// The gradient of a weight.
// CHECK-LABEL: func.func @Gradient(
// CHECK: %[[N:.*]] = tensor.dim %{{.*}}, %c1
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x64xf32>
// CHECK: linalg.fill ins(%{{.*}} : f32) outs(%[[E]]
// CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[MN]]]
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]]{{.*}} ins(%[[P]] : tensor<?x64xf32>)
func.func @Gradient(%x: tensor<32x64xf32>, %y: tensor<32x?xf32>, %e: tensor<64x?xf32>, %o: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x?xf32>) -> tensor<64x?xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<32x64xf32>, tensor<32x?xf32>) outs(%z : tensor<64x?xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x?xf32>
  %t = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<64x?xf32>) outs(%o : tensor<?x64xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  } -> tensor<?x64xf32>
  return %t : tensor<?x64xf32>
}

// A bias on the way: the elementwise op and the transpose are one, and read the product as it is.
// CHECK-LABEL: func.func @Bias(
// CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #{{.*}}, #[[MN]]]
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #{{.*}}, #[[ID]]]{{.*}} ins(%[[P]], %{{.*}} : tensor<48x64xf32>, tensor<48xf32>)
// CHECK: arith.addf
// CHECK-NOT: linalg.generic
func.func @Bias(%x: tensor<32x64xf32>, %y: tensor<32x48xf32>, %bias: tensor<48xf32>, %e: tensor<64x48xf32>, %o: tensor<48x64xf32>) -> tensor<48x64xf32> {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<64x48xf32>) -> tensor<64x48xf32>
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<32x64xf32>, tensor<32x48xf32>) outs(%z : tensor<64x48xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x48xf32>
  %b = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<64x48xf32>, tensor<48xf32>) outs(%e : tensor<64x48xf32>) {
  ^bb0(%v: f32, %w: f32, %out: f32):
    %s = arith.addf %v, %w : f32
    linalg.yield %s : f32
  } -> tensor<64x48xf32>
  %t = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<64x48xf32>) outs(%o : tensor<48x64xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  } -> tensor<48x64xf32>
  return %t : tensor<48x64xf32>
}

// Somebody else reads it as it is.
// CHECK-LABEL: func.func @Both(
// CHECK: tensor<64x48xf32>, tensor<48x64xf32>
// CHECK-NOT: #[[MN]]
func.func @Both(%x: tensor<32x64xf32>, %y: tensor<32x48xf32>, %z: tensor<64x48xf32>, %o: tensor<48x64xf32>) -> (tensor<64x48xf32>, tensor<48x64xf32>) {
  %p = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<32x64xf32>, tensor<32x48xf32>) outs(%z : tensor<64x48xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<64x48xf32>
  %t = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<64x48xf32>) outs(%o : tensor<48x64xf32>) {
  ^bb0(%v: f32, %out: f32):
    linalg.yield %v : f32
  } -> tensor<48x64xf32>
  return %p, %t : tensor<64x48xf32>, tensor<48x64xf32>
}
