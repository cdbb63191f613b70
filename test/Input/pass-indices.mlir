// RUN: tilewright-opt %s -tilewright-pass-indices | FileCheck %s

// CHECK-LABEL: func.func private @Next(
// CHECK-SAME: %[[N:.*]]: tensor<8xi64>) -> tensor<8xi64>
// CHECK: %[[I:.*]] = arith.index_cast %[[N]] : tensor<8xi64> to tensor<8xindex>
// CHECK: %[[S:.*]] = arith.addi %[[I]], %[[I]] : tensor<8xindex>
// CHECK: %[[R:.*]] = arith.index_cast %[[S]] : tensor<8xindex> to tensor<8xi64>
// CHECK: return %[[R]] : tensor<8xi64>
func.func private @Next(%i: tensor<8xindex>) -> tensor<8xindex> {
  %s = arith.addi %i, %i : tensor<8xindex>
  return %s : tensor<8xindex>
}

// Scalars are passed as they are.
// CHECK-LABEL: func.func @Call(
// CHECK-SAME: %[[N:.*]]: tensor<8xi64>, %{{.*}}: index) -> tensor<8xi64>
// CHECK: call @Next(%{{.*}}) : (tensor<8xi64>) -> tensor<8xi64>
// CHECK: return %{{.*}} : tensor<8xi64>
func.func @Call(%i: tensor<8xindex>, %n: index) -> tensor<8xindex> {
  %r = func.call @Next(%i) : (tensor<8xindex>) -> tensor<8xindex>
  return %r : tensor<8xindex>
}
