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

// CHECK-LABEL: func.func @most
// CHECK: llvm.intr.maxnum(%{{.*}}, %{{.*}}) : (f32, f32) -> f32
// CHECK: llvm.intr.minnum
// CHECK: arith.maximumf
// CHECK: arith.maxnumf {{.*}} : f64
func.func @most(%x: f32, %y: f32, %d: f64) -> (f32, f32, f32, f64) {
  %a = arith.maxnumf %x, %y : f32
  %b = arith.minnumf %x, %y : f32
  %c = arith.maximumf %x, %y : f32
  %e = arith.maxnumf %d, %d : f64
  return %a, %b, %c, %e : f32, f32, f32, f64
}
