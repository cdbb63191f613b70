// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: memory-space.mlir:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}memory space
func.func @f(%a: memref<4xf32, 3>, %b: memref<4xf32, 3>) {
  linalg.copy ins(%a : memref<4xf32, 3>) outs(%b : memref<4xf32, 3>)
  return
}
