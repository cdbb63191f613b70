// RUN: tilewright-opt %s -tilewright-fuse-row-loops | FileCheck %s

// The sum that is written is summed up where it is computed.
// CHECK-LABEL: @AddAndSum
// CHECK: %[[S:.*]] = scf.for %[[I:.*]] = {{.*}} iter_args(%[[A:.*]] = %arg4)
// CHECK-NEXT: %[[X:.*]] = vector.transfer_read %arg0[%arg3, %[[I]]]
// CHECK-NEXT: %[[Y:.*]] = vector.transfer_read %arg1[%arg3, %[[I]]]
// CHECK-NEXT: %[[H:.*]] = arith.addf %[[X]], %[[Y]]
// CHECK-NEXT: vector.transfer_write %[[H]], %arg2
// CHECK-NEXT: %[[B:.*]] = arith.addf %[[A]], %[[H]]
// CHECK-NEXT: scf.yield %[[B]]
// CHECK-NOT: scf.for
// CHECK: return %[[S]]
func.func private @AddAndSum(%x: memref<64x128xf32>, %y: memref<64x128xf32>, %r: memref<64x128xf32>, %row: index, %z: vector<2x32xf32>)
    -> vector<2x32xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c128 step %c32 {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %w = vector.transfer_read %y[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %h = arith.addf %v, %w : vector<2x32xf32>
    vector.transfer_write %h, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
  }
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %w = vector.transfer_read %y[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %h = arith.addf %v, %w : vector<2x32xf32>
    %b = arith.addf %a, %h : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  return %s : vector<2x32xf32>
}

// The second loop waits for the first one's sum; the third reads what the first may have written.
// CHECK-LABEL: @Wait
// CHECK-COUNT-3: scf.for
func.func private @Wait(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %row: index, %z: vector<2x32xf32>)
    -> (vector<2x32xf32>, vector<2x32xf32>) attributes {tilewright.kernel, tilewright.access = ["read", "readwrite"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %b = arith.addf %a, %v : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  scf.for %i = %c0 to %c128 step %c32 {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %b = arith.subf %v, %s : vector<2x32xf32>
    vector.transfer_write %b, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
  }
  %t = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %w = vector.transfer_read %r[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %h = arith.mulf %v, %w : vector<2x32xf32>
    %b = arith.addf %a, %h : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  return %s, %t : vector<2x32xf32>, vector<2x32xf32>
}
