// RUN: not tilewright-compile %s --target=cpu -o %t 2>&1 | FileCheck %s
// CHECK: error: 'tilewright.gemm' op is what the compiler makes of products for a library; write linalg.matmul, and name the library by --external-blas
func.func @main(%a: tensor<8x32xf32>, %b: tensor<32x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %r = tilewright.gemm ins(%a, %b : tensor<8x32xf32>, tensor<32x16xf32>) outs(%c : tensor<8x16xf32>) {library = "l",
    maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]} -> tensor<8x16xf32>
  return %r : tensor<8x16xf32>
}
