// RUN: tilewright-opt %s -tilewright-generalize-integers | FileCheck %s

// Would fold into a constant without sizes.
// CHECK-LABEL: func.func @Zeros(
// CHECK-SAME: %[[X:.*]]: tensor<?x?xi32>
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-SAME: ins(%[[X]], %[[X]] :
// CHECK-SAME: outs(%[[X]] :
// CHECK: arith.xori %{{.*}} : i32
// CHECK: return %[[R]]
func.func @Zeros(%x: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %r = arith.xori %x, %x : tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// CHECK-LABEL: func.func @Equal(
// CHECK: tensor.empty(%{{.*}}) : tensor<?xi1>
// CHECK: linalg.generic
// CHECK: arith.cmpi eq, %{{.*}} : i8
func.func @Equal(%x: tensor<?xi8>) -> tensor<?xi1> {
  %r = arith.cmpi eq, %x, %x : tensor<?xi8>
  return %r : tensor<?xi1>
}

// CHECK-LABEL: func.func @Others(
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @Others(%x: tensor<4xi32>, %y: tensor<?xf32>, %n: index) -> (tensor<4xi32>, tensor<?xf32>, index) {
  %r = arith.xori %x, %x : tensor<4xi32>
  %s = arith.addf %y, %y : tensor<?xf32>
  %t = arith.addi %n, %n : index
  return %r, %s, %t : tensor<4xi32>, tensor<?xf32>, index
}
