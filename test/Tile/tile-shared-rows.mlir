// RUN: tilewright-opt %s -tilewright-tile -cse | FileCheck %s

#target = #tilewright.target<"cuda:sm_90", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, multicast}>
#row = affine_map<(m, n) -> (m, n)>
#kept = affine_map<(m, n) -> (m)>

// CHECK-DAG: #[[$TILES:.+]] = affine_map<()[s0] -> (s0, 4)>
// CHECK-DAG: #[[$BEGIN:.+]] = affine_map<()[s0] -> (s0 * 256)>
// CHECK-DAG: #[[$SIZE:.+]] = affine_map<()[s0] -> (256, -s0 + 1000)>
module attributes {tilewright.target = #target} {

// The parts of a row are one more dim of tiles, as long as the cluster: a block has one of them, the last a short one. What
// the parts are reduced to is of all blocks; a result that does not run along the row is written by one.
// CHECK-LABEL: func.func private @Parts(
// CHECK-SAME: tilewright.launch = #tilewright.launch<threads = 64, subgroup = 32, tiles = #[[$TILES]], dims = [0, 0], cluster = [1, 4]>
func.func private @Parts(%x: tensor<?x1000xf32>, %s: tensor<?xf32>, %o: tensor<?x1000xf32>) -> (tensor<?xf32>, tensor<?x1000xf32>) attributes {tilewright.kernel} {
  // CHECK: %[[ID:.+]]:2 = tilewright.tile_id(%{{.+}}, %c4)
  // CHECK: %[[AT:.+]] = affine.apply #[[$BEGIN]]()[%[[ID]]#1]
  // CHECK: %[[N:.+]] = affine.min #[[$SIZE]]()[%[[AT]]]
  // CHECK: %[[PART:.+]] = tensor.extract_slice %{{.+}}[%[[ID]]#0, %[[AT]]] [1, %[[N]]] [1, 1]
  // CHECK: %[[SUM:.+]] = linalg.generic {{.*}}"reduction"{{.*}} ins(%[[PART]] : {{.*}}tilewright.over_cluster
  // CHECK: tensor.insert_slice %[[SUM]] into %{{.+}}[%[[ID]]#0] [1] [1] {tilewright.one_block}
  // CHECK: %[[QUOTIENT:.+]] = linalg.generic {{.*}} ins(%[[PART]], %[[SUM]] :
  // CHECK-NOT: tilewright.over_cluster
  // CHECK: tensor.insert_slice %[[QUOTIENT]] into %{{.+}}[%[[ID]]#0, %[[AT]]] [1, %[[N]]] [1, 1] :
  %sum = linalg.generic {indexing_maps = [#row, #kept], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x1000xf32>) outs(%s : tensor<?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [1, 256], warps = [1, 2], cluster = [1, 4]>} {
  ^bb0(%in: f32, %acc: f32):
    %t = arith.addf %in, %acc : f32
    linalg.yield %t : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#row, #kept, #row], iterator_types = ["parallel", "parallel"]} ins(%x, %sum : tensor<?x1000xf32>, tensor<?xf32>) outs(%o : tensor<?x1000xf32>) {
  ^bb0(%in: f32, %total: f32, %out: f32):
    %t = arith.divf %in, %total : f32
    linalg.yield %t : f32
  } -> tensor<?x1000xf32>
  return %sum, %r : tensor<?xf32>, tensor<?x1000xf32>
}
}
