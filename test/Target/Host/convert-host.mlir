// RUN: tilewright-opt %s -tilewright-convert-host | FileCheck %s

// What -tilewright-manage-views writes.

func.func private @k(tensor<?xf32>, i32, tensor<?xf32>) -> tensor<?xf32>
    attributes {tilewright.kernel, tilewright.dispatch_id = 3 : i64}

// CHECK-LABEL: func.func @Dispatches(
// CHECK-SAME: %[[CTX:.*]]: !llvm.ptr, %[[X:.*]]: !llvm.ptr, %[[S:.*]]: i32) -> !llvm.ptr
// CHECK: %[[N:.*]] = llvm.call @twh_dim(%[[CTX]], %[[X]]
// CHECK: %[[E:.*]] = llvm.call @twh_alloc(%[[CTX]]
// CHECK: arith.extsi %[[S]] : i32 to i64
// CHECK: %[[ID:.*]] = llvm.mlir.constant(3 : i32)
// CHECK: llvm.call @twh_dispatch(%[[CTX]], %[[ID]]
// CHECK: llvm.call @twh_retain(%[[CTX]], %[[E]])
// CHECK: return %[[E]] : !llvm.ptr
func.func @Dispatches(%ctx: !llvm.ptr, %x: tensor<?xf32>, %s: i32) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = tilewright.dispatch @k(%x, %s : tensor<?xf32>, i32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// Equal constants are one.
// CHECK-LABEL: func.func @Constants
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK: llvm.call @twh_constant
// CHECK: llvm.mlir.constant(1 : i32)
// CHECK: llvm.call @twh_constant
// CHECK: llvm.mlir.constant(0 : i32)
// CHECK: llvm.call @twh_constant
func.func @Constants(%ctx: !llvm.ptr) {
  %0 = arith.constant dense<1.0> : tensor<4xf32>
  %1 = arith.constant dense<2.0> : tensor<4xf32>
  %2 = arith.constant dense<1.0> : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @Divides
// CHECK: arith.cmpi eq, %arg2
// CHECK: llvm.call @twh_check
// CHECK: %[[D:.*]] = arith.select
// CHECK: arith.divsi %arg1, %[[D]]
func.func @Divides(%ctx: !llvm.ptr, %a: i32, %b: i32) -> i32 {
  %0 = arith.divsi %a, %b : i32
  return %0 : i32
}

// CHECK-LABEL: func.func @Windows(
// CHECK: %[[MASK:.*]] = llvm.mlir.constant(1 : i64)
// CHECK: %[[W:.*]] = llvm.call @twh_window(%arg0, %arg1, {{.*}})
// CHECK: llvm.call @twh_copy(%arg0, %{{.*}}, %[[W]])
// CHECK: llvm.call @twh_release
// CHECK: llvm.call @twh_retain(%arg0, %arg1)
func.func @Windows(%ctx: !llvm.ptr, %x: tensor<4x?xf32>, %n: index) -> tensor<4x?xf32> {
  %w = tensor.extract_slice %x[1, 2] [1, %n] [1, 3] : tensor<4x?xf32> to tensor<?xf32>
  %i = tensor.insert_slice %w into %x[3, 0] [1, %n] [1, 1] : tensor<?xf32> into tensor<4x?xf32>
  return %i : tensor<4x?xf32>
}

// CHECK-LABEL: func.func @WindowsInPlace(
// CHECK-NOT: twh_copy
// CHECK: return %arg1
func.func @WindowsInPlace(%ctx: !llvm.ptr, %x: tensor<8xf32>, %r: tensor<4xf32>) -> tensor<8xf32> {
  %i = tensor.insert_slice %r into %x[3] [4] [1] {tilewright.in_place} : tensor<4xf32> into tensor<8xf32>
  return %i : tensor<8xf32>
}

// CHECK-LABEL: func.func @Chooses(
// CHECK: %[[P:.*]] = arith.select %arg1, %arg2, %arg3 : !llvm.ptr
// CHECK: llvm.call @twh_retain(%arg0, %[[P]])
func.func @Chooses(%ctx: !llvm.ptr, %c: i1, %x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> {
  %r = arith.select %c, %x, %y : tensor<8xf32>
  return %r : tensor<8xf32>
}
