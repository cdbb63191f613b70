// RUN: tilewright-opt %s -tilewright-define-shifts | FileCheck %s

// CHECK-LABEL: func.func @Left(
// CHECK-SAME: %[[X:.*]]: i32, %[[N:.*]]: i32
// CHECK: %[[LAST:.*]] = arith.constant 31 : i32
// CHECK: %[[INSIDE:.*]] = arith.cmpi ule, %[[N]], %[[LAST]]
// CHECK: %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK: %[[Y:.*]] = arith.shli %[[X]], %[[N]]
// CHECK: %[[R:.*]] = arith.select %[[INSIDE]], %[[Y]], %[[ZERO]]
// CHECK: return %[[R]]
func.func @Left(%x: i32, %n: i32) -> i32 {
  %r = arith.shli %x, %n : i32
  return %r : i32
}

// An amount of which only the low half counted would be another one.
// CHECK-LABEL: func.func @LeftOf64(
// CHECK-SAME: %[[X:.*]]: i64, %[[N:.*]]: i64
// CHECK: %[[INSIDE:.*]] = arith.cmpi ule, %[[N]], %{{.*}} : i64
// CHECK: %[[M:.*]] = arith.andi %[[N]], %{{.*}} : i64
// CHECK: %[[Y:.*]] = arith.shli %[[X]], %[[M]]
// CHECK: arith.select %[[INSIDE]], %[[Y]]
func.func @LeftOf64(%x: i64, %n: i64) -> i64 {
  %r = arith.shli %x, %n : i64
  return %r : i64
}

// CHECK-LABEL: func.func @Unsigned(
// CHECK: arith.constant dense<7> : vector<4xi8>
// CHECK: arith.shrui
// CHECK: arith.select
func.func @Unsigned(%x: vector<4xi8>, %n: vector<4xi8>) -> vector<4xi8> {
  %r = arith.shrui %x, %n : vector<4xi8>
  return %r : vector<4xi8>
}

// The sign remains.
// CHECK-LABEL: func.func @Signed(
// CHECK-SAME: %[[X:.*]]: i64, %[[N:.*]]: i64
// CHECK: %[[LAST:.*]] = arith.constant 63 : i64
// CHECK: %[[M:.*]] = arith.minui %[[N]], %[[LAST]]
// CHECK: %[[R:.*]] = arith.shrsi %[[X]], %[[M]]
// CHECK: return %[[R]]
func.func @Signed(%x: i64, %n: i64) -> i64 {
  %r = arith.shrsi %x, %n : i64
  return %r : i64
}

// CHECK-LABEL: func.func @Small(
// CHECK-NOT: arith.select
// CHECK-NOT: arith.minui
// CHECK: return
func.func @Small(%x: i32, %n: i32, %t: tensor<2xi8>) -> (i32, i32, tensor<2xi8>) {
  %c31 = arith.constant 31 : i32
  %shifts = arith.constant dense<[0, 4]> : tensor<2xi8>
  %m = arith.andi %n, %c31 : i32
  %r = arith.shli %x, %m : i32
  %s = arith.shrsi %x, %c31 : i32
  %u = arith.shrui %t, %shifts : tensor<2xi8>
  return %r, %s, %u : i32, i32, tensor<2xi8>
}

// A constant that is not.
// CHECK-LABEL: func.func @Beyond(
// CHECK: arith.select
func.func @Beyond(%x: i32) -> i32 {
  %c32 = arith.constant 32 : i32
  %r = arith.shli %x, %c32 : i32
  return %r : i32
}
