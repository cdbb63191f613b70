// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-simplify-sizes))' -split-input-file | FileCheck %s

// The assert is where both are known; what is made in front of it in the text has the size, too.
// CHECK-LABEL: func @First
// CHECK: %[[M:.*]] = tensor.dim %arg0
// CHECK: %[[N:.*]] = tensor.dim %arg1
// CHECK-NEXT: %[[SAME:.*]] = arith.cmpi eq, %[[M]], %[[N]] : index
// CHECK-NEXT: cf.assert %[[SAME]], "mismatched size for broadcast"
// CHECK: %[[A:.*]] = tensor.empty(%[[M]])
// CHECK: %[[B:.*]] = tensor.empty(%[[M]])
// CHECK-NOT: cf.assert
// CHECK: return %[[A]], %[[B]]
func.func @First(%x: tensor<?xf32>, %y: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %a = tensor.empty(%n) : tensor<?xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "mismatched size for broadcast"
  %b = tensor.empty(%n) : tensor<?xf32>
  cf.assert %same, "mismatched size for broadcast"
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// -----

// Casts keep all bits, and equal multiples are multiples of equal numbers.
// CHECK-LABEL: func @Multiples
// CHECK: %[[M:.*]] = tensor.dim %arg0
// CHECK: tensor.empty(%[[M]])
func.func @Multiples(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %m8 = affine.apply affine_map<()[s] -> (s * 8)>()[%m]
  %n8 = affine.apply affine_map<()[s] -> (s * 8)>()[%n]
  %i = arith.index_cast %m8 : index to i64
  %j = arith.index_cast %n8 : index to i64
  %same = arith.cmpi eq, %i, %j : i64
  cf.assert %same, "mismatching contracting dimension"
  %b = tensor.empty(%n) : tensor<?xf32>
  return %b : tensor<?xf32>
}

// -----

// Not of casts that lose bits, unequal multiples, or other comparisons.
// CHECK-LABEL: func @Others
// CHECK: %[[N:.*]] = tensor.dim %arg1
// CHECK: tensor.empty(%[[N]])
func.func @Others(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %i = arith.index_cast %m : index to i32
  %j = arith.index_cast %n : index to i32
  %few = arith.cmpi eq, %i, %j : i32
  cf.assert %few, "32 bits"
  %m8 = affine.apply affine_map<()[s] -> (s * 8)>()[%m]
  %n4 = affine.apply affine_map<()[s] -> (s * 4)>()[%n]
  %half = arith.cmpi eq, %m8, %n4 : index
  cf.assert %half, "half"
  %less = arith.cmpi sle, %m, %n : index
  cf.assert %less, "less"
  %b = tensor.empty(%n) : tensor<?xf32>
  return %b : tensor<?xf32>
}

// -----

// A number that the program has takes the place of a size, wherever it stands.
// CHECK-LABEL: func @Number
// CHECK-NOT: tensor.empty(%dim)
// CHECK-COUNT-2: tensor.empty(%c8)
func.func @Number(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %a = tensor.empty(%n) : tensor<?xf32>
  %eight = arith.constant 8 : index
  %same = arith.cmpi eq, %n, %eight : index
  cf.assert %same, "of 8"
  %b = tensor.empty(%n) : tensor<?xf32>
  return %a, %b : tensor<?xf32>, tensor<?xf32>
}

// -----

// What only one path asserts says nothing of the others.
// CHECK-LABEL: func @Conditional
// CHECK: %[[N:.*]] = tensor.dim %arg1
// CHECK: tensor.empty(%[[N]])
func.func @Conditional(%x: tensor<?xf32>, %y: tensor<?xf32>, %c: i1) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %m = tensor.dim %x, %c0 : tensor<?xf32>
  %n = tensor.dim %y, %c0 : tensor<?xf32>
  %same = arith.cmpi eq, %m, %n : index
  scf.if %c {
    cf.assert %same, "mismatched"
  }
  %b = tensor.empty(%n) : tensor<?xf32>
  return %b : tensor<?xf32>
}
