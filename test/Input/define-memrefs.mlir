// RUN: tilewright-opt %s -tilewright-define-memrefs=copy-tensors -split-input-file -verify-diagnostics | FileCheck %s --check-prefixes=CHECK,COPY
// RUN: tilewright-opt %s -tilewright-define-memrefs -split-input-file -verify-diagnostics | FileCheck %s

// CHECK-LABEL: func @main
// CHECK: %[[C:.*]] = arith.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
// CHECK: %[[M:.*]] = bufferization.to_buffer %[[C]] read_only : tensor<2xf32> to memref<2xf32>
// CHECK: memref.copy %[[M]], %arg0
// CHECK-NOT: memref.global
memref.global "private" constant @g : memref<2xf32> = dense<[1.0, 2.0]>
func.func @main(%x: memref<2xf32>) {
  %g = memref.get_global @g : memref<2xf32>
  memref.copy %g, %x : memref<2xf32> to memref<2xf32>
  return
}

// -----

memref.global "private" @state : memref<2xf32> = dense<[1.0, 2.0]>
func.func @main(%x: memref<2xf32>) {
  // expected-error @below {{'state' is no constant with values; a program has no state: make it an argument of the function}}
  %g = memref.get_global @state : memref<2xf32>
  memref.copy %g, %x : memref<2xf32> to memref<2xf32>
  return
}

// -----

// CHECK-LABEL: func @stack
// CHECK: memref.alloc() : memref<4xf32>
// CHECK: %[[N:.*]] = memref.alloc(%arg1) : memref<?xf32>
// COPY: %[[C:.*]] = memref.alloc(%{{.*}}) : memref<?xf32>
// COPY: memref.copy %[[N]], %[[C]]
// COPY: bufferization.to_tensor %[[C]] restrict
// CHECK-NOT: memref.alloca
func.func @stack(%x: memref<4xf32>, %n: index) -> tensor<?xf32> {
  %a = memref.alloca() : memref<4xf32>
  memref.copy %x, %a : memref<4xf32> to memref<4xf32>
  %b = memref.alloca(%n) : memref<?xf32>
  %t = bufferization.to_tensor %b : memref<?xf32> to tensor<?xf32>
  return %t : tensor<?xf32>
}
