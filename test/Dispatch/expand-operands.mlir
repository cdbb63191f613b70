// Products sum over the groups in which an operand is computed.
// RUN: tilewright-opt %s -tilewright-expand-operands | FileCheck %s

#gkn = affine_map<(g, k, n) -> (g, k, n)>
#gn = affine_map<(g, k, n) -> (g, n)>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func @Groups(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<?x128xf16>
  // CHECK: %[[D:.*]] = linalg.generic
  // CHECK: %[[Y:.*]] = tensor.expand_shape %[[X]] {{\[}}[0], [1, 2]] output_shape [%{{.*}}, 4, 32]
  // CHECK: linalg.generic {{.*}}"parallel", "parallel", "reduction", "reduction"]}
  // CHECK-SAME: ins(%[[Y]], %[[D]] : tensor<?x4x32xf16>, tensor<4x32x64xf16>)
  func.func @Groups(%x: tensor<?x128xf16>, %w: tensor<4x32x64xi8>, %s: tensor<4x64xf16>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %e = tensor.empty() : tensor<4x32x64xf16>
    %d = linalg.generic {indexing_maps = [#gkn, #gn, #gkn], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%w, %s : tensor<4x32x64xi8>, tensor<4x64xf16>) outs(%e : tensor<4x32x64xf16>) {
    ^bb0(%a: i8, %scale: f16, %out: f16):
      %0 = arith.sitofp %a : i8 to f16
      %1 = arith.mulf %0, %scale : f16
      linalg.yield %1 : f16
    } -> tensor<4x32x64xf16>
    %f = tensor.collapse_shape %d [[0, 1], [2]] : tensor<4x32x64xf16> into tensor<128x64xf16>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %f : tensor<?x128xf16>, tensor<128x64xf16>) outs(%c : tensor<?x64xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x64xf32>
    return %p : tensor<?x64xf32>
  }

  // Columns stay one dim: the result has them.
  // CHECK-LABEL: func.func @Columns(
  // CHECK: tensor.collapse_shape
  func.func @Columns(%x: tensor<?x32xf16>, %w: tensor<32x4x16xi8>, %c: tensor<?x64xf32>) -> tensor<?x64xf32> {
    %e = tensor.empty() : tensor<32x4x16xf16>
    %d = linalg.generic {indexing_maps = [#gkn, #gkn], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%w : tensor<32x4x16xi8>) outs(%e : tensor<32x4x16xf16>) {
    ^bb0(%a: i8, %out: f16):
      %0 = arith.sitofp %a : i8 to f16
      linalg.yield %0 : f16
    } -> tensor<32x4x16xf16>
    %f = tensor.collapse_shape %d [[0], [1, 2]] : tensor<32x4x16xf16> into tensor<32x64xf16>
    %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %f : tensor<?x32xf16>, tensor<32x64xf16>) outs(%c : tensor<?x64xf32>) {
    ^bb0(%a: f16, %b: f16, %acc: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %acc, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<?x64xf32>
    return %p : tensor<?x64xf32>
  }
}
