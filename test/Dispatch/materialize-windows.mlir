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

// -----

// The vectors of a CPU read what lies side by side: a convolution has its padding in memory, and what a stride picks.
// CHECK-LABEL: func @RowsOnCpus
// CHECK: tensor.pad
// CHECK: %[[PADDED:.*]] = linalg.generic
// CHECK: tilewright.identity
// CHECK: %[[W:.*]] = tilewright.im2col %[[PADDED]]
// CHECK: linalg.generic {{.*}} ins(%[[W]], %arg1
// CHECK: %[[S:.*]] = tilewright.im2col %arg0
// CHECK: %[[PICKED:.*]] = linalg.generic {{.*}} ins(%[[S]]
// CHECK: tilewright.identity
// CHECK: linalg.generic {{.*}} ins(%[[PICKED]], %arg2
#window = affine_map<(y, x, r, s) -> (y + r, x + s)>
#strided = affine_map<(y, x) -> (y * 2, x * 2)>
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, vector_bytes = 64}>} {
func.func @RowsOnCpus(%x: tensor<16x16xf32>, %k: tensor<3x3xf32>, %f: tensor<8xf32>, %o: tensor<16x16xf32>, %p: tensor<8x8xf32>) -> (tensor<16x16xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[1, 1] high[1, 1] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
  } : tensor<16x16xf32> to tensor<18x18xf32>
  %w = tilewright.im2col %padded[] {map = #window} : tensor<18x18xf32> to tensor<16x16x3x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(y, x, r, s) -> (y, x, r, s)>, affine_map<(y, x, r, s) -> (r, s)>, affine_map<(y, x, r, s) -> (y, x)>],
                       iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%w, %k : tensor<16x16x3x3xf32>, tensor<3x3xf32>) outs(%o : tensor<16x16xf32>) {
    ^bb0(%v: f32, %y: f32, %acc: f32):
      %m = arith.mulf %v, %y : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<16x16xf32>
  %every = tilewright.im2col %x[] {map = #strided} : tensor<16x16xf32> to tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [affine_map<(y, x, f) -> (y, x)>, affine_map<(y, x, f) -> (f)>, affine_map<(y, x, f) -> (y, x)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%every, %f : tensor<8x8xf32>, tensor<8xf32>) outs(%p : tensor<8x8xf32>) {
    ^bb0(%v: f32, %y: f32, %acc: f32):
      %m = arith.mulf %v, %y : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
  } -> tensor<8x8xf32>
  return %r, %q : tensor<16x16xf32>, tensor<8x8xf32>
}
}

// -----

// Parts of one tensor: both are written where they lie, though the second is computed before the first is put there.
// CHECK-LABEL: func @PartsOfANewTensorStay
// CHECK-NOT: tilewright.identity
#id = affine_map<(i) -> (i)>
func.func @PartsOfANewTensorStay(%x: tensor<4xf32>) -> tensor<8xf32> {
  %p = tensor.empty() : tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%p, %p : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32, %u: f32):
    %y = math.absf %a : f32
    %z = arith.negf %a : f32
    linalg.yield %y, %z : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %e = tensor.empty() : tensor<8xf32>
  %i = tensor.insert_slice %r#0 into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %n = tensor.insert_slice %r#1 into %i[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// The second window touches the first: it is put there later.
// CHECK-LABEL: func @WindowsThatTouchAreCopied
// CHECK-COUNT-1: tilewright.identity
// CHECK-NOT: tilewright.identity
#id = affine_map<(i) -> (i)>
func.func @WindowsThatTouchAreCopied(%x: tensor<4xf32>) -> tensor<8xf32> {
  %p = tensor.empty() : tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
      ins(%x : tensor<4xf32>) outs(%p, %p : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32, %u: f32):
    %y = math.absf %a : f32
    %z = arith.negf %a : f32
    linalg.yield %y, %z : f32, f32
  } -> (tensor<4xf32>, tensor<4xf32>)
  %e = tensor.empty() : tensor<8xf32>
  %i = tensor.insert_slice %r#0 into %e[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %n = tensor.insert_slice %r#1 into %i[3] [4] [1] : tensor<4xf32> into tensor<8xf32>
  return %n : tensor<8xf32>
}

// -----

// A part behind another one whose length only the run knows, in halves: the tensor for both is made
// in front of what computes the halves, and only the part that is there already is copied.
// CHECK-LABEL: func @BehindAPartOfAnyLength
// CHECK-COUNT-1: tilewright.identity
// CHECK-NOT: tilewright.identity
#id = affine_map<(i, j) -> (i, j)>
func.func @BehindAPartOfAnyLength(%cache: tensor<?x8xf32>, %x: tensor<?x4xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %t = tensor.dim %x, %c0 : tensor<?x4xf32>
  %p = tensor.empty(%t) : tensor<?x4xf32>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<?x4xf32>) outs(%p, %p : tensor<?x4xf32>, tensor<?x4xf32>) {
  ^bb0(%a: f32, %o: f32, %u: f32):
    %y = math.absf %a : f32
    %z = arith.negf %a : f32
    linalg.yield %y, %z : f32, f32
  } -> (tensor<?x4xf32>, tensor<?x4xf32>)
  %s = tensor.dim %cache, %c0 : tensor<?x8xf32>
  %n = affine.apply affine_map<()[a, b] -> (a + b)>()[%s, %t]
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %c = tensor.insert_slice %cache into %e[0, 0] [%s, 8] [1, 1] : tensor<?x8xf32> into tensor<?x8xf32>
  %i = tensor.insert_slice %r#0 into %c[%s, 0] [%t, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  %k = tensor.insert_slice %r#1 into %i[%s, 4] [%t, 4] [1, 1] : tensor<?x4xf32> into tensor<?x8xf32>
  return %k : tensor<?x8xf32>
}
