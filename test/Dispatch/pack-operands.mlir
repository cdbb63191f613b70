// Operands from i4, which input reads in pairs, are computed in order.
// RUN: tilewright-opt %s -tilewright-unpack-sub-bytes -linalg-generalize-named-ops -canonicalize -tilewright-pack-operands -canonicalize | FileCheck %s

#id = affine_map<(n, k) -> (n, k)>
#n = affine_map<(n, k) -> (n)>

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32 : i64}>} {
  // CHECK-LABEL: func.func @Rows(
  // CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<80x48xi8>
  // CHECK: %[[U:.*]] = tilewright.unpack %[[W]] : tensor<80x48xi8> to tensor<80x96xi8>
  // CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%[[U]], %{{.*}} : tensor<80x96xi8>, tensor<80xf16>)
  // CHECK: arith.sitofp
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[D]] : tensor<16x96xf16>, tensor<80x96xf16>)
  func.func @Rows(%x: tensor<16x96xf16>, %w: tensor<80x96xi4>, %s: tensor<80xf16>, %c: tensor<16x80xf32>) -> tensor<16x80xf32> {
    %e = tensor.empty() : tensor<80x96xf16>
    %d = linalg.generic {indexing_maps = [#id, #n, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w, %s : tensor<80x96xi4>, tensor<80xf16>) outs(%e : tensor<80x96xf16>) {
    ^bb0(%a: i4, %scale: f16, %out: f16):
      %0 = arith.sitofp %a : i4 to f16
      %1 = arith.mulf %0, %scale : f16
      linalg.yield %1 : f16
    } -> tensor<80x96xf16>
    %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %d : tensor<16x96xf16>, tensor<80x96xf16>) outs(%c : tensor<16x80xf32>) -> tensor<16x80xf32>
    return %r : tensor<16x80xf32>
  }

  // Numbers without a sign, read in groups of a reshape.
  // CHECK-LABEL: func.func @Unsigned(
  // CHECK: %[[B:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2]] output_shape [3, 32, 40] : tensor<96x40xi8>
  // CHECK: tilewright.unpack %[[B]] {is_unsigned} : tensor<3x32x40xi8> to tensor<3x32x80xi8>
  // CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1], [2]] : tensor<3x32x80xf16> into tensor<96x80xf16>
  func.func @Unsigned(%x: tensor<16x96xf16>, %w: tensor<96x80xi4>, %s: tensor<3x80xf16>, %c: tensor<16x80xf32>) -> tensor<16x80xf32> {
    %g = tensor.expand_shape %w [[0, 1], [2]] output_shape [3, 32, 80] : tensor<96x80xi4> into tensor<3x32x80xi4>
    %e = tensor.empty() : tensor<3x32x80xf16>
    %d = linalg.generic {indexing_maps = [affine_map<(g, k, n) -> (g, k, n)>, affine_map<(g, k, n) -> (g, n)>, affine_map<(g, k, n) -> (g, k, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%g, %s : tensor<3x32x80xi4>, tensor<3x80xf16>) outs(%e : tensor<3x32x80xf16>) {
    ^bb0(%a: i4, %scale: f16, %out: f16):
      %0 = arith.uitofp %a : i4 to f16
      %1 = arith.mulf %0, %scale : f16
      linalg.yield %1 : f16
    } -> tensor<3x32x80xf16>
    %f = tensor.collapse_shape %d [[0, 1], [2]] : tensor<3x32x80xf16> into tensor<96x80xf16>
    %r = linalg.matmul ins(%x, %f : tensor<16x96xf16>, tensor<96x80xf16>) outs(%c : tensor<16x80xf32>) -> tensor<16x80xf32>
    return %r : tensor<16x80xf32>
  }

  // Rows without elements stay pairs: no tile of them is whole bytes.
  // CHECK-LABEL: func.func @Empty(
  // CHECK-NOT: tilewright.unpack
  // CHECK: linalg.generic {{.*}} ins(%{{.*}}, %cst : tensor<80x0xi8>, tensor<2xi8>)
  // CHECK-NOT: tilewright.unpack
  func.func @Empty(%x: tensor<16x0xf16>, %w: tensor<80x0xi4>, %s: tensor<80xf16>, %c: tensor<16x80xf32>) -> tensor<16x80xf32> {
    %e = tensor.empty() : tensor<80x0xf16>
    %d = linalg.generic {indexing_maps = [#id, #n, #id], iterator_types = ["parallel", "parallel"]}
        ins(%w, %s : tensor<80x0xi4>, tensor<80xf16>) outs(%e : tensor<80x0xf16>) {
    ^bb0(%a: i4, %scale: f16, %out: f16):
      %0 = arith.sitofp %a : i4 to f16
      %1 = arith.mulf %0, %scale : f16
      linalg.yield %1 : f16
    } -> tensor<80x0xf16>
    %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
        ins(%x, %d : tensor<16x0xf16>, tensor<80x0xf16>) outs(%c : tensor<16x80xf32>) -> tensor<16x80xf32>
    return %r : tensor<16x80xf32>
  }
}
