// RUN: tilewright-opt %s -split-input-file -pass-pipeline='builtin.module(func.func(tilewright-guard-divisions,tilewright-guard-divisions))' | FileCheck %s

// Once, however often.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @signed(
// CHECK: ^bb0(%[[A:.*]]: i32, %[[B:.*]]: i32, %{{.*}}: i32):
// CHECK: %[[P:.*]] = arith.cmpi eq, %[[B]], %c0_i32
// CHECK: %[[Q:.*]] = arith.cmpi eq, %[[A]], %c-2147483648_i32
// CHECK: %[[R:.*]] = arith.cmpi eq, %[[B]], %c-1_i32
// CHECK: %[[S:.*]] = arith.andi %[[Q]], %[[R]]
// CHECK: %[[T:.*]] = arith.ori %[[P]], %[[S]]
// CHECK: %[[D:.*]] = arith.select %[[T]], %c1_i32, %[[B]]
// CHECK-NEXT: arith.divsi %[[A]], %[[D]]
func.func @signed(%a: tensor<8xi32>, %b: tensor<8xi32>, %e: tensor<8xi32>) -> tensor<8xi32> {
  %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%a, %b : tensor<8xi32>, tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%x: i32, %y: i32, %o: i32):
    %q = arith.divsi %x, %y : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}

// -----

// An element as an index.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @index(
// CHECK: %[[N:.*]] = arith.index_cast %{{.*}} : i32 to index
// CHECK: %[[P:.*]] = arith.cmpi eq, %[[N]], %c0
// CHECK: %[[D:.*]] = arith.select %[[P]], %c1{{.*}}, %[[N]] : index
// CHECK-NEXT: arith.remui %{{.*}}, %[[D]] : index
func.func @index(%n: tensor<8xi32>, %e: tensor<8xindex>) -> tensor<8xindex> {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%n : tensor<8xi32>) outs(%e : tensor<8xindex>) {
  ^bb0(%x: i32, %o: index):
    %i = linalg.index 0 : index
    %m = arith.index_cast %x : i32 to index
    %q = arith.remui %i, %m : index
    linalg.yield %q : index
  } -> tensor<8xindex>
  return %r : tensor<8xindex>
}

// -----

// Constants that have a quotient with every number, and what is no body's, stay.
#id = affine_map<(i) -> (i)>
// CHECK-LABEL: func.func @stay(
// CHECK-NOT: arith.select
func.func @stay(%a: tensor<8xi32>, %e: tensor<8xi32>, %i: index, %n: index) -> (tensor<8xi32>, index) {
  %c7 = arith.constant 7 : i32
  %s = arith.remui %i, %n : index
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<8xi32>) outs(%e : tensor<8xi32>) {
  ^bb0(%x: i32, %o: i32):
    %q = arith.floordivsi %x, %c7 : i32
    linalg.yield %q : i32
  } -> tensor<8xi32>
  return %r, %s : tensor<8xi32>, index
}

// -----

// What a scan combines with.
// CHECK-LABEL: func.func @scan(
// CHECK: arith.select
// CHECK-NEXT: arith.divui
func.func @scan(%x: tensor<8xi32>, %e: tensor<8xi32>) -> tensor<8xi32> {
  %r = tilewright.scan ins(%x : tensor<8xi32>) outs(%e : tensor<8xi32>) {dim = 0 : i64} combine {
  ^bb0(%a: i32, %b: i32):
    %q = arith.divui %a, %b : i32
    tilewright.combined %q : i32
  } -> tensor<8xi32>
  return %r : tensor<8xi32>
}
