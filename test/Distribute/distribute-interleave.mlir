// The halves of bytes are neighbours in the registers of the thread that read them.
// RUN: tilewright-opt %s -tilewright-assign-layouts | FileCheck %s --check-prefix=LAYOUTS
// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, access_bytes = 16, index_bits = 32}>
module attributes {tilewright.target = #target} {
// LAYOUTS: vector.transfer_read {{.*}} {in_bounds = [true, true], tilewright.layouts = [#tilewright.layout<"regs=[4:1@1] lanes=[4:4@1, 8:1@0] warps=[]">]}
// LAYOUTS: vector.interleave {{.*}} {tilewright.layouts = [#tilewright.layout<"regs=[2:1@1, 4:2@1] lanes=[4:8@1, 8:1@0] warps=[]">]}
// LAYOUTS-NOT: convert_layout
// CHECK: vector.load {{.*}} vector<4xi8>
// CHECK-NOT: #tilewright.shared
// CHECK: vector.store {{.*}} vector<8xi8>
func.func private @Pairs(%w: memref<8x16xi8>, %o: memref<8x32xi8>) attributes {tilewright.kernel, tilewright.access = ["read", "write"],
    tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i8
  %four = arith.constant dense<4> : vector<8x16xi8>
  %v = vector.transfer_read %w[%c0, %c0], %zero {in_bounds = [true, true]} : memref<8x16xi8>, vector<8x16xi8>
  %high = arith.shrsi %v, %four : vector<8x16xi8>
  %all = vector.interleave %v, %high : vector<8x16xi8> -> vector<8x32xi8>
  vector.transfer_write %all, %o[%c0, %c0] {in_bounds = [true, true]} : vector<8x32xi8>, memref<8x32xi8>
  return
}
}
