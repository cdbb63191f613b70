// RUN: tilewright-opt %s -tilewright-resolve-callees | FileCheck %s

func.func private @p(%x: tensor<?xf32>) -> tensor<?xf32> {
  return %x : tensor<?xf32>
}
func.func private @q(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @Constant(
// CHECK-NEXT: %[[R:.*]] = call @q(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @Constant(%x: tensor<?xf32>) -> tensor<?xf32> {
  %f = constant @q : (tensor<?xf32>) -> tensor<?xf32>
  %r = call_indirect %f(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: func.func @Chosen(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[B:.*]]: i1
// CHECK-NEXT: %[[R:.*]] = scf.if %[[B]] -> (tensor<?xf32>) {
// CHECK-NEXT:   %[[P:.*]] = func.call @p(%[[X]])
// CHECK-NEXT:   scf.yield %[[P]]
// CHECK-NEXT: } else {
// CHECK-NEXT:   %[[Q:.*]] = func.call @q(%[[X]])
// CHECK-NEXT:   scf.yield %[[Q]]
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
func.func @Chosen(%x: tensor<?xf32>, %b: i1) -> tensor<?xf32> {
  %f = constant @p : (tensor<?xf32>) -> tensor<?xf32>
  %g = constant @q : (tensor<?xf32>) -> tensor<?xf32>
  %h = arith.select %b, %f, %g : (tensor<?xf32>) -> tensor<?xf32>
  %r = call_indirect %h(%x) : (tensor<?xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}
