// RUN: tilewright-opt %s -tilewright-generalize -split-input-file -verify-diagnostics

func.func @SoftmaxOfIntegers(%x: tensor<4x8xi32>, %y: tensor<4x8xi32>) -> tensor<4x8xi32> {
  // expected-error @below {{'linalg.softmax' op has elements of type 'i32', and a softmax is of floats; convert them first (arith.sitofp)}}
  %r = linalg.softmax dimension(1) ins(%x : tensor<4x8xi32>) outs(%y : tensor<4x8xi32>) -> tensor<4x8xi32>
  return %r : tensor<4x8xi32>
}
