// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-sequence-parallel-loops))' | FileCheck %s

// What an iteration reads where it inserts is what the loop carries; elsewhere it is what was there before.
// CHECK-LABEL: func.func @Tiles
// CHECK-SAME: %[[A:.*]]: tensor<64xf32>, %[[E:.*]]: tensor<64xf32>
// CHECK: %[[R:.*]] = scf.for %[[I:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[O:.*]] = %[[E]])
// CHECK: tensor.extract_slice %[[E]][0] [16] [1]
// CHECK: %[[T:.*]] = tensor.extract_slice %[[O]][%[[I]]] [16] [1]
// CHECK: %[[S:.*]] = linalg.add {{.*}} outs(%[[T]]
// CHECK: %[[N:.*]] = tensor.insert_slice %[[S]] into %[[O]][%[[I]]] [16] [1]
// CHECK: scf.yield %[[N]]
func.func @Tiles(%a: tensor<64xf32>, %e: tensor<64xf32>) -> tensor<64xf32> {
  %r = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %e) -> (tensor<64xf32>) {
    %x = tensor.extract_slice %a[%i] [16] [1] : tensor<64xf32> to tensor<16xf32>
    %y = tensor.extract_slice %o[0] [16] [1] : tensor<64xf32> to tensor<16xf32>
    %t = tensor.extract_slice %o[%i] [16] [1] : tensor<64xf32> to tensor<16xf32>
    %s = linalg.add ins(%x, %y : tensor<16xf32>, tensor<16xf32>) outs(%t : tensor<16xf32>) -> tensor<16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [16] [1] : tensor<16xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}

// CHECK-LABEL: func.func @Sums
// CHECK: scf.for
// CHECK: %[[R:.*]] = scf.for {{.*}} iter_args(%[[SUM:.*]] = %{{.*}}) -> (f32)
// CHECK: %[[X:.*]] = memref.load
// CHECK: %[[S:.*]] = arith.addf %[[SUM]], %[[X]]
// CHECK: scf.yield %[[S]]
// CHECK: memref.store %[[R]]
func.func @Sums(%a: memref<8x64xf32>, %b: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %zero = arith.constant 0.0 : f32
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    %r = scf.parallel (%j) = (%c0) to (%c64) step (%c1) init (%zero) -> f32 {
      %x = memref.load %a[%i, %j] : memref<8x64xf32>
      scf.reduce(%x : f32) {
      ^bb0(%p: f32, %q: f32):
        %s = arith.addf %p, %q : f32
        scf.reduce.return %s : f32
      }
    }
    memref.store %r, %b[%i] : memref<8xf32>
  }
  return
}

// CHECK-LABEL: func.func @Affine
// CHECK: affine.for %[[I:.*]] = 2 to 8
// CHECK: affine.for %[[J:.*]] = 0 to 64 step 4
// CHECK: affine.load %{{.*}}[%[[I]], %[[J]]]
func.func @Affine(%a: memref<8x64xf32>, %b: memref<8x64xf32>) {
  affine.parallel (%i, %j) = (2, 0) to (8, 64) step (1, 4) {
    %x = affine.load %a[%i, %j] : memref<8x64xf32>
    affine.store %x, %b[%i, %j] : memref<8x64xf32>
  }
  return
}

// CHECK-LABEL: func.func @AffineSum
// CHECK: %[[Z:.*]] = arith.constant 0.0
// CHECK: %[[R:.*]] = affine.for %[[I:.*]] = 0 to 8 iter_args(%[[P:.*]] = %[[Z]])
// CHECK: %[[S:.*]] = affine.for %[[J:.*]] = 0 to 64 iter_args(%[[Q:.*]] = %[[P]])
// CHECK: %[[X:.*]] = affine.load %{{.*}}[%[[I]], %[[J]]]
// CHECK: %[[T:.*]] = arith.addf %[[Q]], %[[X]]
// CHECK: affine.yield %[[T]]
// CHECK: affine.yield %[[S]]
// CHECK: return %[[R]]
func.func @AffineSum(%a: memref<8x64xf32>) -> f32 {
  %r = affine.parallel (%i, %j) = (0, 0) to (8, 64) reduce ("addf") -> f32 {
    %x = affine.load %a[%i, %j] : memref<8x64xf32>
    affine.yield %x : f32
  }
  return %r : f32
}
