// RUN: tilewright-opt %s -tilewright-expand-switches | FileCheck %s

// CHECK-LABEL: func.func @Cases(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>, %[[N:.*]]: index
// CHECK: %[[C2:.*]] = arith.constant 2 : index
// CHECK: %[[IS2:.*]] = arith.cmpi eq, %[[N]], %[[C2]]
// CHECK: %[[R:.*]] = scf.if %[[IS2]] -> (tensor<?xf32>) {
// CHECK:   arith.addf
// CHECK: } else {
// CHECK:   %[[C5:.*]] = arith.constant 5 : index
// CHECK:   %[[IS5:.*]] = arith.cmpi eq, %[[N]], %[[C5]]
// CHECK:   %[[S:.*]] = scf.if %[[IS5]] -> (tensor<?xf32>) {
// CHECK:     arith.mulf
// CHECK:   } else {
// CHECK:     scf.yield %[[X]]
// CHECK:   }
// CHECK:   scf.yield %[[S]]
// CHECK: }
// CHECK: return %[[R]]
func.func @Cases(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = scf.index_switch %n -> tensor<?xf32>
  case 2 {
    %a = arith.addf %x, %x : tensor<?xf32>
    scf.yield %a : tensor<?xf32>
  }
  case 5 {
    %b = arith.mulf %x, %x : tensor<?xf32>
    scf.yield %b : tensor<?xf32>
  }
  default {
    scf.yield %x : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// No results, and a switch in a switch.
// CHECK-LABEL: func.func @Nested(
// CHECK: scf.if
// CHECK:   scf.if
// CHECK:     memref.store
// CHECK: return
// CHECK-NOT: scf.index_switch
func.func @Nested(%x: memref<8xf32>, %n: index, %f: f32) {
  scf.index_switch %n
  case 1 {
    scf.index_switch %n
    case 0 {
      scf.yield
    }
    default {
      memref.store %f, %x[%n] : memref<8xf32>
      scf.yield
    }
    scf.yield
  }
  default {
    scf.yield
  }
  return
}

// CHECK-LABEL: func.func @OnlyDefault(
// CHECK-SAME: %[[X:.*]]: tensor<?xf32>
// CHECK-NEXT: return %[[X]]
func.func @OnlyDefault(%x: tensor<?xf32>, %n: index) -> tensor<?xf32> {
  %0 = scf.index_switch %n -> tensor<?xf32>
  default {
    scf.yield %x : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: func.func @Region(
// CHECK-NEXT: %[[R:.*]] = arith.negf
// CHECK-NEXT: return %[[R]]
func.func @Region(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = scf.execute_region -> tensor<?xf32> {
    %r = arith.negf %x : tensor<?xf32>
    scf.yield %r : tensor<?xf32>
  }
  return %0 : tensor<?xf32>
}
