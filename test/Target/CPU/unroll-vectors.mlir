// RUN: tilewright-opt %s -tilewright-unroll-vectors | FileCheck %s

// CHECK-LABEL: @LoopsCarryRows
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
// CHECK-NOT: vector<2x8xf32>
// CHECK: return
func.func private @LoopsCarryRows(%a: memref<2x8xf32>, %n: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%c0, %c0], %z {in_bounds = [true, true]} : memref<2x8xf32>, vector<2x8xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %v) -> vector<2x8xf32> {
    scf.yield %acc : vector<2x8xf32>
  }
  vector.transfer_write %r, %a[%c0, %c0] {in_bounds = [true, true]} : vector<2x8xf32>, memref<2x8xf32>
  return
}

// The sum over the first dim is vector additions, over the last a reduction.
// CHECK-LABEL: @Reductions
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK: arith.addf {{.*}} : vector<8xf32>
// CHECK-COUNT-2: vector.reduction <maximumf>
func.func private @Reductions(%a: memref<8xf32>, %b: memref<2xf32>, %v: vector<2x8xf32>, %x: vector<8xf32>, %y: vector<2xf32>)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %s = vector.multi_reduction <add>, %v, %x [0] : vector<2x8xf32> to vector<8xf32>
  %m = vector.multi_reduction <maximumf>, %v, %y [1] : vector<2x8xf32> to vector<2xf32>
  vector.transfer_write %s, %a[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
  vector.transfer_write %m, %b[%c0] {in_bounds = [true]} : vector<2xf32>, memref<2xf32>
  return
}

// Integers are extended as the op says; the product is unsigned times signed.
// CHECK-LABEL: @Integers
// CHECK: arith.extui %{{.*}} : vector<1x1xi8> to vector<1x1xi32>
// CHECK: arith.extsi %{{.*}} : vector<1x4xi8> to vector<1x4xi32>
// CHECK: arith.muli %{{.*}} : vector<4xi32>
func.func private @Integers(%a: vector<1x1xi8>, %b: vector<1x4xi8>, %c: vector<1x4xi32>, %o: memref<1x4xi32>)
    attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %r = tilewright.mma %a, %b, %c {maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      signedness = ["unsigned", "signed"]} : vector<1x1xi8>, vector<1x4xi8>, vector<1x4xi32>
  vector.transfer_write %r, %o[%c0, %c0] {in_bounds = [true, true]} : vector<1x4xi32>, memref<1x4xi32>
  return
}

// Shared memory of a block is on the stack.
// CHECK-LABEL: @Shared
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<16xf32>
func.func private @Shared(%a: memref<16xf32>) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %s = memref.alloc() : memref<16xf32, #tilewright.shared>
  memref.store %z, %s[%c0] : memref<16xf32, #tilewright.shared>
  gpu.barrier
  %v = memref.load %s[%c0] : memref<16xf32, #tilewright.shared>
  memref.store %v, %a[%c0] : memref<16xf32>
  return
}

// Part of a column: rows are compared with the number of rows.
// CHECK-LABEL: @Column
// CHECK-COUNT-4: arith.cmpi slt, %{{.*}}, %c47
// CHECK-NOT: %c33
// CHECK: return
func.func private @Column(%a: memref<47x33xf32>, %o: memref<33x64xf32>, %i: index, %j: index) attributes {tilewright.kernel} {
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%i, %j], %z {permutation_map = affine_map<(d0, d1) -> (d0)>} : memref<47x33xf32>, vector<4xf32>
  vector.transfer_write %v, %o[%j, %i] {in_bounds = [true]} : vector<4xf32>, memref<33x64xf32>
  return
}

// Rows that repeat a column: the column is read by elements, once.

// CHECK-LABEL: func private @RepeatedColumn
// CHECK-NOT: vector<5x1xi8>
// CHECK-COUNT-5: memref.load %{{.*}} : memref<3x2x5x9xi8>
// CHECK-NOT: memref.load
func.func private @RepeatedColumn(%a: memref<3x2x5x9xi8>, %o: memref<4x5xi8>, %i: index) attributes {tilewright.kernel} {
  %zero = arith.constant 0 : index
  %pad = arith.constant 0 : i8
  %v = vector.transfer_read %a[%i, %i, %zero, %i], %pad {in_bounds = [true, true], permutation_map = affine_map<(d0, d1, d2, d3) -> (0, d2)>} : memref<3x2x5x9xi8>, vector<4x5xi8>
  vector.transfer_write %v, %o[%zero, %zero] {in_bounds = [true, true]} : vector<4x5xi8>, memref<4x5xi8>
  return
}

// A row outside is accessed under an empty mask where the first row is.
// CHECK-LABEL: @RowsOutside
// CHECK-SAME: %{{.*}}: memref<?x8xf32>, %[[O:.*]]: memref<2x8xf32>, %[[I:.*]]: index
// CHECK: %[[NEXT:.*]] = arith.addi %[[I]], %c1
// CHECK: %[[INSIDE:.*]] = arith.cmpi slt, %[[NEXT]], %{{.*}} : index
// CHECK: %[[MASK:.*]] = vector.broadcast %[[INSIDE]] : i1 to vector<8xi1>
// CHECK: %[[DISTANCE:.*]] = arith.select %[[INSIDE]], %c1{{.*}}, %c0
// CHECK: %[[ROW:.*]] = arith.addi %[[I]], %[[DISTANCE]] : index
// CHECK: vector.maskedload %{{.*}}[%[[ROW]], %{{.*}}], %[[MASK]]
func.func private @RowsOutside(%a: memref<?x8xf32>, %o: memref<2x8xf32>, %i: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %a[%i, %c0], %z {in_bounds = [false, true]} : memref<?x8xf32>, vector<2x8xf32>
  vector.transfer_write %v, %o[%c0, %c0] {in_bounds = [true, true]} : vector<2x8xf32>, memref<2x8xf32>
  return
}
