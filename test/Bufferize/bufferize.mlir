// RUN: tilewright-opt %s -tilewright-bufferize | FileCheck %s

// CHECK-LABEL: func.func private @WriteInPlace(
// CHECK-SAME: %[[X:.+]]: memref<?xf32>, %[[N:.+]]: index, %[[O:.+]]: memref<?xf32>)
func.func private @WriteInPlace(%x: tensor<?xf32>, %n: index, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  // CHECK: memref.dim %[[X]]
  // CHECK: vector.transfer_read %[[X]]
  // CHECK: vector.transfer_write %{{.+}}, %[[O]][%{{.+}}] : vector<128xf32>, memref<?xf32>
  // CHECK-NEXT: return{{$}}
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %v = vector.transfer_read %x[%d], %pad : tensor<?xf32>, vector<128xf32>
  %u = vector.transfer_write %v, %o[%n] : vector<128xf32>, tensor<?xf32>
  return %u : tensor<?xf32>
}

// A loop that carries a destination carries nothing any more; a vector stays.
// CHECK-LABEL: func.func private @DropCarriedDestination(
func.func private @DropCarriedDestination(%x: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  // CHECK: %{{.+}} = scf.for {{.+}} iter_args(%[[A:.+]] = %{{.+}}) -> (vector<8xf32>) {
  // CHECK:   %[[S:.+]] = arith.addf %{{.+}}, %[[A]]
  // CHECK:   vector.transfer_write
  // CHECK:   scf.yield %[[S]] : vector<8xf32>
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %pad = arith.constant 0.0 : f32
  %zero = arith.constant dense<0.0> : vector<8xf32>
  %d = tensor.dim %x, %c0 : tensor<?xf32>
  %r:2 = scf.for %i = %c0 to %d step %c8 iter_args(%t = %o, %a = %zero) -> (tensor<?xf32>, vector<8xf32>) {
    %v = vector.transfer_read %x[%i], %pad : tensor<?xf32>, vector<8xf32>
    %s = arith.addf %v, %a : vector<8xf32>
    %u = vector.transfer_write %s, %t[%i] : vector<8xf32>, tensor<?xf32>
    scf.yield %u, %s : tensor<?xf32>, vector<8xf32>
  }
  return %r#0 : tensor<?xf32>
}

// CHECK-LABEL: func.func private @AccessScalars(
// CHECK-SAME: %[[X:.+]]: memref<f32>, %[[O:.+]]: memref<f32>)
func.func private @AccessScalars(%x: tensor<f32>, %o: tensor<f32>) -> tensor<f32> attributes {tilewright.kernel} {
  // CHECK: %[[V:.+]] = memref.load %[[X]][]
  // CHECK: memref.store %[[V]], %[[O]][]
  %v = tensor.extract %x[] : tensor<f32>
  %u = tensor.insert %v into %o[] : tensor<f32>
  return %u : tensor<f32>
}

// CHECK-LABEL: func.func private @WindowsHaveStrides
// CHECK-SAME: (%[[X:.*]]: memref<4x?xf32, strided<[?, 1], offset: ?>>, %[[O:.*]]: memref<4x?xf32>)
// CHECK: vector.transfer_read %[[X]]{{.*}} : memref<4x?xf32, strided<[?, 1], offset: ?>>
// CHECK-NOT: tilewright.identity
func.func private @WindowsHaveStrides(%x: tensor<4x?xf32>, %o: tensor<4x?xf32>) -> tensor<4x?xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "write"],
                tilewright.views = [strided<[?, 1], offset: ?>, unit]} {
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0, %c0], %pad : tensor<4x?xf32>, vector<4x8xf32>
  %i = tilewright.identity %v : vector<4x8xf32>
  %u = vector.transfer_write %i, %o[%c0, %c0] : vector<4x8xf32>, tensor<4x?xf32>
  return %u : tensor<4x?xf32>
}

// Reads of a slice become reads of a view.
// CHECK-LABEL: func.func private @Slice(
// CHECK-SAME: %[[X:.+]]: memref<9x32xf32>, %[[I:.+]]: index, %[[O:.+]]: memref<8xf32>)
func.func private @Slice(%x: tensor<9x32xf32>, %i: index, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  // CHECK: %[[VIEW:.+]] = memref.subview %[[X]][%[[I]], 0] [1, %[[I]]] [1, 1]
  // CHECK: vector.transfer_read %[[VIEW]]
  %c0 = arith.constant 0 : index
  %pad = arith.constant 0.0 : f32
  %s = tensor.extract_slice %x[%i, 0] [1, %i] [1, 1] : tensor<9x32xf32> to tensor<1x?xf32>
  %v = vector.transfer_read %s[%c0, %c0], %pad : tensor<1x?xf32>, vector<8xf32>
  %u = vector.transfer_write %v, %o[%c0] : vector<8xf32>, tensor<8xf32>
  return %u : tensor<8xf32>
}
