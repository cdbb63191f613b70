// A temporary is made where it comes alive: made earlier, its poison would hit one that lies in the same bytes.
// RUN: tilewright-opt %s -tilewright-plan-temporaries | FileCheck %s

// CHECK-LABEL: func.func @main(
// CHECK: %[[A:.*]] = tensor.empty() {tilewright.temporary = array<i64: 1, 0>} : tensor<64xf32>
// CHECK: tilewright.dispatch @k(%{{.*}}) outs(%[[A]]
// CHECK: %[[B:.*]] = tensor.empty() {tilewright.temporary = array<i64: 2, 256>} : tensor<64xf32>
// CHECK: tilewright.dispatch @k(%{{.*}}) outs(%[[B]]
// CHECK: %[[C:.*]] = tensor.empty() {tilewright.temporary = array<i64: 0, 0>} : tensor<64xf32>
// CHECK-NEXT: tilewright.dispatch @k(%{{.*}}) outs(%[[C]]
func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
  %c = tensor.empty() : tensor<64xf32>
  %a = tensor.empty() : tensor<64xf32>
  %0 = tilewright.dispatch @k(%x : tensor<64xf32>) outs(%a : tensor<64xf32>) -> tensor<64xf32>
  %b = tensor.empty() : tensor<64xf32>
  %1 = tilewright.dispatch @k(%0 : tensor<64xf32>) outs(%b : tensor<64xf32>) -> tensor<64xf32>
  %2 = tilewright.dispatch @k(%1 : tensor<64xf32>) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  %d = tensor.empty() : tensor<64xf32>
  %3 = tilewright.dispatch @k(%2 : tensor<64xf32>) outs(%d : tensor<64xf32>) -> tensor<64xf32>
  return %3 : tensor<64xf32>
}
func.func private @k(%x: tensor<64xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  return %x : tensor<64xf32>
}
