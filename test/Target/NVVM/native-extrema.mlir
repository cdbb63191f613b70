// RUN: tilewright-opt %s -tilewright-native-extrema -split-input-file | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80 : i64}>} {

// CHECK-LABEL: func.func @numbers
// CHECK: llvm.intr.maxnum(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: llvm.intr.minnum(%{{.*}}, %{{.*}}) : (bf16, bf16) -> bf16
// CHECK: llvm.intr.maximum(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: llvm.intr.minimum(%{{.*}}, %{{.*}}) : (f16, f16) -> f16
// CHECK: llvm.intr.maxnum(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: arith.maximumf {{.*}} : f64
func.func @numbers(%x: f32, %y: f32, %h: f16, %b: bf16, %d: f64) -> (f32, bf16, f32, f16, f32, f64) {
  %0 = arith.maxnumf %x, %y : f32
  %1 = arith.minnumf %b, %b : bf16
  %2 = arith.maximumf %x, %y : f32
  %3 = arith.minimumf %h, %h : f16
  %4 = arith.maximumf %x, %y fastmath<nnan> : f32
  %5 = arith.maximumf %d, %d : f64
  return %0, %1, %2, %3, %4, %5 : f32, bf16, f32, f16, f32, f64
}

// As front ends spell relu and clamp.
// CHECK-LABEL: func.func @selected
// CHECK-SAME: (%[[X:.*]]: f32)
// CHECK: %[[ZERO:.*]] = arith.constant 0.0
// CHECK: %[[SIX:.*]] = arith.constant 6.0
// CHECK: %[[RELU:.*]] = llvm.intr.maximum(%[[X]], %[[ZERO]])
// CHECK: %[[NUMBER:.*]] = llvm.intr.maxnum(%[[X]], %[[ZERO]])
// CHECK: %[[TURNED:.*]] = llvm.intr.minnum(%[[X]], %[[SIX]])
// CHECK: %[[KEPT:.*]] = llvm.intr.minimum(%[[X]], %[[SIX]])
// CHECK: %[[OTHER:.*]] = llvm.intr.maximum(%[[X]], %[[ZERO]])
// CHECK: return %[[RELU]], %[[NUMBER]], %[[TURNED]], %[[KEPT]], %[[OTHER]]
func.func @selected(%x: f32) -> (f32, f32, f32, f32, f32) {
  %zero = arith.constant 0.0 : f32
  %six = arith.constant 6.0 : f32
  %a = arith.cmpf ugt, %x, %zero : f32
  %0 = arith.select %a, %x, %zero : f32
  %b = arith.cmpf ogt, %x, %zero : f32
  %1 = arith.select %b, %x, %zero : f32
  // NaN is not less or equal: it takes six.
  %c = arith.cmpf ugt, %x, %six : f32
  %2 = arith.select %c, %six, %x : f32
  // It is not above six: it stays.
  %d = arith.cmpf ogt, %x, %six : f32
  %3 = arith.select %d, %six, %x : f32
  %e = arith.cmpf ult, %zero, %x : f32
  %4 = arith.select %e, %x, %zero : f32
  return %0, %1, %2, %3, %4 : f32, f32, f32, f32, f32
}

// The greater of -0 and 0 would be another zero than what is selected.
// CHECK-LABEL: func.func @zeros
// CHECK-NOT: llvm.intr
// CHECK: arith.select
// CHECK: arith.select
// CHECK: arith.select
// CHECK: arith.select
func.func @zeros(%x: f32, %y: f32) -> (f32, f32, f32, f32) {
  %zero = arith.constant 0.0 : f32
  %negative = arith.constant -0.0 : f32
  %a = arith.cmpf uge, %x, %zero : f32
  %0 = arith.select %a, %x, %zero : f32
  %b = arith.cmpf ugt, %x, %negative : f32
  %1 = arith.select %b, %x, %negative : f32
  // Neither is known to be a number.
  %c = arith.cmpf ugt, %x, %y : f32
  %2 = arith.select %c, %x, %y : f32
  %d = arith.cmpf une, %x, %zero : f32
  %3 = arith.select %d, %x, %zero : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_75", "nvvm", {sm = 75 : i64}>} {

// CHECK-LABEL: func.func @before_sm_80
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32,
// CHECK: %[[ABOVE:.*]] = arith.cmpf ugt, %[[X]], %[[ZERO:.*]] : f32
// CHECK: arith.select %[[ABOVE]], %[[X]], %[[ZERO]]
// CHECK: %[[MOST:.*]] = llvm.intr.maxnum(%[[X]], %[[Y]])
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[X]], %[[Y]]
// CHECK: arith.select %[[NAN]], %{{.*}}, %[[MOST]]
// CHECK: arith.maximumf {{.*}} : f16
func.func @before_sm_80(%x: f32, %y: f32, %h: f16) -> (f32, f32, f16) {
  %zero = arith.constant 0.0 : f32
  %0 = arith.maximumf %x, %zero : f32
  %1 = arith.maximumf %x, %y : f32
  %2 = arith.maximumf %h, %h : f16
  return %0, %1, %2 : f32, f32, f16
}
}
