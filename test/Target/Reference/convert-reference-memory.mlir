// RUN: tilewright-opt %s -tilewright-convert-reference-memory | FileCheck %s

// CHECK-LABEL: func.func @AllocatesThroughTheRuntime(%arg0: !llvm.ptr, %arg1: index)
// CHECK: %[[P:.*]] = llvm.call @twr_allocate(%arg0
// CHECK: memref.view %{{.*}}[%{{.*}}][%arg1] : memref<?xi8> to memref<?x4xf32>
// CHECK: llvm.call @twr_free(%arg0
func.func @AllocatesThroughTheRuntime(%n: index) {
  %m = memref.alloc(%n) : memref<?x4xf32>
  memref.dealloc %m : memref<?x4xf32>
  return
}

// CHECK-LABEL: func.func @AssertsAndPrints
// CHECK: llvm.call @twh_check(%arg0
// CHECK: llvm.call @twh_print_f32(%arg0, %arg2)
func.func @AssertsAndPrints(%c: i1, %x: f32) {
  cf.assert %c, "no"
  vector.print %x : f32
  return
}
