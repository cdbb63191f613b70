// RUN: tilewright-opt %s -tilewright-prefetch-rows=bytes=1024 | FileCheck %s

// Both loops have the next two rows brought to a cache, each a part as large as its work.
// CHECK-LABEL: @Twice
// CHECK: scf.for
// CHECK-COUNT-1: memref.prefetch %{{.*}}[%{{.*}}, %{{.*}}], read, locality<2>, data : memref<64x128xf32>
// CHECK-NOT: memref.prefetch
// CHECK: scf.yield
// CHECK: scf.for %[[I:.*]] = {{.*}} {
// CHECK-COUNT-3: memref.prefetch %{{.*}}[%{{.*}}, %{{.*}}], read, locality<2>, data : memref<64x128xf32>
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @Twice(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %row: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %f1 = arith.constant 1.0 : f32
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %b = arith.addf %a, %v : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  scf.for %i = %c0 to %c128 step %c32 {
    %v = vector.transfer_read %x[%row, %i], %f1 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %d = arith.subf %v, %s : vector<2x32xf32>
    %e = arith.mulf %d, %d : vector<2x32xf32>
    %q = arith.divf %e, %s : vector<2x32xf32>
    vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
  }
  return
}

// A function takes so long that the other loop asks for nothing.
// CHECK-LABEL: @Costly
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: scf.yield
// CHECK: scf.for
// CHECK-COUNT-4: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @Costly(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %row: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
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
    %e = math.exp %v : vector<2x32xf32>
    %q = arith.divf %e, %s : vector<2x32xf32>
    vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
  }
  return
}

// A loop that reads what is kept of the rows has a part of the work, too, where the first one reads.
// CHECK-LABEL: @Kept
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<64x128xf32>
// CHECK: scf.for
// CHECK-COUNT-2: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: scf.yield
// CHECK: scf.for %[[I:.*]] = {{.*}} {
// CHECK: memref.prefetch %[[X]][%{{.*}}, %[[I]]], read, locality<2>, data : memref<64x128xf32>
// CHECK-COUNT-1: memref.prefetch
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @Kept(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %row: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %rows = memref.alloca() : memref<4x2x32xf32>
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %d = arith.subf %v, %z : vector<2x32xf32>
    %j = arith.divui %i, %c32 : index
    vector.transfer_write %d, %rows[%j, %c0, %c0] {in_bounds = [true, true]} : vector<2x32xf32>, memref<4x2x32xf32>
    %b = arith.addf %a, %d : vector<2x32xf32>
    scf.yield %b : vector<2x32xf32>
  }
  scf.for %i = %c0 to %c128 step %c32 {
    %j = arith.divui %i, %c32 : index
    %d = vector.transfer_read %rows[%j, %c0, %c0], %f0 {in_bounds = [true, true]} : memref<4x2x32xf32>, vector<2x32xf32>
    %e = arith.mulf %d, %d : vector<2x32xf32>
    %q = arith.divf %e, %s : vector<2x32xf32>
    vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
  }
  return
}

// One loop waits for memory in any case; rows that are too long would not be kept.
// CHECK-LABEL: @Once
// CHECK-NOT: memref.prefetch
func.func private @Once(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %row: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c128 step %c32 {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    vector.transfer_write %v, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
  }
  return
}

// Of a loop over rows that are pipelined, those behind the ones that it reads first.
// CHECK-LABEL: @RowsBefore
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<64x128xf32>
// CHECK-SAME: %[[ROW:[a-z0-9]+]]: index
// CHECK: vector.transfer_read
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %c2{{.*}} : index
// CHECK: arith.minsi %[[NEXT]],
// CHECK-COUNT-4: memref.prefetch %[[X]]
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @RowsBefore(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %row: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %before = arith.subi %row, %c2 : index
  %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %w = vector.transfer_read %x[%before, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
    %b = arith.addf %a, %v : vector<2x32xf32>
    vector.transfer_write %w, %r[%before, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    scf.yield %b : vector<2x32xf32>
  }
  return
}

// CHECK-LABEL: @TooLong
// CHECK-NOT: memref.prefetch
func.func private @TooLong(%x: memref<64x256xf32>, %r: memref<64x256xf32>, %row: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c32 = arith.constant 32 : index
  %c256 = arith.constant 256 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %i = %c0 to %c256 step %c32 {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x256xf32>, vector<2x32xf32>
    vector.transfer_write %v, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x256xf32>
  }
  scf.for %i = %c0 to %c256 step %c32 {
    %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x256xf32>, vector<2x32xf32>
    vector.transfer_write %v, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x256xf32>
  }
  return
}

// Rows of two dims, each with a loop: the next group is one further.
// CHECK-LABEL: @Groups
// CHECK-SAME: %[[X:.*]]: memref<8x16x4x32xf32>, %{{.*}}, %[[IMAGE:.*]]: index, %[[GROUP:.*]]: index
// CHECK: scf.for %[[C:.*]] = %c0 to %c4 step %c2 iter_args
// CHECK: scf.for %[[I:.*]] = %c0 to %c32 step %c16 iter_args
// CHECK: %[[AFTER:.*]] = arith.addi %[[GROUP]], %c1
// CHECK: %[[NEXT:.*]] = arith.minsi %[[AFTER]]
// CHECK: memref.prefetch %[[X]][%[[IMAGE]], %[[NEXT]], %[[C]], %[[I]]], read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: scf.for %[[C:.*]] = %c0 to %c4 step %c2 {
// CHECK: %[[BELOW:.*]] = arith.addi %[[C]], %c1
// CHECK: memref.prefetch %[[X]][%[[IMAGE]], %{{.*}}, %[[BELOW]], %{{.*}}], read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @Groups(%x: memref<8x16x4x32xf32>, %r: memref<8x16x4x32xf32>, %image: index, %group: index, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c32 = arith.constant 32 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %c = %c0 to %c4 step %c2 iter_args(%a = %z) -> (vector<2x16xf32>) {
    %t = scf.for %i = %c0 to %c32 step %c16 iter_args(%b = %a) -> (vector<2x16xf32>) {
      %v = vector.transfer_read %x[%image, %group, %c, %i], %f0 {in_bounds = [true, true]} : memref<8x16x4x32xf32>, vector<2x16xf32>
      %n = arith.addf %b, %v : vector<2x16xf32>
      scf.yield %n : vector<2x16xf32>
    }
    scf.yield %t : vector<2x16xf32>
  }
  scf.for %c = %c0 to %c4 step %c2 {
    scf.for %i = %c0 to %c32 step %c16 {
      %v = vector.transfer_read %x[%image, %group, %c, %i], %f0 {in_bounds = [true, true]} : memref<8x16x4x32xf32>, vector<2x16xf32>
      %q = arith.divf %v, %s : vector<2x16xf32>
      vector.transfer_write %q, %r[%image, %group, %c, %i] {in_bounds = [true, true]} : vector<2x16xf32>, memref<8x16x4x32xf32>
    }
  }
  return
}

// A transposed tile reads a line of each of its rows and has the lines two further brought to a cache.
// CHECK-LABEL: @Transposed
// CHECK: scf.for
// CHECK: %[[J:.*]] = arith.addi %{{.*}}, %c32
// CHECK: %[[COLUMN:.*]] = arith.minsi %[[J]]
// CHECK-COUNT-8: memref.prefetch %{{.*}}[%{{.*}}, %[[COLUMN]]], read, locality<2>, data : memref<64x2048xf32>
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @Transposed(%x: memref<64x2048xf32>, %r: memref<2048x64xf32>, %row: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c2048 = arith.constant 2048 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %j = %c0 to %c2048 step %c16 {
    %v = vector.transfer_read %x[%row, %j], %f0 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<64x2048xf32>, vector<16x8xf32>
    vector.transfer_write %v, %r[%j, %row] {in_bounds = [true, true]} : vector<16x8xf32>, memref<2048x64xf32>
  }
  return
}

// Of tiles with half of a line, each line would be asked for twice; short rows share pages.
// CHECK-LABEL: @HalfLines
// CHECK-NOT: memref.prefetch
func.func private @HalfLines(%x: memref<64x2048xf32>, %r: memref<2048x64xf32>, %s: memref<64x64xf32>, %row: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write", "read"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %j = %c0 to %c64 step %c16 {
    %v = vector.transfer_read %x[%row, %j], %f0 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<64x2048xf32>, vector<8x8xf32>
    vector.transfer_write %v, %r[%j, %row] {in_bounds = [true, true]} : vector<8x8xf32>, memref<2048x64xf32>
    %w = vector.transfer_read %s[%row, %j], %f0 {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : memref<64x64xf32>, vector<16x8xf32>
    vector.transfer_write %w, %r[%j, %row] {in_bounds = [true, true]} : vector<16x8xf32>, memref<2048x64xf32>
  }
  return
}

// Sums of columns read eight rows side by side: the next eight are brought to a cache, up to the last row.
// CHECK-LABEL: @Columns
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for %[[ROW:[a-z0-9]+]] =
// CHECK: vector.transfer_read
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[ROW]], %[[C8]]
// CHECK: %[[AT:.*]] = arith.minsi %[[NEXT]]
// CHECK-COUNT-2: memref.prefetch %{{.*}}[%[[AT]], %{{.*}}], read, locality<2>, data
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @Columns(%x: memref<64x128xf32>, %r: memref<128xf32>, %z: vector<32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c32 = arith.constant 32 : index
  %c64 = arith.constant 64 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %kept = memref.alloca() : memref<128xf32>
  scf.for %chunk = %c0 to %c64 step %c8 {
    %end = arith.addi %chunk, %c8 : index
    scf.for %column = %c0 to %c128 step %c32 {
      %b = vector.transfer_read %kept[%column], %f0 {in_bounds = [true]} : memref<128xf32>, vector<32xf32>
      %s = scf.for %row = %chunk to %end step %c1 iter_args(%a = %b) -> (vector<32xf32>) {
        %v = vector.transfer_read %x[%row, %column], %f0 {in_bounds = [true]} : memref<64x128xf32>, vector<32xf32>
        %t = arith.addf %a, %v : vector<32xf32>
        scf.yield %t : vector<32xf32>
      }
      vector.transfer_write %s, %kept[%column] {in_bounds = [true]} : vector<32xf32>, memref<128xf32>
    }
  }
  return
}

// What a cache has is not asked for.
// CHECK-LABEL: @FewColumns
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @FewColumns(%x: memref<16x32xf32>, %r: memref<32xf32>, %z: vector<32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c16 = arith.constant 16 : index
  %f0 = arith.constant 0.0 : f32
  %kept = memref.alloca() : memref<32xf32>
  scf.for %chunk = %c0 to %c16 step %c8 {
    %end = arith.addi %chunk, %c8 : index
    %s = scf.for %row = %chunk to %end step %c1 iter_args(%a = %z) -> (vector<32xf32>) {
      %v = vector.transfer_read %x[%row, %c0], %f0 {in_bounds = [true]} : memref<16x32xf32>, vector<32xf32>
      %t = arith.addf %a, %v : vector<32xf32>
      scf.yield %t : vector<32xf32>
    }
    vector.transfer_write %s, %kept[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32>
  }
  return
}

// No address is that of a bit.
// CHECK-LABEL: @Bits
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @Bits(%x: memref<64x512xi1>, %r: memref<512xi1>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %c512 = arith.constant 512 : index
  %false = arith.constant false
  %kept = memref.alloca() : memref<512xi1>
  scf.for %chunk = %c0 to %c64 step %c8 {
    %end = arith.addi %chunk, %c8 : index
    scf.for %column = %c0 to %c512 step %c512 {
      %b = vector.transfer_read %kept[%column], %false {in_bounds = [true]} : memref<512xi1>, vector<512xi1>
      %s = scf.for %row = %chunk to %end step %c1 iter_args(%a = %b) -> (vector<512xi1>) {
        %v = vector.transfer_read %x[%row, %column], %false {in_bounds = [true]} : memref<64x512xi1>, vector<512xi1>
        %t = arith.ori %a, %v : vector<512xi1>
        scf.yield %t : vector<512xi1>
      }
      vector.transfer_write %s, %kept[%column] {in_bounds = [true]} : vector<512xi1>, memref<512xi1>
    }
  }
  return
}
