// RUN: tilewright-compile %s --target=cpu:x86-64-v4 --emit=asm -o - | FileCheck %s

// A register tile of three vectors of columns takes three registers a row, not four: 8 steps x 8 rows x 3.
// CHECK-COUNT-192: vfmadd{{.*}} %zmm
// CHECK-NOT: vfmadd
func.func @matmul(%a: tensor<256x256xf32>, %b: tensor<256x48xf32>) -> tensor<256x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<256x48xf32>) -> tensor<256x48xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x48xf32>) outs(%z : tensor<256x48xf32>) -> tensor<256x48xf32>
  return %r : tensor<256x48xf32>
}
