// RUN: tilewright-opt %s -tilewright-fold-relayouts | FileCheck %s

// Sorts by < have no block. What they write to may be known to be of a size.
// CHECK-LABEL: func.func @sort(
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x4xf32>, %[[B:[^:]*]]: tensor<4x4xf16>, %[[E:[^:]*]]: tensor<4x4xf32>, %[[F:[^:]*]]: tensor<4x4xf16>
// CHECK: %[[R:.*]]:2 = tilewright.sort ins(%[[A]], %[[B]] : tensor<4x4xf32>, tensor<4x4xf16>) outs(%[[E]], %[[F]] :
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @sort(%a: tensor<4x4xf32>, %b: tensor<4x4xf16>, %e: tensor<4x4xf32>, %f: tensor<4x4xf16>) -> (tensor<4x4xf32>, tensor<4x4xf16>) {
  %x = tensor.cast %a : tensor<4x4xf32> to tensor<?x4xf32>
  %y = tensor.cast %b : tensor<4x4xf16> to tensor<?x4xf16>
  %c = tensor.cast %e : tensor<4x4xf32> to tensor<?x4xf32>
  %d = tensor.cast %f : tensor<4x4xf16> to tensor<?x4xf16>
  %r:2 = tilewright.sort ins(%x, %y : tensor<?x4xf32>, tensor<?x4xf16>) outs(%c, %d : tensor<?x4xf32>, tensor<?x4xf16>) {dim = 0 : i64} -> tensor<?x4xf32>, tensor<?x4xf16>
  %s = tensor.cast %r#0 : tensor<?x4xf32> to tensor<4x4xf32>
  %t = tensor.cast %r#1 : tensor<?x4xf16> to tensor<4x4xf16>
  return %s, %t : tensor<4x4xf32>, tensor<4x4xf16>
}
