// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-assign-layouts))' | FileCheck %s

// Of rows that begin anywhere neighbours are for neighbouring lanes, element by element, and of rows of even length by words; so are
// all rows that are combined with them.
#config = #tilewright.lowering_config<strategy = reduction, block = [1, 512], warps = [1, 1]>
#launch = #tilewright.launch<threads = 32, subgroup = 32, tiles = affine_map<() -> (1)>>
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, access_bytes = 16}>} {
// CHECK-LABEL: @anywhere
// CHECK: vector.transfer_read {{.*}}#tilewright.layout<"regs=[16:32@0] lanes=[32:1@0] warps=[]">
func.func private @anywhere(%x: memref<8x1001xf16>, %o: memref<8x1001xf16>, %i: index, %j: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %zero = arith.constant 0.0 : f16
  %v = vector.transfer_read %x[%i, %j], %zero : memref<8x1001xf16>, vector<512xf16>
  %w = arith.mulf %v, %v : vector<512xf16>
  vector.transfer_write %w, %o[%i, %j] : vector<512xf16>, memref<8x1001xf16>
  return
}
// CHECK-LABEL: @words
// CHECK: vector.transfer_read {{.*}}#tilewright.layout<"regs=[2:1@0, 8:64@0] lanes=[32:2@0] warps=[]">
func.func private @words(%x: memref<8x1002xf16>, %o: memref<8x1002xf16>, %i: index, %j: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "write"], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %zero = arith.constant 0.0 : f16
  %v = vector.transfer_read %x[%i, %j], %zero : memref<8x1002xf16>, vector<512xf16>
  %w = arith.mulf %v, %v : vector<512xf16>
  vector.transfer_write %w, %o[%i, %j] : vector<512xf16>, memref<8x1002xf16>
  return
}
// CHECK-LABEL: @both
// CHECK-COUNT-2: vector.transfer_read {{.*}}#tilewright.layout<"regs=[16:32@0] lanes=[32:1@0] warps=[]">
// CHECK-NOT: convert_layout
func.func private @both(%x: memref<8x1008xf16>, %y: memref<8x1001xf16>, %o: memref<8x1001xf16>, %i: index, %j: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %zero = arith.constant 0.0 : f16
  %v = vector.transfer_read %x[%i, %j], %zero : memref<8x1008xf16>, vector<512xf16>
  %u = vector.transfer_read %y[%i, %j], %zero : memref<8x1001xf16>, vector<512xf16>
  %w = arith.mulf %v, %u : vector<512xf16>
  vector.transfer_write %w, %o[%i, %j] : vector<512xf16>, memref<8x1001xf16>
  return
}
}
