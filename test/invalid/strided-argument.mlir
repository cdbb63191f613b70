// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80,vulkan,cpu 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// The elements of an argument lie at a stride per dim, and each has a place of its own.
// CHECK: strided-argument.mlir:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}: strides are positive; copy the view
func.func @Broadcast(%a: memref<4x4xf32, strided<[0, 1]>>, %b: memref<4x4xf32>) {
  linalg.copy ins(%a : memref<4x4xf32, strided<[0, 1]>>) outs(%b : memref<4x4xf32>)
  return
}

// CHECK: strided-argument.mlir:[[@LINE+1]]:{{[0-9]+}}: error: {{.*}}: only memrefs with a stride per dim are compiled; copy the view
func.func @Blocked(%a: memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j)>>, %b: memref<4x4xf32>) {
  linalg.copy ins(%a : memref<4x4xf32, affine_map<(i, j) -> (i floordiv 2, j)>>) outs(%b : memref<4x4xf32>)
  return
}
