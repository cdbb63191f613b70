// RUN: tilewright-opt %s -tilewright-count-stages -cse -split-input-file | FileCheck %s

// A consumer of three stages: no division in the loop, and the stage before is the last one's.

// CHECK-LABEL: @consumer
// CHECK-DAG: %[[C0:.*]] = arith.constant 0 : index
// CHECK-DAG: %[[C1:.*]] = arith.constant 1 : index
// CHECK-DAG: %[[C3:.*]] = arith.constant 3 : index
// CHECK: %[[FIRST:.*]] = arith.remui %[[BEGIN:.*]], %[[C3]]
// CHECK: arith.divui %[[BEGIN]], %[[C3]]
// CHECK: scf.for {{.*}} iter_args(%[[STAGE:.*]] = %[[FIRST]], %[[PHASE:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}})
// CHECK-NOT: remui
// CHECK-NOT: divui
// CHECK: mbarrier_wait %{{.*}}[%[[STAGE]]] parity %[[PHASE]]
// CHECK: scf.if
// CHECK: %[[EMPTY:.*]] = arith.addi %[[BEFORE]], %[[C3]]
// CHECK: mbarrier_arrive %{{.*}}[%[[EMPTY]]]
// CHECK: %[[NEXT:.*]] = arith.addi %[[STAGE]], %[[C1]]
// CHECK: %[[ENDS:.*]] = arith.cmpi eq, %[[NEXT]], %[[C3]]
// CHECK: %[[OTHER:.*]] = arith.select %[[ENDS]], %[[C0]], %[[NEXT]]
// CHECK: %[[FLIPPED:.*]] = arith.xori %[[PHASE]], %[[C1]]
// CHECK: %[[PARITY:.*]] = arith.select %[[ENDS]], %[[FLIPPED]], %[[PHASE]]
// CHECK: scf.yield %[[OTHER]], %[[PARITY]], %[[STAGE]]
func.func @consumer(%bars: memref<6xi64, #tilewright.shared>, %begin: index, %steps: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %k = %c0 to %steps step %c1 {
    %at = arith.addi %begin, %k : index
    %stage = arith.remui %at, %c3 : index
    %round = arith.divui %at, %c3 : index
    %phase = arith.remui %round, %c2 : index
    tilewright.mbarrier_wait %bars[%stage] parity %phase : memref<6xi64, #tilewright.shared>
    %is_later = arith.cmpi ne, %k, %c0 : index
    scf.if %is_later {
      %last = arith.subi %at, %c1 : index
      %before = arith.remui %last, %c3 : index
      %empty = arith.addi %before, %c3 : index
      tilewright.mbarrier_arrive %bars[%empty] : memref<6xi64, #tilewright.shared>
    }
  }
  return
}

// -----

// A consumer that is its own producer fills, two steps ahead, the stage of the step before: a round later than that was
// filled, and waits for the phase in front of its own.

// CHECK-LABEL: @ahead
// CHECK: scf.for {{.*}} iter_args(%[[STAGE:.*]] = %{{.*}}, %[[PHASE:.*]] = %{{.*}}, %[[BEFORE:.*]] = %{{.*}}, %[[PHASE_BEFORE:.*]] = %{{.*}})
// CHECK-NOT: remui
// CHECK: mbarrier_wait %{{.*}}[%[[STAGE]]] parity %[[PHASE]]
// CHECK: mbarrier_wait %{{.*}}[%[[BEFORE]]] parity %[[PHASE_BEFORE]]
// CHECK: scf.yield {{.*}}, %[[STAGE]], %[[PHASE]]
func.func @ahead(%bars: memref<6xi64, #tilewright.shared>, %steps: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  scf.for %at = %c0 to %steps step %c1 {
    %stage = arith.remui %at, %c3 : index
    %round = arith.divui %at, %c3 : index
    %phase = arith.remui %round, %c2 : index
    tilewright.mbarrier_wait %bars[%stage] parity %phase : memref<6xi64, #tilewright.shared>
    %ahead = arith.addi %at, %c2 : index
    %next = arith.remui %ahead, %c3 : index
    %its_round = arith.divui %ahead, %c3 : index
    %later = arith.addi %its_round, %c1 : index
    %its_phase = arith.remui %later, %c2 : index
    tilewright.mbarrier_wait %bars[%next] parity %its_phase : memref<6xi64, #tilewright.shared>
  }
  return
}

// -----

// A power of two is masked; positions that are no sum of the loop's variable stay.

// CHECK-LABEL: @others
// CHECK-NOT: iter_args
func.func @others(%bars: memref<8xi64, #tilewright.shared>, %steps: index) attributes {tilewright.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c4 = arith.constant 4 : index
  scf.for %at = %c0 to %steps step %c1 {
    %stage = arith.remui %at, %c4 : index
    %round = arith.divui %at, %c4 : index
    %phase = arith.remui %round, %c2 : index
    tilewright.mbarrier_wait %bars[%stage] parity %phase : memref<8xi64, #tilewright.shared>
    %twice = arith.muli %at, %c2 : index
    %other = arith.remui %twice, %c3 : index
    %its_round = arith.divui %twice, %c3 : index
    %its_phase = arith.remui %its_round, %c2 : index
    tilewright.mbarrier_wait %bars[%other] parity %its_phase : memref<8xi64, #tilewright.shared>
  }
  return
}
