// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// An argument is dense; its views inside the function may be strided.
// CHECK: strided-argument.mlir:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}{{layout|strided|dense}}
func.func @f(%a: memref<4x4xf32, strided<[1, 4]>>, %b: memref<4x4xf32>) {
  linalg.copy ins(%a : memref<4x4xf32, strided<[1, 4]>>) outs(%b : memref<4x4xf32>)
  return
}
