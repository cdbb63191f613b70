// RUN: tilewright-opt %s -tilewright-vectorize -canonicalize -cse | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>

// The batch is no dim of the vector: rows are its first one. A slice may end before the tile's rows do, and is as long all the same.
// CHECK-LABEL: func.func private @Slice(
// CHECK: %[[SUM:.+]] = vector.transfer_read {{.*}}vector<64x128xf32>
// CHECK: %[[TWICE:.+]] = arith.addf %[[SUM]], %[[SUM]]
// CHECK: %[[SLICE:.+]] = tilewright.cluster_scatter %[[TWICE]] along 0 loop 2 : vector<64x128xf32> -> vector<16x128xf32>
// CHECK: vector.transfer_write %[[SLICE]], %{{.+}}[%c0, %{{.+}}, %c0] {in_bounds = [false, true]
func.func private @Slice(%x: tensor<1x?x128xf32>, %first: index, %rows: index, %all: index, %o: tensor<1x?x128xf32>) -> tensor<1x?x128xf32>
    attributes {tilewright.kernel, tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (1, 1, 4)>, cluster = [1, 1, 4]>} {
  %xs = tensor.extract_slice %x[0, 0, 0] [1, %all, 128] [1, 1, 1] : tensor<1x?x128xf32> to tensor<1x?x128xf32>
  %e = tensor.empty(%all) : tensor<1x?x128xf32>
  %v = linalg.generic {indexing_maps = [affine_map<(b, m, n) -> (b, m, n)>, affine_map<(b, m, n) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%xs : tensor<1x?x128xf32>) outs(%e : tensor<1x?x128xf32>) attrs = {tilewright.tile_sizes = array<i64: 0, 64, 128>} {
  ^bb0(%in: f32, %out: f32):
    %t = arith.addf %in, %in : f32
    linalg.yield %t : f32
  } -> tensor<1x?x128xf32>
  %into = tensor.empty(%rows) : tensor<1x?x128xf32>
  %s = tilewright.cluster_scatter %v into %into : tensor<1x?x128xf32> along 1 loop 2 : tensor<1x?x128xf32> -> tensor<1x?x128xf32>
  %r = tensor.insert_slice %s into %o[0, %first, 0] [1, %rows, 128] [1, 1, 1] : tensor<1x?x128xf32> into tensor<1x?x128xf32>
  return %r : tensor<1x?x128xf32>
}
