// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-pack-weights),tilewright-compute-at-load)' | FileCheck %s

#target = #tilewright.target<"cpu", "cpu", {dispatch_vector_bytes = 64}>

// Strips of two vectors, in the order in which a tile reads them; what is done with the result takes both loops, and its operand two dims.
// CHECK-DAG: #[[TURN:.*]] = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-DAG: #[[ROWS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
// CHECK-DAG: #[[STRIPS:.*]] = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
// CHECK-DAG: #[[RESULT:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[BIAS:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-LABEL: func.func private @layer.at_load() -> tensor<64x512x32xf32>
// CHECK: %[[E:.*]] = tensor.expand_shape %{{.*}} {{\[\[}}0], [1, 2]] {{.*}} : tensor<512x2048xf32> into tensor<512x64x32xf32>
// CHECK: linalg.generic {indexing_maps = [#[[TURN]], #[[ID]]]
// CHECK-LABEL: func.func @layer
// CHECK-SAME: tilewright.explain = ["constant weights of 1 product are stored in strips of columns when the program is loaded"]
// CHECK: %[[W:.*]] = tilewright.loaded @layer.at_load[0] : tensor<64x512x32xf32>
// CHECK: %[[P:.*]] = linalg.generic {indexing_maps = [#[[ROWS]], #[[STRIPS]], #[[RESULT]]], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
// CHECK-SAME: ins(%{{.*}}, %[[W]] :
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[BIAS]], #[[ID]]]
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1, 2]] : tensor<49x64x32xf32> into tensor<49x2048xf32>
module attributes {tilewright.target = #target} {
  func.func @layer(%x: tensor<49x512xf32>, %bias: tensor<2048xf32>) -> tensor<49x2048xf32> {
    %w = arith.constant dense_resource<w> : tensor<512x2048xf32>
    %z = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<49x2048xf32>
    %f = linalg.fill ins(%z : f32) outs(%e : tensor<49x2048xf32>) -> tensor<49x2048xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<49x512xf32>, tensor<512x2048xf32>) outs(%f : tensor<49x2048xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<49x2048xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                         iterator_types = ["parallel", "parallel"]}
        ins(%p, %bias : tensor<49x2048xf32>, tensor<2048xf32>) outs(%e : tensor<49x2048xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    } -> tensor<49x2048xf32>
    return %r : tensor<49x2048xf32>
  }
}

// -----

#target = #tilewright.target<"cpu", "cpu", {dispatch_vector_bytes = 64}>

// What a cache keeps, an argument, and columns that are no whole strips stay as they are.
// CHECK-NOT: at_load
// CHECK-LABEL: func.func @others
module attributes {tilewright.target = #target} {
  func.func @others(%x: tensor<49x512xf32>, %w: tensor<512x2048xf32>, %e: tensor<49x64xf32>, %f: tensor<49x2048xf32>, %g: tensor<49x1000xf32>)
      -> (tensor<49x64xf32>, tensor<49x2048xf32>, tensor<49x1000xf32>) {
    %small = arith.constant dense_resource<small> : tensor<512x64xf32>
    %odd = arith.constant dense_resource<odd> : tensor<512x1000xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %small : tensor<49x512xf32>, tensor<512x64xf32>) outs(%e : tensor<49x64xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<49x64xf32>
    %q = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<49x512xf32>, tensor<512x2048xf32>) outs(%f : tensor<49x2048xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<49x2048xf32>
    %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %odd : tensor<49x512xf32>, tensor<512x1000xf32>) outs(%g : tensor<49x1000xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<49x1000xf32>
    return %p, %q, %r : tensor<49x64xf32>, tensor<49x2048xf32>, tensor<49x1000xf32>
  }
}

// -----

#target = #tilewright.target<"cpu", "cpu", {dispatch_vector_bytes = 64}>

// Any number of rows, and weights whose sum runs along their rows, as torch stores them.
// CHECK-LABEL: func.func private @rows.at_load() -> tensor<64x512x32xf32>
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] {{.*}} : tensor<2048x512xf32> into tensor<64x32x512xf32>
// CHECK-LABEL: func.func @rows
// CHECK: %[[W:.*]] = tilewright.loaded @rows.at_load[0] : tensor<64x512x32xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[W]] : tensor<?x512xf32>, tensor<64x512x32xf32>) outs(%{{.*}} : tensor<?x64x32xf32>)
// CHECK: tensor.collapse_shape {{.*}} : tensor<?x64x32xf32> into tensor<?x2048xf32>
module attributes {tilewright.target = #target} {
  func.func @rows(%x: tensor<?x512xf32>, %o: tensor<?x2048xf32>) -> tensor<?x2048xf32> {
    %w = arith.constant dense_resource<w> : tensor<2048x512xf32>
    %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<?x512xf32>, tensor<2048x512xf32>) outs(%o : tensor<?x2048xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<?x2048xf32>
    return %p : tensor<?x2048xf32>
  }
}
