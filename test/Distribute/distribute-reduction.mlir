// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16}>} {
  // Rows of 512: four elements a lane, 32 lanes and the four warps along the row: shuffles, then shared memory.
  // CHECK-LABEL: func.func private @row_sum
  // CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<?xf32>, vector<4xf32>
  // CHECK: arith.addf
  // CHECK-COUNT-5: gpu.shuffle xor
  // CHECK: memref.load
  // CHECK: scf.if
  // CHECK: memref.store
  func.func private @row_sum(%a: memref<?x512xf32>, %out: memref<?xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<()[s0] -> (s0)>, dims = [0, 0]>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %zero = arith.constant dense<0.0> : vector<1xf32>
    %m = memref.dim %a, %c0 : memref<?x512xf32>
    %i = tilewright.tile_id(%m) : index
    %v = vector.transfer_read %a[%i, %c0], %pad {in_bounds = [true, true]} : memref<?x512xf32>, vector<1x512xf32>
    %s = vector.multi_reduction <add>, %v, %zero [1] : vector<1x512xf32> to vector<1xf32>
    vector.transfer_write %s, %out[%i] {in_bounds = [false]} : vector<1xf32>, memref<?xf32>
    return
  }
}
