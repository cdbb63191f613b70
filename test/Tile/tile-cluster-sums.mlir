// RUN: tilewright-opt %s -tilewright-tile -cse | FileCheck %s

#target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>
#mk = affine_map<(m, n, k) -> (m, k)>
#kn = affine_map<(m, n, k) -> (k, n)>
#mn = affine_map<(m, n, k) -> (m, n)>
#all = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>

// CHECK-DAG: #[[$TILES:.+]] = affine_map<()[s0] -> (s0 ceildiv 64, 2, 4)>
// CHECK-DAG: #[[$BEGIN:.+]] = affine_map<()[s0] -> (((s0 * 9) floordiv 4) * 64)>
// CHECK-DAG: #[[$END:.+]] = affine_map<()[s0] -> (((s0 * 9 + 9) floordiv 4) * 64)>
// CHECK-DAG: #[[$FIRST:.+]] = affine_map<()[s0, s1] -> (s0 * 64 + s1 * 16)>
module attributes {tilewright.target = #target} {

// The parts of the sum are one more dim of tiles, as long as the cluster along them: a block has some of the nine steps of all
// rows of the tile, then a quarter of the rows, of the sum of all parts. What follows the product is of these.
// CHECK-LABEL: func.func private @Slices(
// CHECK-SAME: tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = #[[$TILES]], dims = [0, 0], cluster = [1, 1, 4]>
func.func private @Slices(%a: tensor<?x576xf16>, %b: tensor<576x128xf16>, %c: tensor<128xf32>, %o: tensor<?x128xf16>) -> tensor<?x128xf16> attributes {tilewright.kernel} {
  // CHECK: %[[ID:.+]]:3 = tilewright.tile_id(%{{.+}}, %c2, %c4)
  // CHECK-DAG: %[[BEGIN:.+]] = affine.apply #[[$BEGIN]]()[%[[ID]]#2]
  // CHECK-DAG: %[[END:.+]] = affine.apply #[[$END]]()[%[[ID]]#2]
  // CHECK-DAG: %[[FIRST:.+]] = affine.apply #[[$FIRST]]()[%[[ID]]#0, %[[ID]]#2]
  // CHECK: %[[ROWS:.+]] = affine.min
  // CHECK: %[[SUM:.+]] = scf.for %{{.+}} = %[[BEGIN]] to %[[END]] step %c64
  // CHECK: linalg.generic {{.*}}tilewright.tile_sizes = array<i64: 64, 64, 64>
  // CHECK: %[[INTO:.+]] = tensor.empty(%[[ROWS]]) : tensor<?x64xf32>
  // CHECK: %[[SLICE:.+]] = tilewright.cluster_scatter %[[SUM]] into %[[INTO]] : tensor<?x64xf32> along 0 loop 2 : tensor<?x64xf32> -> tensor<?x64xf32>
  // CHECK: linalg.generic {{.*}} ins(%[[SLICE]], {{.*}}tilewright.tile_sizes = array<i64: 16, 64>
  // CHECK: tensor.insert_slice {{.*}}[%[[FIRST]], %{{.+}}] [%[[ROWS]], 64] [1, 1]
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %m = tensor.dim %a, %c0 : tensor<?x576xf16>
  %e = tensor.empty(%m) : tensor<?x128xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?x128xf32>) -> tensor<?x128xf32>
  %p = linalg.generic {indexing_maps = [#mk, #kn, #mn], iterator_types = ["parallel", "parallel", "reduction"]} ins(%a, %b : tensor<?x576xf16>, tensor<576x128xf16>) outs(%z : tensor<?x128xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 3, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 4, cluster = [1, 1, 4]>} {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %t = arith.mulf %v, %w : f32
    %s = arith.addf %acc, %t : f32
    linalg.yield %s : f32
  } -> tensor<?x128xf32>
  %r = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "parallel"]} ins(%p, %c : tensor<?x128xf32>, tensor<128xf32>) outs(%o : tensor<?x128xf16>) {
  ^bb0(%x: f32, %y: f32, %out: f16):
    %t = arith.addf %x, %y : f32
    %n = arith.truncf %t : f32 to f16
    linalg.yield %n : f16
  } -> tensor<?x128xf16>
  return %r : tensor<?x128xf16>
}

// Inside of other summed loops (a convolution's taps), a part's steps count from its first one: bounds are constants, by which
// loops become one.
// CHECK-LABEL: func.func private @Taps(
func.func private @Taps(%a: tensor<3x64x256xf16>, %b: tensor<3x256x64xf16>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
  // CHECK: %[[ID:.+]] = tilewright.tile_id
  // CHECK: scf.for %[[TAP:.+]] = %c0{{.*}} to %c3 step %c1
  // CHECK: scf.for %[[STEP:.+]] = %c0{{.*}} to %c128 step %c64
  // CHECK-NEXT: %[[FROM:.+]] = affine.apply #{{.+}}(%[[STEP]])[%[[ID]]]
  // CHECK-NEXT: tensor.extract_slice %{{.+}}[%[[TAP]], {{.+}}, %[[FROM]]] [1, 64, 64]
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  %p = linalg.generic {indexing_maps = [affine_map<(m, n, t, k) -> (t, m, k)>, affine_map<(m, n, t, k) -> (t, k, n)>, affine_map<(m, n, t, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %b : tensor<3x64x256xf16>, tensor<3x256x64xf16>) outs(%z : tensor<64x64xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 1, 64], warps = [4, 1, 1, 1], stages = 3, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 2, cluster = [1, 1, 1, 2]>} {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %t = arith.mulf %v, %w : f32
    %s = arith.addf %acc, %t : f32
    linalg.yield %s : f32
  } -> tensor<64x64xf32>
  return %p : tensor<64x64xf32>
}
}
