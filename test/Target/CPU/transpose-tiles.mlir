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
