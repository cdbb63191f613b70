// RUN: tilewright-opt %s -tilewright-bound-errors -split-input-file | FileCheck %s

#a = affine_map<(i, k) -> (i, k)>
#o = affine_map<(i, k) -> (i)>

// Inputs are exact; a sum of K terms allows (K + 8) u of each term and of what it
// starts from. Allocations get a companion.
// CHECK-LABEL: func.func @Sum(
// CHECK-LABEL: func.func @Sum.bounds(
// CHECK-SAME: %[[X:.*]]: memref<4x512xf16>) -> (memref<4xf64>, memref<4xf64>)
// CHECK: %[[R:.*]] = memref.alloc() : memref<4xf64>
// CHECK: %[[B:.*]] = memref.alloc() : memref<4xf64>
// CHECK: linalg.generic {{.*}} ins(%[[R]] : memref<4xf64>) outs(%[[B]] : memref<4xf64>)
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<4x512xf16>) outs(%[[R]], %[[B]] : memref<4xf64>, memref<4xf64>)
// CHECK: ^bb0(%{{.*}}: f16, %{{.*}}: f64, %[[ACC:.*]]: f64):
// CHECK: %[[E:.*]] = arith.extf
// CHECK: %[[ABS:.*]] = math.absf %[[E]]
// CHECK: %[[OWN:.*]] = arith.mulf %[[ABS]]
// CHECK: arith.addf %[[ACC]], %[[OWN]]
// CHECK: return %[[R]], %[[B]]
func.func @Sum(%x: memref<4x512xf16>) -> memref<4xf64> {
  %r = memref.alloc() : memref<4xf64>
  linalg.generic {indexing_maps = [#a, #o], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x512xf16>) outs(%r : memref<4xf64>) {
  ^bb0(%v: f16, %acc: f64):
    %e = arith.extf %v : f16 to f64
    %s = arith.addf %acc, %e {tilewright.accumulator = f32} : f64
    linalg.yield %s : f64
  }
  return %r : memref<4xf64>
}

// -----

#id = affine_map<(i) -> (i)>

// A memref of the source is written: it gets a companion of zeros, which is a
// result. The bound of a monotone function is that of its operand, through it.
// CHECK-LABEL: func.func @InPlace.bounds(
// CHECK-SAME: %[[X:.*]]: memref<8xf32> {tilewright.buffer}) -> memref<8xf64>
// CHECK: %[[B:.*]] = memref.alloc() : memref<8xf64>
// CHECK: linalg.fill ins(%{{.*}} : f64) outs(%[[B]]
// CHECK: linalg.generic {{.*}} outs(%[[X]], %[[B]]
// CHECK: math.exp %{{.*}} : f32
// CHECK: math.exp %{{.*}} : f64
// CHECK: math.exp %{{.*}} : f64
// CHECK: return %[[B]]
func.func @InPlace(%x: memref<8xf32> {tilewright.buffer}) {
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%x : memref<8xf32>) {
  ^bb0(%v: f32):
    %e = math.exp %v : f32
    linalg.yield %e : f32
  }
  return
}

// -----

// Values cross branches, loops and calls with their bounds.
// CHECK-LABEL: func.func @Loop.bounds(
// CHECK: cf.br ^[[HEAD:.*]](%{{.*}}, %{{.*}}, %{{.*}} : index, f32, f64)
// CHECK: ^[[HEAD]](%{{.*}}: index, %{{.*}}: f32, %{{.*}}: f64):
// CHECK: call @Step.pair(%{{.*}}, %{{.*}}) : (f32, f64) -> (f32, f64)
func.func @Loop(%n: index, %x: f32) -> f32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> f32 {
    %w = func.call @Step(%v) : (f32) -> f32
    scf.yield %w : f32
  }
  return %r : f32
}
// CHECK-LABEL: func.func private @Step.pair(
func.func private @Step(%x: f32) -> f32 {
  %y = arith.mulf %x, %x : f32
  return %y : f32
}

// -----

// Integers have bounds where floats decide about them, and only there.
// CHECK-LABEL: func.func @Quantize.bounds(
// CHECK-SAME: -> (i32, f64)
// CHECK: math.trunc
// CHECK: return
func.func @Quantize(%x: f32) -> i32 {
  %y = arith.mulf %x, %x : f32
  %i = arith.fptosi %y : f32 to i32
  return %i : i32
}

// -----

// CHECK-LABEL: func.func @Integers.bounds(
// CHECK-NEXT: arith.muli
// CHECK: return %{{.*}}, %{{.*}} : i32, f64
func.func @Integers(%x: i32) -> i32 {
  %y = arith.muli %x, %x : i32
  return %y : i32
}

// -----

#a = affine_map<(i, k) -> (i, k)>
#o = affine_map<(i, k) -> (i)>

// Where a target keeps 14 bits of sums of 8-bit floats, over 128 terms: 2^-13 for each of
// at most 136 cuts, beside the roundings of f32. Sums of other types have none.
module attributes {tilewright.float8_sums = array<i64: 14, 128>} {
// CHECK-LABEL: func.func @Float8Sum.bounds(
// CHECK-DAG: %[[CUTS:.*]] = arith.constant 1.360000e+02 : f64
// CHECK-DAG: %[[BIT:.*]] = arith.constant 1.220703125E-4 : f64
// CHECK: arith.mulf %{{.*}}, %[[BIT]] : f64
// CHECK-LABEL: func.func @OtherSum.bounds(
// CHECK-NOT: 1.220703125E-4
func.func @Float8Sum(%x: memref<4x512xf8E4M3FN>, %y: memref<4x512xf8E5M2>) -> memref<4xf64> {
  %r = memref.alloc() : memref<4xf64>
  linalg.generic {indexing_maps = [#a, #a, #o], iterator_types = ["parallel", "reduction"]}
      ins(%x, %y : memref<4x512xf8E4M3FN>, memref<4x512xf8E5M2>) outs(%r : memref<4xf64>) {
  ^bb0(%v: f8E4M3FN, %w: f8E5M2, %acc: f64):
    %e = arith.extf %v : f8E4M3FN to f64
    %f = arith.extf %w : f8E5M2 to f64
    %p = arith.mulf %e, %f : f64
    %s = arith.addf %acc, %p {tilewright.accumulator = f32} : f64
    linalg.yield %s : f64
  }
  return %r : memref<4xf64>
}

func.func @OtherSum(%x: memref<4x512xf16>) -> memref<4xf64> {
  %r = memref.alloc() : memref<4xf64>
  linalg.generic {indexing_maps = [#a, #o], iterator_types = ["parallel", "reduction"]}
      ins(%x : memref<4x512xf16>) outs(%r : memref<4xf64>) {
  ^bb0(%v: f16, %acc: f64):
    %e = arith.extf %v : f16 to f64
    %s = arith.addf %acc, %e {tilewright.accumulator = f32} : f64
    linalg.yield %s : f64
  }
  return %r : memref<4xf64>
}
}

// -----

// A choice has the bound of the branch that is taken: none where both are exact.
#i = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @Choice.bounds(
// CHECK: linalg.generic
// CHECK: %[[V:.*]]:2 = scf.if %{{.*}} -> (f32, f64) {
// CHECK: %[[E:.*]] = math.exp
// CHECK: scf.yield %[[E]], %{{.*}} : f32, f64
// CHECK: } else {
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f64
// CHECK: scf.yield %{{.*}}, %[[ZERO]] : f32, f64
// CHECK: linalg.yield %[[V]]#0, %[[V]]#1
func.func @Choice(%x: memref<4xf32>) -> memref<4xf32> {
  %r = memref.alloc() : memref<4xf32>
  linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]}
      ins(%x : memref<4xf32>) outs(%r : memref<4xf32>) {
  ^bb0(%v: f32, %o: f32):
    %j = linalg.index 0 : index
    %two = arith.constant 2 : index
    %first = arith.cmpi slt, %j, %two : index
    %c = scf.if %first -> f32 {
      %e = math.exp %v : f32
      scf.yield %e : f32
    } else {
      scf.yield %v : f32
    }
    linalg.yield %c : f32
  }
  return %r : memref<4xf32>
}
