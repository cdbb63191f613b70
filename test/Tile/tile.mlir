// RUN: tilewright-opt %s -tilewright-tile -cse | FileCheck %s

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// CHECK-DAG: #[[$TILES:.+]] = affine_map<()[s0] -> (s0 ceildiv 8, 4)>
// CHECK-DAG: #[[$SIZE:.+]] = affine_map<()[s0, s1] -> (8, s1 - s0)>
module attributes {tilewright.target = #target} {

// One tile per block; a size that the tile divides is static.
// CHECK-LABEL: func.func private @SpreadTilesOverBlocks(
// CHECK-SAME: %[[X:.+]]: tensor<?x512xf32>, %[[B:.+]]: tensor<512xf32>, %[[O:.+]]: tensor<?x512xf32>)
// CHECK-SAME: tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = #[[$TILES]], dims = [0, 0]>
func.func private @SpreadTilesOverBlocks(%x: tensor<?x512xf32>, %b: tensor<512xf32>, %o: tensor<?x512xf32>) -> tensor<?x512xf32> attributes {tilewright.kernel} {
  // CHECK: %[[M:.+]] = tensor.dim %[[X]]
  // CHECK: %[[ID:.+]]:2 = tilewright.tile_id(%{{.+}}, %{{.+}}) : index, index
  // CHECK: %[[S:.+]] = affine.min #[[$SIZE]]()[%{{.+}}, %[[M]]]
  // CHECK: %[[XS:.+]] = tensor.extract_slice %[[X]][%{{.+}}, %{{.+}}] [%[[S]], 128] [1, 1]
  // CHECK: %[[BS:.+]] = tensor.extract_slice %[[B]][%{{.+}}] [128] [1]
  // CHECK: %[[R:.+]] = linalg.generic
  // CHECK-SAME: ins(%[[XS]], %[[BS]]
  // CHECK-SAME: tilewright.tile_sizes = array<i64: 8, 128>
  // CHECK: %[[U:.+]] = tensor.insert_slice %[[R]] into %[[O]]
  // CHECK: return %[[U]]
  %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %b : tensor<?x512xf32>, tensor<512xf32>) outs(%o : tensor<?x512xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [8, 128], warps = [4, 1], thread = [1, 4]>} {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?x512xf32>
  return %r : tensor<?x512xf32>
}

// The accumulator is carried through the loop over k; the consumer is fused.
// CHECK-LABEL: func.func private @LoopOverReduction(
func.func private @LoopOverReduction(%x: tensor<?x512xf32>, %w: tensor<512x256xf32>, %b: tensor<256xf32>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {tilewright.kernel} {
  // CHECK: %[[Z:.+]] = linalg.fill
  // CHECK: %[[ACC:.+]] = scf.for %[[K:.+]] = {{.+}} iter_args(%[[A:.+]] = %[[Z]]) -> (tensor<?x64xf32>)
  // CHECK:   tensor.extract_slice %{{.+}}[%{{.+}}, %[[K]]] [%{{.+}}, 16]
  // CHECK:   tensor.extract_slice %{{.+}}[%[[K]], %{{.+}}] [16, 64]
  // CHECK:   %[[N:.+]] = linalg.matmul {tilewright.tile_sizes = array<i64: 64, 64, 16>}
  // CHECK-SAME: outs(%[[A]] :
  // CHECK:   scf.yield %[[N]]
  // CHECK: linalg.generic
  // CHECK-SAME: ins(%[[ACC]],
  // CHECK: tensor.insert_slice
  %c = arith.constant 0.0 : f32
  %z = linalg.fill ins(%c : f32) outs(%o : tensor<?x256xf32>) -> tensor<?x256xf32>
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 16], warps = [2, 2, 1], thread = [8, 8, 1], promote = [0, 1]>}
      ins(%x, %w : tensor<?x512xf32>, tensor<512x256xf32>) outs(%z : tensor<?x256xf32>) -> tensor<?x256xf32>
  %r = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
      ins(%m, %b : tensor<?x256xf32>, tensor<256xf32>) outs(%o : tensor<?x256xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?x256xf32>
  return %r : tensor<?x256xf32>
}

// Rows of an operand are reduced once, in a loop in front of the product's; in that, elements are normalised.
// CHECK-LABEL: func.func private @NormalizeRowsOfProduct(
func.func private @NormalizeRowsOfProduct(%x: tensor<?x512xf32>, %w: tensor<512x256xf32>, %o: tensor<?x256xf32>) -> tensor<?x256xf32> attributes {tilewright.kernel} {
  // CHECK: %[[S:.+]] = scf.for {{.+}} -> (tensor<?xf32>)
  // CHECK:   linalg.generic {{.*}}"reduction"{{.*}}tilewright.tile_sizes = array<i64: 64, 16>
  // CHECK: scf.for %[[K:[a-z0-9]+]] = {{.+}} -> (tensor<?x64xf32>)
  // CHECK:   %[[XS:.+]] = tensor.extract_slice %{{.+}}[%{{.+}}, %[[K]]] [%{{.+}}, 16]
  // CHECK:   %[[R:.+]] = linalg.generic {{.*}} ins(%[[XS]], %[[S]] :
  // CHECK:   linalg.matmul {{.*}} ins(%[[R]], %{{.+}} :
  // CHECK: tensor.insert_slice
  %c = arith.constant 0.0 : f32
  %d0 = arith.constant 0 : index
  %n = tensor.dim %x, %d0 : tensor<?x512xf32>
  %es = tensor.empty(%n) : tensor<?xf32>
  %zs = linalg.fill ins(%c : f32) outs(%es : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x512xf32>) outs(%zs : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %2 = arith.addf %0, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  %er = tensor.empty(%n) : tensor<?x512xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %s : tensor<?x512xf32>, tensor<?xf32>) outs(%er : tensor<?x512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %3 = arith.divf %0, %1 : f32
    linalg.yield %3 : f32
  } -> tensor<?x512xf32>
  %z = linalg.fill ins(%c : f32) outs(%o : tensor<?x256xf32>) -> tensor<?x256xf32>
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 16], warps = [2, 2, 1], thread = [8, 8, 1], promote = [0, 1]>}
      ins(%r, %w : tensor<?x512xf32>, tensor<512x256xf32>) outs(%z : tensor<?x256xf32>) -> tensor<?x256xf32>
  return %m : tensor<?x256xf32>
}

// Every reduction and the result get a loop; the elementwise op between them
// is written again in each.
// CHECK-LABEL: func.func private @RecomputeBetweenReductions(
func.func private @RecomputeBetweenReductions(%x: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  // CHECK: %[[MAX:.+]] = scf.for
  // CHECK:   arith.maximumf
  // CHECK: %[[SUM:.+]] = scf.for
  // CHECK:   arith.subf
  // CHECK:   arith.addf
  // CHECK: %[[R:.+]] = scf.for {{.+}} iter_args(%[[D:.+]] = %{{.+}}) -> (tensor<?x?xf32>)
  // CHECK:   arith.subf
  // CHECK:   arith.divf
  // CHECK:   tensor.insert_slice %{{.+}} into %[[D]]
  // CHECK: return %[[R]]
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %least = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %d0 = tensor.dim %x, %c0 : tensor<?x?xf32>
  %d1 = tensor.dim %x, %c1 : tensor<?x?xf32>
  %e = tensor.empty(%d0) : tensor<?xf32>
  %e2 = tensor.empty(%d0, %d1) : tensor<?x?xf32>
  %f = linalg.fill ins(%least : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<?x?xf32>) outs(%f : tensor<?xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [4, 256], warps = [4, 1], thread = [1, 4]>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.maximumf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %ex = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x, %m : tensor<?x?xf32>, tensor<?xf32>) outs(%e2 : tensor<?x?xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.subf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %sum = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
      ins(%ex : tensor<?x?xf32>) outs(%f2 : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
      ins(%ex, %sum : tensor<?x?xf32>, tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.divf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}
}
