// RUN: tilewright-opt %s -tilewright-count-iterations | FileCheck %s

// CHECK-LABEL: func.func @AnyStep(
// CHECK-SAME: %[[A:.*]]: i64, %[[B:.*]]: i64, %[[S:.*]]: i64
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : i64
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : i64
// CHECK: %[[ANY:.*]] = arith.cmpi slt, %[[A]], %[[B]]
// CHECK: %[[SPAN:.*]] = arith.subi %[[B]], %[[A]]
// CHECK: %[[LESS:.*]] = arith.subi %[[SPAN]], %[[C1]]
// CHECK: %[[D:.*]] = arith.maxui %[[S]], %[[C1]]
// CHECK: %[[Q:.*]] = arith.divui %[[LESS]], %[[D]]
// CHECK: %[[M:.*]] = arith.addi %[[Q]], %[[C1]]
// CHECK: %[[N:.*]] = arith.select %[[ANY]], %[[M]], %[[C0]]
// CHECK: scf.for unsigned %[[K:.*]] = %[[C0]] to %[[N]] step %[[C1]]
// CHECK: %[[T:.*]] = arith.muli %[[K]], %[[S]]
// CHECK: %[[I:.*]] = arith.addi %[[A]], %[[T]]
// CHECK: vector.print %[[I]]
func.func @AnyStep(%a: i64, %b: i64, %s: i64) {
  scf.for %i = %a to %b step %s : i64 {
    vector.print %i : i64
  }
  return
}

// The number behind the last one is at most the end.
// CHECK-LABEL: func.func @StepOfOne(
// CHECK: scf.for %{{.*}} = %arg0 to %arg1 step
func.func @StepOfOne(%a: index, %b: index) {
  %c1 = arith.constant 1 : index
  scf.for %i = %a to %b step %c1 {
    vector.print %i : index
  }
  return
}

// CHECK-LABEL: func.func @KnownEnds(
// CHECK: scf.for %{{.*}} = %arg0 to %c125_i8 step
// CHECK: scf.for unsigned
func.func @KnownEnds(%a: i8) {
  %c2 = arith.constant 2 : i8
  %c125 = arith.constant 125 : i8
  %c126 = arith.constant 126 : i8
  scf.for %i = %a to %c125 step %c2 : i8 {
    vector.print %i : i8
  }
  scf.for %i = %a to %c126 step %c2 : i8 {
    vector.print %i : i8
  }
  return
}
