// RUN: tilewright-compile %s --target=cuda:sm_90a --stop-after=configure -o - | FileCheck %s

// Along a sum that is no whole step, boxes of the last step alone lie outside of the operands, whose rows are across it.
// CHECK-LABEL: func.func private @sum_matmul_0
// CHECK: strategy = warp_specialized
func.func @sum(%a: tensor<4104x4096xf16>, %b: tensor<4104x4096xf16>, %c: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %r = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      ins(%a, %b : tensor<4104x4096xf16>, tensor<4104x4096xf16>) outs(%c : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %r : tensor<4096x4096xf32>
}
