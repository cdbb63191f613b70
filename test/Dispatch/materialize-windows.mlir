// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-materialize-windows))' -split-input-file | FileCheck %s

// CHECK-LABEL: func @KernelsReadWindows
// CHECK: %[[W:.*]] = tensor.extract_slice
// CHECK-NOT: tilewright.identity
// CHECK: linalg.generic {{.*}} ins(%[[W]]
#id = affine_map<(i) -> (i)>
func.func @KernelsReadWindows(%x: tensor<8xf32>) -> tensor<4xf32> {
  %w = tensor.extract_slice %x[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%w : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.absf %a : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @WindowsThatAreReturnedAreCopied
// CHECK: %[[W:.*]] = tensor.extract_slice %arg0[%arg1] [%arg2] [2]
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%[[W]] : tensor<?xf32>)
// CHECK-SAME: tilewright.copies = "func.return needs the window as a dense tensor"
// CHECK: tilewright.identity
// CHECK: return %[[C]]
func.func @WindowsThatAreReturnedAreCopied(%x: tensor<?xf32>, %o: index, %n: index) -> tensor<?xf32> {
  %w = tensor.extract_slice %x[%o] [%n] [2] : tensor<?xf32> to tensor<?xf32>
  return %w : tensor<?xf32>
}

// -----

// CHECK-LABEL: func @WhatAnOpComputesForAWindowStays
// CHECK-NOT: tilewright.identity
#id = affine_map<(i) -> (i)>
func.func @WhatAnOpComputesForAWindowStays(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = math.absf %a : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %n = tensor.insert_slice %r into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @WhatIsNotComputedThereIsCopiedIntoTheWindow
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%arg0
// CHECK-SAME: tilewright.copies = "tensor.insert_slice puts a tensor into a window that no kernel computes there"
// CHECK: tensor.insert_slice %[[C]] into %arg1
func.func @WhatIsNotComputedThereIsCopiedIntoTheWindow(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> {
  %n = tensor.insert_slice %x into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @AWindowThatIsUpdatedIsPutBack
// CHECK-NOT: tilewright.identity
#id = affine_map<(i) -> (i)>
func.func @AWindowThatIsUpdatedIsPutBack(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<8xf32> {
  %w = tensor.extract_slice %d[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%w : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.addf %a, %o : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  %n = tensor.insert_slice %r into %d[2] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// CHECK-LABEL: func @AnUpdatedWindowThatGoesElsewhereIsCopiedFirst
// CHECK: %[[C:.*]] = linalg.generic {{.*}}tilewright.copies
// CHECK: linalg.generic {{.*}} outs(%[[C]]
#id = affine_map<(i) -> (i)>
func.func @AnUpdatedWindowThatGoesElsewhereIsCopiedFirst(%x: tensor<4xf32>, %d: tensor<8xf32>) -> tensor<4xf32> {
  %w = tensor.extract_slice %d[2] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%w : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.addf %a, %o : f32
    linalg.yield %y : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: func @StridedMemrefsAreWrittenByKernels
// CHECK: %[[C:.*]] = linalg.generic {{.*}} ins(%arg0
// CHECK-SAME: tilewright.copies = "the result goes to a memref with strides"
// CHECK: bufferization.materialize_in_destination %[[C]] in writable %arg1
func.func @StridedMemrefsAreWrittenByKernels(%x: tensor<4xf32>, %m: memref<4xf32, strided<[2], offset: ?>>) {
  bufferization.materialize_in_destination %x in writable %m : (tensor<4xf32>, memref<4xf32, strided<[2], offset: ?>>) -> ()
  return
}
