// RUN: tilewright-opt %s -pass-pipeline="builtin.module(func.func(tilewright-distribute,canonicalize,cse))" | FileCheck %s

// Four lanes, rows in lanes to columns in lanes: four rounds of one shuffle,
// registers rotated by the lane before and after, nothing through memory.
// CHECK-LABEL: func.func private @TurnInWarp(
// CHECK-NOT: memref.alloc
// CHECK-NOT: gpu.barrier
// CHECK: %[[LANE:.+]] = gpu.lane_id
// CHECK: vector.load
// CHECK-COUNT-4: arith.select
// CHECK: gpu.shuffle idx
// CHECK: gpu.shuffle idx
// CHECK: gpu.shuffle idx
// CHECK: gpu.shuffle idx
// CHECK-NOT: gpu.shuffle
// CHECK-COUNT-8: arith.select
// CHECK: vector.store
func.func private @TurnInWarp(%x: memref<4x4xf32>, %o: memref<4x4xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 4, subgroup = 4, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true], tilewright.layouts = [#tilewright.layout<"regs=[4:1@1] lanes=[4:1@0] warps=[]">]} : memref<4x4xf32>, vector<4x4xf32>
  %c = tilewright.convert_layout %v from <"regs=[4:1@1] lanes=[4:1@0] warps=[]"> to <"regs=[4:1@0] lanes=[4:1@1] warps=[]"> {tilewright.layouts = [#tilewright.layout<"regs=[4:1@0] lanes=[4:1@1] warps=[]">]} : vector<4x4xf32>
  vector.transfer_write %c, %o[%c0, %c0] {in_bounds = [true, true], permutation_map = affine_map<(d0, d1) -> (d1, d0)>} : vector<4x4xf32>, memref<4x4xf32>
  return
}

// The rows of a warp to columns of another: only memory reaches there.
// CHECK-LABEL: func.func private @TurnAcrossWarps(
// CHECK: %[[S:.*]] = memref.alloc
// CHECK-NOT: gpu.shuffle
// CHECK: store %{{.*}}, %[[S]][
// CHECK-NOT: gpu.shuffle
// CHECK: load %[[S]][
func.func private @TurnAcrossWarps(%x: memref<4x8xf32>, %o: memref<4x8xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 8, subgroup = 4, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true], tilewright.layouts = [#tilewright.layout<"regs=[4:1@1] lanes=[4:1@0] warps=[2:4@1]">]} : memref<4x8xf32>, vector<4x8xf32>
  %c = tilewright.convert_layout %v from <"regs=[4:1@1] lanes=[4:1@0] warps=[2:4@1]"> to <"regs=[4:1@0] lanes=[2:4@1, 2:1@1] warps=[2:2@1]"> {tilewright.layouts = [#tilewright.layout<"regs=[4:1@0] lanes=[2:4@1, 2:1@1] warps=[2:2@1]">]} : vector<4x8xf32>
  vector.transfer_write %c, %o[%c0, %c0] {in_bounds = [true, true]} : vector<4x8xf32>, memref<4x8xf32>
  return
}
