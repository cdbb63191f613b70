// Warps of a transpose lie as --list-configs has them, along the loop that results are transposed along.
// RUN: tilewright-compile %s --target=cuda:sm_80 --emit=manifest -o - | FileCheck %s
// RUN: sed 's/1, 4, 1]/2, 2, 1]/' %s >%t.mlir
// RUN: not tilewright-compile %t.mlir --target=cuda:sm_80 -o %t.tw 2>&1 | FileCheck %s --check-prefix=OTHER

// CHECK: block = [1, 16, 16], warps = [1, 4, 1]
// OTHER: 'warps' has [2, 2, 1]
// OTHER-SAME: write [1, 4, 1]
func.func @turned(%x: tensor<3x50x70xf32>) -> tensor<3x70x50xf32> {
  %e = tensor.empty() : tensor<3x70x50xf32>
  %r = linalg.transpose ins(%x : tensor<3x50x70xf32>) outs(%e : tensor<3x70x50xf32>) permutation = [0, 2, 1]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [1, 16, 16], warps = [1, 4, 1]>}
  return %r : tensor<3x70x50xf32>
}
