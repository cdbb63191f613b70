// RUN: tilewright-opt %s --tilewright-evaluate-constants --canonicalize --split-input-file | FileCheck %s

// A running sum of ones counts positions, which readers compute from coordinates.

// CHECK-LABEL: func @running_sum
// CHECK-NOT: tilewright.scan
// CHECK: linalg.generic
// CHECK: %[[AT:.*]] = linalg.index 1
// CHECK: %[[I:.*]] = arith.index_cast %[[AT]]
// CHECK: arith.addi %[[I]], %c1
func.func @running_sum(%e: tensor<2x30xi64>) -> tensor<2x30xi64> {
  %ones = arith.constant dense<1> : tensor<2x30xi64>
  %r = tilewright.scan ins(%ones : tensor<2x30xi64>) outs(%e : tensor<2x30xi64>) {dim = 1 : i64} combine {
  ^bb0(%sum: i64, %next: i64):
    %s = arith.addi %sum, %next : i64
    tilewright.combined %s : i64
  } -> tensor<2x30xi64>
  return %r : tensor<2x30xi64>
}

// -----

// Exclusive, from the end, with an init: what is not linear is a table.

// CHECK-LABEL: func @exclusive
// CHECK: dense<[8, 4, 1, 0]> : tensor<4xi32>
func.func @exclusive(%e: tensor<4xi32>) -> tensor<4xi32> {
  %x = arith.constant dense<[7, 4, 3, 1]> : tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %r = tilewright.scan ins(%x : tensor<4xi32>) init(%zero : tensor<i32>) outs(%e : tensor<4xi32>) {dim = 0 : i64, exclusive, reverse} combine {
  ^bb0(%sum: i32, %next: i32):
    %s = arith.addi %sum, %next : i32
    tilewright.combined %s : i32
  } -> tensor<4xi32>
  return %r : tensor<4xi32>
}

// -----

// Positions without a gap are of one sequence: the mask compares positions alone.

#ij = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func @mask
// CHECK-NOT: tensor.insert_slice
// CHECK-NOT: tilewright.scan
// CHECK: linalg.generic
// CHECK: %[[Q:.*]] = linalg.index 0
// CHECK: %[[K:.*]] = linalg.index 1
// CHECK: %[[SEEN:.*]] = arith.cmpi sle, %[[K]], %[[Q]]
// CHECK-NEXT: linalg.yield %[[SEEN]]
func.func @mask(%e: tensor<20x20xi1>, %n: tensor<20xi64>) -> tensor<20x20xi1> {
  %c1 = arith.constant 1 : i64
  %true = arith.constant true
  %before = arith.constant dense<-1> : tensor<1xi64>
  %positions = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%n : tensor<20xi64>) {
  ^bb0(%out: i64):
    %i = linalg.index 0 : index
    %p = arith.index_cast %i : index to i64
    linalg.yield %p : i64
  } -> tensor<20xi64>
  %empty = tensor.empty() : tensor<21xi64>
  %0 = tensor.insert_slice %before into %empty[0] [1] [1] : tensor<1xi64> into tensor<21xi64>
  %1 = tensor.insert_slice %positions into %0[1] [20] [1] : tensor<20xi64> into tensor<21xi64>
  %last = tensor.extract_slice %1[0] [20] [1] : tensor<21xi64> to tensor<20xi64>
  %gap = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%positions, %last : tensor<20xi64>, tensor<20xi64>) outs(%n : tensor<20xi64>) {
  ^bb0(%p: i64, %l: i64, %out: i64):
    %d = arith.subi %p, %l : i64
    %b = arith.cmpi ne, %d, %c1 : i64
    %x = arith.extui %b : i1 to i64
    linalg.yield %x : i64
  } -> tensor<20xi64>
  %sequence = tilewright.scan ins(%gap : tensor<20xi64>) outs(%n : tensor<20xi64>) {dim = 0 : i64} combine {
  ^bb0(%sum: i64, %next: i64):
    %s = arith.addi %sum, %next : i64
    tilewright.combined %s : i64
  } -> tensor<20xi64>
  %mask = linalg.generic {indexing_maps = [#ij], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<20x20xi1>) {
  ^bb0(%out: i1):
    %q = linalg.index 0 : index
    %k = linalg.index 1 : index
    %a = tensor.extract %sequence[%q] : tensor<20xi64>
    %b = tensor.extract %sequence[%k] : tensor<20xi64>
    %same = arith.cmpi eq, %a, %b : i64
    %seen = arith.cmpi sle, %k, %q : index
    %both = arith.andi %same, %seen : i1
    linalg.yield %both : i1
  } -> tensor<20x20xi1>
  return %mask : tensor<20x20xi1>
}

// -----

// A reduction of coordinates is a number.

// CHECK-LABEL: func @reduced
// CHECK: %[[C:.*]] = arith.constant dense<36>
// CHECK: return %[[C]]
func.func @reduced() -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %shape = tensor.empty() : tensor<9xi1>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>], iterator_types = ["reduction"]} ins(%shape : tensor<9xi1>) outs(%zero : tensor<i32>) {
  ^bb0(%x: i1, %sum: i32):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %s = arith.addi %sum, %n : i32
    linalg.yield %s : i32
  } -> tensor<i32>
  return %r : tensor<i32>
}

// -----

// An op that writes one column leaves the others the init's elements: 1 + 3 + 1 in each row.

// CHECK-LABEL: func @part_of_init
// CHECK-DAG: %[[FIVES:.*]] = arith.constant dense<5> : tensor<4xi32>
// CHECK-DAG: %[[ONES:.*]] = arith.constant dense<1> : tensor<4x3xi32>
// CHECK: %[[R:.*]] = linalg.generic {{.*}} outs(%[[ONES]]
// CHECK: return %[[R]], %[[FIVES]]
func.func @part_of_init() -> (tensor<4x3xi32>, tensor<4xi32>) {
  %ones = arith.constant dense<1> : tensor<4x3xi32>
  %threes = arith.constant dense<3> : tensor<4xi32>
  %zeros = arith.constant dense<0> : tensor<4xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i, 1)>], iterator_types = ["parallel"]}
      ins(%threes : tensor<4xi32>) outs(%ones : tensor<4x3xi32>) {
  ^bb0(%x: i32, %out: i32):
    linalg.yield %x : i32
  } -> tensor<4x3xi32>
  %sums = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%r : tensor<4x3xi32>) outs(%zeros : tensor<4xi32>) {
  ^bb0(%x: i32, %sum: i32):
    %s = arith.addi %sum, %x : i32
    linalg.yield %s : i32
  } -> tensor<4xi32>
  return %r, %sums : tensor<4x3xi32>, tensor<4xi32>
}

// -----

// What nobody has written is not known; nor is what is undefined, as a quotient by zero.

// CHECK-LABEL: func @unknown
// CHECK: tensor.insert_slice
// CHECK: arith.divsi
func.func @unknown() -> (tensor<4xi32>, tensor<i32>) {
  %two = arith.constant dense<2> : tensor<2xi32>
  %e = tensor.empty() : tensor<4xi32>
  %part = tensor.insert_slice %two into %e[1] [2] [1] : tensor<2xi32> into tensor<4xi32>
  %zero = arith.constant dense<0> : tensor<i32>
  %q = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%zero : tensor<i32>) outs(%zero : tensor<i32>) {
  ^bb0(%x: i32, %out: i32):
    %d = arith.divsi %x, %x : i32
    linalg.yield %d : i32
  } -> tensor<i32>
  return %part, %q : tensor<4xi32>, tensor<i32>
}

// -----

// An element of what is the same everywhere, which the host reads.

// CHECK-LABEL: func @element
// CHECK: %[[C:.*]] = arith.constant 7 : i32
// CHECK: return %[[C]]
func.func @element(%i: index) -> i32 {
  %sevens = arith.constant dense<7> : tensor<5xi32>
  %r = tensor.extract %sevens[%i] : tensor<5xi32>
  return %r : i32
}
