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
