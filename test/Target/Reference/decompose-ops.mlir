// RUN: tilewright-opt %s -tilewright-decompose-ops | FileCheck %s

// CHECK-LABEL: @Softmax
// CHECK-NOT: linalg.softmax
// CHECK: math.exp
func.func @Softmax(%a: tensor<2x?xf32>, %e: tensor<2x?xf32>) -> tensor<2x?xf32> {
  %r = linalg.softmax dimension(1) ins(%a : tensor<2x?xf32>) outs(%e : tensor<2x?xf32>) -> tensor<2x?xf32>
  return %r : tensor<2x?xf32>
}

// CHECK-LABEL: @Concat
// CHECK-NOT: tensor.concat
// CHECK-COUNT-2: tensor.insert_slice
func.func @Concat(%a: tensor<2xf32>, %b: tensor<3xf32>) -> tensor<5xf32> {
  %r = tensor.concat dim(0) %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<5xf32>
  return %r : tensor<5xf32>
}

// CHECK-LABEL: @Pack
// CHECK-NOT: linalg.pack
// CHECK: linalg.transpose
func.func @Pack(%a: tensor<16x8xf32>, %e: tensor<4x2x4x4xf32>) -> tensor<4x2x4x4xf32> {
  %r = linalg.pack %a inner_dims_pos = [0, 1] inner_tiles = [4, 4] into %e : tensor<16x8xf32> -> tensor<4x2x4x4xf32>
  return %r : tensor<4x2x4x4xf32>
}

// Of nothing but empty parts nothing is made.
// CHECK-LABEL: @concat_of_nothing
// CHECK: tensor.empty() : tensor<0x6xf32>
// CHECK-NOT: tensor.extract_slice
func.func @concat_of_nothing(%a: tensor<0x6xf32>) -> tensor<0x6xf32> {
  %r = tensor.concat dim(0) %a, %a : (tensor<0x6xf32>, tensor<0x6xf32>) -> tensor<0x6xf32>
  return %r : tensor<0x6xf32>
}

// Beside others, empty pieces are left out, wherever they stand.
// CHECK-LABEL: @concat_with_nothing(
// CHECK-SAME: %[[A:[^:]*]]: tensor<4x6xf32>
// CHECK-COUNT-2: tensor.insert_slice %[[A]] into
// CHECK-NOT: tensor.insert_slice
// CHECK: return %{{.*}}, %[[A]]
func.func @concat_with_nothing(%a: tensor<4x6xf32>, %e: tensor<0x6xf32>) -> (tensor<8x6xf32>, tensor<4x6xf32>) {
  %r = tensor.concat dim(0) %e, %a, %a, %e : (tensor<0x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<0x6xf32>) -> tensor<8x6xf32>
  %s = tensor.concat dim(0) %a, %e : (tensor<4x6xf32>, tensor<0x6xf32>) -> tensor<4x6xf32>
  return %r, %s : tensor<8x6xf32>, tensor<4x6xf32>
}
