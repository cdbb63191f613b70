// RUN: tilewright-opt %s -tilewright-number-dispatches | FileCheck %s

// CHECK-NOT: @unused
// CHECK: func private @a{{.*}}tilewright.dispatch_id = 0 : i64
// CHECK: func private @b{{.*}}tilewright.dispatch_id = 1 : i64
func.func private @unused(%x: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel}
func.func private @a(%x: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel}
func.func private @b(%x: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel}
func.func @KernelsAreNumberedInOrder(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = tilewright.dispatch @b() outs(%x : tensor<8xf32>) -> tensor<8xf32>
  %1 = tilewright.dispatch @a() outs(%0 : tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
