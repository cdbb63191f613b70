// RUN: tilewright-opt %s -tilewright-scan-vectors | FileCheck %s

// The first line's rest, whole lines, what is left; lanes are combined in four steps, and with what is before the line.
// CHECK-LABEL: @Running
// CHECK: %[[S:.*]] = scf.for %{{.*}} = %c1 to %[[FIRST:.*]] step %c1
// CHECK: %[[B:.*]] = vector.broadcast %[[S]] : f32 to vector<16xf32>
// CHECK: %[[V:.*]] = scf.for %[[I:.*]] = %[[FIRST]] to %[[LAST:.*]] step %c16{{.*}} iter_args(%[[BEFORE:.*]] = %[[B]])
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[I]]
// CHECK: %[[X:.*]] = vector.load %{{.*}}[%{{.*}}, %[[AT]], %{{.*}}] : memref<8x?x1xf32>, vector<16xf32>
// CHECK: %[[ONE:.*]] = vector.shuffle %[[X]], %[[X]] [15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]
// CHECK: %[[P:.*]] = arith.subf %[[ONE]], %[[X]] : vector<16xf32>
// CHECK: arith.select %{{.*}}, %[[P]], %[[X]]
// CHECK-COUNT-3: arith.select
// CHECK-NOT: arith.select
// CHECK: %[[C:.*]] = arith.subf %[[BEFORE]], %[[OWN:.*]] :
// CHECK: vector.store %[[C]]
// CHECK: %[[T:.*]] = vector.shuffle %[[OWN]], %[[OWN]] [15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15]
// CHECK: %[[N:.*]] = arith.subf %[[BEFORE]], %[[T]]
// CHECK: scf.yield %[[N]]
// CHECK: %[[E:.*]] = vector.extract %[[V]][0]
// CHECK: scf.for %{{.*}} = %[[LAST]] to %{{.*}} step %c1 iter_args(%{{.*}} = %[[E]])
func.func private @Running(%x: memref<8x?x1xf32>, %r: memref<8x?x1xf32>, %row: index, %base: index, %n: index, %s: f32)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %i = %c1 to %n step %c1 iter_args(%sum = %s) -> (f32) {
    %at = arith.addi %base, %i : index
    %v = memref.load %x[%row, %at, %c0] : memref<8x?x1xf32>
    // The order of operands stays, whatever the combiner is.
    %c = arith.subf %sum, %v : f32
    memref.store %c, %r[%row, %at, %c0] : memref<8x?x1xf32>
    scf.yield %c : f32
  } {tilewright.scan_loop}
  return
}

// What is before each element.
// CHECK-LABEL: @Exclusive
// CHECK: iter_args(%[[BEFORE:.*]] = %{{.*}}) -> (vector<8xi64>)
// CHECK: %[[C:.*]] = arith.addi %[[BEFORE]], %{{.*}} : vector<8xi64>
// CHECK: %[[R:.*]] = vector.shuffle %[[BEFORE]], %[[C]] [0, 8, 9, 10, 11, 12, 13, 14]
// CHECK: vector.store %[[R]]
func.func private @Exclusive(%x: memref<?xi64>, %r: memref<?xi64>, %n: index, %s: i64) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %s) -> (i64) {
    %v = memref.load %x[%i] : memref<?xi64>
    %c = arith.addi %sum, %v : i64
    memref.store %sum, %r[%i] : memref<?xi64>
    scf.yield %c : i64
  } {tilewright.scan_loop}
  return
}

// Elements a row apart, or from the last to the first, do not lie side by side in this order.
// CHECK-LABEL: @Apart
// CHECK-NOT: vector.load
func.func private @Apart(%x: memref<?x4xf32>, %r: memref<?xf32>, %n: index, %s: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %s) -> (f32) {
    %v = memref.load %x[%i, %c0] : memref<?x4xf32>
    %c = arith.addf %sum, %v : f32
    scf.yield %c : f32
  } {tilewright.scan_loop}
  memref.store %z, %r[%c0] : memref<?xf32>
  %y = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %s) -> (f32) {
    %back = arith.subi %n, %i : index
    %v = memref.load %r[%back] : memref<?xf32>
    %c = arith.addf %sum, %v : f32
    memref.store %c, %r[%back] : memref<?xf32>
    scf.yield %c : f32
  } {tilewright.scan_loop}
  return
}

// A reduction with a combiner that is not associative has a loop of the same form.
// CHECK-LABEL: @Sequential
// CHECK-NOT: vector
func.func private @Sequential(%x: memref<?xi32>, %n: index, %s: i32) -> i32 attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : i32
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %s) -> (i32) {
    %v = memref.load %x[%i] : memref<?xi32>
    %m = arith.muli %sum, %c3 : i32
    %c = arith.addi %m, %v : i32
    scf.yield %c : i32
  }
  return %z : i32
}

// Elements of bf16 are widened, sums rounded where they are stored.
// CHECK-LABEL: @Widened
// CHECK: scf.for {{.*}} -> (vector<16xf32>)
// CHECK: %[[X:.*]] = vector.load %{{.*}} : memref<?xbf16>, vector<16xbf16>
// CHECK: %[[W:.*]] = arith.extf %[[X]] fastmath<contract> : vector<16xbf16> to vector<16xf32>
// CHECK: %[[C:.*]] = arith.addf
// CHECK: %[[R:.*]] = arith.truncf %{{.*}} fastmath<contract> : vector<16xf32> to vector<16xbf16>
// CHECK: vector.store %[[R]]
func.func private @Widened(%x: memref<?xbf16>, %r: memref<?xbf16>, %n: index, %s: f32) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = scf.for %i = %c0 to %n step %c1 iter_args(%sum = %s) -> (f32) {
    %v = memref.load %x[%i] : memref<?xbf16>
    %w = arith.extf %v fastmath<contract> : bf16 to f32
    %c = arith.addf %sum, %w : f32
    %o = arith.truncf %c fastmath<contract> : f32 to bf16
    memref.store %o, %r[%i] : memref<?xbf16>
    scf.yield %c : f32
  } {tilewright.scan_loop}
  return
}
