// Vulkan's matrix units are cooperative matrices, in the shapes that the target
// names; without any the reason is given. What the linked SPIRV-Tools do not know
// is written with a remark.

// RUN: tilewright-compile %s --target=vulkan:1.3+subgroup=32+coopmat+coopmat=16x16x32:s8:s32 --stop-after=configure -o - | FileCheck %s
// RUN: tilewright-compile %s --target=vulkan:1.3+subgroup=32 --stop-after=configure -o - | FileCheck %s --check-prefix=WITHOUT
// RUN: tilewright-compile %s --target=vulkan:1.3+subgroup=32+coopmat=16x16x16:bf16:f32 --emit=manifest -o - | FileCheck %s --check-prefix=BF16
// RUN: tilewright-compile %s --target=vulkan:1.3+subgroup=32+coopmat=16x16x16:bf16:f32 --emit=spirv -o %t 2>&1 | FileCheck %s --check-prefix=REMARK

// REMARK: remark: vulkan:1.3+coopmat=16x16x16:bf16:f32+subgroup=32: 1 kernel is not validated: newer than the SPIRV-Tools in this program

// CHECK-LABEL: func.func private @halves_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, {{.*}}promote = [0, 1], mma = "coopmat.m16n16k16.f16.f32"
// WITHOUT-LABEL: func.func private @halves_matmul_0
// WITHOUT-SAME: "not on matrix units: vulkan:1.3+subgroup=32 names no cooperative matrices; +coopmat does"
func.func @halves(%a: tensor<1024x1024xf16>, %b: tensor<1024x1024xf16>, %c: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<1024x1024xf16>, tensor<1024x1024xf16>)
                     outs(%c : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  return %r : tensor<1024x1024xf32>
}

// CHECK-LABEL: func.func private @bytes_matmul_0
// CHECK: attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, {{.*}}mma = "coopmat.m16n16k32.s8.s32"
func.func @bytes(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>)
                     outs(%c : tensor<?x?xi32>) -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// CHECK-LABEL: func.func private @brains_matmul_0
// CHECK-SAME: "not on matrix units: no instruction of the target has its types"
// BF16: "cooperative_matrix:16x16x16:bf16,bf16,f32,f32": 1
// BF16: "feature:cooperativeMatrix": 1
// BF16: "feature:shaderBFloat16CooperativeMatrix": 1
// BF16: "feature:vulkanMemoryModel": 1
func.func @brains(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xbf16>, tensor<64x64xbf16>)
                     outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
