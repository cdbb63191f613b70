// RUN: tilewright-opt %s -tilewright-simplify-powers | FileCheck %s

// CHECK-LABEL: func.func @products
// CHECK-SAME: (%[[X:.*]]: f32, %[[H:.*]]: f16)
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1.0
// CHECK: %[[SQUARE:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK: %[[S:.*]] = arith.mulf %[[X]], %[[X]] : f32
// CHECK: %[[CUBE:.*]] = arith.mulf %[[S]], %[[X]] : f32
// CHECK: %[[HALF:.*]] = arith.mulf %[[H]], %[[H]] : f16
// CHECK: %[[WIDE:.*]] = arith.extf %[[H]] : f16 to f32
// CHECK: %[[T:.*]] = arith.mulf %[[WIDE]], %[[WIDE]] : f32
// CHECK: %[[U:.*]] = arith.mulf %[[T]], %[[T]] : f32
// CHECK: %[[FOURTH:.*]] = arith.truncf %[[U]] : f32 to f16
// CHECK: %[[R:.*]] = arith.divf %{{.*}}, %[[X]] : f32
// CHECK: %[[INVERSE:.*]] = arith.mulf %[[R]], %[[R]] : f32
// CHECK: return %[[SQUARE]], %[[CUBE]], %[[HALF]], %[[FOURTH]], %[[INVERSE]], %[[X]], %{{.*}} :
func.func @products(%x: f32, %h: f16) -> (f32, f32, f16, f16, f32, f32, f32) {
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3 : i32
  %two16 = arith.constant 2.0 : f16
  %four16 = arith.constant 4.0 : f16
  %minus = arith.constant -2 : i64
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
  %0 = math.powf %x, %two : f32
  %1 = math.fpowi %x, %three : f32, i32
  %2 = math.powf %h, %two16 : f16
  %3 = math.powf %h, %four16 : f16
  %4 = math.fpowi %x, %minus : f32, i64
  %5 = math.powf %x, %one : f32
  %6 = math.powf %x, %zero : f32
  return %0, %1, %2, %3, %4, %5, %6 : f32, f32, f16, f16, f32, f32, f32
}

// CHECK-LABEL: func.func @roots
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32)
// CHECK: %[[LEAST:.*]] = arith.cmpf oeq, %[[X]], %{{.*}}
// CHECK: %[[SUM:.*]] = arith.addf %[[X]], %{{.*}}
// CHECK: %[[OF:.*]] = arith.select %[[LEAST]], %{{.*}}, %[[SUM]]
// CHECK: math.sqrt %[[OF]]
// CHECK: math.rsqrt
// CHECK: math.powf %[[X]], %{{.*}}
// CHECK: math.powf %[[X]], %[[Y]]
func.func @roots(%x: f32, %y: f32) -> (f32, f32, f32, f32) {
  %half = arith.constant 0.5 : f32
  %minus = arith.constant -0.5 : f32
  %other = arith.constant 1.7 : f32
  %0 = math.powf %x, %half : f32
  %1 = math.powf %x, %minus : f32
  %2 = math.powf %x, %other : f32
  %3 = math.powf %x, %y : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}
