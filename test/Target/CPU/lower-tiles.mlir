// RUN: tilewright-opt %s -tilewright-lower-tiles | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k floordiv 2, n, k mod 2)>
#c = affine_map<(m, n, k) -> (m, n)>

// The accumulator is four tiles, of which two have fewer rows. They begin as zeros and end where the accumulator was
// written.
// CHECK-LABEL: @StayInTiles
// CHECK-COUNT-4: llvm.x86.tilezero.internal
// CHECK: scf.for {{.*}} -> (!llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx) {
// CHECK-COUNT-3: llvm.x86.tileloadd64.internal
// CHECK-COUNT-2: llvm.x86.tdpbf16ps.internal
// CHECK: llvm.x86.tileloadd64.internal
// CHECK-COUNT-2: llvm.x86.tdpbf16ps.internal
// CHECK: scf.yield
// CHECK-COUNT-4: llvm.x86.tilestored64.internal
// CHECK-NOT: vector.transfer_write
func.func private @StayInTiles(%a: memref<20x32xbf16>, %b: memref<16x32x2xbf16>, %o: memref<20x32xf32>, %n: index)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<20x32xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> vector<20x32xf32> {
    %x = tilewright.mma %a, %b, %acc {instruction = "amx.m16n16k32.bf16.f32", maps = [#a, #b, #c]}
       : memref<20x32xbf16>, memref<16x32x2xbf16>, vector<20x32xf32>
    scf.yield %x : vector<20x32xf32>
  }
  vector.transfer_write %r, %o[%c0, %c0] {in_bounds = [true, true]} : vector<20x32xf32>, memref<20x32xf32>
  return
}

// Between chunks of a sum they are loaded and stored without vectors; what follows the last chunk reads them out of the
// kernel's own memory.
// CHECK-LABEL: @Chunks
// CHECK: %[[OWN:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16x16xi32>
// CHECK: %[[INIT:.*]] = scf.if %arg4 -> (!llvm.x86_amx) {
// CHECK: llvm.x86.tilezero.internal
// CHECK: } else {
// CHECK: llvm.x86.tileloadd64.internal
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %[[INIT]]) -> (!llvm.x86_amx)
// CHECK: llvm.x86.tdpbusd.internal
// CHECK: scf.if %arg5
// CHECK: llvm.x86.tilestored64.internal
// CHECK: %[[R:.*]] = vector.transfer_read %[[OWN]]
// CHECK: arith.addi %[[R]]
// CHECK: } else {
// CHECK: llvm.x86.tilestored64.internal
// CHECK-NOT: vector.transfer_write
#b4 = affine_map<(m, n, k) -> (k floordiv 4, n, k mod 4)>
func.func private @Chunks(%a: memref<16x64xi8>, %b: memref<16x16x4xi8>, %sums: memref<16x16xi32>, %n: index, %first: i1, %last: i1,
    %o: memref<16x16xi32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %p = arith.constant 0 : i32
  %zero = arith.constant dense<0> : vector<16x16xi32>
  %init = scf.if %first -> vector<16x16xi32> {
    scf.yield %zero : vector<16x16xi32>
  } else {
    %old = vector.transfer_read %sums[%c0, %c0], %p {in_bounds = [true, true]} : memref<16x16xi32>, vector<16x16xi32>
    scf.yield %old : vector<16x16xi32>
  }
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %init) -> vector<16x16xi32> {
    %x = tilewright.mma %a, %b, %acc {instruction = "amx.m16n16k64.u8.s8.s32", signedness = ["unsigned", "signed"], maps = [#a, #b4, #c]}
       : memref<16x64xi8>, memref<16x16x4xi8>, vector<16x16xi32>
    scf.yield %x : vector<16x16xi32>
  }
  scf.if %last {
    %twice = arith.addi %r, %r : vector<16x16xi32>
    vector.transfer_write %twice, %o[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xi32>, memref<16x16xi32>
  } else {
    vector.transfer_write %r, %sums[%c0, %c0] {in_bounds = [true, true]} : vector<16x16xi32>, memref<16x16xi32>
  }
  return
}

// What hangs over the edge takes the way through memory.
// CHECK-LABEL: @Edge
// CHECK: %[[LAST:.*]] = arith.addi %arg4, %{{.*}} : index
// CHECK: %[[SIZE:.*]] = memref.dim %arg2
// CHECK: %[[INSIDE:.*]] = arith.cmpi sle, %[[LAST]], %[[SIZE]]
// CHECK: scf.if %[[INSIDE]]
// CHECK: llvm.x86.tilestored64.internal
// CHECK: } else {
// CHECK: llvm.x86.tilestored64.internal
// CHECK: %[[R:.*]] = vector.transfer_read
// CHECK: vector.transfer_write %[[R]], %arg2
func.func private @Edge(%a: memref<16x32xbf16>, %b: memref<16x16x2xbf16>, %o: memref<?x16xf32>, %n: index, %i: index)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : vector<16x16xf32>
  %r = scf.for %t = %c0 to %n step %c1 iter_args(%acc = %zero) -> vector<16x16xf32> {
    %x = tilewright.mma %a, %b, %acc {instruction = "amx.m16n16k32.bf16.f32", maps = [#a, #b, #c]}
       : memref<16x32xbf16>, memref<16x16x2xbf16>, vector<16x16xf32>
    scf.yield %x : vector<16x16xf32>
  }
  vector.transfer_write %r, %o[%i, %c0] {in_bounds = [false, true]} : vector<16x16xf32>, memref<?x16xf32>
  return
}
