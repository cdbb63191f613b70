// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-read-rotations))' -split-input-file | FileCheck %s

// Along two dims, one after the other: elements are read where they are at first.
// CHECK-LABEL: func @TwoDims
// CHECK: linalg.generic
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#{{.*}}], {{.*}} outs(%{{.*}} : tensor<8x6xf32>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: %[[S:.*]] = arith.addi %[[I]], %c3
// CHECK: %[[B:.*]] = arith.cmpi sge, %[[S]], %c8
// CHECK: %[[T:.*]] = arith.subi %[[S]], %c8
// CHECK: %[[P:.*]] = arith.select %[[B]], %[[T]], %[[S]]
// CHECK: %[[J:.*]] = linalg.index 1
// CHECK: %[[Q:.*]] = arith.select
// CHECK: tensor.extract %arg0[%[[P]], %[[Q]]]
// CHECK: return %[[R]]
func.func @TwoDims(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %a = tensor.extract_slice %x[3, 0] [5, 6] [1, 1] : tensor<8x6xf32> to tensor<5x6xf32>
  %b = tensor.extract_slice %x[0, 0] [3, 6] [1, 1] : tensor<8x6xf32> to tensor<3x6xf32>
  %y = tensor.concat dim(0) %a, %b : (tensor<5x6xf32>, tensor<3x6xf32>) -> tensor<8x6xf32>
  %c = tensor.extract_slice %y[0, 4] [8, 2] [1, 1] : tensor<8x6xf32> to tensor<8x2xf32>
  %d = tensor.extract_slice %y[0, 0] [8, 4] [1, 1] : tensor<8x6xf32> to tensor<8x4xf32>
  %z = tensor.concat dim(1) %c, %d : (tensor<8x2xf32>, tensor<8x4xf32>) -> tensor<8x6xf32>
  return %z : tensor<8x6xf32>
}

// -----

// CHECK-LABEL: func @OtherSlicesStay
// CHECK-COUNT-2: tensor.concat
func.func @OtherSlicesStay(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = tensor.extract_slice %x[3] [5] [1] : tensor<8xf32> to tensor<5xf32>
  %b = tensor.extract_slice %x[1] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %c = tensor.extract_slice %y[0] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %r = tensor.concat dim(0) %a, %b : (tensor<5xf32>, tensor<3xf32>) -> tensor<8xf32>
  %s = tensor.concat dim(0) %a, %c : (tensor<5xf32>, tensor<3xf32>) -> tensor<8xf32>
  return %r, %s : tensor<8xf32>, tensor<8xf32>
}

// -----

// A result whose type says less than the parts do stays.
// CHECK-LABEL: func @Dynamic
// CHECK: tensor.concat
func.func @Dynamic(%x: tensor<56x56xf32>) -> tensor<?x56xf32> {
  %a = tensor.extract_slice %x[3, 0] [53, 56] [1, 1] : tensor<56x56xf32> to tensor<53x56xf32>
  %b = tensor.extract_slice %x[0, 0] [3, 56] [1, 1] : tensor<56x56xf32> to tensor<3x56xf32>
  %r = tensor.concat dim(0) %a, %b : (tensor<53x56xf32>, tensor<3x56xf32>) -> tensor<?x56xf32>
  return %r : tensor<?x56xf32>
}

// -----

// As StableHLO's concatenate is lowered, in either order.
// CHECK-LABEL: func @Inserted
// CHECK: %[[R:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<8x6xf32>)
// CHECK: arith.addi %{{.*}}, %c5
// CHECK: return %[[R]]
func.func @Inserted(%x: tensor<8x6xf32>) -> tensor<8x6xf32> {
  %e = tensor.empty() : tensor<8x6xf32>
  %a = tensor.extract_slice %x[5, 0] [3, 6] [1, 1] : tensor<8x6xf32> to tensor<3x6xf32>
  %b = tensor.extract_slice %x[0, 0] [5, 6] [1, 1] : tensor<8x6xf32> to tensor<5x6xf32>
  %y = tensor.insert_slice %b into %e[3, 0] [5, 6] [1, 1] : tensor<5x6xf32> into tensor<8x6xf32>
  %z = tensor.insert_slice %a into %y[0, 0] [3, 6] [1, 1] : tensor<3x6xf32> into tensor<8x6xf32>
  return %z : tensor<8x6xf32>
}

// -----

// What is put into a tensor that has elements, over another part, or is read in between is no concatenation.
// CHECK-LABEL: func @OthersInserted
// CHECK-NOT: linalg.generic
func.func @OthersInserted(%x: tensor<8xf32>, %old: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %e = tensor.empty() : tensor<8xf32>
  %a = tensor.extract_slice %x[5] [3] [1] : tensor<8xf32> to tensor<3xf32>
  %b = tensor.extract_slice %x[0] [5] [1] : tensor<8xf32> to tensor<5xf32>
  %0 = tensor.insert_slice %a into %old[0] [3] [1] : tensor<3xf32> into tensor<8xf32>
  %1 = tensor.insert_slice %b into %0[3] [5] [1] : tensor<5xf32> into tensor<8xf32>
  %2 = tensor.insert_slice %a into %e[0] [3] [1] : tensor<3xf32> into tensor<8xf32>
  %3 = tensor.insert_slice %b into %2[2] [5] [1] : tensor<5xf32> into tensor<8xf32>
  %4 = tensor.insert_slice %b into %2[3] [5] [1] : tensor<5xf32> into tensor<8xf32>
  return %1, %2, %3, %4 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
