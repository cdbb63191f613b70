// RUN: tilewright-opt %s -tilewright-read-padding | FileCheck %s

// A tile inside of the source is read at once, another one element by element.
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
