// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-pack-panels),canonicalize,cse)' | FileCheck %s

#acc = affine_map<(m, n, k) -> (m, n)>
#config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 32, 8], thread = [2, 16, 4], promote = [0, 1]>

// A sum of several chunks, the last one ragged: accumulators wait in memory. The second operand is transposed while it is
// packed, along whose rows the sum runs.
// CHECK-LABEL: @chunks
// CHECK-DAG: %[[SUMS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x2x2x16xf32>
// CHECK-DAG: %[[B:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x2x4x16xf32>
// CHECK-DAG: %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x2x4xf32>
// CHECK: scf.for %[[P:.*]] = %c0 to %c21 step %c8
// CHECK-DAG: %[[FIRST:.*]] = arith.cmpi eq, %[[P]], %c0
// CHECK-DAG: %[[LAST:.*]] = arith.cmpi eq, %{{.*}}, %c21
// CHECK: scf.for %[[J:.*]] = %c0 to %c32 step %c16
// CHECK: scf.for %[[K:.*]] = %[[P]]
// CHECK: scf.if
// CHECK: vector.transfer_read %{{.*}}[%[[J]], %[[K]]], %{{.*}} {in_bounds = [true, true]} : memref<32x21xf32>, vector<16x4xf32>
// CHECK: vector.transfer_write %{{.*}}, %[[B]]{{.*}} permutation_map
// CHECK: } else {
// CHECK: vector.transfer_read %{{.*}}[%[[J]], %[[K]]], %{{.*}} {in_bounds = [true, false]} : memref<32x21xf32>, vector<16x4xf32>
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c2
// CHECK: scf.for
// CHECK: vector.transfer_write %{{.*}}, %[[A]]
// CHECK: scf.for
// CHECK: %[[INIT:.*]] = scf.if %[[FIRST]]
// CHECK: vector.transfer_read %[[SUMS]]
// CHECK: %[[R:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %[[INIT]])
// CHECK-COUNT-4: tilewright.mma {{.*}} : vector<2x1xf32>, vector<1x16xf32>, vector<2x16xf32>
// CHECK: scf.if %[[LAST]]
// CHECK: vector.transfer_write %[[R]], %arg2
// CHECK: } else {
// CHECK: vector.transfer_write %[[R]], %[[SUMS]]
func.func private @chunks(%a: memref<4x21xf32>, %b: memref<32x21xf32>, %c: memref<4x32xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 2, 2, 2>} {
  %zero = arith.constant dense<0.0> : vector<2x16xf32>
  %pad = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c21 = arith.constant 21 : index
  %c32 = arith.constant 32 : index
  scf.for %j = %c0 to %c32 step %c16 {
    scf.for %i = %c0 to %c4 step %c2 {
      %r = scf.for %k = %c0 to %c21 step %c4 iter_args(%acc = %zero) -> (vector<2x16xf32>) {
        %x = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, false]} : memref<4x21xf32>, vector<2x4xf32>
        %y = vector.transfer_read %b[%j, %k], %pad {in_bounds = [true, false]} : memref<32x21xf32>, vector<16x4xf32>
        %n = tilewright.mma %x, %y, %acc {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, #acc]}
           : vector<2x4xf32>, vector<16x4xf32>, vector<2x16xf32>
        scf.yield %n : vector<2x16xf32>
      }
      vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, true]} : vector<2x16xf32>, memref<4x32xf32>
    }
  }
  return
}

// The result hangs over the edge in its last column of tiles: there alone it is read and written under masks.
// CHECK-LABEL: @edge
// CHECK: scf.for %[[I:.*]] = %c0 to %c4 step %c2
// CHECK: scf.for %[[J:.*]] = %c0 to %c20 step %c16
// CHECK: %[[END:.*]] = arith.addi %[[J]], %c16
// CHECK: %[[INSIDE:.*]] = arith.cmpi sle, %[[END]], %c20
// CHECK: %[[INIT:.*]] = scf.if %[[INSIDE]] -> (vector<2x16xf32>) {
// CHECK-NEXT: vector.transfer_read %arg2[%[[I]], %[[J]]], %{{.*}} {in_bounds = [true, true]}
// CHECK: } else {
// CHECK-NEXT: vector.transfer_read %arg2[%[[I]], %[[J]]], %{{.*}} {in_bounds = [true, false]}
// CHECK: %[[R:.*]] = scf.for %{{.*}} iter_args(%{{.*}} = %[[INIT]])
// CHECK: scf.if %[[INSIDE]] {
// CHECK-NEXT: vector.transfer_write %[[R]], %arg2[%[[I]], %[[J]]] {in_bounds = [true, true]}
// CHECK-NEXT: } else {
// CHECK-NEXT: vector.transfer_write %[[R]], %arg2[%[[I]], %[[J]]] {in_bounds = [true, false]}
func.func private @edge(%a: memref<4x8xf32>, %b: memref<8x20xf32>, %c: memref<4x20xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 2, 2, 2>} {
  %pad = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %c20 = arith.constant 20 : index
  scf.for %i = %c0 to %c4 step %c2 {
    scf.for %j = %c0 to %c20 step %c16 {
      %init = vector.transfer_read %c[%i, %j], %pad {in_bounds = [true, false]} : memref<4x20xf32>, vector<2x16xf32>
      %r = scf.for %k = %c0 to %c8 step %c4 iter_args(%acc = %init) -> (vector<2x16xf32>) {
        %x = vector.transfer_read %a[%i, %k], %pad {in_bounds = [true, true]} : memref<4x8xf32>, vector<2x4xf32>
        %y = vector.transfer_read %b[%k, %j], %pad {in_bounds = [true, false]} : memref<8x20xf32>, vector<4x16xf32>
        %n = tilewright.mma %x, %y, %acc {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, #acc]}
           : vector<2x4xf32>, vector<4x16xf32>, vector<2x16xf32>
        scf.yield %n : vector<2x16xf32>
      }
      vector.transfer_write %r, %c[%i, %j] {in_bounds = [true, false]} : vector<2x16xf32>, memref<4x20xf32>
    }
  }
  return
}

// One chunk and one tile: no memory for sums, no loops over tiles. Bytes are widened on the way, unsigned ones without sign;
// what the accumulator starts from and ends in stays.
// CHECK-LABEL: @widened
// CHECK-DAG: memref.alloc() {alignment = 64 : i64} : memref<1x2x4x16xi32>
// CHECK-DAG: memref.alloc() {alignment = 64 : i64} : memref<2x2x4xi32>
// CHECK-NOT: memref.alloc
// CHECK: arith.extsi %{{.*}} : vector<4x16xi8> to vector<4x16xi32>
// CHECK: arith.extui %{{.*}} : vector<2x4xi8> to vector<2x4xi32>
// CHECK: %[[R:.*]] = scf.for
// CHECK-COUNT-4: tilewright.mma {{.*}} : vector<2x1xi32>, vector<1x16xi32>, vector<2x16xi32>
// CHECK: %[[S:.*]] = arith.addi %[[R]]
// CHECK: vector.transfer_write %[[S]]
func.func private @widened(%a: memref<2x8xi8>, %b: memref<8x16xi8>, %c: memref<2x16xi32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #config, tilewright.panels = array<i64: 1, 1, 2>} {
  %zero = arith.constant 0 : i32
  %pad = arith.constant 0 : i8
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %start = vector.transfer_read %c[%c0, %c0], %zero {in_bounds = [true, true]} : memref<2x16xi32>, vector<2x16xi32>
  %r = scf.for %k = %c0 to %c8 step %c4 iter_args(%acc = %start) -> (vector<2x16xi32>) {
    %x = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<2x8xi8>, vector<2x4xi8>
    %y = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<8x16xi8>, vector<4x16xi8>
    %n = tilewright.mma %x, %y, %acc {signedness = ["unsigned", "signed"], maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, #acc]}
       : vector<2x4xi8>, vector<4x16xi8>, vector<2x16xi32>
    scf.yield %n : vector<2x16xi32>
  }
  %s = arith.addi %r, %r : vector<2x16xi32>
  vector.transfer_write %s, %c[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xi32>, memref<2x16xi32>
  return
}

#dot = #tilewright.lowering_config<strategy = simt_contraction, block = [2, 16, 8], thread = [2, 16, 4], mma = "dot.m1n16k2.bf16.f32", promote = [0, 1]>

// For an instruction, pairs along the sum lie side by side: rows of A are pairs already, and transposed; two rows of B are
// interleaved. A step is one product of what is in memory.
// CHECK-LABEL: @words
// CHECK-DAG: %[[B:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x2x2x16x2xbf16>
// CHECK-DAG: %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x2x2x2xbf16>
// CHECK: %[[FLAT:.*]] = memref.collapse_shape %[[B]] {{.*}} into memref<1x2x2x32xbf16>
// CHECK: %[[PAIRS:.*]] = vector.interleave %{{.*}}, %{{.*}} : vector<16xi16> -> vector<32xi16>
// CHECK: %[[ELEMENTS:.*]] = vector.bitcast %[[PAIRS]] : vector<32xi16> to vector<32xbf16>
// CHECK: vector.transfer_write %[[ELEMENTS]], %[[FLAT]]
// CHECK: vector.bitcast %{{.*}} : vector<{{.*}}> to vector<2xi32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 2] : vector<2xi32>, vector<2xi32>
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [1, 3] : vector<2xi32>, vector<2xi32>
// CHECK: scf.for %[[T:[^ ]*]] =
// CHECK: memref.subview %[[A]][%[[T]], 0, 0, 0]
// CHECK: memref.subview %[[B]][0, %[[T]], 0, 0, 0]
// CHECK: tilewright.mma {{.*}}instruction = "dot.m1n16k2.bf16.f32", maps = [#{{.*}}, #{{.*}}, #{{.*}}]} : memref<2x2x2xbf16, {{.*}}>, memref<2x16x2xbf16, {{.*}}>, vector<2x16xf32>
// CHECK-NOT: tilewright.mma
func.func private @words(%a: memref<2x8xbf16>, %b: memref<8x16xbf16>, %c: memref<2x16xf32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #dot, tilewright.panels = array<i64: 1, 1, 2>} {
  %zero = arith.constant dense<0.0> : vector<2x16xf32>
  %pad = arith.constant 0.0 : bf16
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %k = %c0 to %c8 step %c4 iter_args(%acc = %zero) -> (vector<2x16xf32>) {
    %x = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<2x8xbf16>, vector<2x4xbf16>
    %y = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<8x16xbf16>, vector<4x16xbf16>
    %n = tilewright.mma %x, %y, %acc {instruction = "dot.m1n16k2.bf16.f32",
        maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, #acc]}
       : vector<2x4xbf16>, vector<4x16xbf16>, vector<2x16xf32>
    scf.yield %n : vector<2x16xf32>
  }
  vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x16xf32>
  return
}

#tiles = #tilewright.lowering_config<strategy = simt_contraction, block = [2, 16, 128], thread = [2, 16, 64], mma = "amx.m16n16k64.s8.s32", promote = [0, 1]>

// Tile registers read rows of A as they are.
// CHECK-LABEL: @tiles
// CHECK-DAG: %[[B:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x2x16x16x4xi8>
// CHECK-DAG: %[[A:.*]] = memref.alloc() {alignment = 64 : i64} : memref<2x2x64xi8>
// CHECK-COUNT-3: vector.interleave
// CHECK: %[[ROW:.*]] = vector.extract %{{.*}}[0] : vector<64xi8> from vector<2x64xi8>
// CHECK: vector.transfer_write %[[ROW]], %[[A]]
// CHECK-NOT: vector.shuffle
// CHECK: tilewright.mma {{.*}} : memref<2x64xi8, {{.*}}>, memref<16x16x4xi8, {{.*}}>, vector<2x16xi32>
func.func private @tiles(%a: memref<2x128xi8>, %b: memref<128x16xi8>, %c: memref<2x16xi32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #tiles, tilewright.panels = array<i64: 1, 1, 2>} {
  %zero = arith.constant dense<0> : vector<2x16xi32>
  %pad = arith.constant 0 : i8
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %r = scf.for %k = %c0 to %c128 step %c64 iter_args(%acc = %zero) -> (vector<2x16xi32>) {
    %x = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<2x128xi8>, vector<2x64xi8>
    %y = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<128x16xi8>, vector<64x16xi8>
    %n = tilewright.mma %x, %y, %acc {instruction = "amx.m16n16k64.s8.s32", signedness = ["signed", "signed"],
        maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, #acc]}
       : vector<2x64xi8>, vector<64x16xi8>, vector<2x16xi32>
    scf.yield %n : vector<2x16xi32>
  }
  vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xi32>, memref<2x16xi32>
  return
}

#signed = #tilewright.lowering_config<strategy = simt_contraction, block = [2, 16, 8], thread = [2, 16, 4], mma = "dot.m1n16k4.s8.s32", promote = [0, 1]>

// Dot products take unsigned rows: those of signed bytes have their sign bits turned, columns do not. A row of sign bits times
// the columns is what the sums start without.
// CHECK-LABEL: @turned
// CHECK-DAG: %[[SIGNS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x1x4xi8>
// CHECK-DAG: %[[SURPLUS:.*]] = memref.alloc() {alignment = 64 : i64} : memref<1x16xi32>
// CHECK-DAG: vector.transfer_write %{{.*}}, %[[SIGNS]]{{.*}} : vector<1x1x4xi8>
// CHECK-NOT: arith.xori {{.*}} : vector<4x16xi8>
// CHECK: %[[SUM:.*]] = scf.for
// CHECK: tilewright.mma %[[SIGNS]], %{{.*}} {instruction = "dot.m1n16k4.u8.s8.s32", {{.*}}signedness = ["unsigned", "signed"]} : memref<1x1x4xi8>, {{.*}}, vector<1x16xi32>
// CHECK: vector.transfer_write %[[SUM]], %[[SURPLUS]]
// CHECK: arith.xori %{{.*}}, %{{.*}} : vector<2x4xi8>
// CHECK: %[[LESS:.*]] = vector.broadcast %{{.*}} : vector<16xi32> to vector<2x16xi32>
// CHECK: %[[INIT:.*]] = arith.subi %{{.*}}, %[[LESS]]
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]])
// CHECK: tilewright.mma {{.*}} {instruction = "dot.m1n16k4.u8.s8.s32", {{.*}} : {{.*}}, vector<2x16xi32>
func.func private @turned(%a: memref<2x8xi8>, %b: memref<8x16xi8>, %c: memref<2x16xi32>)
    attributes {tilewright.kernel, tilewright.lowering_config = #signed, tilewright.panels = array<i64: 1, 1, 2>} {
  %zero = arith.constant dense<0> : vector<2x16xi32>
  %pad = arith.constant 0 : i8
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : index
  %c8 = arith.constant 8 : index
  %r = scf.for %k = %c0 to %c8 step %c4 iter_args(%acc = %zero) -> (vector<2x16xi32>) {
    %x = vector.transfer_read %a[%c0, %k], %pad {in_bounds = [true, true]} : memref<2x8xi8>, vector<2x4xi8>
    %y = vector.transfer_read %b[%k, %c0], %pad {in_bounds = [true, true]} : memref<8x16xi8>, vector<4x16xi8>
    %n = tilewright.mma %x, %y, %acc {instruction = "dot.m1n16k4.s8.s32", signedness = ["signed", "signed"],
        maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, #acc]}
       : vector<2x4xi8>, vector<4x16xi8>, vector<2x16xi32>
    scf.yield %n : vector<2x16xi32>
  }
  vector.transfer_write %r, %c[%c0, %c0] {in_bounds = [true, true]} : vector<2x16xi32>, memref<2x16xi32>
  return
}
