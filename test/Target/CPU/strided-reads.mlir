// RUN: tilewright-opt %s -tilewright-unroll-vectors | FileCheck %s

// Elements two apart are taken out of two reads that end with the last one.
// CHECK-LABEL: @Inside
// CHECK: memref.reinterpret_cast {{.*}} sizes: [15], strides: [1]
// CHECK: %[[LOW:.*]] = vector.load %{{.*}}[%c0] : memref<15xf32, strided<[1], offset: ?>>, vector<8xf32>
// CHECK: %[[HIGH:.*]] = vector.load %{{.*}}[%c7] : memref<15xf32, strided<[1], offset: ?>>, vector<8xf32>
// CHECK: vector.shuffle %[[LOW]], %[[HIGH]] [0, 2, 4, 6, 9, 11, 13, 15]
// CHECK-NOT: memref.load
func.func private @Inside(%a: memref<112x7xf32, strided<[2, 1], offset: ?>>, %o: memref<8xf32>, %i: index, %k: index)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%i, %k], %z {in_bounds = [true, true]}
      : memref<112x7xf32, strided<[2, 1], offset: ?>>, vector<8x1xf32>
  %row = vector.shape_cast %v : vector<8x1xf32> to vector<8xf32>
  vector.transfer_write %row, %o[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  return
}

// Where the row may end, both reads end with the last element that is inside.
// CHECK-LABEL: @Edge
// CHECK: %[[REST:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: %[[SCALED:.*]] = arith.muli %[[REST]], %c4
// CHECK: %[[COUNT:.*]] = arith.subi %[[SCALED]], %c3
// CHECK: %[[BITS:.*]] = arith.index_cast %[[COUNT]]
// CHECK: vector.broadcast %[[BITS]]
// CHECK: vector.maskedload
// CHECK: arith.subi %[[COUNT]], %c13
// CHECK: vector.maskedload
// CHECK: vector.shuffle {{.*}} [0, 4, 8, 12, 19, 23, 27, 31]
func.func private @Edge(%a: memref<?xf32, strided<[4], offset: ?>>, %o: memref<8xf32>, %i: index)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%i], %z : memref<?xf32, strided<[4], offset: ?>>, vector<8xf32>
  vector.transfer_write %v, %o[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  return
}

// A row that may be outside has a mask, whose lanes move apart; a stride of three stays as it is.
// CHECK-LABEL: @Rows
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [0, 8, 1, 8, 2, 8, 3, 8] : vector<8xi1>, vector<8xi1>
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6, 9, 11, 13, 15]
// CHECK: memref<8x8xf32, strided<[40, 3], offset: ?>>, vector<8xf32>
func.func private @Rows(%a: memref<?x8xf32, strided<[40, 2], offset: ?>>, %b: memref<8x8xf32, strided<[40, 3], offset: ?>>,
                        %o: memref<1x8xf32>, %i: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%i, %c0], %z {in_bounds = [false, true]}
      : memref<?x8xf32, strided<[40, 2], offset: ?>>, vector<1x8xf32>
  vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xf32>, memref<1x8xf32>
  %w = vector.transfer_read %b[%i, %c0], %z {in_bounds = [true, true]}
      : memref<8x8xf32, strided<[40, 3], offset: ?>>, vector<1x8xf32>
  vector.transfer_write %w, %o[%c0, %c0] {in_bounds = [true, true]} : vector<1x8xf32>, memref<1x8xf32>
  return
}

// Windows that overlap: a row of elements beside each other is one read, whatever its length.
// CHECK-LABEL: @Windows
// CHECK: memref.reinterpret_cast {{.*}} sizes: [14], strides: [1]
// CHECK: vector.load %{{.*}}[%c0] : memref<14xf32, strided<[1], offset: ?>>, vector<14xf32>
// CHECK-NOT: memref.load
// CHECK: return
func.func private @Windows(%a: memref<14x3xf32, strided<[1, 1], offset: ?>>, %o: memref<14xf32>, %k: index)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%c0, %k], %z {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>}
      : memref<14x3xf32, strided<[1, 1], offset: ?>>, vector<14xf32>
  vector.transfer_write %v, %o[%c0] {in_bounds = [true]} : vector<14xf32>, memref<14xf32>
  return
}

// The elements of it that are outside are left out.
// CHECK-LABEL: @WindowsAtEdge
// CHECK: %[[INSIDE:.*]] = arith.subi %{{.*}}, %{{.*}} : index
// CHECK: vector.maskedload {{.*}} vector<16xf32>
// CHECK-NOT: vector.maskedload
// CHECK: return
func.func private @WindowsAtEdge(%a: memref<?x3xf32, strided<[1, 1], offset: ?>>, %o: memref<16xf32>, %i: index, %k: index)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%i, %k], %z {in_bounds = [false], permutation_map = affine_map<(d0, d1) -> (d0)>}
      : memref<?x3xf32, strided<[1, 1], offset: ?>>, vector<16xf32>
  vector.transfer_write %v, %o[%c0] {in_bounds = [true]} : vector<16xf32>, memref<16xf32>
  return
}
