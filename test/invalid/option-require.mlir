// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t
// RUN: not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80 --require=matrix-unit 2>&1 | FileCheck %s
// RUN: not tilewright-compile %s -o %t/out.tw --target=vulkan --require=matrix-unit 2>&1 | FileCheck %s --check-prefix=VULKAN
// RUN: not tilewright-compile %s -o %t/out.tw --require=tensor-cores 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tilewright-compile %s -o %t/out.tw --target=cpu --require=matrix-unit 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not tilewright-compile %s -o %t/out.tw --target=cpu-reference --require=matrix-unit 2>&1 | FileCheck %s --check-prefix=REFERENCE
// RUN: tilewright-compile %s -o %t/both.tw --target=cuda:sm_80,cpu-reference --require=matrix-unit --fp=tf32 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: test ! -e %t/out.tw
// RUN: tilewright-compile %s -o %t/out.tw --target=cuda:sm_80 --require=matrix-unit --fp=tf32

// CHECK: option-require.mlir:[[@LINE+7]]:{{[0-9]+}}: error: {{.*}}is not on matrix units, which are required: matrix instruction 'mma.m16n8k8.tf32.f32' is for other types, and f32 is rounded for it with --fp=tf32 only
// VULKAN: error: {{.*}}vulkan names no cooperative matrices; +coopmat does
// CPU: error: {{.*}}is not on matrix units, which are required: cpu has no matrix instructions
// REFERENCE: error: cpu-reference has no kernels, and nothing in it runs on matrix units: --require=matrix-unit cannot hold; name a target that has them
// BOTH: warning: cpu-reference has no kernels{{.*}}: --require=matrix-unit holds for the other targets only
// UNKNOWN: error: --require does not know 'tensor-cores'; it takes matrix-unit
func.func @f(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
