// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: error: 'linalg.batch_matmul' op the pinned lowering config does not fit: 'block' has 2 entries but linalg.batch_matmul has 4 loops
func.func @f(%a: tensor<2x64x64xf32>, %b: tensor<2x64x64xf32>, %c: tensor<2x64x64xf32>) -> tensor<2x64x64xf32> {
  %r = linalg.batch_matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64]>}
    ins(%a, %b : tensor<2x64x64xf32>, tensor<2x64x64xf32>) outs(%c : tensor<2x64x64xf32>) -> tensor<2x64x64xf32>
  return %r : tensor<2x64x64xf32>
}
