// The program as loops, of both kinds: sums, windows, a softmax, a copy of a
// window; and what they compute, by upstream's way to LLVM.
//
// RUN: tilewright-compile %s --emit=loops 2>%t.remarks | FileCheck %s --check-prefix=AFFINE
// RUN: FileCheck %s --check-prefix=REMARK <%t.remarks
// REMARK: remark: {{.*}}becomes scf.for: affine.for needs sizes that are known outside of the loop around it
// RUN: tilewright-compile %s --emit=loops --loops=scf | FileCheck %s --check-prefix=SCF
// RUN: tilewright-compile %s --emit=loops -o %t.mlir
// RUN: mlir-opt %t.mlir -lower-affine -expand-strided-metadata -lower-affine -convert-scf-to-cf -convert-to-llvm -reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main -entry-point-result=f32 | FileCheck %s --check-prefix=VALUE
// RUN: tilewright-compile %s --emit=loops --loops=scf -o %t.mlir
// RUN: mlir-opt %t.mlir -expand-strided-metadata -lower-affine -convert-scf-to-cf -convert-to-llvm -reconcile-unrealized-casts \
// RUN:   | mlir-runner -e main -entry-point-result=f32 | FileCheck %s --check-prefix=VALUE

// AFFINE-LABEL: func.func @pooled(%arg0: memref<1x5x5x1xf32>
// AFFINE: affine.load %arg0[%{{.*}}, %{{.*}} + %{{.*}}, %{{.*}} + %{{.*}}, %{{.*}}]
// AFFINE-NOT: linalg.
// SCF-LABEL: func.func @pooled
// SCF: scf.for
// SCF: memref.load
// SCF-NOT: affine.
// SCF-NOT: linalg.
func.func @pooled(%x: tensor<1x5x5x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = arith.constant 0.0 : f32
  %w = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<1x4x4x1xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  %r = linalg.pooling_nhwc_sum ins(%x, %w : tensor<1x5x5x1xf32>, tensor<2x2xf32>)
                               outs(%z : tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32>
  return %r : tensor<1x4x4x1xf32>
}

// 4 windows of ones at [0, 0..3] sum to 4 each; softmax makes them 1/4 each, the
// insertion puts two of them over ones, the dot product with [1, 10, 100, 1000]
// is 1 + 0.25 * 10 + 0.25 * 100 + 1000.
// AFFINE-LABEL: func.func @main
// AFFINE: math.exp
// VALUE: 1.028500e+03
func.func @main() -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %ex = tensor.empty() : tensor<1x5x5x1xf32>
  %x = linalg.fill ins(%one : f32) outs(%ex : tensor<1x5x5x1xf32>) -> tensor<1x5x5x1xf32>
  %p = func.call @pooled(%x) : (tensor<1x5x5x1xf32>) -> tensor<1x4x4x1xf32>
  %row = tensor.extract_slice %p[0, 0, 0, 0] [1, 1, 4, 1] [1, 1, 1, 1] : tensor<1x4x4x1xf32> to tensor<1x4xf32>
  %es = tensor.empty() : tensor<1x4xf32>
  %s = linalg.softmax dimension(1) ins(%row : tensor<1x4xf32>) outs(%es : tensor<1x4xf32>) -> tensor<1x4xf32>
  %part = tensor.extract_slice %s[0, 0] [1, 2] [1, 1] : tensor<1x4xf32> to tensor<2xf32>
  %eo = tensor.empty() : tensor<4xf32>
  %ones = linalg.fill ins(%one : f32) outs(%eo : tensor<4xf32>) -> tensor<4xf32>
  %mixed = tensor.insert_slice %part into %ones[1] [2] [1] : tensor<2xf32> into tensor<4xf32>
  %weights = arith.constant dense<[1.0, 10.0, 100.0, 1000.0]> : tensor<4xf32>
  %ed = tensor.empty() : tensor<f32>
  %zd = linalg.fill ins(%zero : f32) outs(%ed : tensor<f32>) -> tensor<f32>
  %d = linalg.dot ins(%mixed, %weights : tensor<4xf32>, tensor<4xf32>) outs(%zd : tensor<f32>) -> tensor<f32>
  %r = tensor.extract %d[] : tensor<f32>
  return %r : f32
}

// Sizes that change in a loop: affine.for cannot take them.
// AFFINE-LABEL: func.func @growing
// AFFINE: scf.for
// AFFINE: scf.for
// AFFINE: math.absf
func.func @growing(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%v = %x) -> tensor<?xf32> {
    %d = tensor.concat dim(0) %v, %v : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
    %s = tensor.dim %d, %c0 : tensor<?xf32>
    %e = tensor.empty(%s) : tensor<?xf32>
    %a = linalg.abs ins(%d : tensor<?xf32>) outs(%e : tensor<?xf32>) -> tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  return %r : tensor<?xf32>
}
