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

  // All lanes of a row read the old value of %c, one writes the new one: not
  // before the others have read.
  // CHECK-LABEL: func.func private @accumulate
  // CHECK-SAME: (%[[A:.*]]: memref<?xf32>, %[[C:.*]]: memref<?xf32>)
  // CHECK: memref.load %[[C]]
  // CHECK: gpu.shuffle
  // CHECK: gpu.barrier
  // CHECK: scf.if
  // CHECK: memref.store %{{.*}}, %[[C]]
  func.func private @accumulate(%a: memref<8x4xf32>, %c: memref<8xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "readwrite"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<8x4xf32>, vector<8x4xf32>
    %w = vector.transfer_read %c[%c0], %pad {in_bounds = [true]} : memref<8xf32>, vector<8xf32>
    %s = vector.multi_reduction <maximumf>, %v, %w [1] : vector<8x4xf32> to vector<8xf32>
    vector.transfer_write %s, %c[%c0] {in_bounds = [true]} : vector<8xf32>, memref<8xf32>
    return
  }

  // Four lanes turn the tile between them by shuffles, which order nothing in memory:
  // each writes rows of which others have read a part.
  // CHECK-LABEL: func.func private @turn
  // CHECK-SAME: (%[[C:.*]]: memref<?xf32>)
  // CHECK: memref.load %[[C]]
  // CHECK-COUNT-4: gpu.shuffle
  // CHECK: gpu.barrier
  // CHECK: vector.store %{{.*}}, %[[C]]
  func.func private @turn(%c: memref<4x4xf32>)
      attributes {tilewright.kernel, tilewright.access = ["readwrite"],
        tilewright.launch = #tilewright.launch<threads = 4, subgroup = 4, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %c[%c0, %c0], %pad {in_bounds = [true, true], tilewright.layouts = [#tilewright.layout<"regs=[4:1@0] lanes=[4:1@1] warps=[]">]} : memref<4x4xf32>, vector<4x4xf32>
    %s = arith.addf %v, %v {tilewright.layouts = [#tilewright.layout<"regs=[4:1@0] lanes=[4:1@1] warps=[]">]} : vector<4x4xf32>
    %t = tilewright.convert_layout %s from <"regs=[4:1@0] lanes=[4:1@1] warps=[]"> to <"regs=[4:1@1] lanes=[4:1@0] warps=[]"> {tilewright.layouts = [#tilewright.layout<"regs=[4:1@1] lanes=[4:1@0] warps=[]">]} : vector<4x4xf32>
    vector.transfer_write %t, %c[%c0, %c0] {in_bounds = [true, true]} : vector<4x4xf32>, memref<4x4xf32>
    return
  }
}
