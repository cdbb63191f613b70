// The levels of `cpu` share their host code: other dispatches for one of them are an error.
// REQUIRES: tilewright-compile
// RUN: rm -rf %t && tilewright-compile %s --target=cpu --dump-stages=%t -o %t.tw
// RUN: sed -i '/module @cpu_v3/,$ s/@exp_elementwise_0/@exp_elementwise_1/' %t/levels.04-dispatch.mlir
// RUN: not tilewright-compile %t/levels.04-dispatch.mlir --start-at=place --target=cpu -o %t.tw 2>&1 | FileCheck %s

// CHECK: error: its dispatches for cpu_v3 are not those for cpu_v4; compile for one of the two alone
func.func @exp(%x: tensor<64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %r = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
