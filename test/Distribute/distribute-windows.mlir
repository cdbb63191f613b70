// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16}>} {
  // Strides and offset are arguments; a window may begin anywhere, so elements are read one by one.
  // CHECK-LABEL: func.func private @window(
  // CHECK-SAME: %[[X:.*]]: memref<?xf32>, %{{.*}}: memref<?xf32>, %[[STRIDE:.*]]: index, %[[OFFSET:.*]]: index)
  // CHECK-SAME: tilewright.scalars = [#tilewright.stride<0, 0>, #tilewright.offset<0>]
  // CHECK: arith.muli {{.*}}%[[STRIDE]]
  // CHECK: memref.load %[[X]]
  // CHECK-NOT: vector.load
  func.func private @window(%a: memref<512x512xf32, strided<[?, 1], offset: ?>>, %out: memref<512x512xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (8, 8)>>} {
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : f32
    %ti, %tj = tilewright.tile_id(%c8, %c8) : index, index
    %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%ti]
    %j = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%tj]
    %v = vector.transfer_read %a[%i, %j], %pad {in_bounds = [true, true]} : memref<512x512xf32, strided<[?, 1], offset: ?>>, vector<64x64xf32>
    vector.transfer_write %v, %out[%i, %j] {in_bounds = [true, true]} : vector<64x64xf32>, memref<512x512xf32>
    return
  }

  // A guard promises aligned rows.
  // CHECK-LABEL: func.func private @window_aligned(
  // CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  func.func private @window_aligned(%a: memref<512x512xf32, strided<[?, 1], offset: ?>>, %out: memref<512x512xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"], tilewright.aligned = array<i64: 0>,
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (8, 8)>>} {
    %c8 = arith.constant 8 : index
    %pad = arith.constant 0.0 : f32
    %ti, %tj = tilewright.tile_id(%c8, %c8) : index, index
    %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%ti]
    %j = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%tj]
    %v = vector.transfer_read %a[%i, %j], %pad {in_bounds = [true, true]} : memref<512x512xf32, strided<[?, 1], offset: ?>>, vector<64x64xf32>
    vector.transfer_write %v, %out[%i, %j] {in_bounds = [true, true]} : vector<64x64xf32>, memref<512x512xf32>
    return
  }
}
