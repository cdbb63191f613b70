// RUN: tilewright-opt %s -tilewright-place-windows -split-input-file | FileCheck %s

// CHECK-LABEL: func @WrittenWhereItGoes
// CHECK: %[[W:.*]] = tensor.extract_slice %arg1[2, 5] [4, %arg2] [1, 2] : tensor<8x30xf32> to tensor<4x?xf32>
// CHECK: %[[R:.*]] = tilewright.dispatch @k(%arg0 : tensor<4x?xf32>) outs(%[[W]] : tensor<4x?xf32>)
// CHECK: tensor.insert_slice %[[R]] into %arg1[2, 5] [4, %arg2] [1, 2]
// CHECK: func private @k{{.*}}tilewright.views = [unit, strided<[30, 2], offset: ?>]
func.func @WrittenWhereItGoes(%x: tensor<4x?xf32>, %d: tensor<8x30xf32>, %n: index) -> tensor<8x30xf32> {
  %e = tensor.empty(%n) : tensor<4x?xf32>
  %r = tilewright.dispatch @k(%x : tensor<4x?xf32>) outs(%e : tensor<4x?xf32>) -> tensor<4x?xf32>
  %i = tensor.insert_slice %r into %d[2, 5] [4, %n] [1, 2] : tensor<4x?xf32> into tensor<8x30xf32>
  return %i : tensor<8x30xf32>
}
func.func private @k(tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]}

// -----

// CHECK-LABEL: func @ReadWhereItLies
// CHECK: func private @k{{.*}}tilewright.views = [strided<[?], offset: ?>, strided<[?, 1], offset: ?>, unit]
func.func @ReadWhereItLies(%x: tensor<?x?xf32>, %m: memref<4x4xf32, strided<[?, 1]>>, %c: i32, %i: index) -> tensor<4x4xf32> {
  %w = tensor.extract_slice %x[0, %i] [4, 1] [1, 1] : tensor<?x?xf32> to tensor<4xf32>
  %t = bufferization.to_tensor %m restrict : memref<4x4xf32, strided<[?, 1]>> to tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %r = tilewright.dispatch @k(%w, %c, %t : tensor<4xf32>, i32, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func private @k(tensor<4xf32>, i32, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "read", "write"]}

// -----

// CHECK-LABEL: func @DenseOperandsSayNothing
// CHECK-NOT: tilewright.views
func.func @DenseOperandsSayNothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = tilewright.dispatch @k(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]}

// -----

// Memory has no stride for the one row of a slice: what the padded one has along it is known at run time. Other strides are
// those of the slice.
// CHECK-LABEL: func @PaddedRow
// CHECK: func private @padded_row{{.*}}tilewright.views = [strided<[?, 2], offset: ?>, unit]
module {
  func.func @PaddedRow(%x: tensor<10x16xf32>, %o: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %zero = arith.constant 0.0 : f32
    %s = tensor.extract_slice %x[7, 0] [1, 8] [1, 2] : tensor<10x16xf32> to tensor<1x8xf32>
    %p = tensor.pad %s low[2, 0] high[1, 0] {
    ^bb0(%i: index, %j: index):
      tensor.yield %zero : f32
    } : tensor<1x8xf32> to tensor<4x8xf32>
    %r = tilewright.dispatch @padded_row(%p : tensor<4x8xf32>) outs(%o : tensor<4x8xf32>) -> tensor<4x8xf32>
    return %r : tensor<4x8xf32>
  }
  func.func private @padded_row(tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32> attributes {tilewright.kernel, tilewright.access = ["read", "write"]}
}

// -----

// Both parts are windows of one new tensor, which is there before the kernel.
// CHECK-LABEL: func @PartsOfANewTensor
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x8xf32>
// CHECK: %[[A:.*]] = tensor.extract_slice %[[E]][0, 0] [4, 4] [1, 2]
// CHECK: %[[B:.*]] = tensor.extract_slice %[[E]][0, 1] [4, 4] [1, 2]
// CHECK: tilewright.dispatch @parts(%arg0 : tensor<4x4xf32>) outs(%[[A]], %[[B]] :
// CHECK: tensor.insert_slice %{{.*}}#0 into %[[E]]
func.func @PartsOfANewTensor(%x: tensor<4x4xf32>) -> tensor<4x8xf32> {
  %p = tensor.empty() : tensor<4x4xf32>
  %r:2 = tilewright.dispatch @parts(%x : tensor<4x4xf32>) outs(%p, %p : tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>, tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %i = tensor.insert_slice %r#0 into %e[0, 0] [4, 4] [1, 2] : tensor<4x4xf32> into tensor<4x8xf32>
  %n = tensor.insert_slice %r#1 into %i[0, 1] [4, 4] [1, 2] : tensor<4x4xf32> into tensor<4x8xf32>
  return %n : tensor<4x8xf32>
}
func.func private @parts(tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    attributes {tilewright.kernel, tilewright.access = ["read", "write", "write"]}

// -----

// A window that is put in under a condition is none of those that are made before their kernels.
// CHECK-LABEL: func @UnderACondition
// CHECK: scf.if
// CHECK: tensor.insert_slice
func.func @UnderACondition(%x: tensor<4xf32>, %c: i1) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = tilewright.dispatch @k(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %w = tensor.empty() : tensor<8xf32>
  %i = tensor.insert_slice %r into %w[0] [4] [1] : tensor<4xf32> into tensor<8xf32>
  %j = scf.if %c -> tensor<8xf32> {
    %f = tensor.empty() : tensor<4xf32>
    %s = tilewright.dispatch @k(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
    %o = tensor.insert_slice %s into %i[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
    scf.yield %o : tensor<8xf32>
  } else {
    %z = arith.constant dense<0.0> : tensor<8xf32>
    scf.yield %z : tensor<8xf32>
  }
  return %j : tensor<8xf32>
}
func.func private @k(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    attributes {tilewright.kernel, tilewright.access = ["read", "write"]}
