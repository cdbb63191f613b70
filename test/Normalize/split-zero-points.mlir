// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-split-zero-points))' | FileCheck %s

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// One zero point for all of A, one for each column of B.
// CHECK-LABEL: func.func @Both
// CHECK-SAME: %[[A:.*]]: tensor<32x64xi8>, %[[B:.*]]: tensor<64x48xi8>, %[[ZB:.*]]: tensor<48xi8>, %[[ZA:.*]]: i32, %[[C:.*]]: tensor<32x48xi32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<32x64xi8>, tensor<64x48xi8>) outs(%[[C]] : tensor<32x48xi32>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: i8, %[[Y:.*]]: i8, %[[S:.*]]: i32):
// CHECK-NEXT: %[[XE:.*]] = arith.extui %[[X]]
// CHECK-NEXT: %[[YE:.*]] = arith.extsi %[[Y]]
// CHECK-NEXT: %[[M:.*]] = arith.muli %[[XE]], %[[YE]]
// CHECK-NEXT: arith.addi %[[S]], %[[M]]
// CHECK: %[[ROWS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[A]], {{.*}} outs(%{{.*}} : tensor<32xi32>)
// CHECK: %[[COLUMNS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[B]], {{.*}} outs(%{{.*}} : tensor<48xi32>)
// CHECK: %[[COUNT:.*]] = arith.constant 64 : i32
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[P]], %[[ROWS]], %[[COLUMNS]], %[[ZB]] :
// CHECK-SAME: outs(%{{.*}} : tensor<32x48xi32>)
// CHECK-NEXT: ^bb0(%[[V:.*]]: i32, %[[R:.*]]: i32, %[[T:.*]]: i32, %[[Z:.*]]: i8, %{{.*}}: i32):
// CHECK-NEXT: %[[FIRST:.*]] = arith.muli %[[ZA]], %[[T]]
// CHECK-NEXT: %[[D:.*]] = arith.subi %[[V]], %[[FIRST]]
// CHECK-NEXT: %[[ZE:.*]] = arith.extsi %[[Z]]
// CHECK-NEXT: %[[SECOND:.*]] = arith.muli %[[ZE]], %[[R]]
// CHECK-NEXT: %[[E:.*]] = arith.subi %[[D]], %[[SECOND]]
// CHECK-NEXT: %[[ZZ:.*]] = arith.muli %[[ZA]], %[[ZE]]
// CHECK-NEXT: %[[ALL:.*]] = arith.muli %[[ZZ]], %[[COUNT]]
// CHECK-NEXT: arith.addi %[[E]], %[[ALL]]
func.func @Both(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %zb: tensor<48xi8>, %za: i32, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %r = linalg.generic #product ins(%a, %b, %zb : tensor<32x64xi8>, tensor<64x48xi8>, tensor<48xi8>) outs(%c : tensor<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i8, %o: i32):
    %0 = arith.extui %x : i8 to i32
    %1 = arith.subi %0, %za : i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.extsi %z : i8 to i32
    %4 = arith.subi %2, %3 : i32
    %5 = arith.muli %1, %4 : i32
    %6 = arith.addi %o, %5 : i32
    linalg.yield %6 : i32
  } -> tensor<32x48xi32>
  return %r : tensor<32x48xi32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// Weights without a zero point need no sums of rows.
// CHECK-LABEL: func.func @One
// CHECK-SAME: %[[A:.*]]: tensor<?x?xi8>, %[[B:.*]]: tensor<?x?xi8>
// CHECK: %[[P:.*]] = linalg.generic {{.*}} ins(%[[A]], %[[B]] : tensor<?x?xi8>, tensor<?x?xi8>)
// CHECK: %[[COLUMNS:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%[[B]], {{.*}} outs(%{{.*}} : tensor<?xi32>)
// CHECK: linalg.generic {{.*}} ins(%[[P]], %[[COLUMNS]] : tensor<?x?xi32>, tensor<?xi32>)
// CHECK-NOT: linalg.generic
func.func @One(%a: tensor<?x?xi8>, %b: tensor<?x?xi8>, %za: i32, %c: tensor<?x?xi32>) -> tensor<?x?xi32> {
  %zero = arith.constant 0 : i32
  %r = linalg.generic #product ins(%a, %b : tensor<?x?xi8>, tensor<?x?xi8>) outs(%c : tensor<?x?xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.subi %0, %za : i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.subi %2, %zero : i32
    %4 = arith.muli %1, %3 : i32
    %5 = arith.addi %o, %4 : i32
    linalg.yield %5 : i32
  } -> tensor<?x?xi32>
  return %r : tensor<?x?xi32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (k)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// A zero point for each term of the sum stays where it is.
// CHECK-LABEL: func.func @ByTerm
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @ByTerm(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %zb: tensor<64xi32>, %c: tensor<32x48xi32>) -> tensor<32x48xi32> {
  %r = linalg.generic #product ins(%a, %b, %zb : tensor<32x64xi8>, tensor<64x48xi8>, tensor<64xi32>) outs(%c : tensor<32x48xi32>) {
  ^bb0(%x: i8, %y: i8, %z: i32, %o: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.extsi %y : i8 to i32
    %2 = arith.subi %1, %z : i32
    %3 = arith.muli %0, %2 : i32
    %4 = arith.addi %o, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<32x48xi32>
  return %r : tensor<32x48xi32>
}

// -----

#product = {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
            iterator_types = ["parallel", "parallel", "reduction"]}

// Few rows: B is read once.
// CHECK-LABEL: func.func @FewRows
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @FewRows(%a: tensor<4x64xi8>, %b: tensor<64x48xi8>, %za: i32, %c: tensor<4x48xi32>) -> tensor<4x48xi32> {
  %r = linalg.generic #product ins(%a, %b : tensor<4x64xi8>, tensor<64x48xi8>) outs(%c : tensor<4x48xi32>) {
  ^bb0(%x: i8, %y: i8, %o: i32):
    %0 = arith.extsi %x : i8 to i32
    %1 = arith.subi %0, %za : i32
    %2 = arith.extsi %y : i8 to i32
    %3 = arith.muli %1, %2 : i32
    %4 = arith.addi %o, %3 : i32
    linalg.yield %4 : i32
  } -> tensor<4x48xi32>
  return %r : tensor<4x48xi32>
}
