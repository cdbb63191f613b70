// RUN: tilewright-opt %s -tilewright-keep-computed-rows=bytes=4096 | FileCheck %s

// CHECK-LABEL: @Softmax
// CHECK: %[[ROWS:.*]] = memref.alloca() {alignment = 4096 : i64} : memref<2x128xf32>
// CHECK: scf.for
// CHECK: %[[E:.*]] = math.exp
// CHECK: vector.transfer_write %[[E]], %[[ROWS]]
// CHECK: scf.for
// CHECK-NOT: math.exp
// CHECK: vector.transfer_read %[[ROWS]]
// CHECK: return
func.func private @Softmax(%x: memref<2x128xf32>, %r: memref<2x128xf32>, %m: vector<2x16xf32>, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %c128 step %c16 iter_args(%a = %z) -> (vector<2x16xf32>) {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %d = arith.subf %v, %m : vector<2x16xf32>
    %e = math.exp %d : vector<2x16xf32>
    %b = arith.addf %a, %e : vector<2x16xf32>
    scf.yield %b : vector<2x16xf32>
  }
  scf.for %i = %c0 to %c128 step %c16 {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %d = arith.subf %v, %m : vector<2x16xf32>
    %e = math.exp %d : vector<2x16xf32>
    %q = arith.divf %e, %s : vector<2x16xf32>
    vector.transfer_write %q, %r[%c0, %i] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x128xf32>
  }
  return
}

// What all steps have in common lies in front of the second loop alone: its end, of a part of a tile, needs it, too.
// CHECK-LABEL: @HoistedFromOne
// CHECK: memref.alloca()
// CHECK: math.exp
// CHECK-NOT: math.exp
// CHECK: return
func.func private @HoistedFromOne(%x: memref<2x128xf32>, %r: memref<2x128xf32>, %m: f32, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %c128 step %c16 iter_args(%a = %z) -> (vector<2x16xf32>) {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %all = vector.broadcast %m : f32 to vector<2x16xf32>
    %d = arith.subf %v, %all : vector<2x16xf32>
    %e = math.exp %d : vector<2x16xf32>
    %b = arith.addf %a, %e : vector<2x16xf32>
    scf.yield %b : vector<2x16xf32>
  }
  %hoisted = vector.broadcast %m : f32 to vector<2x16xf32>
  scf.for %i = %c0 to %c128 step %c16 {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %d = arith.subf %v, %hoisted : vector<2x16xf32>
    %e = math.exp %d : vector<2x16xf32>
    %q = arith.divf %e, %s : vector<2x16xf32>
    vector.transfer_write %q, %r[%c0, %i] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x128xf32>
  }
  return
}

// Of different values, of what the kernel writes, and of rows that are too long nothing is kept.
// CHECK-LABEL: @Different
// CHECK-NOT: memref.alloca
func.func private @Different(%x: memref<2x128xf32>, %r: memref<2x128xf32>, %m: vector<2x16xf32>, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %c4096 = arith.constant 4096 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c128 step %c16 {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %e = math.exp %v : vector<2x16xf32>
    %w = vector.transfer_read %r[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %f = math.exp %w : vector<2x16xf32>
    %g = arith.addf %e, %f : vector<2x16xf32>
    vector.transfer_write %g, %r[%c0, %i] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x128xf32>
  }
  scf.for %i = %c0 to %c128 step %c16 {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %d = arith.addf %v, %z : vector<2x16xf32>
    %e = math.exp %d : vector<2x16xf32>
    %w = vector.transfer_read %r[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %f = math.exp %w : vector<2x16xf32>
    %g = arith.addf %e, %f : vector<2x16xf32>
    vector.transfer_write %g, %r[%c0, %i] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x128xf32>
  }
  return
}

// CHECK-LABEL: @TooLong
// CHECK-NOT: memref.alloca
func.func private @TooLong(%x: memref<2x4096xf32>, %r: memref<2x4096xf32>, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c4096 = arith.constant 4096 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %c4096 step %c16 iter_args(%a = %z) -> (vector<2x16xf32>) {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x4096xf32>, vector<2x16xf32>
    %e = math.exp %v : vector<2x16xf32>
    %b = arith.addf %a, %e : vector<2x16xf32>
    scf.yield %b : vector<2x16xf32>
  }
  scf.for %i = %c0 to %c4096 step %c16 {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x4096xf32>, vector<2x16xf32>
    %e = math.exp %v : vector<2x16xf32>
    %q = arith.divf %e, %s : vector<2x16xf32>
    vector.transfer_write %q, %r[%c0, %i] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x4096xf32>
  }
  return
}

// Conversions from and to 16 bits around a sum take longer than a store and a load. What is widened again is kept in 16 bits.
// Both later loops read what is stored once.
// CHECK-LABEL: @Rounded
// CHECK: %[[ROWS:.*]] = memref.alloca() {alignment = 4096 : i64} : memref<2x128xf16>
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK: vector.transfer_write %{{.*}}, %[[ROWS]]
// CHECK: scf.for
// CHECK-NOT: arith.truncf
// CHECK: vector.transfer_read %[[ROWS]]
// CHECK: scf.for
// CHECK-NOT: arith.truncf
// CHECK: vector.transfer_read %[[ROWS]]
func.func private @Rounded(%x: memref<64x128xf16>, %y: memref<64x128xf16>, %r: memref<64x128xf32>, %row: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f16
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %w = vector.transfer_read %y[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %e = arith.extf %v : vector<2x32xf16> to vector<2x32xf32>
    %f = arith.extf %w : vector<2x32xf16> to vector<2x32xf32>
    %g = arith.addf %e, %f : vector<2x32xf32>
    %h = arith.truncf %g : vector<2x32xf32> to vector<2x32xf16>
    %k = arith.extf %h : vector<2x32xf16> to vector<2x32xf32>
    %b = arith.addf %a, %k : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  %t = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %w = vector.transfer_read %y[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %e = arith.extf %v : vector<2x32xf16> to vector<2x32xf32>
    %f = arith.extf %w : vector<2x32xf16> to vector<2x32xf32>
    %g = arith.addf %e, %f : vector<2x32xf32>
    %h = arith.truncf %g : vector<2x32xf32> to vector<2x32xf16>
    %k = arith.extf %h : vector<2x32xf16> to vector<2x32xf32>
    %d = arith.divf %k, %s : vector<2x32xf32>
    %b = arith.maximumf %a, %d : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  scf.for %i = %c0 to %c128 step %c32 {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %w = vector.transfer_read %y[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %e = arith.extf %v : vector<2x32xf16> to vector<2x32xf32>
    %f = arith.extf %w : vector<2x32xf16> to vector<2x32xf32>
    %g = arith.addf %e, %f : vector<2x32xf32>
    %h = arith.truncf %g : vector<2x32xf32> to vector<2x32xf16>
    %k = arith.extf %h : vector<2x32xf16> to vector<2x32xf32>
    %d = arith.divf %k, %t : vector<2x32xf32>
    vector.transfer_write %d, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
  }
  return
}

// Arithmetic with 16 bits converts operands and result; what is the same in every step is no work.
// CHECK-LABEL: @SmallSums
// CHECK: %[[ROWS:.*]] = memref.alloca() {alignment = 4096 : i64} : memref<2x128xf16>
// CHECK-NOT: memref.alloca
// CHECK: scf.for
// CHECK: %[[H:.*]] = arith.addf
// CHECK: vector.transfer_write %[[H]], %[[ROWS]]
// CHECK: scf.for
// CHECK-NOT: arith.addf %{{.*}} : vector<2x32xf16>
// CHECK: %[[KEPT:.*]] = vector.transfer_read %[[ROWS]]
// CHECK: arith.extf %[[KEPT]]
func.func private @SmallSums(%x: memref<64x128xf16>, %y: memref<64x128xf16>, %r: memref<64x128xf32>, %row: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f16
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %w = vector.transfer_read %y[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %h = arith.addf %v, %w : vector<2x32xf16>
    %k = arith.extf %h : vector<2x32xf16> to vector<2x32xf32>
    %b = arith.addf %a, %k : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  scf.for %i = %c0 to %c128 step %c32 {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %w = vector.transfer_read %y[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf16>, vector<2x32xf16>
    %h = arith.addf %v, %w : vector<2x32xf16>
    %k = arith.extf %h : vector<2x32xf16> to vector<2x32xf32>
    %m = arith.mulf %z, %z : vector<2x32xf32>
    %n = arith.divf %m, %z : vector<2x32xf32>
    %o = arith.addf %n, %z : vector<2x32xf32>
    %p = math.sqrt %o : vector<2x32xf32>
    %d = arith.mulf %k, %p : vector<2x32xf32>
    %q = arith.divf %d, %s : vector<2x32xf32>
    vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
  }
  return
}

// Few rows are kept for less: a quarter of the room is 1024 bytes, two rows of 128 numbers in f32.
// CHECK-LABEL: @Centered
// CHECK: %[[ROWS:.*]] = memref.alloca() {alignment = 4096 : i64} : memref<2x128xf32>
// CHECK: scf.for
// CHECK: %[[D:.*]] = arith.subf
// CHECK: vector.transfer_write %[[D]], %[[ROWS]]
// CHECK: scf.for
// CHECK-NOT: arith.extf
// CHECK: vector.transfer_read %[[ROWS]]
// CHECK-NOT: arith.subf
// CHECK: return
func.func private @Centered(%x: memref<2x128xf16>, %r: memref<2x128xf32>, %m: vector<2x16xf32>, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f16
  %s = scf.for %i = %c0 to %c128 step %c16 iter_args(%a = %z) -> (vector<2x16xf32>) {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf16>, vector<2x16xf16>
    %w = arith.extf %v : vector<2x16xf16> to vector<2x16xf32>
    %d = arith.subf %w, %m : vector<2x16xf32>
    %q = arith.mulf %d, %d : vector<2x16xf32>
    %b = arith.addf %a, %q : vector<2x16xf32>
    scf.yield %b : vector<2x16xf32>
  }
  scf.for %i = %c0 to %c128 step %c16 {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf16>, vector<2x16xf16>
    %w = arith.extf %v : vector<2x16xf16> to vector<2x16xf32>
    %d = arith.subf %w, %m : vector<2x16xf32>
    %q = arith.divf %d, %s : vector<2x16xf32>
    vector.transfer_write %q, %r[%c0, %i] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x128xf32>
  }
  return
}

// More rows than these are not.
// CHECK-LABEL: @ManyCentered
// CHECK-NOT: memref.alloca
// CHECK: return
func.func private @ManyCentered(%x: memref<2x256xf16>, %r: memref<2x256xf32>, %m: vector<2x16xf32>, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c256 = arith.constant 256 : index
  %f0 = arith.constant 0.0 : f16
  %s = scf.for %i = %c0 to %c256 step %c16 iter_args(%a = %z) -> (vector<2x16xf32>) {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x256xf16>, vector<2x16xf16>
    %w = arith.extf %v : vector<2x16xf16> to vector<2x16xf32>
    %d = arith.subf %w, %m : vector<2x16xf32>
    %q = arith.mulf %d, %d : vector<2x16xf32>
    %b = arith.addf %a, %q : vector<2x16xf32>
    scf.yield %b : vector<2x16xf32>
  }
  scf.for %i = %c0 to %c256 step %c16 {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x256xf16>, vector<2x16xf16>
    %w = arith.extf %v : vector<2x16xf16> to vector<2x16xf32>
    %d = arith.subf %w, %m : vector<2x16xf32>
    %q = arith.divf %d, %s : vector<2x16xf32>
    vector.transfer_write %q, %r[%c0, %i] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x256xf32>
  }
  return
}

// A row of two dims: what is kept has one more.
// CHECK-LABEL: @Nests
// CHECK: %[[ROWS:.*]] = memref.alloca() {alignment = 4096 : i64} : memref<3x1x64xf32>
// CHECK: scf.for %[[C:[a-z0-9]+]] = %c0
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0
// CHECK: %[[E:.*]] = math.exp
// CHECK: vector.transfer_write %[[E]], %[[ROWS]][%[[C]], %{{.*}}, %[[I]]]
// CHECK: scf.for %[[C:[a-z0-9]+]] = %c0
// CHECK: scf.for %[[I:[a-z0-9]+]] = %c0
// CHECK-NOT: math.exp
// CHECK: vector.transfer_read %[[ROWS]][%[[C]], %{{.*}}, %[[I]]]
// CHECK: return
func.func private @Nests(%x: memref<4x3x64xf32>, %r: memref<4x3x64xf32>, %row: index, %z: vector<1x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %c = %c0 to %c3 step %c1 iter_args(%a = %z) -> (vector<1x16xf32>) {
    %t = scf.for %i = %c0 to %c64 step %c16 iter_args(%b = %a) -> (vector<1x16xf32>) {
      %v = vector.transfer_read %x[%row, %c, %i], %f0 {in_bounds = [true, true]} : memref<4x3x64xf32>, vector<1x16xf32>
      %e = math.exp %v : vector<1x16xf32>
      %u = arith.addf %b, %e : vector<1x16xf32>
      scf.yield %u : vector<1x16xf32>
    }
    scf.yield %t : vector<1x16xf32>
  }
  scf.for %c = %c0 to %c3 step %c1 {
    scf.for %i = %c0 to %c64 step %c16 {
      %v = vector.transfer_read %x[%row, %c, %i], %f0 {in_bounds = [true, true]} : memref<4x3x64xf32>, vector<1x16xf32>
      %e = math.exp %v : vector<1x16xf32>
      %q = arith.divf %e, %s : vector<1x16xf32>
      vector.transfer_write %q, %r[%row, %c, %i] {in_bounds = [true, true]} : vector<1x16xf32>, memref<4x3x64xf32>
    }
  }
  return
}

// Each op takes the one before it twice: paths through them double, comparing does not.
// CHECK-LABEL: @Squares
// CHECK: memref.alloca
func.func private @Squares(%x: memref<2x128xf32>, %r: memref<2x128xf32>, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %i = %c0 to %c128 step %c16 iter_args(%a = %z) -> (vector<2x16xf32>) {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %e0 = math.exp %v : vector<2x16xf32>
    %e1 = arith.mulf %e0, %e0 : vector<2x16xf32>
    %e2 = arith.mulf %e1, %e1 : vector<2x16xf32>
    %e3 = arith.mulf %e2, %e2 : vector<2x16xf32>
    %e4 = arith.mulf %e3, %e3 : vector<2x16xf32>
    %e5 = arith.mulf %e4, %e4 : vector<2x16xf32>
    %e6 = arith.mulf %e5, %e5 : vector<2x16xf32>
    %e7 = arith.mulf %e6, %e6 : vector<2x16xf32>
    %e8 = arith.mulf %e7, %e7 : vector<2x16xf32>
    %e9 = arith.mulf %e8, %e8 : vector<2x16xf32>
    %e10 = arith.mulf %e9, %e9 : vector<2x16xf32>
    %e11 = arith.mulf %e10, %e10 : vector<2x16xf32>
    %e12 = arith.mulf %e11, %e11 : vector<2x16xf32>
    %e13 = arith.mulf %e12, %e12 : vector<2x16xf32>
    %e14 = arith.mulf %e13, %e13 : vector<2x16xf32>
    %e15 = arith.mulf %e14, %e14 : vector<2x16xf32>
    %e16 = arith.mulf %e15, %e15 : vector<2x16xf32>
    %e17 = arith.mulf %e16, %e16 : vector<2x16xf32>
    %e18 = arith.mulf %e17, %e17 : vector<2x16xf32>
    %e19 = arith.mulf %e18, %e18 : vector<2x16xf32>
    %e20 = arith.mulf %e19, %e19 : vector<2x16xf32>
    %e21 = arith.mulf %e20, %e20 : vector<2x16xf32>
    %e22 = arith.mulf %e21, %e21 : vector<2x16xf32>
    %e23 = arith.mulf %e22, %e22 : vector<2x16xf32>
    %e24 = arith.mulf %e23, %e23 : vector<2x16xf32>
    %e25 = arith.mulf %e24, %e24 : vector<2x16xf32>
    %e26 = arith.mulf %e25, %e25 : vector<2x16xf32>
    %e27 = arith.mulf %e26, %e26 : vector<2x16xf32>
    %e28 = arith.mulf %e27, %e27 : vector<2x16xf32>
    %e29 = arith.mulf %e28, %e28 : vector<2x16xf32>
    %e30 = arith.mulf %e29, %e29 : vector<2x16xf32>
    %e31 = arith.mulf %e30, %e30 : vector<2x16xf32>
    %e32 = arith.mulf %e31, %e31 : vector<2x16xf32>
    %e33 = arith.mulf %e32, %e32 : vector<2x16xf32>
    %e34 = arith.mulf %e33, %e33 : vector<2x16xf32>
    %e35 = arith.mulf %e34, %e34 : vector<2x16xf32>
    %e36 = arith.mulf %e35, %e35 : vector<2x16xf32>
    %e37 = arith.mulf %e36, %e36 : vector<2x16xf32>
    %e38 = arith.mulf %e37, %e37 : vector<2x16xf32>
    %e39 = arith.mulf %e38, %e38 : vector<2x16xf32>
    %e40 = arith.mulf %e39, %e39 : vector<2x16xf32>
    %b = arith.addf %a, %e40 : vector<2x16xf32>
    scf.yield %b : vector<2x16xf32>
  }
  scf.for %i = %c0 to %c128 step %c16 {
    %v = vector.transfer_read %x[%c0, %i], %f0 {in_bounds = [true, true]} : memref<2x128xf32>, vector<2x16xf32>
    %e0 = math.exp %v : vector<2x16xf32>
    %e1 = arith.mulf %e0, %e0 : vector<2x16xf32>
    %e2 = arith.mulf %e1, %e1 : vector<2x16xf32>
    %e3 = arith.mulf %e2, %e2 : vector<2x16xf32>
    %e4 = arith.mulf %e3, %e3 : vector<2x16xf32>
    %e5 = arith.mulf %e4, %e4 : vector<2x16xf32>
    %e6 = arith.mulf %e5, %e5 : vector<2x16xf32>
    %e7 = arith.mulf %e6, %e6 : vector<2x16xf32>
    %e8 = arith.mulf %e7, %e7 : vector<2x16xf32>
    %e9 = arith.mulf %e8, %e8 : vector<2x16xf32>
    %e10 = arith.mulf %e9, %e9 : vector<2x16xf32>
    %e11 = arith.mulf %e10, %e10 : vector<2x16xf32>
    %e12 = arith.mulf %e11, %e11 : vector<2x16xf32>
    %e13 = arith.mulf %e12, %e12 : vector<2x16xf32>
    %e14 = arith.mulf %e13, %e13 : vector<2x16xf32>
    %e15 = arith.mulf %e14, %e14 : vector<2x16xf32>
    %e16 = arith.mulf %e15, %e15 : vector<2x16xf32>
    %e17 = arith.mulf %e16, %e16 : vector<2x16xf32>
    %e18 = arith.mulf %e17, %e17 : vector<2x16xf32>
    %e19 = arith.mulf %e18, %e18 : vector<2x16xf32>
    %e20 = arith.mulf %e19, %e19 : vector<2x16xf32>
    %e21 = arith.mulf %e20, %e20 : vector<2x16xf32>
    %e22 = arith.mulf %e21, %e21 : vector<2x16xf32>
    %e23 = arith.mulf %e22, %e22 : vector<2x16xf32>
    %e24 = arith.mulf %e23, %e23 : vector<2x16xf32>
    %e25 = arith.mulf %e24, %e24 : vector<2x16xf32>
    %e26 = arith.mulf %e25, %e25 : vector<2x16xf32>
    %e27 = arith.mulf %e26, %e26 : vector<2x16xf32>
    %e28 = arith.mulf %e27, %e27 : vector<2x16xf32>
    %e29 = arith.mulf %e28, %e28 : vector<2x16xf32>
    %e30 = arith.mulf %e29, %e29 : vector<2x16xf32>
    %e31 = arith.mulf %e30, %e30 : vector<2x16xf32>
    %e32 = arith.mulf %e31, %e31 : vector<2x16xf32>
    %e33 = arith.mulf %e32, %e32 : vector<2x16xf32>
    %e34 = arith.mulf %e33, %e33 : vector<2x16xf32>
    %e35 = arith.mulf %e34, %e34 : vector<2x16xf32>
    %e36 = arith.mulf %e35, %e35 : vector<2x16xf32>
    %e37 = arith.mulf %e36, %e36 : vector<2x16xf32>
    %e38 = arith.mulf %e37, %e37 : vector<2x16xf32>
    %e39 = arith.mulf %e38, %e38 : vector<2x16xf32>
    %e40 = arith.mulf %e39, %e39 : vector<2x16xf32>
    %q = arith.divf %e40, %s : vector<2x16xf32>
    vector.transfer_write %q, %r[%c0, %i] {in_bounds = [true, true]} : vector<2x16xf32>, memref<2x128xf32>
  }
  return
}
