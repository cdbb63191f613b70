// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-read-windows))' -split-input-file | FileCheck %s

#x = affine_map<(n, oh, ow, o, kh, kw, c) -> (n, oh * 2 + kh, ow * 2 + kw, c)>
#w = affine_map<(n, oh, ow, o, kh, kw, c) -> (kh, kw, c, o)>
#r = affine_map<(n, oh, ow, o, kh, kw, c) -> (n, oh, ow, o)>

// Three channels of seven columns: 21 neighbours, two columns further for the
// next result; the padding is three times as wide.
// CHECK: #[[$MAP:.+]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d2, d3 * 6 + d4)>
// CHECK-LABEL: func.func @FewChannels
// CHECK-SAME: %[[X:.+]]: tensor<2x21x23x3xf16>, %[[W:.+]]: tensor<7x7x3x16xf16>
// CHECK-DAG: %[[X1:.+]] = tensor.collapse_shape %[[X]] {{\[}}[0], [1], [2, 3]]
// CHECK-DAG: %[[W1:.+]] = tensor.collapse_shape %[[W]] {{\[}}[0], [1, 2], [3]]
// CHECK-DAG: %[[P:.+]] = tensor.pad %[[X1]] low[0, 3, 9] high[0, 2, 6]
// CHECK: %[[V:.+]] = tilewright.im2col %[[P]][] {map = #[[$MAP]]} : tensor<2x26x84xf16> to tensor<2x10x7x11x21xf16>
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%[[V]], %[[W1]]
func.func @FewChannels(%x: tensor<2x21x23x3xf16>, %w: tensor<7x7x3x16xf16>, %o: tensor<2x10x11x16xf16>) -> tensor<2x10x11x16xf16> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 3, 3, 0] high[0, 2, 2, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %zero : f16
  } : tensor<2x21x23x3xf16> to tensor<2x26x28x3xf16>
  %r = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%p, %w : tensor<2x26x28x3xf16>, tensor<7x7x3x16xf16>) outs(%o : tensor<2x10x11x16xf16>) {
    ^bb0(%a: f16, %b: f16, %acc: f16):
      %m = arith.mulf %a, %b : f16
      %s = arith.addf %acc, %m : f16
      linalg.yield %s : f16
  } -> tensor<2x10x11x16xf16>
  return %r : tensor<2x10x11x16xf16>
}

// -----

#x = affine_map<(n, oh, ow, o, kh, kw, c) -> (n, oh + kh, ow + kw * 2, c)>
#w = affine_map<(n, oh, ow, o, kh, kw, c) -> (kh, kw, c, o)>
#r = affine_map<(n, oh, ow, o, kh, kw, c) -> (n, oh, ow, o)>

// Dilated columns are no neighbours.
// CHECK-LABEL: func.func @Dilated
// CHECK-NOT: collapse_shape
func.func @Dilated(%x: tensor<2x16x18x3xf16>, %w: tensor<3x3x3x16xf16>, %o: tensor<2x14x14x16xf16>) -> tensor<2x14x14x16xf16> {
  %r = linalg.generic {indexing_maps = [#x, #w, #r], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
       ins(%x, %w : tensor<2x16x18x3xf16>, tensor<3x3x3x16xf16>) outs(%o : tensor<2x14x14x16xf16>) {
    ^bb0(%a: f16, %b: f16, %acc: f16):
      %m = arith.mulf %a, %b : f16
      %s = arith.addf %acc, %m : f16
      linalg.yield %s : f16
  } -> tensor<2x14x14x16xf16>
  return %r : tensor<2x14x14x16xf16>
}
