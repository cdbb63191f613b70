// Products that begin with what is in memory: where it is, is computed again behind the sums, and takes no registers beside them.
// REQUIRES: ptxas
// RUN: rm -rf %t && tilewright-compile %s -o %t --target=cuda:sm_80,cuda:sm_90a --emit=ptx
// RUN: %ptxas -arch=sm_80 -v %t/cuda_sm_80/halves_matmul_0.ptx -o %t/a.cubin 2>&1 | FileCheck %s
// RUN: %ptxas -arch=sm_80 -v %t/cuda_sm_80/halves_matmul_0_aligned.ptx -o %t/a.cubin 2>&1 | FileCheck %s
// RUN: %ptxas -arch=sm_90a -v %t/cuda_sm_90a/depthwise_matmul_0_aligned.ptx -o %t/a.cubin 2>&1 | FileCheck %s
// RUN: %ptxas -arch=sm_90a -v %t/cuda_sm_90a/depthwise_matmul_0_wide.ptx -o %t/a.cubin 2>&1 | FileCheck %s
// CHECK: 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads

func.func @halves(%a: tensor<?x?xf16>, %b: tensor<?x?xf16>, %c: tensor<?x?xf16>) -> tensor<?x?xf16> {
  %r = linalg.matmul ins(%a, %b : tensor<?x?xf16>, tensor<?x?xf16>) outs(%c : tensor<?x?xf16>) -> tensor<?x?xf16>
  return %r : tensor<?x?xf16>
}
func.func @depthwise(%x: tensor<?x?x?xf16>, %w: tensor<?x?x?xf16>, %c: tensor<?x?x?x?xf16>) -> tensor<?x?x?x?xf16> {
  %r = linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<1> : tensor<1xi64>, strides = dense<1> : tensor<1xi64>}
    ins(%x, %w : tensor<?x?x?xf16>, tensor<?x?x?xf16>) outs(%c : tensor<?x?x?x?xf16>) -> tensor<?x?x?x?xf16>
  return %r : tensor<?x?x?x?xf16>
}
