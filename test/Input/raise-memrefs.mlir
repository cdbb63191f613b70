// RUN: tilewright-opt %s -tilewright-raise-memrefs -split-input-file | FileCheck %s

// CHECK-LABEL: func @StructuredOps
// CHECK: %[[A:.*]] = bufferization.to_tensor %arg0 restrict writable
// CHECK: %[[B:.*]] = bufferization.to_tensor %arg1 restrict writable
// CHECK: %[[D:.*]] = tensor.dim %[[A]]
// CHECK: %[[T:.*]] = tensor.empty(%[[D]]) : tensor<?xf32>
// CHECK: %[[E:.*]] = linalg.exp ins(%[[A]] : tensor<?xf32>) outs(%[[T]] : tensor<?xf32>)
// CHECK: %[[R:.*]] = linalg.add ins(%[[E]], %[[B]] : tensor<?xf32>, tensor<?xf32>) outs(%[[B]]
// CHECK-NOT: memref.
// CHECK: bufferization.materialize_in_destination %[[R]] in writable %arg1
func.func @StructuredOps(%a: memref<?xf32>, %b: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %d = memref.dim %a, %c0 : memref<?xf32>
  %t = memref.alloc(%d) : memref<?xf32>
  linalg.exp ins(%a : memref<?xf32>) outs(%t : memref<?xf32>)
  linalg.add ins(%t, %b : memref<?xf32>, memref<?xf32>) outs(%b : memref<?xf32>)
  memref.dealloc %t : memref<?xf32>
  return
}

// -----

// CHECK-LABEL: func @LoopsCarryWhatTheyWrite
// CHECK: %[[A:.*]] = bufferization.to_tensor %arg0
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[V:.*]] = %[[A]]) -> (tensor<8xf32>)
// CHECK:   %[[E:.*]] = linalg.exp ins(%[[V]] : tensor<8xf32>) outs(%[[V]] : tensor<8xf32>)
// CHECK:   scf.yield %[[E]]
// CHECK: bufferization.materialize_in_destination %[[R]] in writable %arg0
func.func @LoopsCarryWhatTheyWrite(%a: memref<8xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    linalg.exp ins(%a : memref<8xf32>) outs(%a : memref<8xf32>)
  }
  return
}

// -----

// CHECK-LABEL: func @BranchesMergeWhatTheyWrite
// CHECK: %[[A:.*]] = bufferization.to_tensor %arg0
// CHECK: %[[B:.*]] = bufferization.to_tensor %arg1
// CHECK: %[[R:.*]] = scf.if %arg2 -> (tensor<8xf32>)
// CHECK:   scf.yield %[[A]]
// CHECK: } else {
// CHECK:   scf.yield %[[B]]
// CHECK: bufferization.materialize_in_destination %[[R]] in writable %arg1
func.func @BranchesMergeWhatTheyWrite(%a: memref<8xf32>, %b: memref<8xf32>, %c: i1) {
  scf.if %c {
    memref.copy %a, %b : memref<8xf32> to memref<8xf32>
  }
  return
}

// -----

// CHECK-LABEL: func @ElementsAreReadAndWritten
// CHECK: %[[A:.*]] = bufferization.to_tensor %arg0
// CHECK: %[[V:.*]] = tensor.extract %[[A]]
// CHECK: %[[R:.*]] = tensor.insert %[[V]] into %[[A]]
// CHECK: bufferization.materialize_in_destination %[[R]] in writable %arg0
func.func @ElementsAreReadAndWritten(%a: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %v = memref.load %a[%c0] : memref<8xf32>
  memref.store %v, %a[%c1] : memref<8xf32>
  return
}

// -----

// CHECK-LABEL: func @ViewsAreSlicesOfWhatTheyView
// CHECK: %[[A:.*]] = bufferization.to_tensor %arg0
// CHECK: %[[B:.*]] = bufferization.to_tensor %arg1
// CHECK: %[[S:.*]] = tensor.extract_slice %[[B]][2, 0] [4, 4] [1, 3] : tensor<8x12xf32> to tensor<4x4xf32>
// CHECK: %[[E:.*]] = linalg.exp ins(%[[A]] : tensor<4x4xf32>) outs(%[[S]] : tensor<4x4xf32>)
// CHECK: %[[B1:.*]] = tensor.insert_slice %[[E]] into %[[B]][2, 0] [4, 4] [1, 3]
// CHECK: bufferization.materialize_in_destination %[[B1]] in writable %arg1
func.func @ViewsAreSlicesOfWhatTheyView(%a: memref<4x4xf32>, %b: memref<8x12xf32>) {
  %v = memref.subview %b[2, 0] [4, 4] [1, 3] : memref<8x12xf32> to memref<4x4xf32, strided<[12, 3], offset: 24>>
  linalg.exp ins(%a : memref<4x4xf32>) outs(%v : memref<4x4xf32, strided<[12, 3], offset: 24>>)
  return
}

// -----

// CHECK-LABEL: func @ViewsOfViewsAreViewsOfTheMemref
// CHECK: %[[B:.*]] = bufferization.to_tensor %arg0
// CHECK: %[[S:.*]] = tensor.extract_slice %[[B]][5, 0] [2, 8] [1, 1] : tensor<8x8xf32> to tensor<2x8xf32>
// CHECK: %[[F:.*]] = linalg.fill ins({{.*}}) outs(%[[S]]
// CHECK: tensor.insert_slice %[[F]] into %[[B]][5, 0] [2, 8] [1, 1]
func.func @ViewsOfViewsAreViewsOfTheMemref(%b: memref<8x8xf32>, %c: f32) {
  %v = memref.subview %b[4, 0] [4, 8] [1, 1] : memref<8x8xf32> to memref<4x8xf32, strided<[8, 1], offset: 32>>
  %w = memref.subview %v[1, 0] [2, 8] [1, 1] : memref<4x8xf32, strided<[8, 1], offset: 32>>
      to memref<2x8xf32, strided<[8, 1], offset: 40>>
  linalg.fill ins(%c : f32) outs(%w : memref<2x8xf32, strided<[8, 1], offset: 40>>)
  return
}

// -----

// CHECK-LABEL: func @TransposedViewsAreTransposedBack
// CHECK: %[[B:.*]] = bufferization.to_tensor %arg1
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[B]] : tensor<4x8xf32>) {{.*}} permutation = [1, 0]
// CHECK: %[[E:.*]] = linalg.exp ins(%{{.*}} : tensor<8x4xf32>) outs(%[[T]]
// CHECK: %[[R:.*]] = linalg.transpose ins(%[[E]] : tensor<8x4xf32>) {{.*}} permutation = [1, 0]
// CHECK: bufferization.materialize_in_destination %[[R]] in writable %arg1
func.func @TransposedViewsAreTransposedBack(%a: memref<8x4xf32>, %b: memref<4x8xf32>) {
  %t = memref.transpose %b (i, j) -> (j, i) : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>
  linalg.exp ins(%a : memref<8x4xf32>) outs(%t : memref<8x4xf32, strided<[1, 8]>>)
  return
}

// -----

// CHECK-LABEL: func @StridedArguments
// CHECK: %[[A:.*]] = bufferization.to_tensor %arg0 restrict writable : memref<?xf32, strided<[?], offset: ?>> to tensor<?xf32>
// CHECK: linalg.exp ins(%[[A]] : tensor<?xf32>) outs(%[[A]]
func.func @StridedArguments(%a: memref<?xf32, strided<[?], offset: ?>>) {
  linalg.exp ins(%a : memref<?xf32, strided<[?], offset: ?>>) outs(%a : memref<?xf32, strided<[?], offset: ?>>)
  return
}

// -----

// CHECK-LABEL: func @LoopsCarryWhatTheyWriteThroughViews
// CHECK: %[[A:.*]] = bufferization.to_tensor %arg0
// CHECK: %[[R:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[V:.*]] = %[[A]]) -> (tensor<8x4xf32>)
// CHECK:   %[[S:.*]] = tensor.extract_slice %[[V]][%[[I]], 0] [1, 4] [1, 1] : tensor<8x4xf32> to tensor<4xf32>
// CHECK:   %[[E:.*]] = linalg.exp ins(%[[S]] : tensor<4xf32>)
// CHECK:   %[[N:.*]] = tensor.insert_slice %[[E]] into %[[V]][%[[I]], 0] [1, 4] [1, 1]
// CHECK:   scf.yield %[[N]]
func.func @LoopsCarryWhatTheyWriteThroughViews(%a: memref<8x4xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {
    %v = memref.subview %a[%i, 0] [1, 4] [1, 1] : memref<8x4xf32> to memref<4xf32, strided<[1], offset: ?>>
    linalg.exp ins(%v : memref<4xf32, strided<[1], offset: ?>>) outs(%v : memref<4xf32, strided<[1], offset: ?>>)
  }
  return
}

// -----

// CHECK-LABEL: func @BodiesLoad
// CHECK: %[[T:.*]] = bufferization.to_tensor %arg0
// CHECK: linalg.generic
// CHECK:   tensor.extract %[[T]][%{{.*}}] : tensor<?xf32>
func.func @BodiesLoad(%t: memref<?xf32>, %places: memref<?xi32>, %o: memref<?xf32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%places : memref<?xi32>) outs(%o : memref<?xf32>) {
  ^bb0(%p: i32, %out: f32):
    %k = arith.index_cast %p : i32 to index
    %v = memref.load %t[%k] : memref<?xf32>
    linalg.yield %v : f32
  }
  return
}

// -----

// CHECK-LABEL: func @TensorsOfMemrefs
// CHECK: %[[X:.*]] = bufferization.to_tensor %arg0
// CHECK: %[[C:.*]] = arith.constant dense<2.000000e+00>
// CHECK: %[[E:.*]] = tensor.empty(
// CHECK: %[[P:.*]] = linalg.mul ins(%[[X]], %[[C]] : {{.*}}) outs(%[[E]]
// CHECK: %[[R:.*]] = linalg.exp ins(%[[P]]
// CHECK: bufferization.materialize_in_destination %[[R]] in writable %arg0
func.func @TensorsOfMemrefs(%x: memref<8xf32>) {
  %c = arith.constant dense<2.0> : tensor<8xf32>
  %m = bufferization.to_buffer %c read_only : tensor<8xf32> to memref<8xf32>
  %t = memref.alloc() : memref<8xf32>
  linalg.mul ins(%x, %m : memref<8xf32>, memref<8xf32>) outs(%t : memref<8xf32>)
  %s = bufferization.to_tensor %t restrict : memref<8xf32> to tensor<8xf32>
  %r = linalg.exp ins(%s : tensor<8xf32>) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  bufferization.materialize_in_destination %r in writable %x : (tensor<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

// CHECK-LABEL: func @ConstantsInBranches
// CHECK: scf.if
// CHECK: %[[C:.*]] = arith.constant dense<2.000000e+00>
// CHECK: linalg.exp ins(%[[C]]
func.func @ConstantsInBranches(%x: memref<8xf32>, %p: i1) {
  scf.if %p {
    %c = arith.constant dense<2.0> : tensor<8xf32>
    %m = bufferization.to_buffer %c read_only : tensor<8xf32> to memref<8xf32>
    linalg.exp ins(%m : memref<8xf32>) outs(%x : memref<8xf32>)
  }
  return
}
