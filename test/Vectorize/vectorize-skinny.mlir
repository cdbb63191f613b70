// RUN: tilewright-opt %s -tilewright-tile -canonicalize -cse -tilewright-vectorize -tilewright-delay-reductions -canonicalize -cse | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {

// The larger operand is read as it lies and repeated for each row, the other one
// is read repeated; products are added to sums per element of the tile by fused
// multiply-adds, and the sums meet behind the loop. Both operands are zero
// outside: no product needs a mask.
// CHECK-LABEL: func.func private @FewRows(
// CHECK: %[[SUMS:.+]] = scf.for {{.*}} -> (vector<4x32x128xf32>)
// CHECK-NOT: create_mask
// CHECK: %[[A:.+]] = vector.transfer_read {{.*}} vector<4x32x128xf32>
// CHECK: %[[B:.+]] = vector.transfer_read {{.*}} vector<128x32xf32>
// CHECK: %[[T:.+]] = vector.transpose %[[B]], [1, 0]
// CHECK: %[[WIDE:.+]] = vector.broadcast %[[T]] : vector<32x128xf32> to vector<4x32x128xf32>
// CHECK: %[[N:.+]] = math.fma %[[A]], %[[WIDE]], %{{.+}} : vector<4x32x128xf32>
// CHECK: scf.yield %[[N]]
// CHECK: vector.multi_reduction <add>, %[[SUMS]], %{{.+}} [2] : vector<4x32x128xf32> to vector<4x32xf32>
func.func private @FewRows(%a: tensor<4x?xf32>, %b: tensor<?x4096xf32>, %o: tensor<4x4096xf32>) -> tensor<4x4096xf32> attributes {tilewright.kernel} {
  %m = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%a, %b : tensor<4x?xf32>, tensor<?x4096xf32>) outs(%o : tensor<4x4096xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = skinny_contraction, block = [4, 32, 128], warps = [1, 1, 8], thread = [1, 4, 1]>} {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %p = arith.mulf %0, %1 : f32
    %s = arith.addf %2, %p : f32
    linalg.yield %s : f32
  } -> tensor<4x4096xf32>
  return %m : tensor<4x4096xf32>
}
}
