// RUN: tilewright-opt %s -tilewright-flatten-arguments | FileCheck %s

// CHECK-LABEL: func.func private @BuffersThenDimsThenScalars(
// CHECK-SAME: %[[A:.*]]: memref<?x8xf32>, %[[B:.*]]: memref<?xi8>, %[[N:.*]]: index, %[[M:.*]]: index, %[[S:.*]]: f32)
// CHECK-SAME: tilewright.scalars = [#tilewright.dim<0, 0>, #tilewright.dim<1, 0>, #tilewright.host_scalar<0>]
// CHECK: %[[V:.*]] = memref.load %[[B]][%[[N]]] : memref<?xi8>
// CHECK: arith.trunci %[[V]] : i8 to i1
// CHECK: memref.store %[[S]], %[[A]]
func.func private @BuffersThenDimsThenScalars(%a: memref<?x8xf32>, %s: f32, %b: memref<?xi1>)
    attributes {tilewright.kernel, tilewright.access = ["write", "read"]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %a, %c0 : memref<?x8xf32>
  %v = memref.load %b[%n] : memref<?xi1>
  scf.if %v {
    memref.store %s, %a[%c0, %c0] : memref<?x8xf32>
  }
  return
}
