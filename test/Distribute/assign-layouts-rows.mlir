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
// Bytes of a mask are read in runs of the floats that they are for, from wherever those are read.
// CHECK-LABEL: @mask
// CHECK-COUNT-2: vector.transfer_read {{.*}}#tilewright.layout<"regs=[4:1@0, 4:128@0] lanes=[32:4@0] warps=[]">
// CHECK-NOT: convert_layout
func.func private @mask(%m: memref<8x1024xi1>, %x: memref<512xf32, #tilewright.shared>, %o: memref<8x1024xf32>, %i: index, %j: index)
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"], tilewright.launch = #launch, tilewright.lowering_config = #config} {
  %zero = arith.constant 0.0 : f32
  %false = arith.constant false
  %c0 = arith.constant 0 : index
  %z = arith.constant dense<0.0> : vector<512xf32>
  %k = vector.transfer_read %m[%i, %j], %false : memref<8x1024xi1>, vector<512xi1>
  %v = vector.transfer_read %x[%c0], %zero : memref<512xf32, #tilewright.shared>, vector<512xf32>
  %w = arith.select %k, %z, %v : vector<512xi1>, vector<512xf32>
  vector.transfer_write %w, %o[%i, %j] : vector<512xf32>, memref<8x1024xf32>
  return
}
}
