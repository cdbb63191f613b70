// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: error: {{.*}}rank
func.func @f(%a: tensor<1x2x1x2x1x2x1x2x3x1x2xf32>) -> tensor<1x2x1x2x1x2x1x2x3x1x2xf32> {
  %e = tensor.empty() : tensor<1x2x1x2x1x2x1x2x3x1x2xf32>
  %r = linalg.exp ins(%a : tensor<1x2x1x2x1x2x1x2x3x1x2xf32>) outs(%e : tensor<1x2x1x2x1x2x1x2x3x1x2xf32>) -> tensor<1x2x1x2x1x2x1x2x3x1x2xf32>
  return %r : tensor<1x2x1x2x1x2x1x2x3x1x2xf32>
}
