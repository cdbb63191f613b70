// RUN: tilewright-opt %s -tilewright-write-in-place | FileCheck %s

func.func private @k(%x: tensor<8xf32>, %out: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel, tilewright.access = ["read", "write"]}

// CHECK-LABEL: func @ResultGoesToTheMemref
// CHECK: %[[T:.*]] = bufferization.to_tensor %arg1 restrict writable
// CHECK: tilewright.dispatch @k(%arg0 : tensor<8xf32>) outs(%[[T]]
func.func @ResultGoesToTheMemref(%x: tensor<8xf32>, %m: memref<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %r = tilewright.dispatch @k(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %r in writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// CHECK-LABEL: func @OldContentsAreStillRead
// CHECK: %[[E:.*]] = tensor.empty
// CHECK: tilewright.dispatch @k(%{{.*}} : tensor<8xf32>) outs(%[[E]]
func.func @OldContentsAreStillRead(%m: memref<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %t = bufferization.to_tensor %m restrict writable : memref<8xf32> to tensor<8xf32>
  %r = tilewright.dispatch @k(%t : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %r in writable %m : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}
