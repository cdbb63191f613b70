// RUN: tilewright-compile %s --target=cpu:x86-64-v4 --stop-after=configure --serial -o - | FileCheck %s --check-prefix=AVX512
// RUN: tilewright-compile %s --target=cpu:aarch64+sve=512 --stop-after=configure --serial -o - | FileCheck %s --check-prefix=SVE

// 48 columns are three registers of AVX-512. Elsewhere vectors of three registers are not split, and not made.
// AVX512: thread = [{{[0-9]+}}, 48
// SVE-NOT: thread = [{{[0-9]+}}, 48
// SVE: thread = [
func.func @matmul(%a: tensor<256x256xf32>, %b: tensor<256x48xf32>) -> tensor<256x48xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x48xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<256x48xf32>) -> tensor<256x48xf32>
  %r = linalg.matmul ins(%a, %b : tensor<256x256xf32>, tensor<256x48xf32>) outs(%z : tensor<256x48xf32>) -> tensor<256x48xf32>
  return %r : tensor<256x48xf32>
}
