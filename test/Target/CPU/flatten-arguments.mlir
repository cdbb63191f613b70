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

// CHECK-LABEL: func.func private @WindowsHaveStridesAndAnOffset(
// CHECK-SAME: %[[A:.*]]: memref<?x8xf32, strided<[?, 1], offset: ?>>, %[[N:.*]]: index, %{{.*}}: index, %{{.*}}: index)
// CHECK-SAME: tilewright.scalars = [#tilewright.dim<0, 0>, #tilewright.stride<0, 0>, #tilewright.offset<0>]
func.func private @WindowsHaveStridesAndAnOffset(%a: memref<?x8xf32, strided<[?, 1], offset: ?>>)
    attributes {tilewright.kernel, tilewright.access = ["write"]} {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %n = memref.dim %a, %c0 : memref<?x8xf32, strided<[?, 1], offset: ?>>
  memref.store %z, %a[%n, %c0] : memref<?x8xf32, strided<[?, 1], offset: ?>>
  return
}
