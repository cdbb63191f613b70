// RUN: tilewright-opt %s -tilewright-clamp-index-casts | FileCheck %s

#map = affine_map<(d0) -> (d0)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {index_bits = 32 : i64, wide_index}>} {
  // CHECK-LABEL: @narrow
  // CHECK: %[[LOW:.*]] = arith.constant -2147483648 : i64
  // CHECK: %[[A:.*]] = arith.maxsi %{{.*}}, %[[LOW]] : i64
  // CHECK: %[[HIGH:.*]] = arith.constant 2147483647 : i64
  // CHECK: %[[B:.*]] = arith.minsi %[[A]], %[[HIGH]] : i64
  // CHECK: arith.index_cast %[[B]] : i64 to index
  // CHECK: %[[C:.*]] = arith.minui %{{.*}}, %{{.*}} : i64
  // CHECK: arith.index_castui %[[C]] : i64 to index
  func.func private @narrow(%table: tensor<5xf32>, %rows: tensor<4xi64>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%rows : tensor<4xi64>) outs(%out : tensor<4xf32>) {
    ^bb0(%row: i64, %o: f32):
      %i = arith.index_cast %row : i64 to index
      %j = arith.index_castui %row : i64 to index
      %k = arith.minui %i, %j : index
      %x = tensor.extract %table[%k] : tensor<5xf32>
      linalg.yield %x : f32
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }

  // What 64 bits hold, and what has 32 already, stays.
  // CHECK-LABEL: @wide
  // CHECK-NOT: arith.maxsi
  func.func private @wide(%table: tensor<?xf32>, %rows: tensor<4xi64>, %out: tensor<4xf32>) -> tensor<4xf32>
      attributes {tilewright.kernel, tilewright.index_bits = 64 : i64} {
    %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%rows : tensor<4xi64>) outs(%out : tensor<4xf32>) {
    ^bb0(%row: i64, %o: f32):
      %i = arith.index_cast %row : i64 to index
      %x = tensor.extract %table[%i] : tensor<?xf32>
      linalg.yield %x : f32
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }

  // CHECK-LABEL: @fits
  // CHECK-NOT: arith.maxsi
  func.func private @fits(%table: tensor<5xf32>, %rows: tensor<4xi32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%rows : tensor<4xi32>) outs(%out : tensor<4xf32>) {
    ^bb0(%row: i32, %o: f32):
      %i = arith.index_cast %row : i32 to index
      %x = tensor.extract %table[%i] : tensor<5xf32>
      linalg.yield %x : f32
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }

  // 32 bits without a sign need 33 with one.
  // CHECK-LABEL: @unsigned
  // CHECK: %[[A:.*]] = arith.minui %{{.*}}, %{{.*}} : i32
  // CHECK: arith.index_castui %[[A]] : i32 to index
  func.func private @unsigned(%table: tensor<5xf32>, %rows: tensor<4xi32>, %out: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
    %r = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
        ins(%rows : tensor<4xi32>) outs(%out : tensor<4xf32>) {
    ^bb0(%row: i32, %o: f32):
      %i = arith.index_castui %row : i32 to index
      %x = tensor.extract %table[%i] : tensor<5xf32>
      linalg.yield %x : f32
    } -> tensor<4xf32>
    return %r : tensor<4xf32>
  }
}
