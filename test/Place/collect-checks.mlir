// RUN: tilewright-opt %s -tilewright-collect-checks | FileCheck %s

// CHECK-LABEL: func private @Contraction
// CHECK-SAME: {dims = array<i64: 0, 0, 3, 0>, message = "matmul (line {{[0-9]+}}): dim 0 of operand 0 and dim 0 of operand 3 must be equal"}
// CHECK-SAME: {dims = array<i64: 1, 0, 0, 1>, message = "matmul (line {{[0-9]+}}): dim 0 of operand 1 and dim 1 of operand 0 must be equal"}
// CHECK-SAME: {dims = array<i64: 1, 1, 2, 0>
// CHECK-SAME: {dims = array<i64: 1, 1, 3, 1>
func.func private @Contraction(%a: tensor<?x?xf32>, %b: tensor<512x256xf32>, %bias: tensor<?xf32>, %out: tensor<?x?xf32>) -> tensor<?x?xf32>
    attributes {tilewright.kernel} {
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%out : tensor<?x?xf32>) -> tensor<?x?xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<?x?xf32>, tensor<512x256xf32>) outs(%f : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32):
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %c, %p : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
    ins(%m, %bias : tensor<?x?xf32>, tensor<?xf32>) outs(%out : tensor<?x?xf32>) {
  ^bb0(%x: f32, %y: f32, %c: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}

// CHECK-LABEL: func private @StaticShapesNeedNoChecks
// CHECK-SAME: attributes {tilewright.kernel} {
func.func private @StaticShapesNeedNoChecks(%a: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32>
    attributes {tilewright.kernel} {
  %r = linalg.generic {indexing_maps = [affine_map<(m) -> (m)>, affine_map<(m) -> (m)>], iterator_types = ["parallel"]}
    ins(%a : tensor<8xf32>) outs(%out : tensor<8xf32>) {
  ^bb0(%x: f32, %c: f32):
    %s = arith.negf %x : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// CHECK-LABEL: func private @Attention
// CHECK-SAME: message = "attention (line {{[0-9]+}}): dim 0 of operand 1 and dim 0 of operand 2 must be equal"
func.func private @Attention(%q: tensor<?x16xf16>, %k: tensor<?x16xf16>, %v: tensor<?x16xf16>, %out: tensor<?x16xf16>) -> tensor<?x16xf16>
    attributes {tilewright.kernel} {
  %r = tilewright.attention ins(%q, %k, %v : tensor<?x16xf16>, tensor<?x16xf16>, tensor<?x16xf16>)
      outs(%out : tensor<?x16xf16>)
      {indexing_maps = [affine_map<(i, j, d, e) -> (i, d)>, affine_map<(i, j, d, e) -> (j, d)>,
                        affine_map<(i, j, d, e) -> (j, e)>, affine_map<(i, j, d, e) -> (i, e)>]} -> tensor<?x16xf16>
  return %r : tensor<?x16xf16>
}
