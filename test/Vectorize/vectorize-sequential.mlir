// RUN: tilewright-opt %s -tilewright-tile -tilewright-vectorize -canonicalize -cse | FileCheck %s

// A reduction by a body of its own takes its terms one by one; rows are side by side.
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
  // CHECK-LABEL: func.func private @ArgMax(
  // CHECK-SAME: %[[X:.*]]: tensor<64x37xf32>
  // CHECK: scf.for %[[J:.*]] = %{{.*}} to %c37 step %c1 iter_args(%[[M:.*]] = %{{.*}}, %[[I:.*]] = %{{.*}}) -> (vector<64xf32>, vector<64xi64>)
  // CHECK: %[[V:.*]] = vector.transfer_read %[[X]]
  // CHECK: %[[G:.*]] = arith.cmpf ogt, %[[V]], %[[M]]
  // CHECK: arith.maximumf %[[V]], %[[M]]
  // CHECK: arith.select %[[G]], %{{.*}}, %[[I]] : vector<64xi1>, vector<64xi64>
  // CHECK-NOT: vector.multi_reduction
  func.func private @ArgMax(%x: tensor<64x37xf32>, %m: tensor<64xf32>, %i: tensor<64xi64>) -> (tensor<64xf32>, tensor<64xi64>) attributes {tilewright.kernel} {
    %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<64x37xf32>) outs(%m, %i : tensor<64xf32>, tensor<64xi64>)
        attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [64, 1], warps = [2, 1]>} {
    ^bb0(%a: f32, %best: f32, %at: i64):
      %j = linalg.index 1 : index
      %k = arith.index_cast %j : index to i64
      %g = arith.cmpf ogt, %a, %best : f32
      %s = arith.maximumf %a, %best : f32
      %q = arith.select %g, %k, %at : i64
      linalg.yield %s, %q : f32, i64
    } -> (tensor<64xf32>, tensor<64xi64>)
    return %r#0, %r#1 : tensor<64xf32>, tensor<64xi64>
  }
}
