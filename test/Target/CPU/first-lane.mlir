// RUN: tilewright-opt %s -tilewright-avx512-math | FileCheck %s

// CHECK-LABEL: @FirstOfRow
// CHECK: %[[C:.*]] = vector.extract %arg0[1] : vector<21xi1> from vector<2x21xi1>
// CHECK: %[[W:.*]] = vector.shuffle %[[C]], {{.*}} : vector<21xi1>, vector<21xi1>
// CHECK: %[[V:.*]] = vector.bitcast %[[W]] : vector<32xi1> to vector<1xi32>
// CHECK: %[[B:.*]] = vector.extract %[[V]][0]
// CHECK: %[[N:.*]] = arith.cmpi eq, %[[B]], %{{.*}} : i32
// CHECK: %[[Z:.*]] = math.cttz %[[B]] : i32
// CHECK: arith.select %[[N]], %{{.*}}, %[[Z]] : i32
func.func private @FirstOfRow(%c: vector<2x21xi1>) -> i32 attributes {tilewright.kernel} {
  %most = arith.constant 2147483647 : i32
  %mosts = arith.constant dense<2147483647> : vector<2x21xi32>
  %step = vector.step : vector<21xindex>
  %steps = vector.broadcast %step : vector<21xindex> to vector<2x21xindex>
  %numbers = arith.index_cast %steps : vector<2x21xindex> to vector<2x21xi32>
  %chosen = arith.select %c, %numbers, %mosts : vector<2x21xi1>, vector<2x21xi32>
  %row = vector.extract %chosen[1] : vector<21xi32> from vector<2x21xi32>
  %r = vector.reduction <minsi>, %row, %most : vector<21xi32> into i32
  return %r : i32
}

// Other numbers than those of lanes, in halves that share lanes.
// CHECK-LABEL: @OtherNumbers
// CHECK-NOT: math.cttz
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3]
// CHECK: vector.shuffle {{.*}} [1, 2, 3, 4]
// CHECK: arith.minsi {{.*}} : vector<4xi32>
// CHECK: vector.reduction <minsi>, {{.*}} : vector<4xi32> into i32
func.func private @OtherNumbers(%c: vector<5xi1>) -> i32 attributes {tilewright.kernel} {
  %most = arith.constant 2147483647 : i32
  %mosts = arith.constant dense<2147483647> : vector<5xi32>
  %numbers = arith.constant dense<[0, 1, 2, 3, 5]> : vector<5xi32>
  %chosen = arith.select %c, %numbers, %mosts : vector<5xi1>, vector<5xi32>
  %r = vector.reduction <minsi>, %chosen, %most : vector<5xi32> into i32
  return %r : i32
}

// No number is a NaN once it has met the one to begin with, and of 21 lanes 11 are in both halves.
// CHECK-LABEL: @OddRow
// CHECK: %[[W:.*]] = arith.extf %arg0 : vector<21xf16> to vector<21xf32>
// CHECK: vector.shuffle {{.*}} [5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
// CHECK-NOT: vector.reduction
// CHECK: arith.truncf {{.*}} : f32 to f16
func.func private @OddRow(%x: vector<21xf16>) -> f16 attributes {tilewright.kernel} {
  %least = arith.constant 0xFC00 : f16
  %r = vector.reduction <maxnumf>, %x, %least : vector<21xf16> into f16
  return %r : f16
}
