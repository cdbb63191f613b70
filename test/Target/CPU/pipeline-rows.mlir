// RUN: tilewright-opt %s -tilewright-pipeline-rows | FileCheck %s
// RUN: tilewright-opt %s -tilewright-pipeline-rows=registers=16 | FileCheck %s --check-prefix=FEW

// Results of a row are stored beside the sum of the next one, before what is kept of that row takes their place.
// CHECK-LABEL: @Softmax
// FEW-LABEL: @Softmax
// FEW-SAME: tilewright.explain = ["rows are pipelined: results of one are stored while the next is computed"]
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<64x128xf32>, %[[R:[a-z0-9]+]]: memref<64x128xf32>, %[[BEGIN:[a-z0-9]+]]: index
// CHECK: %[[KEPT:.*]] = memref.alloca
// CHECK: %[[END:.*]] = affine.apply
// CHECK: %[[AT:.*]] = arith.addi %[[BEGIN]], %c6
// CHECK: %[[FIRST:.*]] = scf.for
// CHECK: vector.transfer_read %[[X]][%[[BEGIN]],
// CHECK: vector.transfer_write %{{.*}}, %[[KEPT]]
// CHECK: %[[DOUBLED:.*]] = arith.addf %[[FIRST]], %[[FIRST]]
// CHECK: %[[SECOND:.*]] = arith.addi %[[BEGIN]], %c2
// CHECK: %[[LAST:.*]] = scf.for %[[ROW:.*]] = %[[SECOND]] to %[[END]] step %c2 iter_args(%[[SUM:.*]] = %[[DOUBLED]])
// CHECK: %[[BEFORE:.*]] = arith.subi %[[ROW]], %c2
// CHECK: %[[NEXT:.*]] = scf.for %[[I:.*]] = %c0
// CHECK: %[[E:.*]] = vector.transfer_read %[[KEPT]]
// CHECK: %[[Q:.*]] = arith.divf %[[E]], %[[SUM]]
// CHECK: vector.transfer_read %[[X]][%[[ROW]], %[[I]]]
// CHECK: vector.transfer_write %{{.*}}, %[[KEPT]]
// CHECK: vector.transfer_write %[[Q]], %[[R]][%[[BEFORE]], %[[I]]]
// CHECK: %[[TWICE:.*]] = arith.addf %[[NEXT]], %[[NEXT]]
// CHECK: scf.yield %[[TWICE]]
// CHECK: scf.for
// CHECK: arith.divf %{{.*}}, %[[LAST]]
// CHECK: vector.transfer_write %{{.*}}, %[[R]][%[[AT]],
// CHECK: return
func.func private @Softmax(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %begin: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %kept = memref.alloca() : memref<4x2x32xf32>
  %end = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%begin]
  scf.for %row = %begin to %end step %c2 {
    %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %e = math.exp %v : vector<2x32xf32>
      %j = arith.divui %i, %c32 : index
      vector.transfer_write %e, %kept[%j, %c0, %c0] {in_bounds = [true, true]} : vector<2x32xf32>, memref<4x2x32xf32>
      %b = arith.addf %a, %e : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    %d = arith.addf %s, %s : vector<2x32xf32>
    scf.for %i = %c0 to %c128 step %c32 {
      %j = arith.divui %i, %c32 : index
      %e = vector.transfer_read %kept[%j, %c0, %c0], %f0 {in_bounds = [true, true]} : memref<4x2x32xf32>, vector<2x32xf32>
      %q = arith.divf %e, %d : vector<2x32xf32>
      vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}

// Not where the loop in front would overwrite what is yet to be stored of the row before,
// CHECK-LABEL: @OtherTiles
// CHECK-SAME: tilewright.explain = ["rows are not pipelined: what is kept of a row is overwritten before it is stored"]
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func private @OtherTiles(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %begin: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %kept = memref.alloca() : memref<4x2x32xf32>
  %end = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%begin]
  scf.for %row = %begin to %end step %c2 {
    %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %e = math.exp %v : vector<2x32xf32>
      %j = arith.divui %i, %c32 : index
      %n = arith.subi %c3, %j : index
      vector.transfer_write %e, %kept[%n, %c0, %c0] {in_bounds = [true, true]} : vector<2x32xf32>, memref<4x2x32xf32>
      %b = arith.addf %a, %e : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    scf.for %i = %c0 to %c128 step %c32 {
      %j = arith.divui %i, %c32 : index
      %e = vector.transfer_read %kept[%j, %c0, %c0], %f0 {in_bounds = [true, true]} : memref<4x2x32xf32>, vector<2x32xf32>
      %q = arith.divf %e, %s : vector<2x32xf32>
      vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}

// nor where it reads a result, nor of rows that may be none.
// CHECK-LABEL: @ReadsResult
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func private @ReadsResult(%r: memref<64x128xf32>, %begin: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["readwrite"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %end = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%begin]
  scf.for %row = %begin to %end step %c2 {
    %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %r[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %e = math.exp %v : vector<2x32xf32>
      %b = arith.addf %a, %e : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    scf.for %i = %c0 to %c128 step %c32 {
      vector.transfer_write %s, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}

// CHECK-LABEL: @UnknownRows
// CHECK-SAME: tilewright.explain = ["rows are not pipelined: a task is not known to have several tiles of rows"]
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func private @UnknownRows(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %begin: index, %end: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  scf.for %row = %begin to %end step %c2 {
    %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %e = math.exp %v : vector<2x32xf32>
      %b = arith.addf %a, %e : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    scf.for %i = %c0 to %c128 step %c32 {
      vector.transfer_write %s, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}

// A single loop waits for memory, whatever it computes: the row before it is read beside the next one.
// CHECK-LABEL: @OneSum
// FEW-LABEL: @OneSum
// FEW-SAME: tilewright.explain = ["rows are not pipelined: the target has too few registers for two loops in one"]
// CHECK-SAME: tilewright.explain = ["rows are pipelined: results of one are stored while the next is computed"]
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} iter_args(%[[SUM:.*]] = %{{.*}})
// CHECK: %[[BEFORE:.*]] = arith.subi %[[ROW]], %c2
// CHECK: scf.for %[[I:.*]] = %c0
// CHECK: %[[V:.*]] = vector.transfer_read %arg0[%[[BEFORE]], %[[I]]]
// CHECK: %[[Q:.*]] = arith.mulf %[[V]], %[[SUM]]
// CHECK: vector.transfer_read %arg0[%[[ROW]], %[[I]]]
// CHECK: vector.transfer_write %[[Q]], %arg1[%[[BEFORE]], %[[I]]]
func.func private @OneSum(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %begin: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %end = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%begin]
  scf.for %row = %begin to %end step %c2 {
    %s0 = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %b = arith.addf %a, %v : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    scf.for %i = %c0 to %c128 step %c32 {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %q = arith.mulf %v, %s0 : vector<2x32xf32>
      vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}

// Not where half of a task's rows would run alone,
// CHECK-LABEL: @ShortTask
// CHECK-SAME: tilewright.explain = ["rows are not pipelined: a task is not known to have several tiles of rows"]
func.func private @ShortTask(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %begin: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %end = affine.apply affine_map<()[s0] -> (s0 + 4)>()[%begin]
  scf.for %row = %begin to %end step %c2 {
    %s0 = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %b = arith.addf %a, %v : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    scf.for %i = %c0 to %c128 step %c32 {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %q = arith.mulf %v, %s0 : vector<2x32xf32>
      vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}

// nor where several loops wait for what they read from a cache.
// CHECK-LABEL: @Cheap
// CHECK-NOT: tilewright.explain
// CHECK-COUNT-4: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func private @Cheap(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %begin: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %end = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%begin]
  scf.for %row = %begin to %end step %c2 {
    %s0 = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %b = arith.addf %a, %v : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    %s1 = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %b = arith.maxnumf %a, %v : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    scf.for %i = %c0 to %c128 step %c32 {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %q = arith.mulf %v, %s1 : vector<2x32xf32>
      vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}

// Nor where the last loop keeps something of its own.
// CHECK-LABEL: @LastKeeps
// CHECK-NOT: tilewright.explain
// CHECK-COUNT-3: scf.for
// CHECK-NOT: scf.for
// CHECK: return
func.func private @LastKeeps(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %begin: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %kept = memref.alloca() : memref<4x2x32xf32>
  %end = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%begin]
  scf.for %row = %begin to %end step %c2 {
    %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %e = math.exp %v : vector<2x32xf32>
      %b = arith.addf %a, %e : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    scf.for %i = %c0 to %c128 step %c32 {
      %j = arith.divui %i, %c32 : index
      vector.transfer_write %s, %kept[%j, %c0, %c0] {in_bounds = [true, true]} : vector<2x32xf32>, memref<4x2x32xf32>
      vector.transfer_write %s, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}

// Constants of the loop over rows, bounds and steps among them, are there for the last row's results, too.
// CHECK-LABEL: @ConstantsInRows
// CHECK: scf.for
// CHECK: scf.for %{{.*}} iter_args
// CHECK: %[[NEXT:.*]] = scf.for
// CHECK: math.exp
// CHECK: vector.transfer_write
// CHECK: scf.yield
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: vector.transfer_write
// CHECK-NOT: scf.for
// CHECK: return
func.func private @ConstantsInRows(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %begin: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c2 = arith.constant 2 : index
  %f0 = arith.constant 0.0 : f32
  %end = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%begin]
  scf.for %row = %begin to %end step %c2 {
    %c0 = arith.constant 0 : index
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %half = arith.constant dense<0.5> : vector<2x32xf32>
    %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %e = math.exp %v : vector<2x32xf32>
      %b = arith.addf %a, %e : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    scf.for %i = %c0 to %c128 step %c32 {
      %q = arith.mulf %s, %half : vector<2x32xf32>
      vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}

// Exponentials in both loops need many registers.
// CHECK-LABEL: @ExponentialsTwice
// CHECK-SAME: tilewright.explain = ["rows are pipelined: results of one are stored while the next is computed"]
// FEW-LABEL: @ExponentialsTwice
// FEW-SAME: tilewright.explain = ["rows are not pipelined: the target has too few registers for two loops in one"]
func.func private @ExponentialsTwice(%x: memref<64x128xf32>, %r: memref<64x128xf32>, %begin: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c32 = arith.constant 32 : index
  %c128 = arith.constant 128 : index
  %f0 = arith.constant 0.0 : f32
  %end = affine.apply affine_map<()[s0] -> (s0 + 8)>()[%begin]
  scf.for %row = %begin to %end step %c2 {
    %s = scf.for %i = %c0 to %c128 step %c32 iter_args(%a = %z) -> (vector<2x32xf32>) {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %e = math.exp %v : vector<2x32xf32>
      %b = arith.addf %a, %e : vector<2x32xf32>
      scf.yield %b : vector<2x32xf32>
    }
    scf.for %i = %c0 to %c128 step %c32 {
      %v = vector.transfer_read %x[%row, %i], %f0 {in_bounds = [true, true]} : memref<64x128xf32>, vector<2x32xf32>
      %e = math.exp %v : vector<2x32xf32>
      %q = arith.divf %e, %s : vector<2x32xf32>
      vector.transfer_write %q, %r[%row, %i] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x128xf32>
    }
  }
  return
}
