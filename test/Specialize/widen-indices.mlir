// RUN: tilewright-opt %s -tilewright-widen-indices | FileCheck %s

#map = affine_map<(d0) -> (d0)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {index_bits = 32 : i64, wide_index}>} {
  // A loop of 50000 fits, its product with 100000 does not.
  // CHECK-LABEL: @Product
  // CHECK: %[[I:.*]] = linalg.index 0
  // CHECK: %[[W:.*]] = arith.index_cast %[[I]] : index to i64
  // CHECK: %[[M:.*]] = arith.muli %[[W]], %{{.*}} : i64
  // CHECK: linalg.yield %[[M]] : i64
  func.func private @Product(%out: tensor<50000xi64>) -> tensor<50000xi64> attributes {tilewright.kernel} {
    %k = arith.constant 100000 : index
    %r = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%out : tensor<50000xi64>) {
    ^bb0(%o: i64):
      %i = linalg.index 0 : index
      %m = arith.muli %i, %k : index
      %c = arith.index_cast %m : index to i64
      linalg.yield %c : i64
    } -> tensor<50000xi64>
    return %r : tensor<50000xi64>
  }

  // The lower half of a product is that of its operands' lower halves; a remainder is not, but fits.
  // CHECK-LABEL: @LowerHalf
  // CHECK: %[[M:.*]] = arith.muli %{{.*}}, %{{.*}} : index
  // CHECK: arith.index_cast %[[M]] : index to i32
  // CHECK-LABEL: @Remainder
  // CHECK: %[[M:.*]] = arith.muli %{{.*}}, %{{.*}} : i64
  // CHECK: %[[R:.*]] = arith.remui %[[M]], %{{.*}} : i64
  // CHECK: %[[T:.*]] = arith.trunci %[[R]] : i64 to i32
  // CHECK: %[[P:.*]] = arith.index_cast %[[T]] : i32 to index
  // CHECK: tensor.extract %{{.*}}[%[[P]]]
  func.func private @LowerHalf(%out: tensor<50000xi32>) -> tensor<50000xi32> attributes {tilewright.kernel} {
    %k = arith.constant 100000 : index
    %r = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%out : tensor<50000xi32>) {
    ^bb0(%o: i32):
      %i = linalg.index 0 : index
      %m = arith.muli %i, %k : index
      %c = arith.index_cast %m : index to i32
      linalg.yield %c : i32
    } -> tensor<50000xi32>
    return %r : tensor<50000xi32>
  }
  func.func private @Remainder(%table: tensor<7xf32>, %out: tensor<50000xf32>) -> tensor<50000xf32> attributes {tilewright.kernel} {
    %k = arith.constant 100000 : index
    %c7 = arith.constant 7 : index
    %r = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%out : tensor<50000xf32>) {
    ^bb0(%o: f32):
      %i = linalg.index 0 : index
      %m = arith.muli %i, %k : index
      %p = arith.remui %m, %c7 : index
      %x = tensor.extract %table[%p] : tensor<7xf32>
      linalg.yield %x : f32
    } -> tensor<50000xf32>
    return %r : tensor<50000xf32>
  }

  // 5000000000 is beyond 32 bits; every loop is below 2^63 - 1.
  // CHECK-LABEL: @Constants
  // CHECK: %[[A:.*]] = arith.cmpi slt, %in, %{{.*}} : i64
  // CHECK-NOT: cmpi
  // CHECK: arith.andi %[[A]], %true
  func.func private @Constants(%rows: tensor<40xi64>, %out: tensor<40xi1>) -> tensor<40xi1> attributes {tilewright.kernel} {
    %c = arith.constant 5000000000 : index
    %n = arith.constant 9223372036854775807 : index
    %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%rows : tensor<40xi64>) outs(%out : tensor<40xi1>) {
    ^bb0(%a: i64, %o: i1):
      %i = arith.index_cast %a : i64 to index
      %s = arith.cmpi slt, %i, %c : index
      %j = linalg.index 0 : index
      %t = arith.cmpi slt, %j, %n : index
      %u = arith.andi %s, %t : i1
      linalg.yield %u : i1
    } -> tensor<40xi1>
    return %r : tensor<40xi1>
  }

  // An unsigned cast has no sign; the whole number is asked for, and compared with one that fits.
  // CHECK-LABEL: @Unsigned
  // CHECK: %[[I:.*]] = arith.index_castui %in : i32 to index
  // CHECK: %[[W:.*]] = arith.extui %in : i32 to i64
  // CHECK: arith.cmpi slt, %[[I]], %{{.*}} : index
  // CHECK: arith.addi %[[W]]
  func.func private @Unsigned(%rows: tensor<40xi32>, %out: tensor<40xi64>) -> tensor<40xi64> attributes {tilewright.kernel} {
    %c7 = arith.constant 7 : index
    %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%rows : tensor<40xi32>) outs(%out : tensor<40xi64>) {
    ^bb0(%a: i32, %o: i64):
      %i = arith.index_castui %a : i32 to index
      %w = arith.index_cast %i : index to i64
      %s = arith.cmpi slt, %i, %c7 : index
      %t = arith.extui %s : i1 to i64
      %u = arith.addi %w, %t : i64
      linalg.yield %u : i64
    } -> tensor<40xi64>
    return %r : tensor<40xi64>
  }

  // A number of a row that is brought into range stays, as do sums of loops and sizes.
  // CHECK-LABEL: @Stays
  // CHECK-NOT: {{(cmpi|addi|index_cast).* i64$}}
  // CHECK: linalg.yield
  func.func private @Stays(%table: tensor<?xf32>, %rows: tensor<?xi64>, %out: tensor<?xf32>, %n: index) -> tensor<?xf32> attributes {tilewright.kernel} {
    %c0 = arith.constant 0 : index
    %z = arith.constant 0.0 : f32
    %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%rows : tensor<?xi64>) outs(%out : tensor<?xf32>) {
    ^bb0(%row: i64, %o: f32):
      %i = arith.index_cast %row : i64 to index
      %a = arith.maxsi %i, %c0 : index
      %b = arith.minsi %a, %n : index
      %x = tensor.extract %table[%b] : tensor<?xf32>
      %j = linalg.index 0 : index
      %p = arith.addi %j, %n : index
      %c = arith.cmpi sle, %j, %p : index
      %q = arith.cmpi slt, %i, %n : index
      %s = arith.select %c, %x, %z : f32
      %t = arith.select %q, %s, %z : f32
      linalg.yield %t : f32
    } -> tensor<?xf32>
    return %r : tensor<?xf32>
  }

  // CHECK-LABEL: @Wide
  // CHECK: arith.muli %{{.*}} : index
  func.func private @Wide(%out: tensor<50000xi64>) -> tensor<50000xi64> attributes {tilewright.kernel, tilewright.index_bits = 64 : i64} {
    %k = arith.constant 100000 : index
    %r = linalg.generic {indexing_maps = [#map], iterator_types = ["parallel"]} outs(%out : tensor<50000xi64>) {
    ^bb0(%o: i64):
      %i = linalg.index 0 : index
      %m = arith.muli %i, %k : index
      %c = arith.index_cast %m : index to i64
      linalg.yield %c : i64
    } -> tensor<50000xi64>
    return %r : tensor<50000xi64>
  }
  // Of two numbers that are clamped, the difference is not that of the numbers.
  // CHECK-LABEL: @Difference
  // CHECK: arith.subi %{{.*}} : i64
  func.func private @Difference(%x: tensor<64xf32>, %t: tensor<16xi64>, %base: tensor<i64>, %e: tensor<16xf32>) -> tensor<16xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#map, affine_map<(i) -> ()>, #map], iterator_types = ["parallel"]} ins(%t, %base : tensor<16xi64>, tensor<i64>) outs(%e : tensor<16xf32>) {
    ^bb0(%a: i64, %b: i64, %o: f32):
      %i = arith.index_cast %a : i64 to index
      %j = arith.index_cast %b : i64 to index
      %k = arith.subi %i, %j : index
      %v = tensor.extract %x[%k] : tensor<64xf32>
      linalg.yield %v : f32
    } -> tensor<16xf32>
    return %r : tensor<16xf32>
  }
}
