// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16}>} {
  // Read and written coalesced; in between the tile goes through shared memory.
  // CHECK-LABEL: func.func private @transpose
  // CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  // CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  func.func private @transpose(%a: memref<1024x512xf32>, %out: memref<512x1024xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (8, 16)>>} {
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %pad = arith.constant 0.0 : f32
    %ti, %tj = tilewright.tile_id(%c8, %c16) : index, index
    %i = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%ti]
    %j = affine.apply affine_map<()[s0] -> (s0 * 64)>()[%tj]
    %v = vector.transfer_read %a[%j, %i], %pad {in_bounds = [true, true]} : memref<1024x512xf32>, vector<64x64xf32>
    %t = vector.transpose %v, [1, 0] : vector<64x64xf32> to vector<64x64xf32>
    vector.transfer_write %t, %out[%i, %j] {in_bounds = [true, true]} : vector<64x64xf32>, memref<512x1024xf32>
    return
  }
}
