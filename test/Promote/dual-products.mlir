// What two products of a step share is in shared memory once, and all operands are there before the first is multiplied.
// RUN: tilewright-opt %s -tilewright-promote | FileCheck %s

#maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]

// CHECK-LABEL: @dual
// CHECK: vector.transfer_write %arg0, %[[SA:[a-z_0-9]*]]
// CHECK: vector.transfer_write %{{[^,]*}}, %[[SB:[a-z_0-9]*]]
// CHECK: vector.transfer_write %{{[^,]*}}, %[[SC:[a-z_0-9]*]]
// CHECK-NOT: vector.transfer_write
// CHECK: %[[G:.*]] = tilewright.mma %[[SA]], %[[SB]]
// CHECK: %[[U:.*]] = tilewright.mma %[[SA]], %[[SC]]
// CHECK: arith.mulf %[[G]], %[[U]]
func.func private @dual(%a: vector<64x16xf32>, %x: memref<16x32xf32>, %y: memref<16x32xf32>, %c: vector<64x32xf32>) -> vector<64x32xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, promote = [0, 1]>} {
  %pad = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %b = vector.transfer_read %x[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x32xf32>, vector<16x32xf32>
  %g = tilewright.mma %a, %b, %c {maps = #maps} : vector<64x16xf32>, vector<16x32xf32>, vector<64x32xf32>
  %d = vector.transfer_read %y[%c0, %c0], %pad {in_bounds = [true, true]} : memref<16x32xf32>, vector<16x32xf32>
  %u = tilewright.mma %a, %d, %c {maps = #maps} : vector<64x16xf32>, vector<16x32xf32>, vector<64x32xf32>
  %r = arith.mulf %g, %u : vector<64x32xf32>
  return %r : vector<64x32xf32>
}

// What the second multiplies is what the first becomes: each has memory of its own.
// CHECK-LABEL: @chained
// CHECK: vector.transfer_write %arg0
// CHECK: vector.transfer_write %arg1
// CHECK: tilewright.mma
// CHECK: vector.transfer_write
// CHECK: vector.transfer_write %arg1
// CHECK: tilewright.mma
func.func private @chained(%a: vector<32x32xf32>, %b: vector<32x32xf32>, %c: vector<32x32xf32>) -> vector<32x32xf32>
    attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, promote = [0, 1]>} {
  %g = tilewright.mma %a, %b, %c {maps = #maps} : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  %s = arith.mulf %g, %g : vector<32x32xf32>
  %u = tilewright.mma %s, %b, %c {maps = #maps} : vector<32x32xf32>, vector<32x32xf32>, vector<32x32xf32>
  return %u : vector<32x32xf32>
}
