// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

// %c is updated in place. A lane out of bounds must not read an element instead:
// another block may be writing it. %a is only read, so no branch there.
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16}>} {
  // CHECK-LABEL: func.func private @update
  // CHECK-SAME: (%[[A:.*]]: memref<?xf32>, %[[C:.*]]: memref<?xf32>)
  // CHECK: %[[INSIDE:.*]] = arith.cmpi
  // CHECK: %[[AT:.*]] = arith.select
  // CHECK: memref.load %[[A]][%[[AT]]]
  // CHECK: scf.if {{.*}} -> (f32)
  // CHECK-NEXT: memref.load %[[C]]
  // CHECK-NEXT: scf.yield
  // CHECK-NEXT: } else {
  // CHECK-NEXT: scf.yield
  // CHECK: scf.if
  // CHECK: memref.store
  func.func private @update(%a: memref<99xf32>, %c: memref<99xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "readwrite"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %pad = arith.constant 0.0 : f32
    %i = tilewright.tile_id(%c1) : index
    %v = vector.transfer_read %a[%i], %pad : memref<99xf32>, vector<128xf32>
    %w = vector.transfer_read %c[%i], %pad : memref<99xf32>, vector<128xf32>
    %s = arith.addf %v, %w : vector<128xf32>
    vector.transfer_write %s, %c[%i] : vector<128xf32>, memref<99xf32>
    return
  }
}
