// RUN: tilewright-opt %s -tilewright-fold-exact-casts | FileCheck %s

// CHECK-LABEL: func.func @Bytes
// CHECK-NEXT: %[[F:.*]] = arith.sitofp %{{.*}} : vector<16xi8> to vector<16xf32>
// CHECK-NEXT: return %[[F]]
func.func @Bytes(%i: vector<16xi8>) -> vector<16xf32> {
  %f = arith.sitofp %i : vector<16xi8> to vector<16xf32>
  %h = arith.truncf %f : vector<16xf32> to vector<16xbf16>
  %x = arith.extf %h : vector<16xbf16> to vector<16xf32>
  return %x : vector<16xf32>
}

// More bits than the significand has, and fewer of them than a byte has: these are rounded.
// CHECK-LABEL: func.func @Rounded
// CHECK: arith.truncf
// CHECK: arith.truncf
func.func @Rounded(%i: i16, %j: i8) -> (f32, f32) {
  %f = arith.uitofp %i : i16 to f32
  %h = arith.truncf %f : f32 to f16
  %x = arith.extf %h : f16 to f32
  %g = arith.uitofp %j : i8 to f32
  %k = arith.truncf %g : f32 to f8E5M2
  %y = arith.extf %k : f8E5M2 to f32
  return %x, %y : f32, f32
}
