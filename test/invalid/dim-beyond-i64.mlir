// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: dim-beyond-i64.mlir:[[@LINE+1]]:{{[0-9]+}}: error:
func.func @f(%a: tensor<99999999999999999999xf32>) -> tensor<99999999999999999999xf32> {
  return %a : tensor<99999999999999999999xf32>
}
