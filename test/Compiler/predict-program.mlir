// Predicted times of a program's kernels, by the command that sweeps.
// RUN: tilewright-compile %s --target=cuda:sm_80 -o %t.tw
// RUN: tilewright-run %t.tw --device=ptxsim --predict=a100 | FileCheck %s
// RUN: tilewright-run %s --device=ptxsim --predict=a100 | FileCheck %s
// RUN: not tilewright-run %t.tw --predict=a100 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not tilewright-run %t.tw --device=ptxsim --predict=a100 --bench 2>&1 | FileCheck %s --check-prefix=BENCH
// RUN: not tilewright-run %t.tw --device=ptxsim --predict=riva128 2>&1 | FileCheck %s --check-prefix=CHIP
// REQUIRES: tilewright-run

// CHECK: main_elementwise_0:
// CHECK-NEXT: predicted: {{.*}} µs on NVIDIA A100
// CHECK: predicted bound:
// DEVICE: --predict: counts what the simulator does: say --device=ptxsim, too
// BENCH: --predict: predicts all kernels of a program
// CHIP: riva128

func.func @main(%a: tensor<4096x64xf32>) -> tensor<4096x64xf32> {
  %empty = tensor.empty() : tensor<4096x64xf32>
  %c = linalg.add ins(%a, %a : tensor<4096x64xf32>, tensor<4096x64xf32>) outs(%empty : tensor<4096x64xf32>) -> tensor<4096x64xf32>
  return %c : tensor<4096x64xf32>
}
