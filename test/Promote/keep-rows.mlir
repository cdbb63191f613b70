// RUN: tilewright-opt %s -tilewright-promote -split-input-file -verify-diagnostics | FileCheck %s

// Rows that stay in shared memory: the loop that reads them first leaves a copy, in the order of memory and as long as the
// row is, and later loops read that with paddings of their own.
#config = #tilewright.lowering_config<strategy = reduction, block = [2, 256], warps = [1, 2], promote = [0]>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// CHECK: #[[TURNED:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func private @Rows(
// CHECK-NOT: kept_rows
// CHECK: %[[ROWS:.*]] = memref.alloc() : memref<2x1000xf32, #tilewright.shared>
// CHECK: scf.for %[[J:.*]] = %c0
// CHECK: %[[V:.*]] = vector.transfer_read %arg0[%arg2, %[[J]]], %cst : memref<?x1000xf32>, vector<2x256xf32>
// CHECK: vector.transfer_write %[[V]], %[[ROWS]][%{{.*}}, %[[J]]] {in_bounds = [true, false]}
// CHECK: scf.for %[[K:.*]] = %c0
// CHECK: %[[W:.*]] = vector.transfer_read %[[ROWS]][%{{.*}}, %[[K]]], %cst_0 {in_bounds = [false, true], permutation_map = #[[TURNED]]} : memref<2x1000xf32, #tilewright.shared>, vector<256x2xf32>
// CHECK: vector.transfer_write %[[W]], %arg1
func.func private @Rows(%x: memref<?x1000xf32>, %o: memref<?x1000xf32>, %i: index) attributes {tilewright.kernel, tilewright.kept_rows = array<i64: 0>, tilewright.lowering_config = #config} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c1000 = arith.constant 1000 : index
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0xFF800000> : vector<2x256xf32>
  %most = scf.for %j = %c0 to %c1000 step %c256 iter_args(%acc = %none) -> (vector<2x256xf32>) {
    %v = vector.transfer_read %x[%i, %j], %low : memref<?x1000xf32>, vector<2x256xf32>
    %m = arith.maximumf %v, %acc : vector<2x256xf32>
    scf.yield %m : vector<2x256xf32>
  }
  scf.for %j = %c0 to %c1000 step %c256 {
    %w = vector.transfer_read %x[%i, %j], %zero {permutation_map = #turned} : memref<?x1000xf32>, vector<256x2xf32>
    vector.transfer_write %w, %o[%i, %j] {permutation_map = #turned} : vector<256x2xf32>, memref<?x1000xf32>
  }
  return
}

// -----

// Of rows that a guard limits there is memory for the longest, of which the copy is the beginning.
#config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], promote = [0]>
// CHECK-LABEL: func.func private @AtMost(
// CHECK: %[[ALL:.*]] = memref.alloc() : memref<1x1024xf32, #tilewright.shared>
// CHECK: %[[N:.*]] = memref.dim %arg0, %c1
// CHECK: %[[ROWS:.*]] = memref.subview %[[ALL]][0, 0] [1, %[[N]]] [1, 1] : memref<1x1024xf32, #tilewright.shared> to memref<1x?xf32, strided<[1024, 1]>, #tilewright.shared>
// CHECK: vector.transfer_write %{{.*}}, %[[ROWS]][%{{.*}}, %{{.*}}] :
// CHECK: vector.transfer_read %[[ROWS]][%{{.*}}, %{{.*}}], %{{.*}} : memref<1x?xf32
func.func private @AtMost(%x: memref<?x?xf32>, %o: memref<?x?xf32>, %i: index) attributes {tilewright.kernel, tilewright.at_most = array<i64: 0, 1, 1024>, tilewright.kept_rows = array<i64: 0>, tilewright.lowering_config = #config} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<256xf32>
  %n = memref.dim %x, %c1 : memref<?x?xf32>
  %sum = scf.for %j = %c0 to %n step %c256 iter_args(%acc = %none) -> (vector<256xf32>) {
    %v = vector.transfer_read %x[%i, %j], %zero : memref<?x?xf32>, vector<256xf32>
    %m = arith.addf %v, %acc : vector<256xf32>
    scf.yield %m : vector<256xf32>
  }
  scf.for %j = %c0 to %n step %c256 {
    %w = vector.transfer_read %x[%i, %j], %zero : memref<?x?xf32>, vector<256xf32>
    vector.transfer_write %w, %o[%i, %j] : vector<256xf32>, memref<?x?xf32>
  }
  return
}

// -----

// Rows of 16-byte runs are copied: as many steps ahead as are 64 KiB, of which there are four, and what is behind the row's
// end is left out. The loop that reads them first waits for its step's, and reads the copy as the others do.
#config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], promote = [0]>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16, async_copy}>} {
// CHECK-LABEL: func.func private @Copied(
// CHECK: %[[ROWS:.*]] = memref.alloc() {tilewright.stages = 1 : i64} : memref<1x1000xf32, #tilewright.shared>
// CHECK: %[[TILE:.*]] = memref.subview %[[ROWS]][0, %{{.*}}] [1, 256] [1, 1]
// CHECK: tilewright.async_copy %arg0[%arg2, %{{.*}}] to %[[TILE]] if %{{.*}} {in_bounds = [true, false], map = #{{.*}}, tilewright.clipped = 16 : i64} : memref<?x1000xf32>
// CHECK-NEXT: tilewright.async_commit
// CHECK-COUNT-3: tilewright.async_commit
// CHECK-NOT: async_co
// CHECK: scf.for %[[J:.*]] = %c0
// CHECK: %[[AHEAD:.*]] = arith.addi %[[J]], %{{.*}}
// CHECK: %[[LIVE:.*]] = arith.cmpi slt, %[[AHEAD]], %c1000
// CHECK: tilewright.async_copy %arg0[%arg2, %[[AHEAD]]] to %{{.*}} if %[[LIVE]]
// CHECK-NEXT: tilewright.async_commit
// CHECK-NEXT: tilewright.async_wait 4
// CHECK-NEXT: gpu.barrier
// CHECK: vector.transfer_read %[[ROWS]][%{{.*}}, %[[J]]], %{{.*}} : memref<1x1000xf32, #tilewright.shared>, vector<256xf32>
// CHECK: scf.for
// CHECK: vector.transfer_read %[[ROWS]]
func.func private @Copied(%x: memref<?x1000xf32>, %o: memref<?x1000xf32>, %i: index) attributes {tilewright.kernel, tilewright.access = ["read", "write"], tilewright.kept_rows = array<i64: 0>, tilewright.lowering_config = #config} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c1000 = arith.constant 1000 : index
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : vector<256xf32>
  %sum = scf.for %j = %c0 to %c1000 step %c256 iter_args(%acc = %none) -> (vector<256xf32>) {
    %v = vector.transfer_read %x[%i, %j], %zero : memref<?x1000xf32>, vector<256xf32>
    %m = arith.addf %v, %acc : vector<256xf32>
    scf.yield %m : vector<256xf32>
  }
  scf.for %j = %c0 to %c1000 step %c256 {
    %w = vector.transfer_read %x[%i, %j], %zero : memref<?x1000xf32>, vector<256xf32>
    vector.transfer_write %w, %o[%i, %j] : vector<256xf32>, memref<?x1000xf32>
  }
  return
}

// Of 999 bf16, rows begin at every second byte: they come by way of registers.
// CHECK-LABEL: func.func private @Odd(
// CHECK-NOT: async_copy
// CHECK: vector.transfer_write %{{.*}}, %{{.*}} : vector<256xbf16>, memref<1x999xbf16, #tilewright.shared>
func.func private @Odd(%x: memref<?x999xbf16>, %o: memref<?x999xbf16>, %i: index) attributes {tilewright.kernel, tilewright.access = ["read", "write"], tilewright.kept_rows = array<i64: 0>, tilewright.lowering_config = #config} {
  %c0 = arith.constant 0 : index
  %c256 = arith.constant 256 : index
  %c999 = arith.constant 999 : index
  %zero = arith.constant 0.0 : bf16
  %none = arith.constant dense<0.0> : vector<256xbf16>
  %sum = scf.for %j = %c0 to %c999 step %c256 iter_args(%acc = %none) -> (vector<256xbf16>) {
    %v = vector.transfer_read %x[%i, %j], %zero : memref<?x999xbf16>, vector<256xbf16>
    %m = arith.addf %v, %acc : vector<256xbf16>
    scf.yield %m : vector<256xbf16>
  }
  scf.for %j = %c0 to %c999 step %c256 {
    %w = vector.transfer_read %x[%i, %j], %zero : memref<?x999xbf16>, vector<256xbf16>
    vector.transfer_write %w, %o[%i, %j] : vector<256xbf16>, memref<?x999xbf16>
  }
  return
}
}

// -----

#config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], promote = [0]>
func.func private @OtherSteps(%x: memref<4x1024xf32>, %o: memref<4x1024xf32>, %i: index) attributes {tilewright.kernel, tilewright.kept_rows = array<i64: 0>, tilewright.lowering_config = #config} {
  %c0 = arith.constant 0 : index
  %c128 = arith.constant 128 : index
  %c256 = arith.constant 256 : index
  %c1024 = arith.constant 1024 : index
  %zero = arith.constant 0.0 : f32
  scf.for %j = %c0 to %c1024 step %c256 {
    %v = vector.transfer_read %x[%i, %j], %zero {in_bounds = [true]} : memref<4x1024xf32>, vector<256xf32>
    vector.transfer_write %v, %o[%i, %j] {in_bounds = [true]} : vector<256xf32>, memref<4x1024xf32>
  }
  scf.for %j = %c0 to %c1024 step %c128 {
    // expected-error @+1 {{reads another part of rows that stay in shared memory ('tilewright.kept_rows')}}
    %v = vector.transfer_read %x[%i, %j], %zero {in_bounds = [true]} : memref<4x1024xf32>, vector<128xf32>
    vector.transfer_write %v, %o[%i, %j] {in_bounds = [true]} : vector<128xf32>, memref<4x1024xf32>
  }
  return
}

// -----

#config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], promote = [0]>
func.func private @NoLoop(%x: memref<4x1024xf32>, %o: memref<4x1024xf32>, %i: index) attributes {tilewright.kernel, tilewright.kept_rows = array<i64: 0>, tilewright.lowering_config = #config} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  // expected-error @+1 {{is no step along a row, which is to stay in shared memory ('tilewright.kept_rows')}}
  %v = vector.transfer_read %x[%i, %c0], %zero {in_bounds = [true]} : memref<4x1024xf32>, vector<256xf32>
  vector.transfer_write %v, %o[%i, %c0] {in_bounds = [true]} : vector<256xf32>, memref<4x1024xf32>
  return
}
