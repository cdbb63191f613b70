// RUN: tilewright-opt %s -tilewright-avx512-math | FileCheck %s

// One polynomial for each part of the range; what is negative becomes zero.
// CHECK-LABEL: @ByErf
// CHECK: %[[A:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"(%arg0,
// CHECK: %[[POSITIVE:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.fixupimm.ps.512"(%arg0, %arg0,
// CHECK: %[[LESS:.*]] = arith.negf %[[A]]
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK-NOT: arith.mulf
// CHECK: %[[R:.*]] = math.fma %[[LESS]], %{{.*}}, %[[POSITIVE]]
// CHECK: return %[[R]]
func.func private @ByErf(%x: vector<16xf32>) -> vector<16xf32> attributes {tilewright.kernel} {
  %half = arith.constant dense<0.5> : vector<16xf32>
  %one = arith.constant dense<1.0> : vector<16xf32>
  %root = arith.constant dense<0.70710678> : vector<16xf32>
  %s = arith.mulf %x, %root : vector<16xf32>
  %f = math.erf %s : vector<16xf32>
  %g = arith.addf %f, %one : vector<16xf32>
  %h = arith.mulf %x, %half : vector<16xf32>
  %r = arith.mulf %h, %g : vector<16xf32>
  return %r : vector<16xf32>
}

// In another order, and divided by a root.
// CHECK-LABEL: @InAnotherOrder
// CHECK-NOT: math.erf
// CHECK: "llvm.x86.avx512.mask.fixupimm.ps.512"
func.func private @InAnotherOrder(%x: vector<16xf32>) -> vector<16xf32> attributes {tilewright.kernel} {
  %half = arith.constant dense<0.5> : vector<16xf32>
  %one = arith.constant dense<1.0> : vector<16xf32>
  %root = arith.constant dense<1.41421354> : vector<16xf32>
  %s = arith.divf %x, %root : vector<16xf32>
  %f = math.erf %s : vector<16xf32>
  %g = arith.addf %one, %f : vector<16xf32>
  %h = arith.mulf %g, %half : vector<16xf32>
  %r = arith.mulf %h, %x : vector<16xf32>
  return %r : vector<16xf32>
}

// CHECK-LABEL: @ByTanh
// CHECK-NOT: math.tanh
// CHECK: "llvm.x86.avx512.mask.fixupimm.ps.512"
func.func private @ByTanh(%x: vector<16xf32>) -> vector<16xf32> attributes {tilewright.kernel} {
  %half = arith.constant dense<0.5> : vector<16xf32>
  %one = arith.constant dense<1.0> : vector<16xf32>
  %a = arith.constant dense<0.044715> : vector<16xf32>
  %b = arith.constant dense<0.797884583> : vector<16xf32>
  %p = arith.mulf %x, %x : vector<16xf32>
  %q = arith.mulf %p, %x : vector<16xf32>
  %t = arith.mulf %q, %a : vector<16xf32>
  %u = arith.addf %x, %t : vector<16xf32>
  %s = arith.mulf %u, %b : vector<16xf32>
  %f = math.tanh %s : vector<16xf32>
  %g = arith.addf %f, %one : vector<16xf32>
  %h = arith.mulf %x, %half : vector<16xf32>
  %r = arith.mulf %h, %g : vector<16xf32>
  return %r : vector<16xf32>
}

// Another factor of x, the argument of another x, and another sum.
// CHECK-LABEL: @Others
// CHECK-NOT: fixupimm
// CHECK: return
func.func private @Others(%x: vector<16xf32>, %y: vector<16xf32>) -> (vector<16xf32>, vector<16xf32>, vector<16xf32>) attributes {tilewright.kernel} {
  %half = arith.constant dense<0.5> : vector<16xf32>
  %one = arith.constant dense<1.0> : vector<16xf32>
  %root = arith.constant dense<0.70710678> : vector<16xf32>
  %near = arith.constant dense<0.7071> : vector<16xf32>
  %h = arith.mulf %x, %half : vector<16xf32>
  %s0 = arith.mulf %x, %near : vector<16xf32>
  %f0 = math.erf %s0 : vector<16xf32>
  %g0 = arith.addf %f0, %one : vector<16xf32>
  %r0 = arith.mulf %h, %g0 : vector<16xf32>
  %s1 = arith.mulf %y, %root : vector<16xf32>
  %f1 = math.erf %s1 : vector<16xf32>
  %g1 = arith.addf %f1, %one : vector<16xf32>
  %r1 = arith.mulf %h, %g1 : vector<16xf32>
  %s2 = arith.mulf %x, %root : vector<16xf32>
  %f2 = math.erf %s2 : vector<16xf32>
  %g2 = arith.addf %f2, %half : vector<16xf32>
  %r2 = arith.mulf %h, %g2 : vector<16xf32>
  return %r0, %r1, %r2 : vector<16xf32>, vector<16xf32>, vector<16xf32>
}

// In f16, whose constants are rounded to 11 bits, computed in f32.
// CHECK-LABEL: @Half
// CHECK: llvm.x86.avx512.mask.range.ps.512
// CHECK-NOT: math.erf
func.func private @Half(%h: vector<16xf16>) -> vector<16xf32> attributes {tilewright.kernel} {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %half = arith.constant dense<0.5> : vector<16xf32>
  %root = arith.constant dense<0.70703125> : vector<16xf32>
  %x = arith.extf %h fastmath<contract> : vector<16xf16> to vector<16xf32>
  %s = arith.mulf %x, %root : vector<16xf32>
  %e = math.erf %s : vector<16xf32>
  %p = arith.addf %e, %one : vector<16xf32>
  %q = arith.mulf %x, %half : vector<16xf32>
  %r = arith.mulf %q, %p : vector<16xf32>
  return %r : vector<16xf32>
}

// A number of f32 that is none of GELU's.
// CHECK-LABEL: @Single
// CHECK-NOT: llvm.x86.avx512.fixupimm
// CHECK: return
func.func private @Single(%x: vector<16xf32>) -> vector<16xf32> attributes {tilewright.kernel} {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %half = arith.constant dense<0.5> : vector<16xf32>
  %root = arith.constant dense<0.70703125> : vector<16xf32>
  %s = arith.mulf %x, %root : vector<16xf32>
  %e = math.erf %s : vector<16xf32>
  %p = arith.addf %e, %one : vector<16xf32>
  %q = arith.mulf %x, %half : vector<16xf32>
  %r = arith.mulf %q, %p : vector<16xf32>
  return %r : vector<16xf32>
}

// Widened by the program: its constants are of f32, and this is none of GELU's.
// CHECK-LABEL: @Widened
// CHECK-NOT: llvm.x86.avx512.fixupimm
// CHECK: return
func.func private @Widened(%h: vector<16xf16>) -> vector<16xf32> attributes {tilewright.kernel} {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %half = arith.constant dense<0.5> : vector<16xf32>
  %root = arith.constant dense<0.70703125> : vector<16xf32>
  %x = arith.extf %h : vector<16xf16> to vector<16xf32>
  %s = arith.mulf %x, %root : vector<16xf32>
  %e = math.erf %s : vector<16xf32>
  %p = arith.addf %e, %one : vector<16xf32>
  %q = arith.mulf %x, %half : vector<16xf32>
  %r = arith.mulf %q, %p : vector<16xf32>
  return %r : vector<16xf32>
}
