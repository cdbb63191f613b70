// RUN: tilewright-opt %s -tilewright-avx512-math | FileCheck %s

// CHECK-LABEL: @Rows
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.maxnum"(%{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xf32>) -> vector<16xf32>
// CHECK-NOT: math.exp
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.ldexp"(%{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// CHECK: return
func.func private @Rows(%x: vector<2x16xf32>, %y: vector<2x16xf32>) -> vector<2x16xf32> attributes {tilewright.kernel} {
  %m = arith.maxnumf %x, %y : vector<2x16xf32>
  %e = math.exp %m : vector<2x16xf32>
  return %e : vector<2x16xf32>
}

// CHECK-LABEL: @OfOtherTypes
// CHECK: math.exp %{{.*}} : vector<8xf64>
func.func private @OfOtherTypes(%x: vector<8xf64>) -> vector<8xf64> attributes {tilewright.kernel} {
  %e = math.exp %x : vector<8xf64>
  return %e : vector<8xf64>
}

// By halves: of 16 lanes in four steps.
// CHECK-LABEL: @Greatest
// CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7]
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.maxnum"
// CHECK-NOT: vector.reduction
// CHECK: %[[R:.*]] = vector.extract
// CHECK: arith.maxnumf %[[R]], %arg1
func.func private @Greatest(%x: vector<16xf32>, %m: f32) -> f32 attributes {tilewright.kernel} {
  %r = vector.reduction <maxnumf>, %x, %m : vector<16xf32> into f32
  return %r : f32
}

// A polynomial for each sixteenth of the range, whose coefficients are looked up in registers.
// CHECK-LABEL: @Erf
// CHECK-NOT: math.erf
// CHECK-COUNT-12: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"(%{{.*}}, %{{.*}}) : (vector<16xf32>, vector<16xi32>) -> vector<16xf32>
// CHECK-NOT: llvm.call_intrinsic
// CHECK: return
func.func private @Erf(%x: vector<32xf32>) -> vector<32xf32> attributes {tilewright.kernel} {
  %e = math.erf %x : vector<32xf32>
  return %e : vector<32xf32>
}

// CHECK-LABEL: @ErfOfPartsOfRegisters
// CHECK: math.erf %{{.*}} : vector<8xf32>
func.func private @ErfOfPartsOfRegisters(%x: vector<8xf32>) -> vector<8xf32> attributes {tilewright.kernel} {
  %e = math.erf %x : vector<8xf32>
  return %e : vector<8xf32>
}
