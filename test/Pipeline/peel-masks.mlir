// RUN: tilewright-opt %s -tilewright-peel-masks | FileCheck %s

// CHECK-LABEL: func.func private @loop(
// CHECK-SAME: %[[X:.*]]: vector<4xf32>, %[[BEGIN:.*]]: index, %[[LIMIT:.*]]: index, %[[END:.*]]: index)
// CHECK: %[[FIRST:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[LIMIT]] step %{{.*}} iter_args(%[[A:.*]] = %[[X]])
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT: scf.yield %[[S]]
// CHECK: %[[REST:.*]] = scf.for %[[K:.*]] = %[[LIMIT]] to %[[END]] step %{{.*}} iter_args(%[[B:.*]] = %[[FIRST]])
// CHECK-NEXT: arith.addf
// CHECK-NOT: arith.cmpi slt
// CHECK: arith.cmpi eq, %[[K]]
// CHECK: %[[M:.*]] = arith.select
// CHECK-NEXT: scf.yield %[[M]]
// CHECK: return %[[REST]]
func.func private @loop(%x: vector<4xf32>, %begin: index, %limit: index, %end: index) -> vector<4xf32> attributes {tilewright.kernel} {
  %c8 = arith.constant 8 : index
  %r = scf.for %k = %begin to %end step %c8 iter_args(%a = %x) -> (vector<4xf32>) {
    %s = arith.addf %a, %a : vector<4xf32>
    %odd = arith.cmpi eq, %k, %limit : index
    %hidden = arith.select %odd, %s, %x : vector<4xf32>
    %whole = arith.cmpi slt, %k, %limit {tilewright.whole} : index
    %t = arith.select %whole, %s, %hidden : vector<4xf32>
    scf.yield %t : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// A step that was taken out of its loop is masked.
// CHECK-LABEL: func.func private @step(
// CHECK-SAME: %{{.*}}: vector<4xf32>, %[[HIDDEN:.*]]: vector<4xf32>
// CHECK-NEXT: return %[[HIDDEN]]
func.func private @step(%scores: vector<4xf32>, %hidden: vector<4xf32>, %k: index, %limit: index) -> vector<4xf32> attributes {tilewright.kernel} {
  %whole = arith.cmpi slt, %k, %limit {tilewright.whole} : index
  %t = arith.select %whole, %scores, %hidden : vector<4xf32>
  return %t : vector<4xf32>
}

// Between two limits: masked, as they are, masked.
// CHECK-LABEL: func.func private @between(
// CHECK-SAME: %[[X:.*]]: vector<4xf32>, %[[BEGIN:.*]]: index, %[[START:.*]]: index, %[[LIMIT:.*]]: index, %[[END:.*]]: index)
// CHECK: %[[FIRST:.*]] = scf.for %[[J:.*]] = %[[BEGIN]] to %[[START]] step %{{.*}} iter_args(%{{.*}} = %[[X]])
// CHECK-NOT: tilewright.whole
// CHECK: arith.cmpi eq, %[[J]]
// CHECK: %[[N:.*]] = arith.select
// CHECK-NEXT: scf.yield %[[N]]
// CHECK: %[[WHOLE:.*]] = scf.for %{{.*}} = %[[START]] to %[[LIMIT]] step %{{.*}} iter_args(%[[A:.*]] = %[[FIRST]])
// CHECK-NEXT: %[[S:.*]] = arith.addf %[[A]], %[[A]]
// CHECK-NEXT: scf.yield %[[S]]
// CHECK: %[[REST:.*]] = scf.for %[[K:.*]] = %[[LIMIT]] to %[[END]] step %{{.*}} iter_args(%{{.*}} = %[[WHOLE]])
// CHECK-NOT: tilewright.whole
// CHECK: arith.cmpi eq, %[[K]]
// CHECK: %[[M:.*]] = arith.select
// CHECK-NEXT: scf.yield %[[M]]
// CHECK-NOT: scf.for
// CHECK: return %[[REST]]
func.func private @between(%x: vector<4xf32>, %begin: index, %start: index, %limit: index, %end: index) -> vector<4xf32> attributes {tilewright.kernel} {
  %c8 = arith.constant 8 : index
  %r = scf.for %k = %begin to %end step %c8 iter_args(%a = %x) -> (vector<4xf32>) {
    %s = arith.addf %a, %a : vector<4xf32>
    %odd = arith.cmpi eq, %k, %limit : index
    %hidden = arith.select %odd, %s, %x : vector<4xf32>
    %below = arith.cmpi slt, %k, %limit {tilewright.whole} : index
    %above = arith.cmpi sge, %k, %start {tilewright.whole} : index
    %whole = arith.andi %below, %above : i1
    %t = arith.select %whole, %s, %hidden : vector<4xf32>
    scf.yield %t : vector<4xf32>
  }
  return %r : vector<4xf32>
}

// All steps from a limit on are as they are.
// CHECK-LABEL: func.func private @from(
// CHECK-SAME: %[[X:.*]]: vector<4xf32>, %[[BEGIN:.*]]: index, %[[START:.*]]: index, %[[END:.*]]: index)
// CHECK: %[[FIRST:.*]] = scf.for %{{.*}} = %[[BEGIN]] to %[[START]] step
// CHECK-NEXT: scf.yield %[[X]]
// CHECK: %[[REST:.*]] = scf.for %{{.*}} = %[[START]] to %[[END]] step
// CHECK-NEXT: %[[S:.*]] = arith.addf
// CHECK-NEXT: scf.yield %[[S]]
// CHECK: return %[[REST]]
func.func private @from(%x: vector<4xf32>, %begin: index, %start: index, %end: index) -> vector<4xf32> attributes {tilewright.kernel} {
  %c8 = arith.constant 8 : index
  %r = scf.for %k = %begin to %end step %c8 iter_args(%a = %x) -> (vector<4xf32>) {
    %s = arith.addf %a, %a : vector<4xf32>
    %whole = arith.cmpi sge, %k, %start {tilewright.whole} : index
    %t = arith.select %whole, %s, %x : vector<4xf32>
    scf.yield %t : vector<4xf32>
  }
  return %r : vector<4xf32>
}
