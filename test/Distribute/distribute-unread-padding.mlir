// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

// Of padding that nobody reads, coordinates that are out of bounds count as 0: each is chosen once for all elements that have it,
// and nothing is chosen behind the load.
#target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, access_bytes = 16}>
module attributes {tilewright.target = #target} {
  // CHECK-LABEL: func.func private @Unread(
  // CHECK-SAME: %[[A:[a-z0-9]+]]: memref<?xf16>
  // CHECK: %[[IN:.*]] = arith.cmpi slt, %[[ROW:.*]], %
  // CHECK: %[[AT:.*]] = arith.select %[[IN]], %[[ROW]], %c0 : index
  // CHECK: %[[BEGIN:.*]] = arith.muli %[[AT]], %c16
  // CHECK: vector.load %[[A]][%[[BEGIN]]]
  // CHECK-NOT: arith.select
  // CHECK: %[[NEXT:.*]] = arith.addi %[[BEGIN]], %c8
  // CHECK: vector.load %[[A]][%[[NEXT]]]
  // CHECK-NOT: arith.select
  // CHECK: return
  func.func private @Unread(%a: memref<?x16xf16>, %out: memref<32x16xf16>, %first: index)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f16
    %x = vector.transfer_read %a[%first, %c0], %pad {in_bounds = [false, true], tilewright.unread_padding,
        tilewright.layouts = [#tilewright.layout<"regs=[8:1@1, 2:8@1] lanes=[32:1@0] warps=[]">]} : memref<?x16xf16>, vector<32x16xf16>
    vector.transfer_write %x, %out[%c0, %c0] {in_bounds = [true, true]} : vector<32x16xf16>, memref<32x16xf16>
    return
  }
}
