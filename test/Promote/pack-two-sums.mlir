// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -pass-pipeline='builtin.module(func.func(tilewright-pack-panels),canonicalize,cse)' | FileCheck %s

// A sum over groups and their rows: two groups of two steps are a chunk, whose four steps the inner loop goes through as one sum.
// What is computed of the columns' operand is computed while it is packed.
#acc = affine_map<(m, n, g, k) -> (m, n)>
#rows = affine_map<(m, n, g, k) -> (m, g, k)>
#columns = affine_map<(m, n, g, k) -> (g, k, n)>
#config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 16, 2, 8], thread = [2, 16, 1, 4], promote = [0, 1]>
// CHECK-DAG: #[[STEP:.*]] = affine_map<(d0, d1, d2) -> (d0 * 2 - d1 * 2 + d2 floordiv 4)>
// CHECK-DAG: #[[STEPS:.*]] = affine_map<(d0, d1) -> (d0 * -2 + d1 * 2)>
// CHECK-LABEL: @groups
// CHECK-SAME: %[[A:.*]]: memref<4x6x8xf32>, %[[W:.*]]: memref<6x8x16xi8>
// CHECK-DAG: %[[ROWS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<4x2x1x4xf32>
// CHECK-DAG: %[[PANEL:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x4x1x4x16xf32>
// CHECK: scf.for %[[P:.*]] = %c0 to %c6 step %c2
// CHECK: scf.for %[[G:.*]] = %[[P]] to
// CHECK: scf.for %[[K:.*]] = %c0 to %c8 step %c4
// CHECK: %[[S:.*]] = affine.apply #[[STEP]](%[[G]], %[[P]], %[[K]])
// CHECK: %[[B:.*]] = vector.transfer_read %[[W]][%[[G]], %[[K]], %c0]
// CHECK: arith.sitofp %[[B]]
// CHECK: vector.transfer_write %{{.*}}, %[[PANEL]][%c0, %[[S]], %c0, %c0, %c0]
// CHECK: %[[N:.*]] = affine.apply #[[STEPS]](%[[P]], %{{.*}})
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c2
// CHECK: vector.transfer_write %{{.*}}, %[[ROWS]]
// CHECK: scf.for %[[T:.*]] = %c0 to %[[N]] step %c1
// CHECK: vector.transfer_read %[[ROWS]][%[[T]], %c0, %c0, %c3]
// CHECK: vector.transfer_read %[[PANEL]][%c0, %[[T]], %c0, %c3, %c0]
// CHECK: tilewright.mma
func.func private @groups(%a: memref<4x6x8xf32>, %w: memref<6x8x16xi8>, %c: memref<4x16xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 2, 1, 4>} {
  %zero = arith.constant dense<0.0> : vector<2x16xf32>
  %pad = arith.constant 0.0 : f32
  %none = arith.constant 0 : i8
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %c8 = arith.constant 8 : index
  scf.for %i = %c0 to %c4 step %c2 {
    %s = scf.for %g = %c0 to %c6 step %c1 iter_args(%outer = %zero) -> (vector<2x16xf32>) {
      %r = scf.for %k = %c0 to %c8 step %c4 iter_args(%acc = %outer) -> (vector<2x16xf32>) {
        %x = vector.transfer_read %a[%i, %g, %k], %pad {in_bounds = [true, true, true]} : memref<4x6x8xf32>, vector<2x1x4xf32>
        %b = vector.transfer_read %w[%g, %k, %c0], %none {in_bounds = [true, true, true]} : memref<6x8x16xi8>, vector<1x4x16xi8>
        %y = arith.sitofp %b : vector<1x4x16xi8> to vector<1x4x16xf32>
        %n = tilewright.mma %x, %y, %acc {maps = [#rows, #columns, #acc]} : vector<2x1x4xf32>, vector<1x4x16xf32>, vector<2x16xf32>
        scf.yield %n : vector<2x16xf32>
      }
      scf.yield %r : vector<2x16xf32>
    }
    vector.transfer_write %s, %c[%i, %c0] {in_bounds = [true, true]} : vector<2x16xf32>, memref<4x16xf32>
  }
  return
}

// -----

// How many steps a group has decides where the next one's lie.
#acc = affine_map<(m, n, g, k) -> (m, n)>
#rows = affine_map<(m, n, g, k) -> (m, g, k)>
#columns = affine_map<(m, n, g, k) -> (g, k, n)>
#config = #tilewright.lowering_config<strategy = simt_contraction, block = [2, 16, 2, 8], thread = [2, 16, 1, 4], promote = [0, 1]>
func.func private @open(%a: memref<2x6x?xf32>, %b: memref<6x?x16xf32>, %c: memref<2x16xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 1, 1, 4>} {
  %zero = arith.constant dense<0.0> : vector<2x16xf32>
  %pad = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c6 = arith.constant 6 : index
  %d = memref.dim %b, %c1 : memref<6x?x16xf32>
  %s = scf.for %g = %c0 to %c6 step %c1 iter_args(%outer = %zero) -> (vector<2x16xf32>) {
    %r = scf.for %k = %c0 to %d step %c4 iter_args(%acc = %outer) -> (vector<2x16xf32>) {
      %x = vector.transfer_read %a[%c0, %g, %k], %pad : memref<2x6x?xf32>, vector<2x1x4xf32>
      %y = vector.transfer_read %b[%g, %k, %c0], %pad : memref<6x?x16xf32>, vector<1x4x16xf32>
      // expected-error @below {{cannot be packed: the inner one of two loops of its sum has no constant number of steps}}
      %n = tilewright.mma %x, %y, %acc {maps = [#rows, #columns, #acc]} : vector<2x1x4xf32>, vector<1x4x16xf32>, vector<2x16xf32>
      scf.yield %n : vector<2x16xf32>
    }
    scf.yield %r : vector<2x16xf32>
  }
  vector.transfer_write %s, %c[%c0, %c0] : vector<2x16xf32>, memref<2x16xf32>
  return
}
