// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cpu --emit=manifest -o - | tr -d ' \n' | FileCheck %s

// Operations of attention are those of the queries and keys that see each other: 2 heads of 5
// queries and 7 keys, 4 multiply-adds of a pair in either contraction.

#q = affine_map<(h, i, j, d, e) -> (h, i, d)>
#k = affine_map<(h, i, j, d, e) -> (h, j, d)>
#v = affine_map<(h, i, j, d, e) -> (h, j, e)>
#o = affine_map<(h, i, j, d, e) -> (h, i, e)>

// All 35 pairs.
// CHECK: "flops":1120,"inputs"
// CHECK-SAME: "name":"all"
func.func @all(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %o: tensor<2x5x4xf32>) -> tensor<2x5x4xf32> {
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>)
      outs(%o : tensor<2x5x4xf32>) {indexing_maps = [#q, #k, #v, #o]} -> tensor<2x5x4xf32>
  return %r : tensor<2x5x4xf32>
}

// 1 + 2 + 3 + 4 + 5.
// CHECK-SAME: "flops":480,"inputs"
// CHECK-SAME: "name":"top_left"
func.func @top_left(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %o: tensor<2x5x4xf32>) -> tensor<2x5x4xf32> {
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>)
      outs(%o : tensor<2x5x4xf32>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<2x5x4xf32>
  return %r : tensor<2x5x4xf32>
}

// 3 + 4 + 5 + 6 + 7.
// CHECK-SAME: "flops":800,"inputs"
// CHECK-SAME: "name":"bottom_right"
func.func @bottom_right(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %o: tensor<2x5x4xf32>) -> tensor<2x5x4xf32> {
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>)
      outs(%o : tensor<2x5x4xf32>) {indexing_maps = [#q, #k, #v, #o], causal = "bottom_right"} -> tensor<2x5x4xf32>
  return %r : tensor<2x5x4xf32>
}

// 3 of the first query, 4 of each other.
// CHECK-SAME: "flops":608,"inputs"
// CHECK-SAME: "name":"window"
func.func @window(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %o: tensor<2x5x4xf32>) -> tensor<2x5x4xf32> {
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>)
      outs(%o : tensor<2x5x4xf32>) {indexing_maps = [#q, #k, #v, #o], window = array<i64: 1, 2>} -> tensor<2x5x4xf32>
  return %r : tensor<2x5x4xf32>
}

// 2 of each query.
// CHECK-SAME: "flops":320,"inputs"
// CHECK-SAME: "name":"left"
func.func @left(%q: tensor<2x5x4xf32>, %k: tensor<2x7x4xf32>, %v: tensor<2x7x4xf32>, %o: tensor<2x5x4xf32>) -> tensor<2x5x4xf32> {
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x5x4xf32>, tensor<2x7x4xf32>, tensor<2x7x4xf32>)
      outs(%o : tensor<2x5x4xf32>) {indexing_maps = [#q, #k, #v, #o], causal = "bottom_right", window = array<i64: 1, -1>} -> tensor<2x5x4xf32>
  return %r : tensor<2x5x4xf32>
}

// (T(I) - T(I - J)) for I queries and J keys, by T(x) = x * (x + 1) / 2.
// CHECK-SAME: "flops":["mul",32,["floordiv",["sub",["mul",["max",["dim",0,1],0],["add",["max",["dim",0,1],0],1]],["mul",["max",["sub",["dim",0,1],["dim",1,1]],0],["add",["max",["sub",["dim",0,1],["dim",1,1]],0],1]]],2]],"inputs"
// CHECK-SAME: "name":"dynamic"
func.func @dynamic(%q: tensor<2x?x4xf32>, %k: tensor<2x?x4xf32>, %v: tensor<2x?x4xf32>, %o: tensor<2x?x4xf32>) -> tensor<2x?x4xf32> {
  %r = tilewright.attention ins(%q, %k, %v : tensor<2x?x4xf32>, tensor<2x?x4xf32>, tensor<2x?x4xf32>)
      outs(%o : tensor<2x?x4xf32>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left"} -> tensor<2x?x4xf32>
  return %r : tensor<2x?x4xf32>
}
