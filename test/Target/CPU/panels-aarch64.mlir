// REQUIRES: tilewright-compile
// RUN: rm -rf %t && tilewright-compile %s --target=cpu:aarch64 --emit=asm -o %t
// RUN: %python %S/Inputs/loop.py %t/cpu_aarch64/main_matmul_0.s fmla | FileCheck %s --implicit-check-not=[sp
// RUN: tilewright-compile %s --target=cpu:neoverse-v1 --emit=asm -o %t
// RUN: %python %S/Inputs/loop.py %t/cpu_neoverse_v1/main_matmul_0.s fmla | FileCheck %s --check-prefix=SVE --implicit-check-not=[sp

// The loop over panels: 8 steps of 8 rows by two vectors are 128 multiply-adds, in which
// B's vectors and A's numbers stay in registers: nothing is on the stack.
// CHECK-COUNT-128: fmla v{{[0-9]+}}.4s, v{{[0-9]+}}.4s, v{{[0-9]+}}
// CHECK-NOT: fmla

// SVE-COUNT-128: fm{{la|ad}} z{{[0-9]+}}.s, p0/m, z{{[0-9]+}}.s, z{{[0-9]+}}.s
// SVE-NOT: fm{{la|ad}}

func.func @main(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x256xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<256x256xf32>) -> tensor<256x256xf32>
  %p = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x256xf32>) outs(%z : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %p : tensor<256x256xf32>
}
