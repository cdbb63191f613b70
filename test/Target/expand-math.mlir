// RUN: tilewright-opt %s -tilewright-expand-math | FileCheck %s

// CHECK-LABEL: @ExpandsTranscendentals
// CHECK-NOT: math.{{exp|log|tanh|erf|sin|powf|rsqrt}}
// CHECK: return
func.func @ExpandsTranscendentals(%x: f32, %y: f32) -> (f32, f32, f32, f32, f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.log %x : f32
  %2 = math.tanh %x : f32
  %3 = math.erf %x : f32
  %4 = math.sin %x : f32
  %5 = math.powf %x, %y : f32
  %6 = math.rsqrt %x : f32
  return %0, %1, %2, %3, %4, %5, %6 : f32, f32, f32, f32, f32, f32, f32
}

// CHECK-LABEL: @ComputesHalfInSingle
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK-NOT: math.exp
// CHECK: arith.truncf %{{.*}} : f32 to f16
func.func @ComputesHalfInSingle(%x: f16) -> f16 {
  %0 = math.exp %x : f16
  return %0 : f16
}

// CHECK-LABEL: @KeepsNativeOps
// CHECK: math.sqrt
// CHECK: math.fma
// CHECK: math.floor
func.func @KeepsNativeOps(%x: f32) -> f32 {
  %0 = math.sqrt %x : f32
  %1 = math.fma %0, %x, %x : f32
  %2 = math.floor %1 : f32
  return %2 : f32
}

// Indices are computed with as integers.
// CHECK-LABEL: @PowersOfIndices
// CHECK: arith.index_cast %arg0 : index to i64
// CHECK: arith.muli {{.*}} : i64
// CHECK: arith.index_cast {{.*}} : i64 to index
// CHECK-NOT: math.{{ipowi|fpowi|powf}}
func.func @PowersOfIndices(%i: index, %n: vector<4xindex>, %x: vector<4xf32>) -> (index, vector<4xf32>) {
  %r = math.ipowi %i, %i : index
  %s = math.fpowi %x, %n : vector<4xf32>, vector<4xindex>
  return %r, %s : index, vector<4xf32>
}

// PTX has no conversion to predicates.
// CHECK-LABEL: @FloatsAsBits
// CHECK: %[[N:.*]] = arith.fptoui %arg0 : f32 to i32
// CHECK: arith.trunci %[[N]] : i32 to i1
// CHECK: %[[S:.*]] = arith.fptosi %arg1 : vector<4xbf16> to vector<4xi32>
// CHECK: arith.trunci %[[S]] : vector<4xi32> to vector<4xi1>
func.func @FloatsAsBits(%x: f32, %y: vector<4xbf16>) -> (i1, vector<4xi1>) {
  %r = arith.fptoui %x : f32 to i1
  %s = arith.fptosi %y : vector<4xbf16> to vector<4xi1>
  return %r, %s : i1, vector<4xi1>
}
