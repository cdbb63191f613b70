// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: config-splits.mlir:[[@LINE+2]]:{{[0-9]+}}: error: {{.*}}asks for 4 'splits' but only contractions of few rows or columns are split
func.func @f(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>, %c: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %r = linalg.matmul
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [128, 128, 8], warps = [2, 2, 1], splits = 4>}
      ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%c : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %r : tensor<256x256xf32>
}
