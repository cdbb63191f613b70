// What falls back is a remark of MLIR's remark engine, named by the kind of the refusal.
// RUN: tilewright-opt %s -tilewright-configure --remark-format=yaml --remarks-filter-missed=".*" --remarks-output-file=%t.yaml -o /dev/null
// RUN: FileCheck %s < %t.yaml

// CHECK:      --- !Missed
// CHECK-NEXT: Pass: matrix-units
// CHECK-NEXT: Name: numerics
// CHECK:      Function: k
// CHECK:      Reason: {{.*}}mma.m16n8k8.tf32.f32{{.*}} is for other types, and f32 is rounded for it with --fp=tf32 only

#target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, mma = ["mma.m16n8k8.tf32.f32"], async_copy, load_matrices}>

module attributes {tilewright.target = #target} {
func.func private @k(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
  %r = linalg.matmul ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
}
