// Arithmetic on whole tensors, outside of linalg.
// REQUIRES: tilewright-compile, tilewright-run
// RUN: tilewright-compile %s --target=cpu,cpu-reference -o %t.tw
// RUN: tilewright-run %t.tw --device=cpu --check=oracle --input=5x3xf32=random --input=5x3xf32=random | FileCheck %s

// CHECK: result[0]: ok

func.func @main(%a: tensor<?x3xf32>, %b: tensor<?x3xf32>) -> tensor<?x3xf32> {
  %s = arith.addf %a, %b : tensor<?x3xf32>
  %e = math.exp %s : tensor<?x3xf32>
  return %e : tensor<?x3xf32>
}
