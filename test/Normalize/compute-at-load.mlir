// RUN: tilewright-opt %s -split-input-file -tilewright-compute-at-load | FileCheck %s

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// What is computed from constants moves; the product, which reads an argument, stays.
// CHECK-LABEL: func.func private @scaled.at_load() -> tensor<64x32xf32> attributes {tilewright.at_load}
// CHECK: %[[W:.*]] = arith.constant dense_resource<w>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[W]]
// CHECK: return %[[S]]
// CHECK-LABEL: func.func @scaled
// CHECK-NOT: arith.mulf
// CHECK: %[[L:.*]] = tilewright.loaded @scaled.at_load[0] : tensor<64x32xf32>
// CHECK: linalg.matmul ins(%{{.*}}, %[[L]]
func.func @scaled(%x: tensor<8x64xf32>, %out: tensor<8x32xf32>) -> tensor<8x32xf32> {
  %w = arith.constant dense_resource<w> : tensor<64x32xf32>
  %f = arith.constant dense_resource<f> : tensor<32xf32>
  %e = tensor.empty() : tensor<64x32xf32>
  %s = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w, %f : tensor<64x32xf32>, tensor<32xf32>) outs(%e : tensor<64x32xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    linalg.yield %m : f32
  } -> tensor<64x32xf32>
  %r = linalg.matmul ins(%x, %s : tensor<8x64xf32>, tensor<64x32xf32>) outs(%out : tensor<8x32xf32>) -> tensor<8x32xf32>
  return %r : tensor<8x32xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#column = affine_map<(i, j) -> (j)>

// The part of a body that depends on constants becomes an op over the loops that these have.
// CHECK-LABEL: func.func private @norm.at_load() -> tensor<2048xf32>
// CHECK: linalg.generic {indexing_maps = [#[[V:.*]], #[[V]]], iterator_types = ["parallel"]}
// CHECK: arith.addf
// CHECK: math.rsqrt
// CHECK-LABEL: func.func @norm
// CHECK: %[[L:.*]] = tilewright.loaded @norm.at_load[0] : tensor<2048xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}}, %{{.*}}, %[[L]] : tensor<8x2048xf32>, tensor<2048xf32>, tensor<2048xf32>, tensor<2048xf32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: f32, %[[MEAN:.*]]: f32, %{{.*}}: f32, %[[F:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[D:.*]] = arith.subf %[[X]], %[[MEAN]]
// CHECK-NEXT: %[[R:.*]] = arith.mulf %[[D]], %[[F]]
// CHECK-NEXT: linalg.yield %[[R]]
func.func @norm(%x: tensor<8x2048xf32>, %out: tensor<8x2048xf32>) -> tensor<8x2048xf32> {
  %mean = arith.constant dense_resource<mean> : tensor<2048xf32>
  %var = arith.constant dense_resource<var> : tensor<2048xf32>
  %eps = arith.constant 1.0e-5 : f32
  %r = linalg.generic {indexing_maps = [#id, #column, #column, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %mean, %var : tensor<8x2048xf32>, tensor<2048xf32>, tensor<2048xf32>) outs(%out : tensor<8x2048xf32>) {
  ^bb0(%a: f32, %m: f32, %v: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %s = arith.addf %v, %eps : f32
    %f = math.rsqrt %s : f32
    %y = arith.mulf %d, %f : f32
    linalg.yield %y : f32
  } -> tensor<8x2048xf32>
  return %r : tensor<8x2048xf32>
}

// -----

#id = affine_map<(i, j) -> (i, j)>
#turned = affine_map<(i, j) -> (j, i)>

// Weights that take more memory when they are dequantised are dequantised in each call; what only moves elements is read through.
// CHECK-NOT: at_load
// CHECK-LABEL: func.func @dequantised
func.func @dequantised(%x: tensor<8x64xf32>, %out: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %w = arith.constant dense_resource<w> : tensor<64x64xi8>
  %v = arith.constant dense_resource<v> : tensor<64x64xf32>
  %e = tensor.empty() : tensor<64x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<64x64xi8>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: i8, %o: f32):
    %m = arith.sitofp %a : i8 to f32
    linalg.yield %m : f32
  } -> tensor<64x64xf32>
  %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<64x64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<64x64xf32>
  %r = linalg.matmul ins(%x, %s : tensor<8x64xf32>, tensor<64x64xf32>) outs(%out : tensor<8x64xf32>) -> tensor<8x64xf32>
  %q = linalg.matmul ins(%x, %t : tensor<8x64xf32>, tensor<64x64xf32>) outs(%r : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %q : tensor<8x64xf32>
}

// -----

// A filter in the order of channels last: the pass that turns it says so.
// CHECK-LABEL: func.func private @turned.at_load() -> tensor<64x16xf32>
// CHECK: linalg.transpose
// CHECK-NOT: tilewright.at_load}
// CHECK-LABEL: func.func @turned
// CHECK: tilewright.loaded @turned.at_load[0]
func.func @turned(%x: tensor<8x64xf32>, %out: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %w = arith.constant dense_resource<w> : tensor<16x64xf32>
  %e = tensor.empty() : tensor<64x16xf32>
  %t = linalg.transpose ins(%w : tensor<16x64xf32>) outs(%e : tensor<64x16xf32>) permutation = [1, 0] {tilewright.at_load}
  %r = linalg.matmul ins(%x, %t : tensor<8x64xf32>, tensor<64x16xf32>) outs(%out : tensor<8x16xf32>) -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// All of a function without arguments is constant; calls are there to compute it.
// CHECK-NOT: at_load
// CHECK-LABEL: func.func @constant
func.func @constant() -> tensor<64xf32> {
  %w = arith.constant dense_resource<w> : tensor<64xf32>
  %e = tensor.empty() : tensor<64xf32>
  %s = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%w : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %o: f32):
    %m = arith.negf %a : f32
    linalg.yield %m : f32
  } -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// -----

#id = affine_map<(i) -> (i)>

// A function of coordinates (the frequencies of a rotary embedding), not coordinates alone, which
// take as long to read.
// CHECK: func.func private @frequencies.at_load() -> tensor<16xf32>
// CHECK: math.powf
// CHECK: return %{{.*}} : tensor<16xf32>
// CHECK-LABEL: func.func @frequencies
// CHECK: %[[F:.*]] = tilewright.loaded @frequencies.at_load[0] : tensor<16xf32>
// CHECK: linalg.index
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[F]], %{{.*}} : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>)
func.func @frequencies(%x: tensor<16xf32>) -> tensor<16xf32> {
  %base = arith.constant 10000.0 : f32
  %e = tensor.empty() : tensor<16xf32>
  %n = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = arith.index_cast %i : index to i32
    %k = arith.sitofp %j : i32 to f32
    linalg.yield %k : f32
  } -> tensor<16xf32>
  %f = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%n : tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %o: f32):
    %p = math.powf %base, %a : f32
    linalg.yield %p : f32
  } -> tensor<16xf32>
  %r = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]}
      ins(%x, %f, %n : tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) outs(%e : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %m, %c : f32
    linalg.yield %s : f32
  } -> tensor<16xf32>
  return %r : tensor<16xf32>
}
