// One dynamic dim becomes two, on every path and in the oracle.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=6x5x4xf32=int:-9:9 | FileCheck %s
// RUN: tilewright-run %t.tw --device=ptxsim --check=oracle --input=6x5x4xf32=int:-9:9 | FileCheck %s

// CHECK: result[0]: ok: 4x6x5xf32, all elements equal
func.func @main(%x: tensor<?x?x?xf32>) -> tensor<?x?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %a = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %b = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %c = tensor.dim %x, %c2 : tensor<?x?x?xf32>
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x?x?xf32> into tensor<?x?xf32>
  %back = tensor.expand_shape %flat [[0, 1], [2]] output_shape [%a, %b, %c] : tensor<?x?xf32> into tensor<?x?x?xf32>
  %e = tensor.empty(%c, %a, %b) : tensor<?x?x?xf32>
  %r = linalg.transpose ins(%back : tensor<?x?x?xf32>) outs(%e : tensor<?x?x?xf32>) permutation = [2, 0, 1]
  return %r : tensor<?x?x?xf32>
}
