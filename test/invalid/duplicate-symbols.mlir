// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: error: redefinition of symbol named 'f'
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  return %a : tensor<4xf32>
}
