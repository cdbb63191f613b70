// What has no loops is named.
//
// RUN: not tilewright-compile %s --emit=loops -o %t.none 2>&1 | FileCheck %s
// RUN: not ls %t.none
//
// CHECK: loops-errors.mlir:10:8: error: op was not bufferized

func.func @main(%a: tensor<4xi32>) -> tensor<4xf32> {

  %r = tensor.bitcast %a : tensor<4xi32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
