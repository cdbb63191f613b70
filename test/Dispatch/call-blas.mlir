// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-call-blas))' | FileCheck %s

#target = #tilewright.target<"cpu", "cpu", {calls_libraries = 1 : i64}>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>

// CHECK-DAG: #[[MK:.+]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[KN:.+]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[MN:.+]] = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {tilewright.target = #target, tilewright.external_blas = "libblas.so.3"} {
  // A sum that begins with zero is no sum to the library.
  // CHECK-LABEL: func.func @Overwrite(
  // CHECK: %[[E:.+]] = tensor.empty
  // CHECK: tilewright.gemm ins(%arg0, %arg1 : {{.+}}) outs(%[[E]] : {{.+}}) {library = "libblas.so.3", maps = [#[[MK]], #[[KN]], #[[MN]]]} -> tensor<8x16xf32>
  func.func @Overwrite(%a: tensor<8x32xf32>, %b: tensor<32x16xf32>) -> tensor<8x16xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x16xf32>
    %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x16xf32>) -> tensor<8x16xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x32xf32>, tensor<32x16xf32>) outs(%z : tensor<8x16xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }

  // Sizes are ints to the library. A result whose rows of memory are its columns is the
  // transposed one, of the operands in the other order.
  // CHECK-LABEL: func.func @AddToTransposed(
  // CHECK: arith.cmpi sle, %{{.+}}, %c2147483647
  // CHECK: cf.assert %{{.+}}, "linalg.generic: a size is beyond what 'libblas.so.3' counts"
  // CHECK: tilewright.gemm ins(%arg1, %arg0 : {{.+}}) outs(%arg2 : {{.+}}) {accumulate, library = "libblas.so.3", maps = [#[[KN]], #[[MK]], #{{.+}}]} -> tensor<16x?xf64>
  func.func @AddToTransposed(%a: tensor<?x32xf64>, %b: tensor<32x16xf64>, %c: tensor<16x?xf64>) -> tensor<16x?xf64> {
    %r = linalg.generic {indexing_maps = [#mk, #kn, affine_map<(m, n, k) -> (n, m)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<?x32xf64>, tensor<32x16xf64>) outs(%c : tensor<16x?xf64>) {
    ^bb0(%x: f64, %y: f64, %s: f64):
      %p = arith.mulf %x, %y : f64
      %t = arith.addf %s, %p : f64
      linalg.yield %t : f64
    } -> tensor<16x?xf64>
    return %r : tensor<16x?xf64>
  }

  // CHECK-LABEL: func.func @KeepVector(
  // CHECK-SAME: tilewright.explain = ["linalg.generic (line {{[0-9]+}}) does not go to 'libblas.so.3': it is a product with a vector"]
  // CHECK: linalg.generic
  func.func @KeepVector(%a: tensor<8x32xf32>, %b: tensor<32xf32>, %c: tensor<8xf32>) -> tensor<8xf32> {
    %r = linalg.generic {indexing_maps = [affine_map<(m, k) -> (m, k)>, affine_map<(m, k) -> (k)>, affine_map<(m, k) -> (m)>], iterator_types = ["parallel", "reduction"]}
        ins(%a, %b : tensor<8x32xf32>, tensor<32xf32>) outs(%c : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8xf32>
    return %r : tensor<8xf32>
  }

  // CHECK-LABEL: func.func @KeepWindow(
  // CHECK-SAME: does not go to 'libblas.so.3': an operand is a window of a larger tensor, and the library takes dense memory"]
  func.func @KeepWindow(%x: tensor<8x40xf32>, %b: tensor<32x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %a = tensor.extract_slice %x[0, 4] [8, 32] [1, 1] : tensor<8x40xf32> to tensor<8x32xf32>
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x32xf32>, tensor<32x16xf32>) outs(%c : tensor<8x16xf32>) {
    ^bb0(%p: f32, %y: f32, %s: f32):
      %q = arith.mulf %p, %y : f32
      %t = arith.addf %s, %q : f32
      linalg.yield %t : f32
    } -> tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }

  // CHECK-LABEL: func.func @KeepWidened(
  // CHECK-SAME: does not go to 'libblas.so.3': it widens an operand"]
  func.func @KeepWidened(%a: tensor<8x32xf16>, %b: tensor<32x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %r = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x32xf16>, tensor<32x16xf32>) outs(%c : tensor<8x16xf32>) {
    ^bb0(%x: f16, %y: f32, %s: f32):
      %w = arith.extf %x : f16 to f32
      %p = arith.mulf %w, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
}

// -----

// Kernels of the target call no libraries.
// CHECK-LABEL: func.func @OtherTarget(
// CHECK: linalg.generic
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {}>, tilewright.external_blas = "libblas.so.3"} {
  func.func @OtherTarget(%a: tensor<8x32xf32>, %b: tensor<32x16xf32>, %c: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %r = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%a, %b : tensor<8x32xf32>, tensor<32x16xf32>) outs(%c : tensor<8x16xf32>) {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %t = arith.addf %s, %p : f32
      linalg.yield %t : f32
    } -> tensor<8x16xf32>
    return %r : tensor<8x16xf32>
  }
}
