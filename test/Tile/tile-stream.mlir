// RUN: tilewright-opt %s -tilewright-tile -cse | FileCheck %s

// Blocks share the sums of six tiles of 13 steps: an item says which part of which tile comes next, and its steps. The last
// step of a sum may end inside. The grid is the blocks of the config.

#target = #tilewright.target<"cuda:sm_90a", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, async_copy, tensor_copy, warpgroup_mma = ["wgmma.m64n32k16.f16.f32"]}>

// CHECK-DAG: #[[$GRID:.+]] = affine_map<() -> (4)>
// CHECK-DAG: #[[$GRIDS:.+]] = affine_map<() -> (4, 1)>
// CHECK-DAG: #[[$ROWS:.+]] = affine_map<()[s0] -> (s0 * 64)>
// CHECK-DAG: #[[$COLUMNS:.+]] = affine_map<()[s0] -> (s0 * 32)>
module attributes {tilewright.target = #target} {
// CHECK-LABEL: func.func private @Share(
// CHECK-SAME: tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = #[[$GRID]]>
// CHECK: %[[TILE:.+]], %[[PART:.+]], %[[FIRST:.+]], %[[LAST:.+]] = tilewright.work_item <tiles = 6, steps = 13, blocks = 4, parts = 2>
// CHECK: %[[ID:.+]]:2 = tilewright.tile_id(%{{.+}}, %{{.+}}) number %[[TILE]] : index, index
// CHECK: affine.apply #[[$ROWS]]()[%[[ID]]#0]
// CHECK: affine.apply #[[$COLUMNS]]()[%[[ID]]#1]
// CHECK-DAG: %[[END:.+]] = arith.constant 776 : index
// CHECK-DAG: %[[STEP:.+]] = arith.constant 64 : index
// CHECK: %[[LOW:.+]] = arith.muli %[[FIRST]], %[[STEP]]
// CHECK: %[[STOP:.+]] = arith.muli %[[LAST]], %[[STEP]]
// CHECK: %[[HIGH:.+]] = arith.minsi %[[STOP]], %[[END]]
// CHECK: scf.for %{{.+}} = %[[LOW]] to %[[HIGH]] step %[[STEP]]
// CHECK: tensor.insert_slice %{{.+}} into %{{.+}}[%[[PART]], %{{.+}}, %{{.+}}]
func.func private @Share(%a: tensor<136x776xf16>, %b: tensor<776x64xf16>, %o: tensor<2x136x64xf32>) -> tensor<2x136x64xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<2x136x64xf32>) -> tensor<2x136x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (k, n)>, affine_map<(m, n, k, p) -> (p, m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<136x776xf16>, tensor<776x64xf16>) outs(%z : tensor<2x136x64xf32>)
      attrs = {tilewright.split = array<i64: 2, 256>, tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized,
        block = [64, 32, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32", splits = 2, persistent = true, stream_k = 4>} {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %x = arith.extf %0 : f16 to f32
    %y = arith.extf %1 : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %2, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x136x64xf32>
  return %r : tensor<2x136x64xf32>
}

// Two clusters of two blocks: of three tiles of rows, two by two, there are two clusters' along the rows.
// CHECK-LABEL: func.func private @ShareByClusters(
// CHECK-SAME: tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = #[[$GRIDS]], cluster = [2, 1]>
// CHECK: tilewright.work_item <tiles = 4, steps = 13, blocks = 2, parts = 2>
func.func private @ShareByClusters(%a: tensor<136x776xf16>, %b: tensor<776x64xf16>, %o: tensor<2x136x64xf32>) -> tensor<2x136x64xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<2x136x64xf32>) -> tensor<2x136x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (k, n)>, affine_map<(m, n, k, p) -> (p, m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<136x776xf16>, tensor<776x64xf16>) outs(%z : tensor<2x136x64xf32>)
      attrs = {tilewright.split = array<i64: 2, 256>, tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized,
        block = [64, 32, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32", splits = 2, persistent = true, cluster = [2, 1, 1], stream_k = 4>} {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %x = arith.extf %0 : f16 to f32
    %y = arith.extf %1 : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %2, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x136x64xf32>
  return %r : tensor<2x136x64xf32>
}
}
