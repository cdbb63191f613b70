// RUN: tilewright-opt %s -tilewright-native-float8 -split-input-file | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90 : i64}>} {

// Two that lie side by side in one vector, whatever is between.
// CHECK-LABEL: func.func @extend
// CHECK-SAME: (%[[V:.*]]: vector<4xf8E4M3FN>,
// CHECK: %[[PAIRS:.*]] = vector.bitcast %[[V]] : vector<4xf8E4M3FN> to vector<2xi16>
// CHECK: %[[PAIR:.*]] = vector.extract %[[PAIRS]][1]
// CHECK: %[[BOTH:.*]] = llvm.call_intrinsic "llvm.nvvm.e4m3x2.to.f16x2.rn"(%[[PAIR]])
// CHECK: %[[X:.*]] = vector.extract %[[BOTH]][0]
// CHECK: %[[Y:.*]] = vector.extract %[[BOTH]][1]
// CHECK: %[[WIDE:.*]] = arith.extf %[[Y]] : f16 to f32
// CHECK: llvm.call_intrinsic "llvm.nvvm.prmt"
// CHECK: arith.extf %{{.*}} : f8E4M3FNUZ to f16
// CHECK: return %[[X]], %[[WIDE]]
func.func @extend(%v: vector<4xf8E4M3FN>, %s: f8E5M2, %u: f8E4M3FNUZ) -> (f16, f32, f16, f16) {
  %a = vector.extract %v[2] : f8E4M3FN from vector<4xf8E4M3FN>
  %x = arith.extf %a : f8E4M3FN to f16
  %b = vector.extract %v[3] : f8E4M3FN from vector<4xf8E4M3FN>
  %y = arith.extf %b : f8E4M3FN to f32
  %z = arith.extf %s : f8E5M2 to f16
  %w = arith.extf %u : f8E4M3FNUZ to f16
  return %x, %y, %z, %w : f16, f32, f16, f16
}

// NaN of what is too large, if anything is.
// CHECK-LABEL: func.func @round
// CHECK-SAME: (%[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK: %[[SIZE:.*]] = math.absf %[[X]]
// CHECK: %[[BEYOND:.*]] = arith.cmpf ogt, %[[SIZE]], %{{.*}}
// CHECK: %[[GUARDED:.*]] = arith.select %[[BEYOND]], %{{.*}}, %[[X]]
// CHECK: %[[BYTES:.*]] = llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"(%{{.*}}, %{{.*}})
// CHECK: %[[WORDS:.*]] = vector.from_elements %[[BYTES]] : vector<1xi16>
// CHECK: %[[CAST:.*]] = vector.bitcast %[[WORDS]] : vector<1xi16> to vector<2xi8>
// CHECK: arith.bitcast %[[CAST]] : vector<2xi8> to vector<2xf8E4M3FN>
func.func @round(%x: f32, %y: f32) -> vector<2xf8E4M3FN> {
  %a = arith.truncf %x : f32 to f8E4M3FN
  %b = arith.truncf %y : f32 to f8E4M3FN
  %v = vector.from_elements %a, %b : vector<2xf8E4M3FN>
  return %v : vector<2xf8E4M3FN>
}

// CHECK-LABEL: func.func @clamped
// CHECK-NOT: arith.cmpf
// CHECK: llvm.call_intrinsic "llvm.nvvm.ff.to.e4m3x2.rn"
// CHECK-NOT: arith.cmpf
// CHECK: return
func.func @clamped(%x: f32) -> f8E4M3FN {
  %most = arith.constant 448.0 : f32
  %least = arith.constant -448.0 : f32
  %l = arith.maximumf %x, %least : f32
  %c = arith.minimumf %l, %most : f32
  %a = arith.truncf %c : f32 to f8E4M3FN
  return %a : f8E4M3FN
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80 : i64}>} {

// CHECK-LABEL: func.func @before_sm_89
// CHECK: llvm.call_intrinsic "llvm.nvvm.prmt"
// CHECK: llvm.inline_asm {{.*}}"mul.rn.f16x2 $0, $1, $2;"
// CHECK: arith.mulf {{.*}} : vector<2xf16>
// CHECK-NOT: arith.subf
// CHECK: arith.truncf {{.*}} : f32 to f8E4M3FN
func.func @before_sm_89(%s: f8E4M3FN, %x: f32) -> (f16, f8E4M3FN) {
  %a = arith.extf %s : f8E4M3FN to f16
  %b = arith.truncf %x : f32 to f8E4M3FN
  return %a, %b : f16, f8E4M3FN
}
}
