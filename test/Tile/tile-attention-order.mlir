// RUN: tilewright-opt %s -tilewright-tile -canonicalize -cse | FileCheck %s

#q = affine_map<(b, h, i, j, d, e) -> (b, h, i, d)>
#k = affine_map<(b, h, i, j, d, e) -> (b, h, j, d)>
#v = affine_map<(b, h, i, j, d, e) -> (b, h, j, e)>
#o = affine_map<(b, h, i, j, d, e) -> (b, h, i, e)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {access_bytes = 16 : i64, async_copy, chip = "sm_80", index_bits = 32 : i64, load_matrices, max_threads = 1024 : i64, mma = ["mma.m16n8k16.f16.f32"], registers = 255 : i64, shared_memory = 166912 : i64, subgroup = 32 : i64}>} {
  // Below a causal mask the last queries, which see most keys, come first.
  // CHECK-LABEL: func.func private @causal(
  // CHECK: %[[ID:.*]]:3 = tilewright.tile_id(%c2, %c3, %c4) : index, index, index
  // CHECK: %[[TURNED:.*]] = arith.subi %c3, %[[ID]]#2
  // CHECK: arith.muli %[[TURNED]], %c64
  func.func private @causal(%q: tensor<2x3x256x64xf16>, %out: tensor<2x3x256x64xf16>) -> tensor<2x3x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x3x256x64xf16>, tensor<2x3x256x64xf16>, tensor<2x3x256x64xf16>)
        outs(%out : tensor<2x3x256x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left",
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x3x256x64xf16>
    return %o : tensor<2x3x256x64xf16>
  }

  // In a window all see about as many.
  // CHECK-LABEL: func.func private @window(
  // CHECK: %[[ID:.*]]:3 = tilewright.tile_id(%c2, %c3, %c4) : index, index, index
  // CHECK: arith.muli %[[ID]]#2, %c64
  func.func private @window(%q: tensor<2x3x256x64xf16>, %out: tensor<2x3x256x64xf16>) -> tensor<2x3x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x3x256x64xf16>, tensor<2x3x256x64xf16>, tensor<2x3x256x64xf16>)
        outs(%out : tensor<2x3x256x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left", window = array<i64: 100, 0>,
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">} -> tensor<2x3x256x64xf16>
    return %o : tensor<2x3x256x64xf16>
  }

  // Heads side by side are those of all batches.
  // CHECK-LABEL: func.func private @raster(
  // CHECK: %[[ID:.*]]:2 = tilewright.tile_id(%c6, %c4) {raster = 6 : i64} : index, index
  // CHECK-DAG: arith.divui %[[ID]]#0, %c3
  // CHECK-DAG: arith.remui %[[ID]]#0, %c3
  // CHECK-DAG: arith.subi %c3, %[[ID]]#1
  func.func private @raster(%q: tensor<2x3x256x64xf16>, %out: tensor<2x3x256x64xf16>) -> tensor<2x3x256x64xf16>
      attributes {tilewright.kernel, tilewright.access = ["read", "write"]} {
    %o = tilewright.attention ins(%q, %q, %q : tensor<2x3x256x64xf16>, tensor<2x3x256x64xf16>, tensor<2x3x256x64xf16>)
        outs(%out : tensor<2x3x256x64xf16>) {indexing_maps = [#q, #k, #v, #o], causal = "top_left",
        tilewright.lowering_config = #tilewright.lowering_config<strategy = attention, block = [64, 64], warps = [4, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", raster = 6>} -> tensor<2x3x256x64xf16>
    return %o : tensor<2x3x256x64xf16>
  }

  // A body of its own takes terms one by one; of four steps all is read in one.
  // CHECK-LABEL: func.func private @terms(
  // CHECK: scf.for %[[P:.*]] = %c0 to %c8 step %c4
  // CHECK: tensor.extract_slice %arg0[%[[P]],
  // CHECK: linalg.generic
  // CHECK: %[[SECOND:.*]] = arith.addi %[[P]], %c1
  // CHECK: tensor.extract_slice %arg0[%[[SECOND]],
  // CHECK: %[[THIRD:.*]] = arith.addi %[[P]], %c2
  // CHECK: tensor.extract_slice %arg0[%[[THIRD]],
  // CHECK: %[[LAST:.*]] = arith.addi %[[P]], %c3
  // CHECK: tensor.extract_slice %arg0[%[[LAST]],
  // CHECK: scf.yield
  // CHECK: tensor.extract_slice %arg0[8,
  // CHECK: linalg.generic
  func.func private @terms(%x: tensor<9x64xf32>, %out: tensor<64xf32>) -> tensor<64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read_write"]} {
    %r = linalg.generic {indexing_maps = [affine_map<(i, p) -> (p, i)>, affine_map<(i, p) -> (i)>], iterator_types = ["parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [32, 4], warps = [1, 1]>}
        ins(%x : tensor<9x64xf32>) outs(%out : tensor<64xf32>) {
      ^bb0(%in: f32, %acc: f32):
        %s = arith.mulf %acc, %in : f32
        %t = arith.subf %s, %in : f32
        linalg.yield %t : f32
    } -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}
