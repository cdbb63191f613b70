// RUN: tilewright-opt %s -tilewright-tile -tilewright-vectorize -canonicalize -cse | FileCheck %s

#target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, multicast}>
#row = affine_map<(m, n) -> (m, n)>
#kept = affine_map<(m, n) -> (m)>
module attributes {tilewright.target = #target} {

// A block's part begins with zero; what the sum is to begin with is added to that of all blocks, and one writes it.
// CHECK-LABEL: func.func private @AddOnce(
func.func private @AddOnce(%x: tensor<?x1000xf32>, %s: tensor<?xf32>) -> tensor<?xf32> attributes {tilewright.kernel} {
  // CHECK: %[[NONE:.+]] = arith.constant dense<0.000000e+00> : vector<4xf32>
  // CHECK: %[[X:.+]] = vector.transfer_read {{.*}}vector<4x256xf32>
  // CHECK: %[[BEGIN:.+]] = vector.transfer_read {{.*}}vector<4xf32>
  // CHECK: %[[PART:.+]] = vector.multi_reduction <add>, %[[X]], %[[NONE]] [1] : vector<4x256xf32> to vector<4xf32>
  // CHECK: %[[ALL:.+]] = tilewright.cluster_reduce <add>, %[[PART]] : vector<4xf32>
  // CHECK: %[[SUM:.+]] = arith.addf %[[ALL]], %[[BEGIN]]
  // CHECK: vector.transfer_write %[[SUM]], {{.*}}tilewright.one_block
  %sum = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x1000xf32>) outs(%s : tensor<?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [4, 256], warps = [1, 2], cluster = [1, 4]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  return %sum : tensor<?xf32>
}
}
