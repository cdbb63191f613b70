// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(tilewright-pack-panels),canonicalize,cse)' | FileCheck %s

// Of the columns' operand alone: numbers of the other one are read where they lie, in two chunks of the sum.
#acc = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 32, 8], thread = [2, 16, 4], promote = [1]>
// CHECK-DAG: #[[INDEX:.*]] = affine_map<(d0, d1) -> (d0 + d1 * 4)>
// CHECK-DAG: #[[NEXT:.*]] = affine_map<(d0, d1) -> (d0 + d1 * 4 + 3)>
// CHECK-LABEL: @columns
// CHECK-SAME: %[[A:.*]]: memref<4x16xf32>, %[[B:.*]]: memref<16x32xf32>
// CHECK-NOT: memref.alloc() {{.*}} : memref<2x2x4xf32>
// CHECK-DAG: memref.alloc() {alignment = 64 : i64} : memref<2x2x2x16xf32>
// CHECK-DAG: %[[PANEL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x2x4x16xf32>
// CHECK: scf.for %[[P:.*]] = %c0 to %c16 step %c8
// CHECK: vector.transfer_write %{{.*}}, %[[PANEL]]
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c2
// CHECK: %{{.*}} = scf.for %[[T:.*]] = %c0 to
// CHECK: %[[K:.*]] = affine.apply #[[INDEX]](%[[P]], %[[T]])
// CHECK: vector.transfer_read %[[A]][%[[I]], %[[K]]], %{{.*}} {in_bounds = [true, true]} : memref<4x16xf32>, vector<2x1xf32>
// CHECK: tilewright.mma
// CHECK: affine.apply #[[NEXT]](%[[P]], %[[T]])
func.func private @columns(%a: memref<4x16xf32>, %b: memref<16x32xf32>, %c: memref<4x32xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 2, 2, 2>} {
  %zero = arith.constant dense<0.0> : vector<2x16xf32>
  %pad = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  scf.for %j = %c0 to %c32 step %c16 {
    scf.for %i = %c0 to %c4 step %c2 {
      %r = scf.for %k = %c0 to %c16 step %c4 iter_args(%acc = %zero) -> (vector<2x16xf32>) {
        %x = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<4x16xf32>, vector<2x4xf32>
        %y = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, true]} : memref<16x32xf32>, vector<4x16xf32>
        %n = tilewright.mma %x, %y, %acc {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, #acc]}
           : vector<2x4xf32>, vector<4x16xf32>, vector<2x16xf32>
        scf.yield %n : vector<2x16xf32>
      }
      vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<2x16xf32>, memref<4x32xf32>
    }
  }
  return
}

// -----

// Tiles hang over the edge: one whose rows all exist reads them as they are, another the last row where they do not; what is left of
// the sum is multiplied element by element.
#config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 16, 8], thread = [2, 16, 4], promote = [1]>
// CHECK-DAG: #[[INDEX:.*]] = affine_map<(d0, d1) -> (d0 + d1 * 4)>
// CHECK-LABEL: @edge
// CHECK-SAME: %[[A:.*]]: memref<3x15xf32>
// CHECK: scf.for %[[I:.*]] = %c0 to %c3 step %c2
// CHECK: %[[END:.*]] = arith.addi %[[I]], %c2
// CHECK: %[[INSIDE:.*]] = arith.cmpi sle, %[[END]], %c3
// CHECK: scf.if %[[INSIDE]] -> (vector<2x16xf32>) {
// CHECK: scf.for
// CHECK: vector.transfer_read %[[A]][%[[I]], %{{.*}}], %{{.*}} {in_bounds = [true, true]} : memref<3x15xf32>, vector<2x1xf32>
// CHECK: scf.for
// CHECK-COUNT-1: tilewright.mma
// CHECK-NOT: tilewright.mma
// CHECK: } else {
// CHECK: scf.for
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK: %[[ROW:.*]] = arith.minsi %[[NEXT]], %c2
// CHECK: memref.load %[[A]][%[[ROW]], %{{.*}}]
func.func private @edge(%a: memref<3x15xf32>, %b: memref<15x16xf32>, %c: memref<3x16xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 2, 1, 2>} {
  %zero = arith.constant dense<0.0> : vector<2x16xf32>
  %pad = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  %c15 = arith.constant 15 : index
  scf.for %i = %c0 to %c3 step %c2 {
    %r = scf.for %k = %c0 to %c15 step %c4 iter_args(%acc = %zero) -> (vector<2x16xf32>) {
      %x = vector.transfer_read %a[%i, %k], %pad : memref<3x15xf32>, vector<2x4xf32>
      %y = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [false, true]} : memref<15x16xf32>, vector<4x16xf32>
      %n = tilewright.mma %x, %y, %acc {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
         : vector<2x4xf32>, vector<4x16xf32>, vector<2x16xf32>
      scf.yield %n : vector<2x16xf32>
    }
    vector.transfer_write %r, %c[%i, %c0] {in_bounds = [false, true]} : vector<2x16xf32>, memref<3x16xf32>
  }
  return
}

// -----

// Elements that are widened would be so for each tile.
#config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 16, 8], thread = [2, 16, 4], promote = [1]>
func.func private @narrow(%a: memref<2x16xf16>, %b: vector<4x16xf16>, %c: vector<2x16xf32>) -> vector<2x16xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 1, 1, 2>} {
  %pad = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %r = scf.for %k = %c0 to %c16 step %c4 iter_args(%acc = %c) -> (vector<2x16xf32>) {
    %x = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<2x16xf16>, vector<2x4xf16>
    // expected-error @+1 {{operand 0 cannot be read where it is, number by number; add it to 'promote'}}
    %n = tilewright.mma %x, %b, %acc {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]}
       : vector<2x4xf16>, vector<4x16xf16>, vector<2x16xf32>
    scf.yield %n : vector<2x16xf32>
  }
  return %r : vector<2x16xf32>
}
