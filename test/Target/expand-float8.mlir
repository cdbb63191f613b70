// RUN: tilewright-opt %s -tilewright-expand-float8 -canonicalize | FileCheck %s

// Every f8 is a byte: in signatures, memory and constants.
// CHECK-LABEL: func.func @Moves(
// CHECK-SAME: memref<?xi8>, %{{.*}}: memref<?xi8>
// CHECK: arith.constant 69 : i8
// CHECK: memref.store %{{.*}} : memref<?xi8>
// CHECK-NOT: f8E
func.func @Moves(%x: memref<?xf8E4M3FN>, %y: memref<?xf8E4M3FN>, %i: index, %c: i1) {
  %k = arith.constant 3.25 : f8E4M3FN
  %v = memref.load %x[%i] : memref<?xf8E4M3FN>
  %s = arith.select %c, %v, %k : f8E4M3FN
  memref.store %s, %y[%i] : memref<?xf8E4M3FN>
  return
}

// CHECK-LABEL: func.func @Constants
// CHECK: dense<[56, 126, -128]> : vector<3xi8>
func.func @Constants() -> vector<3xf8E4M3FN> {
  %k = arith.constant dense<[1.0, 448.0, -0.0]> : vector<3xf8E4M3FN>
  return %k : vector<3xf8E4M3FN>
}

// Subnormals are products of small integers, so that no target takes them for
// zero; NaN is the one magnitude above 0x7e.
// CHECK-LABEL: func.func @Extend
// CHECK-SAME: %[[X:.*]]: vector<4xi8>
// CHECK: %[[W:.*]] = arith.extui %[[X]] : vector<4xi8> to vector<4xi32>
// CHECK: arith.sitofp
// CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<4xf32>
// CHECK: arith.bitcast %{{.*}} : vector<4xi32> to vector<4xf32>
// CHECK: arith.truncf %{{.*}} : vector<4xf32> to vector<4xf16>
func.func @Extend(%x: vector<4xf8E4M3FN>) -> vector<4xf16> {
  %y = arith.extf %x : vector<4xf8E4M3FN> to vector<4xf16>
  return %y : vector<4xf16>
}

// From f64 at once: by way of f32 some numbers would be rounded twice.
// CHECK-LABEL: func.func @Round
// CHECK-NOT: f32
// CHECK: arith.trunci %{{.*}} : i64 to i8
func.func @Round(%x: f64) -> f8E5M2 {
  %y = arith.truncf %x : f64 to f8E5M2
  return %y : f8E5M2
}

// The one NaN is where -0 would be; a sign needs a magnitude.
// CHECK-LABEL: func.func @UnsignedZero
// CHECK-DAG: %[[TOP:.*]] = arith.constant 128 : i32
// CHECK-DAG: %[[NAN:.*]] = arith.constant 2143289344 : i32
// CHECK: %[[X:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK: %[[IS:.*]] = arith.cmpi eq, %[[X]], %[[TOP]]
// CHECK: arith.select %[[IS]], %[[NAN]], %{{.*}} : i32
// CHECK: arith.trunci %{{.*}} : i32 to i8
func.func @UnsignedZero(%x: f8E4M3FNUZ) -> f8E5M2FNUZ {
  %y = arith.extf %x : f8E4M3FNUZ to f32
  %z = arith.truncf %y : f32 to f8E5M2FNUZ
  return %z : f8E5M2FNUZ
}

// CHECK-LABEL: func.func @Integers
// CHECK: %[[F:.*]] = arith.sitofp %{{.*}} : i32 to f32
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK: arith.fptosi %{{.*}} : f32 to i16
func.func @Integers(%x: i32, %y: f8E5M2) -> (f8E4M3FN, i16) {
  %a = arith.sitofp %x : i32 to f8E4M3FN
  %b = arith.fptosi %y : f8E5M2 to i16
  return %a, %b : f8E4M3FN, i16
}
