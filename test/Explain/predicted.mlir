// REQUIRES: tilewright-compile
// RUN: tilewright-compile %s --target=cuda:sm_80,cuda:sm_87,vulkan,vulkan+multiprocessors=20,cpu -o /dev/null --explain 2>&1 | FileCheck %s

// A bound in closed form, marked as predicted, names the chip that it is for and what decides; architectures that the
// table of chips has no chip of, and GPUs of which nothing is known, are likened to one, CPUs have none, nor have kernels of unknown size.
// CHECK-LABEL: {{^}}cuda:sm_80
// CHECK: copy_{{.*}}0: 1 op
// CHECK: predicted, not measured: {{[0-9.]+}} us on NVIDIA A100 SXM4 40 GB, bounded by memory (memory 100 %,{{.*}}); {{[0-9]+}} {{blocks?}} on a multiprocessor, {{[0-9.]+}} waves of them
// CHECK-NOT: predicted
// CHECK-LABEL: {{^}}cuda:sm_87
// CHECK: predicted, not measured: {{[0-9.]+}} us on a GPU like NVIDIA RTX A6000, bounded by memory
// CHECK-LABEL: {{^}}vulkan
// CHECK: predicted, not measured: {{[0-9.]+}} us on a GPU like NVIDIA GeForce RTX 3080, bounded by memory
// CHECK-LABEL: {{^}}vulkan+multiprocessors=20
// CHECK: predicted, not measured: {{[0-9.]+}} us on a GPU like NVIDIA GeForce RTX 3080 with 20 multiprocessors, bounded by memory
// CHECK-LABEL: {{^}}cpu
// CHECK-NOT: predicted
func.func @copy(%a: tensor<8192x8192xf32>, %b: tensor<8192x8192xf32>) -> tensor<8192x8192xf32> {
  %r = linalg.exp ins(%a : tensor<8192x8192xf32>) outs(%b : tensor<8192x8192xf32>) -> tensor<8192x8192xf32>
  return %r : tensor<8192x8192xf32>
}

func.func @unknown(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
  %r = linalg.exp ins(%a : tensor<?xf32>) outs(%b : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
