// RUN: tilewright-opt %s -tilewright-print-code=target=vulkan:1.1+subgroup=16 -o /dev/null | FileCheck %s

// Vulkan 1.1: SPIR-V 1.3, whose entry points list inputs only, and extensions
// for what later versions have.
// CHECK: OpCapability StorageBuffer8BitAccess
// CHECK: OpExtension "SPV_KHR_8bit_storage"
// CHECK: OpExtension "SPV_KHR_float_controls"
// CHECK: OpEntryPoint GLCompute %k "k" %SubgroupLocalInvocationId{{$}}
// CHECK: OpDecorate %arg1 NonWritable
func.func private @k(%f: memref<?xf32>, %b: memref<?xi8>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 64, subgroup = 16, tiles = affine_map<() -> (1)>>} {
  %i = gpu.lane_id
  %x = memref.load %b[%i] : memref<?xi8>
  %y = arith.sitofp %x : i8 to f32
  memref.store %y, %f[%i] : memref<?xf32>
  return
}
