// RUN: tilewright-opt %s --tilewright-load-dispatches | FileCheck %s

// A copy of a constant runs at load, and what reads it does not know; what a call returns, or a
// kernel writes into, is made by each call; so is a large table that comes from little.

// CHECK-LABEL: func private @main.at_load() -> tensor<8x4xf32>
// CHECK-SAME: tilewright.at_load
// CHECK-NEXT: %[[W:.*]] = arith.constant
// CHECK-NEXT: %[[E:.*]] = tensor.empty
// CHECK-NEXT: %[[T:.*]] = tilewright.dispatch @copy(%[[W]] : tensor<4x8xf32>) outs(%[[E]] : tensor<8x4xf32>)
// CHECK-NEXT: return %[[T]]
// CHECK-LABEL: func @main(
// CHECK-NEXT: %[[L:.*]] = tilewright.loaded @main.at_load[0]
// CHECK: %[[S:.*]] = tensor.extract_slice %[[L]]
// CHECK: %[[R:.*]] = tilewright.dispatch @read(%{{.*}}, %[[S]]
// CHECK: %[[B:.*]] = tilewright.dispatch @copy
// CHECK: %[[M:.*]] = tilewright.dispatch @large
// CHECK: tilewright.dispatch @update(%[[R]], %[[M]] {{.*}} outs(%[[B]]
// CHECK: %[[C:.*]] = tilewright.dispatch @copy
// CHECK: return %{{.*}}, %[[C]]
module {
  func.func private @copy(tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> attributes {tilewright.kernel}
  func.func private @read(tensor<8x4xf32>, tensor<4x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> attributes {tilewright.kernel}
  func.func private @update(tensor<8x4xf32>, tensor<1024x1024xf32>, tensor<8x4xf32>) -> tensor<8x4xf32> attributes {tilewright.kernel}
  func.func private @large(tensor<1024x1024xf32>) -> tensor<1024x1024xf32> attributes {tilewright.kernel}
  func.func @main(%x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<8x4xf32>) {
    %w = arith.constant dense_resource<w> : tensor<4x8xf32>
    %e = tensor.empty() : tensor<8x4xf32>
    %t = tilewright.dispatch @copy(%w : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
    %s = tensor.extract_slice %t[0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
    %r = tilewright.dispatch @read(%x, %s : tensor<8x4xf32>, tensor<4x4xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
    %b = tilewright.dispatch @copy(%w : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
    %f = tensor.empty() : tensor<1024x1024xf32>
    %m = tilewright.dispatch @large() outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    %u = tilewright.dispatch @update(%r, %m : tensor<8x4xf32>, tensor<1024x1024xf32>) outs(%b : tensor<8x4xf32>) -> tensor<8x4xf32>
    %c = tilewright.dispatch @copy(%w : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) -> tensor<8x4xf32>
    return %u, %c : tensor<8x4xf32>, tensor<8x4xf32>
  }
}
