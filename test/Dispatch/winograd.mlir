// RUN: tilewright-opt %s -tilewright-winograd | FileCheck %s

#cpu = #tilewright.target<"cpu:x86-64-v3", "cpu", {subgroup = 1, vector_bytes = 32, dispatch_vector_bytes = 32}>
#window = affine_map<(y, x, f, i, j, c) -> (y, i, x, j, c)>
#filter = affine_map<(y, x, f, i, j, c) -> (i, j, c, f)>
#result = affine_map<(y, x, f, i, j, c) -> (y, x, f)>
module attributes {tilewright.target = #cpu, tilewright.fp = ["winograd"]} {

// CHECK-LABEL: @Conv
// CHECK-SAME: is computed by Winograd's F(2 x 2, 3 x 3)
// CHECK: %[[U:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<4x4x3x3xf32>, tensor<3x3x16x32xf32>)
// CHECK: %[[TILES:.*]] = tilewright.im2col %{{.*}} : tensor<18x18x16xf32> to tensor<8x4x8x4x16xf32>
// CHECK: %[[V:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[TILES]] : tensor<4x4x4x4xf32>, tensor<8x4x8x4x16xf32>)
// CHECK: %[[M:.*]] = linalg.generic {{.*}} ins(%[[V]], %[[U]] : tensor<4x4x8x8x16xf32>, tensor<4x4x16x32xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[M]] : tensor<2x2x4x4xf32>, tensor<4x4x8x8x32xf32>)
// CHECK: tensor.collapse_shape %[[R]] {{.*}} : tensor<8x2x8x2x32xf32> into tensor<16x16x32xf32>
func.func @Conv(%x: tensor<18x18x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<16x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
  %v = tilewright.im2col %x[] {map = affine_map<(y, i, x, j, c) -> (y + i, x + j, c)>} : tensor<18x18x16xf32> to tensor<16x3x16x3x16xf32>
  %r = linalg.generic {indexing_maps = [#window, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%v, %w : tensor<16x3x16x3x16xf32>, tensor<3x3x16x32xf32>) outs(%z : tensor<16x16x32xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %s = arith.addf %2, %p : f32
    linalg.yield %s : f32
  } -> tensor<16x16x32xf32>
  return %r : tensor<16x16x32xf32>
}

// CHECK-LABEL: @Odd
// CHECK-SAME: is not computed by Winograd's method: rows or columns of its result are odd
// CHECK: tensor<15x3x16x3x16xf32>
func.func @Odd(%x: tensor<17x18x16xf32>, %w: tensor<3x3x16x32xf32>) -> tensor<15x16x32xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<15x16x32xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<15x16x32xf32>) -> tensor<15x16x32xf32>
  %v = tilewright.im2col %x[] {map = affine_map<(y, i, x, j, c) -> (y + i, x + j, c)>} : tensor<17x18x16xf32> to tensor<15x3x16x3x16xf32>
  %r = linalg.generic {indexing_maps = [#window, #filter, #result], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%v, %w : tensor<15x3x16x3x16xf32>, tensor<3x3x16x32xf32>) outs(%z : tensor<15x16x32xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %s = arith.addf %2, %p : f32
    linalg.yield %s : f32
  } -> tensor<15x16x32xf32>
  return %r : tensor<15x16x32xf32>
}
}
