// RUN: tilewright-opt %s -tilewright-define-folds -canonicalize | FileCheck %s

// CHECK-LABEL: func.func @CeilDiv(
// CHECK: %[[R:.*]] = arith.constant -18 : i8
// CHECK: return %[[R]]
func.func @CeilDiv() -> i8 {
  %a = arith.constant -128 : i8
  %c = arith.constant 7 : i8
  %r = arith.ceildivsi %a, %c : i8
  return %r : i8
}

// CHECK-LABEL: func.func @CeilDivVector(
// CHECK: dense<[-18, 1, 2, 0]> : tensor<4xi8>
func.func @CeilDivVector() -> tensor<4xi8> {
  %a = arith.constant dense<[-128, 7, 8, -6]> : tensor<4xi8>
  %c = arith.constant dense<7> : tensor<4xi8>
  %r = arith.ceildivsi %a, %c : tensor<4xi8>
  return %r : tensor<4xi8>
}

// Sizes keep it: maps are made of it.
// CHECK-LABEL: func.func @Index(
// CHECK: arith.ceildivsi
func.func @Index(%a: index, %b: index) -> index {
  %r = arith.ceildivsi %a, %b : index
  return %r : index
}

// Four iterations: -100, -50, 0 and 50.
// CHECK-LABEL: func.func @Far(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant 0 : i8
// CHECK-DAG: %[[FOUR:.*]] = arith.constant 4 : i8
// CHECK: scf.for unsigned %{{.*}} = %[[ZERO]] to %[[FOUR]]
func.func @Far(%m: memref<256xi32>, %v: i32) {
  %lo = arith.constant -100 : i8
  %hi = arith.constant 100 : i8
  %st = arith.constant 50 : i8
  %o = arith.constant 128 : index
  scf.for %i = %lo to %hi step %st : i8 {
    %k = arith.index_cast %i : i8 to index
    %l = arith.addi %k, %o : index
    memref.store %v, %m[%l] : memref<256xi32>
  }
  return
}

// CHECK-LABEL: func.func @Near(
// CHECK: arith.constant 27 : i8
// CHECK: scf.for %{{[^ ]*}} = %c-100_i8 to %c27_i8
func.func @Near(%m: memref<256xi32>, %v: i32) {
  %lo = arith.constant -100 : i8
  %hi = arith.constant 27 : i8
  %st = arith.constant 50 : i8
  %o = arith.constant 128 : index
  scf.for %i = %lo to %hi step %st : i8 {
    %k = arith.index_cast %i : i8 to index
    %l = arith.addi %k, %o : index
    memref.store %v, %m[%l] : memref<256xi32>
  }
  return
}
