// What kernels take, as the device's driver says: the simulator knows what the PTX declares, a CPU says nothing.
// RUN: tilewright-compile %s --target=cuda:sm_80,cpu -o %t.tw
// RUN: tilewright-run %t.tw --resources --device=ptxsim | FileCheck %s
// RUN: tilewright-run %t.tw --resources --device=ptxsim --json | FileCheck %s --check-prefix=JSON
// RUN: not tilewright-run %t.tw --resources --device=cpu 2>&1 | FileCheck %s --check-prefix=CPU
// REQUIRES: tilewright-run

// CHECK: kernel shared_bytes dynamic_shared_bytes max_threads
// CHECK-NEXT: main_matmul_0 {{[1-9][0-9]*}} 0 {{[1-9][0-9]*}}
// JSON: "resources":[{"kernel":"main_matmul_0","variant":"main_matmul_0","shared_bytes":{{[1-9][0-9]*}},"dynamic_shared_bytes":0,"max_threads":
// CPU: this device does not say what its kernels take

func.func @main(%a: tensor<128x64xf16>, %b: tensor<64x128xf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %c = linalg.matmul ins(%a, %b : tensor<128x64xf16>, tensor<64x128xf16>) outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %c : tensor<128x128xf32>
}
