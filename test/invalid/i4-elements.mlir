// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: error: {{.*}}i4
func.func @f(%a: tensor<4xi4>, %b: tensor<4xi4>) -> tensor<4xi4> {
  %e = tensor.empty() : tensor<4xi4>
  %r = linalg.add ins(%a, %b : tensor<4xi4>, tensor<4xi4>) outs(%e : tensor<4xi4>) -> tensor<4xi4>
  return %r : tensor<4xi4>
}
