// RUN: tilewright-opt %s -tilewright-native-math | FileCheck %s

// CHECK-LABEL: func.func @powers
// CHECK-SAME: (%[[X:.*]]: f32, %[[D:.*]]: f64)
// CHECK: %[[A:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[X]]) : (f32) -> f32
// CHECK: %[[B:.*]] = math.exp2 %[[X]] : f32
// CHECK: %[[C:.*]] = math.exp2 %[[D]] fastmath<afn> : f64
// CHECK: return %[[A]], %[[B]], %[[C]]
func.func @powers(%x: f32, %d: f64) -> (f32, f32, f64) {
  %a = math.exp2 %x fastmath<afn> : f32
  %b = math.exp2 %x : f32
  %c = math.exp2 %d fastmath<afn> : f64
  return %a, %b, %c : f32, f32, f64
}

// An integer power of two, and ex2 of the rest.
// CHECK-LABEL: func.func @exponential
// CHECK-SAME: (%[[X:.*]]: f32, %[[H:.*]]: f16,
// CHECK: %[[SCALED:.*]] = math.fma %[[X]]
// CHECK: %[[PART:.*]] = llvm.call_intrinsic "llvm.nvvm.saturate.f"(%[[SCALED]])
// CHECK: %[[SHIFTED:.*]] = math.fma %[[PART]]
// CHECK: %[[NEGATIVE:.*]] = arith.subf %{{.*}}, %[[SHIFTED]]
// CHECK: %[[HIGH:.*]] = math.fma %[[X]], %{{.*}}, %[[NEGATIVE]]
// CHECK: %[[REST:.*]] = math.fma %[[X]], %{{.*}}, %[[HIGH]]
// CHECK: %[[BITS:.*]] = arith.bitcast %[[SHIFTED]] : f32 to i32
// CHECK: %[[EXPONENT:.*]] = arith.shli %[[BITS]]
// CHECK: %[[POWER:.*]] = arith.bitcast %[[EXPONENT]] : i32 to f32
// CHECK: %[[FRACTION:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[REST]])
// CHECK: arith.mulf %[[FRACTION]], %[[POWER]]
// CHECK: arith.extf %[[H]] : f16 to f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: math.exp {{.*}} : f64
func.func @exponential(%x: f32, %h: f16, %d: f64) -> (f32, f16, f64) {
  %a = math.exp %x : f32
  %b = math.exp %h : f16
  %c = math.exp %d : f64
  return %a, %b, %c : f32, f16, f64
}

// What becomes f16 has no use for a quotient that is rounded correctly, unless something is added to it on the way.
// CHECK-LABEL: func.func @quotients
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"
// CHECK: arith.divf
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"
// CHECK: return
func.func @quotients(%x: f32, %y: f32, %h: bf16) -> (f16, f16, f32, bf16) {
  %a = arith.divf %x, %y : f32
  %b = arith.mulf %a, %x : f32
  %c = arith.truncf %b : f32 to f16
  %d = arith.divf %y, %x : f32
  %e = arith.addf %d, %x : f32
  %f = arith.truncf %e : f32 to f16
  %g = arith.divf %x, %x : f32
  %i = arith.divf %h, %h : bf16
  return %c, %f, %g, %i : f16, f16, f32, bf16
}

// CHECK-LABEL: func.func @sigmoid
// CHECK-NOT: arith.divf
// CHECK: llvm.call_intrinsic "llvm.nvvm.div.full"
func.func @sigmoid(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %n = arith.negf %x : f32
  %e = math.exp %n : f32
  %s = arith.addf %e, %one : f32
  %r = arith.divf %one, %s : f32
  return %r : f32
}

// CHECK-LABEL: func.func @roots
// CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"(%{{.*}}) : (f32) -> f32
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
// CHECK: arith.truncf %[[R]] : f32 to bf16
// CHECK: math.rsqrt {{.*}} : f64
func.func @roots(%x: f32, %h: bf16, %d: f64) -> (f32, bf16, f64) {
  %a = math.rsqrt %x : f32
  %b = math.rsqrt %h : bf16
  %c = math.rsqrt %d : f64
  return %a, %b, %c : f32, bf16, f64
}

// By a polynomial where the exponential would cancel.
// CHECK-LABEL: func.func @tangent
// CHECK-SAME: (%[[X:.*]]: f32,
// CHECK: %[[SIZE:.*]] = math.absf %[[X]]
// CHECK: %[[E:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
// CHECK: %[[MORE:.*]] = arith.addf %[[E]]
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%[[MORE]])
// CHECK: %[[LARGE:.*]] = math.fma %[[R]]
// CHECK: %[[SMALL:.*]] = math.fma %[[SIZE]], %{{.*}}, %[[SIZE]]
// CHECK: %[[WHICH:.*]] = arith.cmpf olt, %[[SIZE]]
// CHECK: %[[T:.*]] = arith.select %[[WHICH]], %[[SMALL]], %[[LARGE]]
// CHECK: %[[SIGN:.*]] = arith.andi
// CHECK: %[[BITS:.*]] = arith.bitcast %[[T]] : f32 to i32
// CHECK: arith.ori %[[BITS]], %[[SIGN]]
// CHECK: math.tanh {{.*}} : f64
func.func @tangent(%x: f32, %d: f64) -> (f32, f64) {
  %a = math.tanh %x : f32
  %b = math.tanh %d : f64
  return %a, %b : f32, f64
}
