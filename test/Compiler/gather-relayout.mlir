// RUN: tilewright-compile %s --target=cuda:sm_80,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=ptxsim --check=oracle --input=23x8x1x51xf64=int:-9:9:1 --input=10x23x8xi32=int:-9:9:2 --input=23x1x8x10xi64=int:0:50:3 | FileCheck %s

// The coordinates come from operands of different orders, and change threads.
// CHECK: ok: 23x1x8x10xf64, all elements equal
func.func @gather(%t: tensor<23x8x1x51xf64>, %a: tensor<10x23x8xi32>, %b: tensor<23x1x8x10xi64>) -> tensor<23x1x8x10xf64> {
  %c0 = arith.constant 0 : index
  %c50 = arith.constant 50 : index
  %e = tensor.empty() : tensor<23x1x8x10xf64>
  %r = linalg.generic {indexing_maps = [affine_map<(d, a, b, e) -> (e, d, b)>, affine_map<(d, a, b, e) -> (d, a, b, e)>, affine_map<(d, a, b, e) -> (d, a, b, e)>], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%a, %b : tensor<10x23x8xi32>, tensor<23x1x8x10xi64>) outs(%e : tensor<23x1x8x10xf64>) {
  ^bb0(%s0: i32, %s1: i64, %s2: f64):
    %x0 = linalg.index 0 : index
    %x1 = linalg.index 2 : index
    %i2 = arith.index_cast %s0 : i32 to index
    %lo2 = arith.maxsi %i2, %c0 : index
    %in2 = arith.minsi %lo2, %c0 : index
    %i3 = arith.index_cast %s1 : i64 to index
    %lo3 = arith.maxsi %i3, %c0 : index
    %in3 = arith.minsi %lo3, %c50 : index
    %v = tensor.extract %t[%x0, %x1, %in2, %in3] : tensor<23x8x1x51xf64>
    linalg.yield %v : f64
  } -> tensor<23x1x8x10xf64>
  return %r : tensor<23x1x8x10xf64>
}
