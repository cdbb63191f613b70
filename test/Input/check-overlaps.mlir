// RUN: tilewright-opt %s -tilewright-raise-memrefs | FileCheck %s

// Parts that have no element in common.
// CHECK-LABEL: @Disjoint
// CHECK-NOT: cf.assert
// CHECK: return
func.func @Disjoint(%x: memref<16xf32>) {
  %a = memref.subview %x[0] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1]>>
  %b = memref.subview %x[8] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: 8>>
  memref.copy %a, %b : memref<8xf32, strided<[1]>> to memref<8xf32, strided<[1], offset: 8>>
  %even = memref.subview %x[0] [8] [2] : memref<16xf32> to memref<8xf32, strided<[2]>>
  %odd = memref.subview %x[1] [8] [2] : memref<16xf32> to memref<8xf32, strided<[2], offset: 1>>
  linalg.exp ins(%even : memref<8xf32, strided<[2]>>) outs(%odd : memref<8xf32, strided<[2], offset: 1>>)
  return
}

// Each element is read where it is written; the view is taken twice.
// CHECK-LABEL: @InPlace
// CHECK-NOT: cf.assert
// CHECK: return
func.func @InPlace(%x: memref<16xf32>, %i: index) {
  %a = memref.subview %x[%i] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: ?>>
  %b = memref.subview %x[%i] [8] [1] : memref<16xf32> to memref<8xf32, strided<[1], offset: ?>>
  linalg.exp ins(%a : memref<8xf32, strided<[1], offset: ?>>) outs(%b : memref<8xf32, strided<[1], offset: ?>>)
  return
}

// CHECK-LABEL: @DecidedAtRunTime
// CHECK-SAME: %[[I:[a-z0-9]+]]: index
// CHECK: %[[END:.*]] = affine.apply #{{.*}}()[%[[I]]]
// CHECK: %[[BEFORE:.*]] = arith.cmpi slt, %[[END]], %c8
// CHECK: %[[AFTER:.*]] = arith.cmpi slt, %c11{{.*}}, %[[I]]
// CHECK: %[[EITHER:.*]] = arith.ori %[[BEFORE]], %[[AFTER]]
// CHECK: cf.assert %[[EITHER]], "memref.copy: operand 0 and operand 1 are overlapping parts of one memref, read and written
func.func @DecidedAtRunTime(%x: memref<16xf32>, %i: index) {
  %a = memref.subview %x[8] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: 8>>
  %b = memref.subview %x[%i] [4] [1] : memref<16xf32> to memref<4xf32, strided<[1], offset: ?>>
  memref.copy %a, %b : memref<4xf32, strided<[1], offset: 8>> to memref<4xf32, strided<[1], offset: ?>>
  return
}

// Other rows, whatever the columns are.
// CHECK-LABEL: @OtherRows
// CHECK-NOT: cf.assert
// CHECK: return
func.func @OtherRows(%x: memref<6x8xf32>, %i: index) {
  %a = memref.subview %x[3, 3] [2, 3] [1, 1] : memref<6x8xf32> to memref<2x3xf32, strided<[8, 1], offset: 27>>
  %b = memref.subview %x[0, %i] [2, 3] [1, 1] : memref<6x8xf32> to memref<2x3xf32, strided<[8, 1], offset: ?>>
  memref.copy %a, %b : memref<2x3xf32, strided<[8, 1], offset: 27>> to memref<2x3xf32, strided<[8, 1], offset: ?>>
  return
}

// Rows in order, where they are.
// CHECK-LABEL: @SortedInPlace
// CHECK-NOT: cf.assert
// CHECK: return
func.func @SortedInPlace(%x: memref<6x8xf32>) {
  tilewright.sort ins(%x : memref<6x8xf32>) outs(%x : memref<6x8xf32>) {dim = 1 : i64}
  return
}

// Views of one element each, which are not the same.
// CHECK-LABEL: @StepsOfNothing
// CHECK-NOT: cf.assert
// CHECK: return
func.func @StepsOfNothing(%x: memref<16xf32>) {
  %a = memref.subview %x[0] [4] [0] : memref<16xf32> to memref<4xf32, strided<[0]>>
  %b = memref.subview %x[1] [4] [0] : memref<16xf32> to memref<4xf32, strided<[0], offset: 1>>
  linalg.exp ins(%a : memref<4xf32, strided<[0]>>) outs(%b : memref<4xf32, strided<[0], offset: 1>>)
  return
}
