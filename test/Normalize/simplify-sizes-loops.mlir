// A loop that counts a number up by way of another loop's: upstream's analysis of ranges would count with it.
// RUN: tilewright-opt %s -pass-pipeline='builtin.module(func.func(tilewright-simplify-sizes))' | FileCheck %s

// CHECK-LABEL: func @Counted
// CHECK-COUNT-2: scf.for
func.func @Counted(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
    %s = arith.addi %a, %c1 : index
    %q:2 = scf.for %j = %c0 to %n step %c1 iter_args(%x = %s, %y = %a) -> (index, index) {
      scf.yield %y, %x : index, index
    }
    scf.yield %q#0 : index
  }
  return %r : index
}
