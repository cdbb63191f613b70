// RUN: tilewright-opt %s -tilewright-assign-layouts -tilewright-distribute -canonicalize -cse | FileCheck %s

// What may begin in front of the first element is out of bounds there: one comparison as of unsigned numbers. Elsewhere indices are
// at least 0.
#target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, access_bytes = 16}>
module attributes {tilewright.target = #target} {
  // CHECK-LABEL: func.func private @FromBefore(
  // CHECK: arith.cmpi ult,
  // CHECK-NOT: arith.cmpi slt
  // CHECK: memref.load %arg0
  // CHECK: return
  func.func private @FromBefore(%a: memref<?xf32>, %out: memref<32xf32>, %first: index)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %x = vector.transfer_read %a[%first], %pad {in_bounds = [false], tilewright.from_before} : memref<?xf32>, vector<32xf32>
    vector.transfer_write %x, %out[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32>
    return
  }
  // CHECK-LABEL: func.func private @Behind(
  // CHECK: arith.cmpi slt,
  // CHECK: return
  func.func private @Behind(%a: memref<?xf32>, %out: memref<32xf32>, %first: index)
      attributes {tilewright.kernel, tilewright.access = ["read", "write"],
        tilewright.launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %c0 = arith.constant 0 : index
    %pad = arith.constant 0.0 : f32
    %x = vector.transfer_read %a[%first], %pad {in_bounds = [false]} : memref<?xf32>, vector<32xf32>
    vector.transfer_write %x, %out[%c0] {in_bounds = [true]} : vector<32xf32>, memref<32xf32>
    return
  }
}
