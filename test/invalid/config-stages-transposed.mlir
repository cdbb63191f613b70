// REQUIRES: tilewright-compile
// RUN: rm -rf %t && mkdir %t && not tilewright-compile %s -o %t/out.tw --target=cuda:sm_80 2>&1 | FileCheck %s
// RUN: test ! -e %t/out.tw

// CHECK: config-stages-transposed.mlir:[[@LINE+2]]:{{[0-9]+}}: error: {{.*}}'stages' is 4, but an operand is computed, or transposed, on its way through registers
func.func @f(%a: tensor<256x256xi8>, %b: tensor<256x256xi8>, %c: tensor<256x256xi32>) -> tensor<256x256xi32> {
  %r = linalg.matmul
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 64, 64], warps = [2, 2, 1], stages = 4, promote = [0, 1], mma = "mma.m16n8k32.s8.s32">}
      ins(%a, %b : tensor<256x256xi8>, tensor<256x256xi8>) outs(%c : tensor<256x256xi32>) -> tensor<256x256xi32>
  return %r : tensor<256x256xi32>
}
