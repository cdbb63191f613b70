// RUN: tilewright-opt %s -tilewright-copy-equal-results | FileCheck %s

// CHECK-LABEL: func.func @Loop(
// CHECK: %[[S:.*]] = linalg.negf
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[S]])
// CHECK: scf.yield %[[S]], %[[COPY]]
func.func @Loop(%a: tensor<4xf32>, %n: index) -> (tensor<4xf32>, tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %a, %q = %a) -> (tensor<4xf32>, tensor<4xf32>) {
    %e = tensor.empty() : tensor<4xf32>
    %s = linalg.negf ins(%q : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    scf.yield %s, %s : tensor<4xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4xf32>, tensor<4xf32>
}

// A part of what is returned, too.
// CHECK-LABEL: func.func private @Part(
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[A]]
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%[[PART]])
// CHECK: return %[[A]], %[[COPY]], %{{.*}} : tensor<4xf32>, tensor<2xf32>, f32
func.func private @Part(%a: tensor<4xf32>, %b: f32) -> (tensor<4xf32>, tensor<2xf32>, f32) {
  %part = tensor.extract_slice %a[1] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %a, %part, %b : tensor<4xf32>, tensor<2xf32>, f32
}
