// RUN: tilewright-opt %s -tilewright-crop-pads -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: @Static
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[1, 0] [4, 5] [1, 1] : tensor<5x6xf32> to tensor<4x5xf32>
// CHECK: tensor.pad %[[S]] low[0, 3] high[0, 0]
func.func @Static(%x: tensor<5x6xf32>) -> tensor<4x8xf32> {
  %c = arith.constant 7.0 : f32
  %r = tensor.pad %x low[-1, 3] high[0, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<5x6xf32> to tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @Dynamic
// CHECK: %[[N:.*]] = affine.apply #{{.*}}()[%{{.*}}]
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[2] [%[[N]]] [1]
// CHECK: tensor.pad %[[S]] low[0] high[%{{.*}}]
func.func @Dynamic(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c = arith.constant 7.0 : f32
  %r = tensor.pad %x low[-2] high[%n] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %r : tensor<?xf32>
}

// -----

func.func @TooMany(%x: tensor<5xf32>) -> tensor<4xf32> {
  %c = arith.constant 7.0 : f32
  // expected-error @below {{takes more elements off its source than there are}}
  %r = tensor.pad %x low[-6] high[5] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<5xf32> to tensor<4xf32>
  return %r : tensor<4xf32>
}
