// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: config-threads.mlir:[[@LINE+2]]:{{[0-9]+}}: error: {{.*}}threads
func.func @f(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [256, 256, 8], warps = [8, 8, 1], stages = 1, promote = [0, 1]>}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
