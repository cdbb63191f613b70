// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(tilewright-chunk-sums),canonicalize,cse)' | FileCheck %s

// Eight steps of the sum at a time over all tiles; the sums wait in memory.
// CHECK-LABEL: @vecmat
// CHECK: %[[SUMS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x16xf32>
// CHECK: scf.for %[[P:.*]] = %c0 to %{{.*}} step %c8
// CHECK: %[[END:.*]] = affine.min #{{.*}}(%[[P]])
// CHECK-DAG: %[[FIRST:.*]] = arith.cmpi eq, %[[P]], %c0
// CHECK-DAG: %[[LAST:.*]] = arith.cmpi eq, %[[END]], %{{.*}}
// CHECK: scf.for %[[J:.*]] = %c0 to %c64 step %c16
// CHECK: %[[INIT:.*]] = scf.if %[[FIRST]]
// CHECK: vector.transfer_read %[[SUMS]]
// CHECK: %[[R:.*]] = scf.for %[[K:.*]] = %[[P]] to %[[END]] step %c1 iter_args(%{{.*}} = %[[INIT]])
// CHECK: scf.if %[[LAST]]
// CHECK: vector.transfer_write %[[R]], %arg2[%[[J]]]
// CHECK: } else {
// CHECK: vector.transfer_write %[[R]], %[[SUMS]]
func.func private @vecmat(%x: memref<?xf32>, %b: memref<?x64xf32>, %y: memref<64xf32>)
    attributes {tilewright.kernel, tilewright.chunks = array<i64: 4, 8>} {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %pad = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %n = memref.dim %x, %c0 : memref<?xf32>
  scf.for %j = %c0 to %c64 step %c16 {
    %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (vector<16xf32>) {
      %a = memref.load %x[%k] : memref<?xf32>
      %row = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true]} : memref<?x64xf32>, vector<16xf32>
      %v = vector.broadcast %a : f32 to vector<16xf32>
      %m = arith.mulf %v, %row : vector<16xf32>
      %s = arith.addf %m, %acc : vector<16xf32>
      scf.yield %s : vector<16xf32>
    }
    vector.transfer_write %r, %y[%j] {in_bounds = [true]} : vector<16xf32>, memref<64xf32>
  }
  return
}

// -----

// expected-error @+1 {{has 2 sums; 'tilewright.chunks' is for one}}
func.func private @two_sums(%n: index, %x: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>)
    attributes {tilewright.kernel, tilewright.chunks = array<i64: 4, 8>} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %x) -> (vector<4xf32>) {
    %s = arith.addf %acc, %x : vector<4xf32>
    scf.yield %s : vector<4xf32>
  }
  %q = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %x) -> (vector<4xf32>) {
    %s = arith.mulf %acc, %x : vector<4xf32>
    scf.yield %s : vector<4xf32>
  }
  return %r, %q : vector<4xf32>, vector<4xf32>
}
