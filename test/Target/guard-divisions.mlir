// RUN: tilewright-opt %s -tilewright-guard-divisions -canonicalize | FileCheck %s

// CHECK-LABEL: func @signed(
// CHECK-SAME: %[[A:.*]]: vector<8xi32>, %[[B:.*]]: vector<8xi32>
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<0>
// CHECK-DAG: %[[LEAST:.*]] = arith.constant dense<-2147483648>
// CHECK-DAG: %[[MINUS:.*]] = arith.constant dense<-1>
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1>
// CHECK: %[[P:.*]] = arith.cmpi eq, %[[B]], %[[ZERO]]
// CHECK: %[[Q:.*]] = arith.cmpi eq, %[[A]], %[[LEAST]]
// CHECK: %[[R:.*]] = arith.cmpi eq, %[[B]], %[[MINUS]]
// CHECK: %[[S:.*]] = arith.andi %[[Q]], %[[R]]
// CHECK: %[[T:.*]] = arith.ori %[[P]], %[[S]]
// CHECK: %[[D:.*]] = arith.select %[[T]], %[[ONE]], %[[B]]
// CHECK: arith.divsi %[[A]], %[[D]]
func.func @signed(%a: vector<8xi32>, %b: vector<8xi32>) -> vector<8xi32> {
  %q = arith.divsi %a, %b : vector<8xi32>
  return %q : vector<8xi32>
}

// CHECK-LABEL: func @unsigned(
// CHECK: arith.cmpi eq, %arg1, %c0_i64
// CHECK-NOT: cmpi
// CHECK: %[[D:.*]] = arith.select
// CHECK: arith.remui %arg0, %[[D]]
func.func @unsigned(%a: i64, %b: i64) -> i64 {
  %q = arith.remui %a, %b : i64
  return %q : i64
}

// An element as an index.
// CHECK-LABEL: func @index(
// CHECK: %[[D:.*]] = arith.select
// CHECK: arith.remui %arg0, %[[D]] : index
func.func @index(%i: index, %a: i32) -> index {
  %n = arith.index_cast %a : i32 to index
  %r = arith.remui %i, %n : index
  return %r : index
}

// CHECK-LABEL: func @stay(
// CHECK-NOT: arith.select
func.func @stay(%a: vector<4xi32>, %i: index, %m: memref<4x?xf32>) -> (vector<4xi32>, index) {
  %c = arith.constant dense<7> : vector<4xi32>
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %d = memref.dim %m, %c1 : memref<4x?xf32>
  %n = arith.muli %d, %c4 : index
  %q = arith.floordivsi %a, %c : vector<4xi32>
  %r = arith.remui %i, %n : index
  return %q, %r : vector<4xi32>, index
}
