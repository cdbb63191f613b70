// RUN: tilewright-opt %s -tilewright-normalize -tilewright-dispatch | FileCheck %s

// Two ops that undo each other once they are one are no kernel.
// CHECK-LABEL: func @MergedToNothing
// CHECK-NEXT: return %arg0
// CHECK-NOT: tilewright.kernel
func.func @MergedToNothing(%x: tensor<37x5xi32>) -> tensor<37x5xi32> {
  %c = arith.constant dense<3> : tensor<37x5xi32>
  %y = arith.subi %x, %c : tensor<37x5xi32>
  %z = arith.addi %y, %c : tensor<37x5xi32>
  return %z : tensor<37x5xi32>
}
