// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-read-narrow-operands,canonicalize))' | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#swapped = affine_map<(i, j) -> (j, i)>
#elementwise = {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// By way of another shape, and transposed while it is widened.
// CHECK-LABEL: func.func @Halves
// CHECK-SAME: %[[Q:.*]]: tensor<2x?x16xf16>, %[[K:.*]]: tensor<?x16xf16>
// CHECK-DAG: %[[A:.*]] = tensor.collapse_shape %[[Q]] {{.*}} : tensor<2x?x16xf16> into tensor<?x16xf16>
// CHECK-DAG: %[[B:.*]] = linalg.generic {{.*}} ins(%[[K]] : tensor<?x16xf16>) outs(%{{.*}} : tensor<16x?xf16>)
// CHECK: linalg.generic {{.*}}reduction{{.*}} ins(%[[A]], %[[B]] : tensor<?x16xf16>, tensor<16x?xf16>) outs(%{{.*}} : tensor<?x?xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f16, %[[Y:.*]]: f16, %{{.*}}: f32):
// CHECK-NEXT: %[[C:.*]] = arith.extf %[[X]]
// CHECK-NEXT: %[[D:.*]] = arith.extf %[[Y]]
// CHECK-NEXT: arith.mulf %[[C]], %[[D]]
func.func @Halves(%q: tensor<2x?x16xf16>, %k: tensor<?x16xf16>, %e0: tensor<2x?x16xf32>, %e1: tensor<16x?xf32>, %z: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q : tensor<2x?x16xf16>) outs(%e0 : tensor<2x?x16xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    linalg.yield %w : f32
  } -> tensor<2x?x16xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x?x16xf32> into tensor<?x16xf32>
  %2 = linalg.generic {indexing_maps = [#swapped, #id], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<?x16xf16>) outs(%e1 : tensor<16x?xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    linalg.yield %w : f32
  } -> tensor<16x?xf32>
  %r = linalg.generic #product ins(%1, %2 : tensor<?x16xf32>, tensor<16x?xf32>) outs(%z : tensor<?x?xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#elementwise = {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// One factor is widened in the body.
// CHECK-LABEL: func.func @Bytes
// CHECK-SAME: %[[A:.*]]: tensor<8x16xi8>, %[[B:.*]]: tensor<16x4xi8>
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<8x16xi8>, tensor<16x4xi8>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: i8, %[[Y:.*]]: i8, %{{.*}}: i32):
// CHECK-DAG: arith.extui %[[X]]
// CHECK-DAG: arith.extsi %[[Y]]
func.func @Bytes(%a: tensor<8x16xi8>, %b: tensor<16x4xi8>, %e: tensor<8x16xi32>, %z: tensor<8x4xi32>) -> tensor<8x4xi32> {
  %0 = linalg.generic #elementwise ins(%a : tensor<8x16xi8>) outs(%e : tensor<8x16xi32>) {
  ^bb0(%x: i8, %o: i32):
    %w = arith.extui %x : i8 to i32
    linalg.yield %w : i32
  } -> tensor<8x16xi32>
  %r = linalg.generic #product ins(%0, %b : tensor<8x16xi32>, tensor<16x4xi8>) outs(%z : tensor<8x4xi32>) {
  ^bb0(%x: i32, %y: i8, %o: i32):
    %w = arith.extsi %y : i8 to i32
    %m = arith.muli %x, %w : i32
    %s = arith.addi %m, %o : i32
    linalg.yield %s : i32
  } -> tensor<8x4xi32>
  return %r : tensor<8x4xi32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#elementwise = {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// f16 beside f32 stays: no matrix unit multiplies them.
// CHECK-LABEL: func.func @Mixed
// CHECK: %[[W:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8x16xf32>)
// CHECK: linalg.generic {{.*}} ins(%[[W]], %{{.*}} : tensor<8x16xf32>, tensor<16x4xf32>)
func.func @Mixed(%a: tensor<8x16xf16>, %b: tensor<16x4xf32>, %e: tensor<8x16xf32>, %z: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = linalg.generic #elementwise ins(%a : tensor<8x16xf16>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%x: f16, %o: f32):
    %w = arith.extf %x : f16 to f32
    linalg.yield %w : f32
  } -> tensor<8x16xf32>
  %r = linalg.generic #product ins(%0, %b : tensor<8x16xf32>, tensor<16x4xf32>) outs(%z : tensor<8x4xf32>) {
  ^bb0(%x: f32, %y: f32, %o: f32):
    %m = arith.mulf %x, %y : f32
    %s = arith.addf %m, %o : f32
    linalg.yield %s : f32
  } -> tensor<8x4xf32>
  return %r : tensor<8x4xf32>
}

// -----

// The sizes of what is widened are known, those of what it is read from are not.
// CHECK-LABEL: func.func @Sizes(
// CHECK: %[[C:.*]] = tensor.cast %arg0 : tensor<?x8x16xf16> to tensor<2x8x16xf16>
// CHECK: %[[A:.*]] = tensor.collapse_shape %[[C]]
// CHECK: linalg.generic {{.*}} ins(%[[A]], %arg1 : tensor<16x16xf16>, tensor<16x24xf16>)
#id = affine_map<(i, j, k) -> (i, j, k)>
#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}
func.func @Sizes(%q: tensor<?x8x16xf16>, %k: tensor<16x24xf16>, %z: tensor<16x24xf32>) -> tensor<16x24xf32> {
  %e0 = tensor.empty() : tensor<2x8x16xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%q : tensor<?x8x16xf16>) outs(%e0 : tensor<2x8x16xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    linalg.yield %w : f32
  } -> tensor<2x8x16xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<2x8x16xf32> into tensor<16x16xf32>
  %r = linalg.generic #product ins(%1, %k : tensor<16x16xf32>, tensor<16x24xf16>) outs(%z : tensor<16x24xf32>) {
  ^bb0(%a: f32, %b: f16, %o: f32):
    %w = arith.extf %b : f16 to f32
    %m = arith.mulf %a, %w : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<16x24xf32>
  return %r : tensor<16x24xf32>
}
