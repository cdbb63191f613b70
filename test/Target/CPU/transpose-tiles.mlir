// RUN: tilewright-opt %s -tilewright-unroll-vectors | FileCheck %s

// Two steps within lanes of 128 bits, one that exchanges lanes.
// CHECK-LABEL: @Square
// CHECK: vector.shuffle {{.*}} [0, 8, 1, 9, 4, 12, 5, 13]
// CHECK: vector.shuffle {{.*}} [2, 10, 3, 11, 6, 14, 7, 15]
// CHECK: vector.shuffle {{.*}} [0, 1, 8, 9, 4, 5, 12, 13]
// CHECK: vector.shuffle {{.*}} [2, 3, 10, 11, 6, 7, 14, 15]
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 8, 9, 10, 11]
// CHECK: vector.shuffle {{.*}} [4, 5, 6, 7, 12, 13, 14, 15]
// CHECK-NOT: vector<64xf32>
// CHECK: return
func.func private @Square(%a: memref<8x8xf32>, %b: memref<8x8xf32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<8x8xf32>, vector<8x8xf32>
  %t = vector.transpose %v, [1, 0] : vector<8x8xf32> to vector<8x8xf32>
  vector.transfer_write %t, %b[%c0, %c0] {in_bounds = [true, true]} : vector<8x8xf32>, memref<8x8xf32>
  return
}

// Two squares one below the other: their rows side by side.
// CHECK-LABEL: @Below
// CHECK-COUNT-48: vector.shuffle {{.*}} : vector<8xf32>, vector<8xf32>
// CHECK-COUNT-8: vector.shuffle {{.*}} [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] : vector<8xf32>, vector<8xf32>
// CHECK-NOT: vector.shuffle
// CHECK: return
func.func private @Below(%a: memref<16x8xf32>, %b: memref<8x16xf32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<16x8xf32>, vector<16x8xf32>
  %t = vector.transpose %v, [1, 0] : vector<16x8xf32> to vector<8x16xf32>
  vector.transfer_write %t, %b[%c0, %c0] {in_bounds = [true, true]} : vector<8x16xf32>, memref<8x16xf32>
  return
}

// Side by side: each is a part of the rows.
// CHECK-LABEL: @Beside
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [8, 9, 10, 11, 12, 13, 14, 15] : vector<16xf32>, vector<16xf32>
// CHECK-NOT: vector<128xf32>
// CHECK: return
func.func private @Beside(%a: memref<8x16xf32>, %b: memref<16x8xf32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<8x16xf32>, vector<8x16xf32>
  %t = vector.transpose %v, [1, 0] : vector<8x16xf32> to vector<16x8xf32>
  vector.transfer_write %t, %b[%c0, %c0] {in_bounds = [true, true]} : vector<16x8xf32>, memref<16x8xf32>
  return
}
