// RUN: tilewright-opt %s -split-input-file -tilewright-read-padding | FileCheck %s

// A tile inside of the source is read at once, another one element by element where padding cuts no row.
// CHECK-LABEL: func private @rows
// CHECK-SAME: %[[X:.*]]: memref<10x16xf32
// CHECK: %[[STACK:.*]] = memref.alloca() {alignment = 64 : i64} : memref<8x16xf32>
// CHECK: %[[V:.*]] = scf.if %{{.*}} -> (vector<8x16xf32>) {
// CHECK-NEXT: vector.transfer_read %[[X]]
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[E:.*]] = scf.if %{{.*}} -> (f32) {
// CHECK: memref.load %[[X]]
// CHECK: memref.store %[[E]], %[[STACK]]
// CHECK: vector.transfer_read %[[STACK]]
// CHECK: vector.transfer_write %[[V]]
#inside = affine_set<(i, j) : (i - 1 >= 0, 8 - i >= 0)>
func.func private @rows(%x: memref<10x16xf32, strided<[16, 1], offset: ?>>, %o: memref<8x16xf32>, %i: index) attributes {
    tilewright.kernel, tilewright.access = ["read", "write"],
    tilewright.padding = [{fill = 7.0 : f32, inside = #inside, symbols = array<i64>}, unit]} {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i, %c0], %pad {in_bounds = [true, true]} : memref<10x16xf32, strided<[16, 1], offset: ?>>, vector<8x16xf32>
  vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<8x16xf32>
  return
}

// -----

// Rows that padding cuts are read under masks: of lanes from the first that is inside on, up to the last; of six lanes in a register of
// eight.
// CHECK-LABEL: func private @cut
// CHECK-SAME: %[[X:.*]]: memref<10x16xf32
// CHECK: %[[V:.*]] = scf.if %{{.*}} -> (vector<2x6xf32>) {
// CHECK-NEXT: vector.transfer_read %[[X]]
// CHECK: } else {
// CHECK: %[[FILL:.*]] = arith.constant dense<7.000000e+00> : vector<8xf32>
// CHECK: %[[LANES:.*]] = arith.constant dense<[0, 1, 2, 3, 4, 5, 6, 7]> : vector<8xi32>
// CHECK: %[[FROM:.*]] = arith.cmpi sge, %[[LANES]], %{{.*}} : vector<8xi32>
// CHECK: %[[TO:.*]] = arith.cmpi slt, %{{.*}} : vector<8xi32>
// CHECK: %[[MASK:.*]] = arith.andi %[[FROM]], %[[TO]]
// CHECK: %[[ROW:.*]] = vector.maskedload %[[X]][%{{.*}}, %{{.*}}], %[[MASK]], %[[FILL]]
// CHECK: %[[SIX:.*]] = vector.extract_strided_slice %[[ROW]] {offsets = [0], sizes = [6], strides = [1]}
// CHECK: vector.insert %[[SIX]], %{{.*}} [0] : vector<6xf32> into vector<2x6xf32>
// CHECK: vector.maskedload
// CHECK: vector.insert %{{.*}} [1]
// CHECK-NOT: vector.maskedload
#cut = affine_set<(i, j) : (i - 1 >= 0, 8 - i >= 0, j - 2 >= 0, 13 - j >= 0)>
func.func private @cut(%x: memref<10x16xf32, strided<[16, 1], offset: ?>>, %o: memref<2x6xf32>, %i: index, %j: index) attributes {
    tilewright.kernel, tilewright.access = ["read", "write"],
    tilewright.padding = [{fill = 7.0 : f32, inside = #cut, symbols = array<i64>}, unit]} {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i, %j], %pad {in_bounds = [true, true]} : memref<10x16xf32, strided<[16, 1], offset: ?>>, vector<2x6xf32>
  vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<2x6xf32>, memref<2x6xf32>
  return
}

// -----

// What is behind the memory is the read's padding, which is not what is beside the source.
// CHECK-LABEL: func private @behind
// CHECK-SAME: %[[X:.*]]: memref<10x16xf32
// CHECK-NOT: memref.alloca
// CHECK: } else {
// CHECK: %[[FILL:.*]] = arith.constant dense<7.000000e+00> : vector<8xf32>
// CHECK: %[[ROW:.*]] = vector.maskedload %[[X]][%{{.*}}, %{{.*}}], %{{.*}}, %[[FILL]]
// CHECK: %[[BEFORE:.*]] = arith.cmpi slt, {{.*}} : vector<8xi32>
// CHECK: %[[PAD:.*]] = vector.broadcast %{{.*}} : f32 to vector<8xf32>
// CHECK: arith.select %[[BEFORE]], %[[ROW]], %[[PAD]]
#beside = affine_set<(i, j) : (j - 2 >= 0, 13 - j >= 0)>
func.func private @behind(%x: memref<10x16xf32, strided<[16, 1], offset: ?>>, %o: memref<1x8xf32>, %i: index, %j: index) attributes {
    tilewright.kernel, tilewright.access = ["read", "write"],
    tilewright.padding = [{fill = 7.0 : f32, inside = #beside, symbols = array<i64>}, unit]} {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%i, %j], %pad {in_bounds = [true, false]} : memref<10x16xf32, strided<[16, 1], offset: ?>>, vector<1x8xf32>
  vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xf32>, memref<1x8xf32>
  return
}
