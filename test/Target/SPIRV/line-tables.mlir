// RUN: tilewright-opt %s -tilewright-print-code="target=vulkan:1.3+subgroup=8 debug" -o /dev/null | FileCheck %s

// CHECK: OpExtension "SPV_KHR_non_semantic_info"
// CHECK: OpString "{{.*}}line-tables.mlir"
// CHECK: OpLine %{{.*}} [[# @LINE + 7]]
// CHECK: OpLoad %float
// CHECK: OpLine %{{.*}} [[# @LINE + 6]]
// CHECK: OpFAdd
func.func private @k(%f: memref<?xf32>)
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 64, subgroup = 8, tiles = affine_map<() -> (1)>>} {
  %i = gpu.lane_id
  %x = memref.load %f[%i] : memref<?xf32>
  %y = arith.addf %x, %x : f32
  memref.store %y, %f[%i] : memref<?xf32>
  return
}
