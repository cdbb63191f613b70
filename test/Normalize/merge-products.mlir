// RUN: tilewright-opt %s -tilewright-merge-products | FileCheck %s

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n, k)>
#r = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(i, j) -> (i, j)>
#col = affine_map<(i, j) -> (j)>

// Queries and keys with a bias each: one product, and slices of what it gives.
// CHECK-LABEL: func.func @Biased(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x32xf32>
// CHECK-SAME: tilewright.explain = ["2 products of one operand by constants are one; the constants are put side by side when the program is loaded"]
// CHECK-DAG: %[[WQ:.*]] = arith.constant dense_resource<wq>
// CHECK-DAG: %[[WK:.*]] = arith.constant dense_resource<wk>
// CHECK: %[[W:.*]] = tensor.empty() : tensor<24x32xf32>
// CHECK: %[[W1:.*]] = tensor.insert_slice %[[WQ]] into %[[W]][0, 0] [16, 32] [1, 1] {tilewright.at_load}
// CHECK: %[[W2:.*]] = tensor.insert_slice %[[WK]] into %[[W1]][16, 0] [8, 32] [1, 1] {tilewright.at_load}
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[X]], %[[W2]] : tensor<?x32xf32>, tensor<24x32xf32>) outs(%{{.*}} : tensor<?x24xf32>)
// CHECK: %[[B1:.*]] = tensor.insert_slice %{{.*}} into %{{.*}}[0] [16] [1] {tilewright.at_load}
// CHECK: %[[B2:.*]] = tensor.insert_slice %{{.*}} into %[[B1]][16] [8] [1] {tilewright.at_load}
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[P]], %[[B2]] : tensor<?x24xf32>, tensor<24xf32>)
// CHECK: %[[Q:.*]] = tensor.extract_slice %[[S]][0, 0] [%{{.*}}, 16] [1, 1]
// CHECK: %[[K:.*]] = tensor.extract_slice %[[S]][0, 16] [%{{.*}}, 8] [1, 1]
// CHECK-NOT: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK: tensor.extract_slice %[[Q]]
// CHECK: tensor.extract_slice %[[K]]
// CHECK: return
func.func @Biased(%x: tensor<?x32xf32>, %e: tensor<?x16xf32>, %f: tensor<?x8xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %wq = arith.constant dense_resource<wq> : tensor<16x32xf32>
  %wk = arith.constant dense_resource<wk> : tensor<8x32xf32>
  %bq = arith.constant dense_resource<bq> : tensor<16xf32>
  %bk = arith.constant dense_resource<bk> : tensor<8xf32>
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x32xf32>
  %eq = tensor.empty(%rows) : tensor<?x16xf32>
  %ek = tensor.empty(%rows) : tensor<?x8xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<?x16xf32>) -> tensor<?x16xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<?x8xf32>) -> tensor<?x8xf32>
  %q = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %wq : tensor<?x32xf32>, tensor<16x32xf32>) outs(%zq : tensor<?x16xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x16xf32>
  %rows2 = tensor.dim %x, %c0 : tensor<?x32xf32>
  %eq2 = tensor.empty(%rows2) : tensor<?x16xf32>
  %qb = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%q, %bq : tensor<?x16xf32>, tensor<16xf32>) outs(%eq2 : tensor<?x16xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %t = arith.addf %l, %r : f32
    linalg.yield %t : f32
  } -> tensor<?x16xf32>
  %k = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %wk : tensor<?x32xf32>, tensor<8x32xf32>) outs(%zk : tensor<?x8xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<?x8xf32>
  %kb = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%k, %bk : tensor<?x8xf32>, tensor<8xf32>) outs(%ek : tensor<?x8xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %t = arith.addf %l, %r : f32
    linalg.yield %t : f32
  } -> tensor<?x8xf32>
  %qs = tensor.extract_slice %qb[0, 0] [2, 4] [1, 1] : tensor<?x16xf32> to tensor<2x4xf32>
  %ks = tensor.extract_slice %kb[0, 0] [2, 4] [1, 1] : tensor<?x8xf32> to tensor<2x4xf32>
  return %qs, %ks : tensor<2x4xf32>, tensor<2x4xf32>
}

// One is returned: as a slice it would be copied. The other has an activation in its kernel.
// CHECK-LABEL: func.func @Apart(
// CHECK-NOT: tilewright.at_load
// CHECK: return
func.func @Apart(%x: tensor<4x32xf32>) -> (tensor<4x16xf32>, tensor<2x4xf32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %wq = arith.constant dense_resource<wq> : tensor<16x32xf32>
  %wk = arith.constant dense_resource<wk> : tensor<8x32xf32>
  %eq = tensor.empty() : tensor<4x16xf32>
  %ek = tensor.empty() : tensor<4x8xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<4x16xf32>) -> tensor<4x16xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %wq : tensor<4x32xf32>, tensor<16x32xf32>) outs(%zq : tensor<4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %k = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %wk : tensor<4x32xf32>, tensor<8x32xf32>) outs(%zk : tensor<4x8xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %j = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %wk : tensor<4x32xf32>, tensor<8x32xf32>) outs(%zk : tensor<4x8xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %relu = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%j : tensor<4x8xf32>) outs(%ek : tensor<4x8xf32>) {
  ^bb0(%l: f32, %s: f32):
    %t = arith.maximumf %l, %zero : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %js = tensor.extract_slice %relu[0, 0] [2, 4] [1, 1] : tensor<4x8xf32> to tensor<2x4xf32>
  %ks = tensor.extract_slice %k[0, 0] [2, 4] [1, 1] : tensor<4x8xf32> to tensor<2x4xf32>
  return %q, %ks, %js : tensor<4x16xf32>, tensor<2x4xf32>, tensor<2x4xf32>
}

// A bias is multiplied by a number that is only known behind the first product: one op cannot stand in front.
// CHECK-LABEL: func.func @Captured(
// CHECK-NOT: tilewright.at_load
// CHECK: return
func.func @Captured(%x: tensor<4x32xf32>, %f: tensor<4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %wq = arith.constant dense_resource<wq> : tensor<16x32xf32>
  %wk = arith.constant dense_resource<wk> : tensor<8x32xf32>
  %eq = tensor.empty() : tensor<4x16xf32>
  %ek = tensor.empty() : tensor<4x8xf32>
  %zq = linalg.fill ins(%zero : f32) outs(%eq : tensor<4x16xf32>) -> tensor<4x16xf32>
  %zk = linalg.fill ins(%zero : f32) outs(%ek : tensor<4x8xf32>) -> tensor<4x8xf32>
  %q = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %wq : tensor<4x32xf32>, tensor<16x32xf32>) outs(%zq : tensor<4x16xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %by = tensor.extract %f[%c0] : tensor<4xf32>
  %qb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<4x16xf32>) outs(%eq : tensor<4x16xf32>) {
  ^bb0(%l: f32, %s: f32):
    %t = arith.mulf %l, %by : f32
    linalg.yield %t : f32
  } -> tensor<4x16xf32>
  %k = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %wk : tensor<4x32xf32>, tensor<8x32xf32>) outs(%zk : tensor<4x8xf32>) {
  ^bb0(%l: f32, %r: f32, %s: f32):
    %m = arith.mulf %l, %r : f32
    %t = arith.addf %s, %m : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %kb = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<4x8xf32>) outs(%ek : tensor<4x8xf32>) {
  ^bb0(%l: f32, %s: f32):
    %t = arith.mulf %l, %by : f32
    linalg.yield %t : f32
  } -> tensor<4x8xf32>
  %qs = tensor.extract_slice %qb[0, 0] [2, 4] [1, 1] : tensor<4x16xf32> to tensor<2x4xf32>
  %ks = tensor.extract_slice %kb[0, 0] [2, 4] [1, 1] : tensor<4x8xf32> to tensor<2x4xf32>
  return %qs, %ks : tensor<2x4xf32>, tensor<2x4xf32>
}
