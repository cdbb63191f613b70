// RUN: tilewright-opt %s -tilewright-call-libraries | FileCheck %s

#mk = affine_map<(b, m, n, k) -> (b, m, k)>
#nk = affine_map<(b, m, n, k) -> (b, n, k)>
#mn = affine_map<(b, m, n, k) -> (b, m, n)>

// A call for each matrix of a batch; B lies transposed.
// CHECK: llvm.func @cblas_sgemm(i32, i32, i32, i32, i32, i32, f32, !llvm.ptr, i32, !llvm.ptr, i32, f32, !llvm.ptr, i32)
// CHECK-LABEL: func.func private @Batch(
// CHECK: %[[BATCH:.+]] = memref.dim %arg0, %c0{{.*}} : memref<?x8x32xf32>
// CHECK: scf.for %[[I:.+]] = %{{.+}} to %[[BATCH]]
// CHECK-DAG: %[[MAJOR:.+]] = llvm.mlir.constant(101 : i32)
// CHECK-DAG: %[[ASIS:.+]] = llvm.mlir.constant(111 : i32)
// CHECK-DAG: %[[TURNED:.+]] = llvm.mlir.constant(112 : i32)
// CHECK-DAG: %[[ONE:.+]] = llvm.mlir.constant(1.000000e+00 : f32)
// CHECK-DAG: memref.extract_aligned_pointer_as_index %arg0
// CHECK-DAG: %[[SUM:.+]] = llvm.mlir.constant(1.000000e+00 : f32)
// CHECK: llvm.call @cblas_sgemm(%[[MAJOR]], %[[ASIS]], %[[TURNED]], %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}}, %{{.+}})
func.func private @Batch(%a: memref<?x8x32xf32>, %b: memref<?x16x32xf32>, %c: memref<?x8x16xf32>) attributes {tilewright.kernel} {
  tilewright.gemm ins(%a, %b : memref<?x8x32xf32>, memref<?x16x32xf32>) outs(%c : memref<?x8x16xf32>)
      {accumulate, library = "libblas.so.3", maps = [#mk, #nk, #mn]}
  return
}
