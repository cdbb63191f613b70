// RUN: tilewright-opt %s -tilewright-inline-calls | FileCheck %s

// Called at one place: gone.
// CHECK-NOT: @once
func.func private @once(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = arith.addf %x, %x : tensor<8xf32>
  return %s, %x : tensor<8xf32>, tensor<8xf32>
}

// Called twice: its kernels are compiled once.
// CHECK: func.func private @twice
func.func private @twice(%x: tensor<8xf32>) -> tensor<8xf32> {
  %s = arith.mulf %x, %x : tensor<8xf32>
  return %s : tensor<8xf32>
}

// CHECK: func.func private @of_memrefs
func.func private @of_memrefs(%x: memref<8xf32>) {
  return
}

// CHECK: func.func private @external
func.func private @external(tensor<8xf32>) -> tensor<8xf32>

// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %{{.*}}: memref<8xf32>
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[X]]
// CHECK: %[[A:.*]] = call @twice(%[[S]])
// CHECK: call @twice(%[[X]])
// CHECK: call @of_memrefs
// CHECK: call @external
// CHECK: return %[[A]]
func.func @main(%x: tensor<8xf32>, %m: memref<8xf32>) -> tensor<8xf32> {
  %0, %1 = call @once(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
  %2 = call @twice(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %3 = call @twice(%1) : (tensor<8xf32>) -> tensor<8xf32>
  call @of_memrefs(%m) : (memref<8xf32>) -> ()
  %4 = call @external(%3) : (tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Called once, by itself.
// CHECK: func.func private @endless
func.func private @endless(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @endless(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// One call in the other: both go.
// CHECK-NOT: @inner
// CHECK-NOT: @outer
// CHECK-LABEL: func.func @nested(
// CHECK: arith.negf
// CHECK: return
func.func private @inner(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = arith.negf %x : tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func private @outer(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @inner(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
func.func @nested(%x: tensor<8xf32>) -> tensor<8xf32> {
  %r = call @outer(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}
