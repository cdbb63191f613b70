// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: unknown-dialect.mlir:[[@LINE+2]]:{{[0-9]+}}: error: {{.*}}strange
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %r = "strange.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
