// RUN: tilewright-opt %s -tilewright-avx2-math | FileCheck %s

// Powers of two are looked up in a register; half of the exponent is added to them, the rest is a
// factor, so that results may be infinite or subnormal.
// CHECK-LABEL: @Exp
// CHECK: %[[SHIFTED:.*]] = math.fma
// CHECK: %[[BITS:.*]] = arith.bitcast %[[SHIFTED]]
// CHECK: %[[LOOKED:.*]] = llvm.call_intrinsic "llvm.x86.avx2.permps"(%{{.*}}, %[[BITS]])
// CHECK: %[[INTEGER:.*]] = arith.bitcast %[[LOOKED]]
// CHECK: %[[SUM:.*]] = arith.addi %[[INTEGER]], %{{.*}}
// CHECK: %[[POWER:.*]] = arith.bitcast %[[SUM]]
// CHECK: %[[P:.*]] = math.fma %[[POWER]], %{{.*}}, %[[POWER]]
// CHECK: arith.mulf %[[P]], %{{.*}}
func.func private @Exp(%x: vector<8xf32>) -> vector<8xf32> attributes {tilewright.kernel} {
  %e = math.exp %x : vector<8xf32>
  return %e : vector<8xf32>
}

// Rows are computed a register at a time, parts of one as a register.
// CHECK-LABEL: @ExpOfOddRows
// CHECK: vector.shuffle %{{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, -1, -1, -1, -1] : vector<12xf32>, vector<12xf32>
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [12], strides = [1]}
func.func private @ExpOfOddRows(%x: vector<12xf32>) -> vector<12xf32> attributes {tilewright.kernel} {
  %e = math.exp %x : vector<12xf32>
  return %e : vector<12xf32>
}

// CHECK-LABEL: @ExpOfHalves
// CHECK: arith.extf
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK: arith.truncf
func.func private @ExpOfHalves(%x: vector<16xf16>) -> vector<16xf16> attributes {tilewright.kernel} {
  %e = math.exp %x : vector<16xf16>
  return %e : vector<16xf16>
}

// What has no form of its own is split; of one register, of f64 and of scalars it stays.
// CHECK-LABEL: @Others
// CHECK-COUNT-4: math.tanh %{{.*}} : vector<8xf32>
// CHECK-NOT: math.tanh
// CHECK: math.log %{{.*}} : vector<8xf32>
// CHECK: math.exp %{{.*}} : vector<4xf64>
// CHECK: math.exp %{{.*}} : f32
func.func private @Others(%x: vector<2x16xf32>, %y: vector<8xf32>, %z: vector<4xf64>, %s: f32)
    -> (vector<2x16xf32>, vector<8xf32>, vector<4xf64>, f32) attributes {tilewright.kernel} {
  %t = math.tanh %x : vector<2x16xf32>
  %l = math.log %y : vector<8xf32>
  %e = math.exp %z : vector<4xf64>
  %f = math.exp %s : f32
  return %t, %l, %e, %f : vector<2x16xf32>, vector<8xf32>, vector<4xf64>, f32
}

// Eight coefficients each; the sign of x chooses between Q and 1 - Q.
// CHECK-LABEL: @Gelu
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK-COUNT-7: llvm.call_intrinsic "llvm.x86.avx2.permps"{{.*[[:space:]].*}}math.fma
// CHECK: %[[SIGN:.*]] = arith.cmpi slt
// CHECK: %[[PHI:.*]] = arith.select %[[SIGN]]
// CHECK: %[[R:.*]] = arith.mulf %arg0, %[[PHI]]
// CHECK: return %[[R]]
func.func private @Gelu(%x: vector<8xf32>) -> vector<8xf32> attributes {tilewright.kernel} {
  %half = arith.constant dense<0.5> : vector<8xf32>
  %one = arith.constant dense<1.0> : vector<8xf32>
  %root = arith.constant dense<0.70710678> : vector<8xf32>
  %s = arith.mulf %x, %root : vector<8xf32>
  %f = math.erf %s : vector<8xf32>
  %g = arith.addf %f, %one : vector<8xf32>
  %h = arith.mulf %x, %half : vector<8xf32>
  %r = arith.mulf %h, %g : vector<8xf32>
  return %r : vector<8xf32>
}

// The greatest number so far is never NaN.
// CHECK-LABEL: @Greatest
// CHECK: arith.cmpf ogt
// CHECK-NOT: maxnum
// CHECK: return
func.func private @Greatest(%x: memref<64xf32>) -> vector<8xf32> attributes {tilewright.kernel} {
  %low = arith.constant dense<0xFF800000> : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c64 = arith.constant 64 : index
  %m = scf.for %i = %c0 to %c64 step %c8 iter_args(%best = %low) -> vector<8xf32> {
    %v = vector.load %x[%i] : memref<64xf32>, vector<8xf32>
    %n = arith.maxnumf %best, %v : vector<8xf32>
    scf.yield %n : vector<8xf32>
  }
  return %m : vector<8xf32>
}

// Registers of a row are computed step by step, four at a time.
// CHECK-LABEL: @Rows
// CHECK-COUNT-4: math.fma
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.avx2.permps"
// CHECK: math.fma
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.avx2.permps"
func.func private @Rows(%x: vector<48xf32>) -> vector<48xf32> attributes {tilewright.kernel} {
  %e = math.exp %x : vector<48xf32>
  return %e : vector<48xf32>
}
