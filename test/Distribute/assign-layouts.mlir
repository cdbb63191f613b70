// RUN: tilewright-opt %s -tilewright-assign-layouts | FileCheck %s

module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, access_bytes = 16}>} {
  // A read and a write that want different layouts meet in one conversion.
  // CHECK-LABEL: @transpose
  // CHECK: vector.transfer_read
  // CHECK-SAME: tilewright.layouts = [#tilewright.layout<"regs=[4:1@1, 8:8@0] lanes=[16:4@1, 2:1@0] warps=[4:2@0]">]
  // CHECK: vector.transpose
  // CHECK-SAME: tilewright.layouts = [#tilewright.layout<"regs=[4:1@0, 8:8@1] lanes=[16:4@0, 2:1@1] warps=[4:2@1]">]
  // CHECK: tilewright.convert_layout
  // CHECK-NOT: tilewright.convert_layout
  func.func private @transpose(%a: memref<64x64xf32>, %out: memref<64x64xf32>)
      attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xf32>, vector<64x64xf32>
    %t = vector.transpose %v, [1, 0] : vector<64x64xf32> to vector<64x64xf32>
    vector.transfer_write %t, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
    return
  }

  // Splats and broadcast reads adapt to the other operand.
  // CHECK-LABEL: @bias
  // CHECK-NOT: tilewright.convert_layout
  func.func private @bias(%a: memref<64x64xf32>, %b: memref<64xf32>, %out: memref<64x64xf32>)
      attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %one = arith.constant dense<1.0> : vector<64x64xf32>
    %v = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true]} : memref<64x64xf32>, vector<64x64xf32>
    %w = vector.transfer_read %b[%c0], %pad {in_bounds = [true, true], permutation_map = affine_map<(d0) -> (d0, 0)>} : memref<64xf32>, vector<64x64xf32>
    %s = arith.addf %w, %one : vector<64x64xf32>
    %r = arith.mulf %s, %v : vector<64x64xf32>
    vector.transfer_write %r, %out[%c0, %c0] {in_bounds = [true, true]} : vector<64x64xf32>, memref<64x64xf32>
    return
  }
}
