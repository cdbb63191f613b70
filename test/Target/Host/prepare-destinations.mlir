// RUN: tilewright-opt %s -tilewright-prepare-destinations | FileCheck %s

func.func private @update(tensor<?xf32>) -> tensor<?xf32>
    attributes {tilewright.kernel, tilewright.access = ["readwrite"]}
func.func private @write(tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]}

// CHECK-LABEL: @CopiesArguments
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: tilewright.dispatch @update() outs(%[[C]]
func.func @CopiesArguments(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tilewright.dispatch @update() outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @MakesNewTensorsForWrites
// CHECK: %[[D:.*]] = tensor.dim %arg0
// CHECK: %[[E:.*]] = tensor.empty(%[[D]])
// CHECK: tilewright.dispatch @write(%arg0 : tensor<?xf32>) outs(%[[E]]
func.func @MakesNewTensorsForWrites(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = tilewright.dispatch @write(%x : tensor<?xf32>) outs(%x : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @ReusesResults
// CHECK-NOT: copy
// CHECK: return
func.func @ReusesResults(%n: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = tilewright.dispatch @update() outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %1 = tilewright.dispatch @update() outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  return %1 : tensor<?xf32>
}

// A cast shares the buffer, and is still looked at.
// CHECK-LABEL: @CopiesWhatACastShares
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy
// CHECK: tilewright.dispatch @update() outs(%[[C]]
func.func @CopiesWhatACastShares(%n: index) -> (tensor<4xf32>, tensor<?xf32>) {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = tilewright.dispatch @update() outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %1 = tensor.cast %0 : tensor<?xf32> to tensor<4xf32>
  %2 = tilewright.dispatch @update() outs(%0 : tensor<?xf32>) -> tensor<?xf32>
  return %1, %2 : tensor<4xf32>, tensor<?xf32>
}

// The next iteration would find the tensor of before the loop overwritten.
// CHECK-LABEL: @CopiesInLoops
// CHECK: scf.for
// CHECK: %[[C:.*]] = bufferization.alloc_tensor() copy
// CHECK: tilewright.dispatch @update() outs(%[[C]]
func.func @CopiesInLoops(%n: index, %lb: index, %ub: index) -> tensor<?xf32> {
  %e = tensor.empty(%n) : tensor<?xf32>
  %0 = tilewright.dispatch @update() outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %r = scf.for %i = %lb to %ub step %lb iter_args(%t = %e) -> tensor<?xf32> {
    %1 = tilewright.dispatch @update() outs(%0 : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %1 : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
