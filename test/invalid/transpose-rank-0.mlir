// REQUIRES: tilewright-compile
// RUN: not tilewright-compile %s -o %t.tw --target=cpu 2>&1 | FileCheck %s
// CHECK: :[[@LINE+2]]:8: error: 'linalg.transpose' op of rank 0 has no dims to transpose; use its operand, or linalg.copy
func.func @main(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %r = linalg.transpose ins(%x : tensor<f32>) outs(%y : tensor<f32>) permutation = []
  return %r : tensor<f32>
}
