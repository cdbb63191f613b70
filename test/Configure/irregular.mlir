// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// A pin on the op is taken, and what was said of the kernel before is still said.

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024}>
module attributes {tilewright.target = #target} {
// CHECK-LABEL: func.func private @OnOp(
// CHECK-SAME: tilewright.explain = ["strategy irregular: each thread sorts a run by insertion", "said before", "config (pinned): #tilewright.lowering_config<strategy = irregular, block = [2, 16, 1], warps = [1, 1, 1]>"]
// CHECK: tilewright.sort {{.*}}tilewright.lowering_config = #tilewright.lowering_config<strategy = irregular, block = [2, 16, 1], warps = [1, 1, 1]>
func.func private @OnOp(%x: tensor<4x?x1xf32>, %e: tensor<4x?x1xf32>) -> tensor<4x?x1xf32>
    attributes {tilewright.kernel, tilewright.explain = ["said before"]} {
  %r = tilewright.sort ins(%x : tensor<4x?x1xf32>) outs(%e : tensor<4x?x1xf32>) {dim = 1 : i64, runs, tilewright.lowering_config = #tilewright.lowering_config<strategy = irregular, block = [2, 16, 1], warps = [1, 1, 1]>} -> tensor<4x?x1xf32>
  return %r : tensor<4x?x1xf32>
}
}
