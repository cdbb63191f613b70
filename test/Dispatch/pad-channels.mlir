// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-pad-channels))' | FileCheck %s

// Windows of 21 halves, six further for the next result, begin at multiples of 2 bytes; those of a padded copy with
// four channels at multiples of 16.
// CHECK-DAG: #[[MAP:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d2, d3 * 8 + d4)>
// CHECK-LABEL: func.func @Stem
// CHECK-SAME: %[[X:.*]]: tensor<32x224x224x3xf16>, %[[F:[^:]*]]: tensor<7x7x3x64xf16>
// CHECK-SAME: tilewright.explain = ["linalg.generic (line {{[0-9]+}}): the image is copied, padded to 4 channels from 3, so that windows are aligned"]
// CHECK: %[[P:.*]] = tensor.pad %[[X]] low[0, 3, 3, 0] high[0, 2, 2, 1]
// CHECK: tensor<32x224x224x3xf16> to tensor<32x229x229x4xf16>
// CHECK: %[[L:.*]] = tensor.collapse_shape %[[P]] {{\[\[}}0], [1], [2, 3]] : tensor<32x229x229x4xf16> into tensor<32x229x916xf16>
// CHECK: %[[W:.*]] = tilewright.im2col %[[L]][] {map = #[[MAP]]} : tensor<32x229x916xf16> to tensor<32x112x7x112x28xf16>
// CHECK: %[[G:.*]] = tensor.pad %[[F]] low[0, 0, 0, 0] high[0, 0, 1, 0]
// CHECK: %[[H:.*]] = tensor.collapse_shape %[[G]] {{\[\[}}0], [1, 2], [3]] : tensor<7x7x4x64xf16> into tensor<7x28x64xf16>
// CHECK: linalg.generic {{.*}} ins(%[[W]], %[[H]] : tensor<32x112x7x112x28xf16>, tensor<7x28x64xf16>)
// One image is copied by a kernel that takes longer than what it saves.
// CHECK-LABEL: func.func @FewImages
// CHECK: tilewright.im2col %{{.*}} : tensor<1x229x687xf16> to tensor<1x112x7x112x21xf16>
// Infinity times the filter's zeros is no zero.
// CHECK-LABEL: func.func @PaddedByInfinity
// CHECK: tilewright.im2col %{{.*}} : tensor<32x229x687xf16> to tensor<32x112x7x112x21xf16>
// Five channels would be eight.
// CHECK-LABEL: func.func @FiveChannels
// CHECK: tilewright.im2col %{{.*}} : tensor<32x224x1120xf16> to tensor<32x222x3x222x15xf16>
#windows = affine_map<(n, y, i, x, j) -> (n, y * 2 + i, x * 6 + j)>
#five = affine_map<(n, y, i, x, j) -> (n, y + i, x * 5 + j)>
#read = affine_map<(n, y, x, f, i, j) -> (n, y, i, x, j)>
#filter = affine_map<(n, y, x, f, i, j) -> (i, j, f)>
#result = affine_map<(n, y, x, f, i, j) -> (n, y, x, f)>
#loops = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80 : i64, subgroup = 32 : i64, mma = ["mma.m16n8k16.f16.f32"]}>} {
  func.func @Stem(%x: tensor<32x224x224x3xf16>, %f: tensor<7x7x3x64xf16>, %o: tensor<32x112x112x64xf32>) -> tensor<32x112x112x64xf32> {
    %l = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<32x224x224x3xf16> into tensor<32x224x672xf16>
    %outside = arith.constant 0.0 : f16
    %p = tensor.pad %l low[0, 3, 9] high[0, 2, 6] {
      ^bb0(%a: index, %b: index, %c: index):
        tensor.yield %outside : f16
    } : tensor<32x224x672xf16> to tensor<32x229x687xf16>
    %w = tilewright.im2col %p[] {map = #windows} : tensor<32x229x687xf16> to tensor<32x112x7x112x21xf16>
    %g = tensor.collapse_shape %f [[0], [1, 2], [3]] : tensor<7x7x3x64xf16> into tensor<7x21x64xf16>
    %r = linalg.generic {indexing_maps = [#read, #filter, #result], iterator_types = #loops}
         ins(%w, %g : tensor<32x112x7x112x21xf16>, tensor<7x21x64xf16>) outs(%o : tensor<32x112x112x64xf32>) {
      ^bb0(%a: f16, %b: f16, %acc: f32):
        %u = arith.extf %a : f16 to f32
        %v = arith.extf %b : f16 to f32
        %m = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %m : f32
        linalg.yield %s : f32
    } -> tensor<32x112x112x64xf32>
    return %r : tensor<32x112x112x64xf32>
  }
  func.func @FewImages(%x: tensor<1x224x224x3xf16>, %f: tensor<7x7x3x64xf16>, %o: tensor<1x112x112x64xf32>) -> tensor<1x112x112x64xf32> {
    %l = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<1x224x224x3xf16> into tensor<1x224x672xf16>
    %outside = arith.constant 0.0 : f16
    %p = tensor.pad %l low[0, 3, 9] high[0, 2, 6] {
      ^bb0(%a: index, %b: index, %c: index):
        tensor.yield %outside : f16
    } : tensor<1x224x672xf16> to tensor<1x229x687xf16>
    %w = tilewright.im2col %p[] {map = #windows} : tensor<1x229x687xf16> to tensor<1x112x7x112x21xf16>
    %g = tensor.collapse_shape %f [[0], [1, 2], [3]] : tensor<7x7x3x64xf16> into tensor<7x21x64xf16>
    %r = linalg.generic {indexing_maps = [#read, #filter, #result], iterator_types = #loops}
         ins(%w, %g : tensor<1x112x7x112x21xf16>, tensor<7x21x64xf16>) outs(%o : tensor<1x112x112x64xf32>) {
      ^bb0(%a: f16, %b: f16, %acc: f32):
        %u = arith.extf %a : f16 to f32
        %v = arith.extf %b : f16 to f32
        %m = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %m : f32
        linalg.yield %s : f32
    } -> tensor<1x112x112x64xf32>
    return %r : tensor<1x112x112x64xf32>
  }
  func.func @PaddedByInfinity(%x: tensor<32x224x224x3xf16>, %f: tensor<7x7x3x64xf16>, %o: tensor<32x112x112x64xf32>) -> tensor<32x112x112x64xf32> {
    %l = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<32x224x224x3xf16> into tensor<32x224x672xf16>
    %outside = arith.constant 0x7C00 : f16
    %p = tensor.pad %l low[0, 3, 9] high[0, 2, 6] {
      ^bb0(%a: index, %b: index, %c: index):
        tensor.yield %outside : f16
    } : tensor<32x224x672xf16> to tensor<32x229x687xf16>
    %w = tilewright.im2col %p[] {map = #windows} : tensor<32x229x687xf16> to tensor<32x112x7x112x21xf16>
    %g = tensor.collapse_shape %f [[0], [1, 2], [3]] : tensor<7x7x3x64xf16> into tensor<7x21x64xf16>
    %r = linalg.generic {indexing_maps = [#read, #filter, #result], iterator_types = #loops}
         ins(%w, %g : tensor<32x112x7x112x21xf16>, tensor<7x21x64xf16>) outs(%o : tensor<32x112x112x64xf32>) {
      ^bb0(%a: f16, %b: f16, %acc: f32):
        %u = arith.extf %a : f16 to f32
        %v = arith.extf %b : f16 to f32
        %m = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %m : f32
        linalg.yield %s : f32
    } -> tensor<32x112x112x64xf32>
    return %r : tensor<32x112x112x64xf32>
  }
  func.func @FiveChannels(%x: tensor<32x224x224x5xf16>, %f: tensor<3x3x5x64xf16>, %o: tensor<32x222x222x64xf32>) -> tensor<32x222x222x64xf32> {
    %l = tensor.collapse_shape %x [[0], [1], [2, 3]] : tensor<32x224x224x5xf16> into tensor<32x224x1120xf16>
    %w = tilewright.im2col %l[] {map = #five} : tensor<32x224x1120xf16> to tensor<32x222x3x222x15xf16>
    %g = tensor.collapse_shape %f [[0], [1, 2], [3]] : tensor<3x3x5x64xf16> into tensor<3x15x64xf16>
    %r = linalg.generic {indexing_maps = [#read, #filter, #result], iterator_types = #loops}
         ins(%w, %g : tensor<32x222x3x222x15xf16>, tensor<3x15x64xf16>) outs(%o : tensor<32x222x222x64xf32>) {
      ^bb0(%a: f16, %b: f16, %acc: f32):
        %u = arith.extf %a : f16 to f32
        %v = arith.extf %b : f16 to f32
        %m = arith.mulf %u, %v : f32
        %s = arith.addf %acc, %m : f32
        linalg.yield %s : f32
    } -> tensor<32x222x222x64xf32>
    return %r : tensor<32x222x222x64xf32>
  }
}
