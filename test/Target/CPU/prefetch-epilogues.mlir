// RUN: tilewright-opt %s -tilewright-prefetch-epilogues | FileCheck %s

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>

// Each line of the tile that is added to the sums and of the result's is asked for in front of
// their loop: not what is the same for all rows, which earlier tiles have read.
// CHECK-LABEL: @Residual
// CHECK-SAME: %{{.*}}: memref<64x64xf32>, %{{.*}}: memref<64x64xf32>, %[[BIAS:.*]]: memref<64xf32>, %[[OTHER:.*]]: memref<64x64xf32>, %[[RESULT:.*]]: memref<64x64xf32>, %[[ROW:[a-z0-9]+]]: index, %[[COLUMN:[a-z0-9]+]]: index
// CHECK: memref.prefetch %[[OTHER]][%[[ROW]], %[[COLUMN]]], read, locality<3>, data
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: %[[NEXT:.*]] = arith.addi %[[COLUMN]], %[[C16]]
// CHECK: memref.prefetch %[[OTHER]][%[[ROW]], %[[NEXT]]], read, locality<3>, data
// CHECK: %[[C1:.*]] = arith.constant 1 : index
// CHECK: %[[BELOW:.*]] = arith.addi %[[ROW]], %[[C1]]
// CHECK: memref.prefetch %[[OTHER]][%[[BELOW]], %[[COLUMN]]]
// CHECK: memref.prefetch %[[OTHER]]
// CHECK-COUNT-4: memref.prefetch %[[RESULT]][{{.*}}], write, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @Residual(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %bias: memref<64xf32>, %other: memref<64x64xf32>, %r: memref<64x64xf32>,
                            %row: index, %column: index, %z: vector<2x32xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "read", "write"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %k = %c0 to %c64 step %c1 iter_args(%a = %z) -> (vector<2x32xf32>) {
    %u = vector.transfer_read %x[%row, %k], %f0 {in_bounds = [true, true]} : memref<64x64xf32>, vector<2x1xf32>
    %v = vector.transfer_read %y[%k, %column], %f0 {in_bounds = [true, true]} : memref<64x64xf32>, vector<1x32xf32>
    %p = tilewright.mma %u, %v, %a {maps = [#a, #b, #c]} : vector<2x1xf32>, vector<1x32xf32>, vector<2x32xf32>
    scf.yield %p : vector<2x32xf32>
  }
  %b = vector.transfer_read %bias[%column], %f0 {in_bounds = [true, true], permutation_map = affine_map<(d0) -> (0, d0)>} : memref<64xf32>, vector<2x32xf32>
  %o = vector.transfer_read %other[%row, %column], %f0 {in_bounds = [true, true]} : memref<64x64xf32>, vector<2x32xf32>
  %t = arith.addf %s, %b : vector<2x32xf32>
  %q = arith.addf %t, %o : vector<2x32xf32>
  vector.transfer_write %q, %r[%row, %column] {in_bounds = [true, true]} : vector<2x32xf32>, memref<64x64xf32>
  return
}

// Rows behind the last one are not asked for.
// CHECK-LABEL: @LastRows
// CHECK: memref.prefetch
// CHECK: %[[BELOW:.*]] = arith.addi
// CHECK: %[[END:.*]] = memref.dim
// CHECK: %[[LAST:.*]] = arith.subi %[[END]]
// CHECK: %[[AT:.*]] = arith.minsi %[[BELOW]], %[[LAST]]
// CHECK: memref.prefetch %{{.*}}[%[[AT]],
// CHECK: scf.for
func.func private @LastRows(%x: memref<63x64xf32>, %y: memref<64x64xf32>, %other: memref<63x64xf32>, %r: memref<63x64xf32>,
                            %row: index, %column: index, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %k = %c0 to %c64 step %c1 iter_args(%a = %z) -> (vector<2x16xf32>) {
    %u = vector.transfer_read %x[%row, %k], %f0 {in_bounds = [false, true]} : memref<63x64xf32>, vector<2x1xf32>
    %v = vector.transfer_read %y[%k, %column], %f0 {in_bounds = [true, true]} : memref<64x64xf32>, vector<1x16xf32>
    %p = tilewright.mma %u, %v, %a {maps = [#a, #b, #c]} : vector<2x1xf32>, vector<1x16xf32>, vector<2x16xf32>
    scf.yield %p : vector<2x16xf32>
  }
  %o = vector.transfer_read %other[%row, %column], %f0 {in_bounds = [false, true]} : memref<63x64xf32>, vector<2x16xf32>
  %q = arith.addf %s, %o : vector<2x16xf32>
  vector.transfer_write %q, %r[%row, %column] {in_bounds = [false, true]} : vector<2x16xf32>, memref<63x64xf32>
  return
}

// Rows of a line and a half.
// CHECK-LABEL: @PartsOfLines
// CHECK-COUNT-4: memref.prefetch %{{.*}}[{{.*}}], read
// CHECK-COUNT-4: memref.prefetch %{{.*}}[{{.*}}], write
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @PartsOfLines(%x: memref<64x64xf32>, %y: memref<64x64xf32>, %other: memref<64x64xf32>, %r: memref<64x64xf32>,
                                %row: index, %column: index, %z: vector<2x24xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "read", "write"]} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %k = %c0 to %c64 step %c1 iter_args(%a = %z) -> (vector<2x24xf32>) {
    %u = vector.transfer_read %x[%row, %k], %f0 {in_bounds = [true, true]} : memref<64x64xf32>, vector<2x1xf32>
    %v = vector.transfer_read %y[%k, %column], %f0 {in_bounds = [true, true]} : memref<64x64xf32>, vector<1x24xf32>
    %p = tilewright.mma %u, %v, %a {maps = [#a, #b, #c]} : vector<2x1xf32>, vector<1x24xf32>, vector<2x24xf32>
    scf.yield %p : vector<2x24xf32>
  }
  %o = vector.transfer_read %other[%row, %column], %f0 {in_bounds = [true, true]} : memref<64x64xf32>, vector<2x24xf32>
  %q = arith.addf %s, %o : vector<2x24xf32>
  vector.transfer_write %q, %r[%row, %column] {in_bounds = [true, true]} : vector<2x24xf32>, memref<64x64xf32>
  return
}

// Sums that are no products are bound by what they read.
// CHECK-LABEL: @OtherSums
// CHECK-NOT: memref.prefetch
// CHECK: return
func.func private @OtherSums(%x: memref<64x64xf32>, %other: memref<64x64xf32>, %r: memref<64x64xf32>, %row: index, %z: vector<2x16xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]} {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %f0 = arith.constant 0.0 : f32
  %s = scf.for %k = %c0 to %c64 step %c16 iter_args(%a = %z) -> (vector<2x16xf32>) {
    %u = vector.transfer_read %x[%row, %k], %f0 {in_bounds = [true, true]} : memref<64x64xf32>, vector<2x16xf32>
    %p = arith.addf %u, %a : vector<2x16xf32>
    scf.yield %p : vector<2x16xf32>
  }
  %o = vector.transfer_read %other[%row, %c0], %f0 {in_bounds = [true, true]} : memref<64x64xf32>, vector<2x16xf32>
  %q = arith.addf %s, %o : vector<2x16xf32>
  vector.transfer_write %q, %r[%row, %c0] {in_bounds = [true, true]} : vector<2x16xf32>, memref<64x64xf32>
  return
}
