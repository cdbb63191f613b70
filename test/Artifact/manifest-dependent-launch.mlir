// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=manifest -o - | tr -d ' \n' | FileCheck %s
// RUN: tilewright-compile %s --target=cuda:sm_80 --emit=manifest -o - | tr -d ' \n' | FileCheck %s --check-prefix=OLD

// Kernels for sm_90 and newer wait themselves for those in front of them, and say so; others cannot.
// CHECK: "dependent_launch":true
// CHECK-SAME: "name":"add_elementwise_0
// OLD-NOT: "dependent_launch"
// OLD: "name":"add_elementwise_0
// OLD-NOT: "dependent_launch"
func.func @add(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<8xf32>
  %r = linalg.add ins(%x, %y : tensor<8xf32>, tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
