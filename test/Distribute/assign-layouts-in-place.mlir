// RUN: tilewright-opt %s -tilewright-assign-layouts | FileCheck %s

// A mask that is read in place is read in the layout of the sums that it is added to, of which a thread has two neighbours; another
// operand as rows lie, and brought there.
#sums = #tilewright.layout<"regs=[2:1@1, 2:8@0, 2:8@1] lanes=[4:2@1, 8:1@0] warps=[4:16@0]">
#target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, access_bytes = 16}>
module attributes {tilewright.target = #target} {
  // CHECK-LABEL: func.func private @InPlace(
  // CHECK: vector.transfer_read %arg1{{.*}}regs=[2:1@1, 2:8@0, 2:8@1] lanes=[4:2@1, 8:1@0]{{.*}}vector<64x16xf16>
  // CHECK-NOT: tilewright.convert_layout
  // CHECK: return
  func.func private @InPlace(%a: memref<64x16xf32>, %m: memref<64x16xf16>, %out: memref<64x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1, 1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %half = arith.constant 0.0 : f16
    %s = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true], tilewright.layouts = [#sums]} : memref<64x16xf32>, vector<64x16xf32>
    %x = vector.transfer_read %m[%c0, %c0], %half {in_bounds = [true, true], tilewright.read_in_place} : memref<64x16xf16>, vector<64x16xf16>
    %w = arith.extf %x : vector<64x16xf16> to vector<64x16xf32>
    %t = arith.addf %s, %w : vector<64x16xf32>
    vector.transfer_write %t, %out[%c0, %c0] {in_bounds = [true, true], tilewright.layouts = [#sums]} : vector<64x16xf32>, memref<64x16xf32>
    return
  }
  // CHECK-LABEL: func.func private @Elsewhere(
  // CHECK: vector.transfer_read %arg1{{.*}}vector<64x16xf16>
  // CHECK: tilewright.convert_layout
  func.func private @Elsewhere(%a: memref<64x16xf32>, %m: memref<64x16xf16>, %out: memref<64x16xf32>)
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"],
        tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1, 1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %half = arith.constant 0.0 : f16
    %s = vector.transfer_read %a[%c0, %c0], %pad {in_bounds = [true, true], tilewright.layouts = [#sums]} : memref<64x16xf32>, vector<64x16xf32>
    %x = vector.transfer_read %m[%c0, %c0], %half {in_bounds = [true, true]} : memref<64x16xf16>, vector<64x16xf16>
    %w = arith.extf %x : vector<64x16xf16> to vector<64x16xf32>
    %t = arith.addf %s, %w : vector<64x16xf32>
    vector.transfer_write %t, %out[%c0, %c0] {in_bounds = [true, true], tilewright.layouts = [#sums]} : vector<64x16xf32>, memref<64x16xf32>
    return
  }
}
