// A library computes products of f32 and f64 matrices; the program opens it.

// REQUIRES: tilewright-compile, tilewright-run, tilewright-inspect, openblas
// RUN: rm -rf %t && mkdir %t
// RUN: tilewright-compile %s --target=cpu,cpu-reference --external-blas=libopenblas.so.0 -o %t/p.tw --explain 2>&1 | FileCheck %s
// RUN: tilewright-inspect %t/p.tw | FileCheck %s --check-prefix=INSPECT
// RUN: tilewright-run %t/p.tw --device=cpu --function=layer --input=5x7xf32=int:-9:9 --input=4x7xf32=int:-9:9:2 --input=4xf32=int:-9:9:3 --check=oracle | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t/p.tw --device=cpu --function=layer --input=5x0xf32=0 --input=4x0xf32=0 --input=4xf32=int:-9:9:3 --check=oracle | FileCheck %s --check-prefix=RIGHT
// RUN: tilewright-run %t/p.tw --device=cpu --function=batch --input=3x5x6xf64=int:-9:9 --input=3x6x4xf64=int:-9:9:2 --input=3x5x4xf64=int:-9:9:3 --check=oracle | FileCheck %s --check-prefix=RIGHT
// RUN: not tilewright-run %t/p.tw --device=cpu --function=layer --input=5x7xf32=1 --input=4x8xf32=1 --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=SIZES
// RUN: tilewright-compile %s --target=cpu --external-blas=libmissing.so.9 -o %t/missing.tw
// RUN: not tilewright-run %t/missing.tw --device=cpu --function=batch --input=3x5x6xf64=1 --input=3x6x4xf64=1 --input=3x5x4xf64=1 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: tilewright-compile %s --target=cpu --external-blas=libz.so.1 -o %t/other.tw
// RUN: not tilewright-run %t/other.tw --device=cpu --function=batch --input=3x5x6xf64=1 --input=3x6x4xf64=1 --input=3x5x4xf64=1 2>&1 | FileCheck %s --check-prefix=OTHER

// CHECK: linalg.matvec (line {{[0-9]+}}) does not go to 'libopenblas.so.0': it is a product with a vector
// CHECK: strategy irregular: 'cblas_sgemm' of 'libopenblas.so.0' computes it, with the library's own threads
// INSPECT: imports cblas_sgemm, cblas_dgemm
// INSPECT-NEXT: library libopenblas.so.0: cblas_dgemm, cblas_sgemm
// RIGHT: ok
// SIZES: linalg.generic (line {{[0-9]+}}): dim 1 of %x and dim 1 of %w must be equal (7 vs 8)
// MISSING: its kernels call the library 'libmissing.so.9': {{.*}}cannot open
// OTHER: its kernels call 'cblas_dgemm', which the library 'libz.so.1' does not define

func.func @layer(%x: tensor<?x?xf32>, %w: tensor<4x?xf32>, %bias: tensor<4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %m = tensor.dim %x, %c0 : tensor<?x?xf32>
  %e = tensor.empty(%m) : tensor<?x4xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
                       iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<?x?xf32>, tensor<4x?xf32>) outs(%z : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<?x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>],
                       iterator_types = ["parallel", "parallel"]}
      ins(%p, %bias : tensor<?x4xf32>, tensor<4xf32>) outs(%e : tensor<?x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.addf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}

func.func @batch(%a: tensor<?x?x?xf64>, %b: tensor<?x?x?xf64>, %c: tensor<?x?x?xf64>) -> tensor<?x?x?xf64> {
  %r = linalg.batch_matmul ins(%a, %b : tensor<?x?x?xf64>, tensor<?x?x?xf64>) outs(%c : tensor<?x?x?xf64>) -> tensor<?x?x?xf64>
  return %r : tensor<?x?x?xf64>
}

func.func @vector(%a: tensor<64x32xf32>, %b: tensor<32xf32>, %c: tensor<64xf32>) -> tensor<64xf32> {
  %r = linalg.matvec ins(%a, %b : tensor<64x32xf32>, tensor<32xf32>) outs(%c : tensor<64xf32>) -> tensor<64xf32>
  return %r : tensor<64xf32>
}
