// RUN: tilewright-opt %s -tilewright-share-reciprocals | FileCheck %s

// What three quotients share is inverted once; a quotient in f32 is corrected, one that becomes f16 is not.
// CHECK-LABEL: func.func @row
// CHECK-SAME: (%[[A:[^:]*]]: f32, %[[B:[^:]*]]: f32, %[[C:[^:]*]]: f32, %[[S:[^:]*]]: f32)
// CHECK: %[[BITS:.*]] = arith.bitcast %[[S]] : f32 to i32
// CHECK: %[[EXPONENT:.*]] = arith.andi %[[BITS]]
// CHECK: %[[MOST:.*]] = arith.minui %[[EXPONENT]]
// CHECK: %[[LEFT_OVER:.*]] = arith.subi %{{.*}}, %[[MOST]]
// CHECK: %[[P:.*]] = arith.bitcast %[[LEFT_OVER]] : i32 to f32
// CHECK: %[[T:.*]] = arith.mulf %[[S]], %[[P]]
// CHECK: %[[Y:.*]] = arith.divf %{{.*}}, %[[T]]
// CHECK: %[[N:.*]] = arith.mulf %[[A]], %[[P]]
// CHECK: %[[Q:.*]] = arith.mulf %[[N]], %[[Y]]
// CHECK: %[[NEGATIVE:.*]] = arith.negf %[[Q]]
// CHECK: %[[LEFT:.*]] = math.fma %[[NEGATIVE]], %[[T]], %[[N]]
// CHECK: %[[CORRECTED:.*]] = math.fma %[[LEFT]], %[[Y]], %[[Q]]
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %[[CORRECTED]], %[[CORRECTED]]
// CHECK: %[[FIRST:.*]] = arith.select %[[NAN]], %[[Q]], %[[CORRECTED]]
// CHECK: %[[M:.*]] = arith.mulf %[[B]], %[[P]]
// CHECK: %[[ROUGH:.*]] = arith.mulf %[[M]], %[[Y]]
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.mulf %[[ROUGH]], %[[B]]
// CHECK-NEXT: arith.truncf %[[PRODUCT]]
// CHECK: %[[THIRD:.*]] = arith.select
// CHECK: return %[[FIRST]], %{{.*}}, %[[THIRD]]
func.func @row(%a: f32, %b: f32, %c: f32, %s: f32) -> (f32, f16, f32) {
  %p = arith.divf %a, %s : f32
  %q = arith.divf %b, %s : f32
  %m = arith.mulf %q, %b : f32
  %h = arith.truncf %m : f32 to f16
  %r = arith.divf %c, %s : f32
  return %p, %h, %r : f32, f16, f32
}

// Two quotients, and those of other types, stay.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-5: arith.divf
// CHECK-NOT: math.fma
func.func @others(%a: f32, %b: f32, %s: f32, %d: f64) -> (f32, f32, f64, f64, f64) {
  %p = arith.divf %a, %s : f32
  %q = arith.divf %b, %s : f32
  %e = arith.divf %d, %d : f64
  %f = arith.divf %e, %d : f64
  %g = arith.divf %f, %d : f64
  return %p, %q, %e, %f, %g : f32, f32, f64, f64, f64
}

// What is shared is a quotient that shares a number itself.
// CHECK-LABEL: func.func @nested
// CHECK-COUNT-2: arith.divf
// CHECK-NOT: arith.divf
func.func @nested(%a: f32, %b: f32, %c: f32, %s: f32) -> (f32, f32, f32, f32, f32) {
  %p = arith.divf %a, %s : f32
  %q = arith.divf %b, %s : f32
  %r = arith.divf %c, %s : f32
  %x = arith.divf %a, %p : f32
  %y = arith.divf %b, %p : f32
  %z = arith.divf %c, %p : f32
  return %q, %r, %x, %y, %z : f32, f32, f32, f32, f32
}
