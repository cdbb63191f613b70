// RUN: tilewright-opt %s -tilewright-vectorize | FileCheck %s

// The config's instruction is that of the last product; of one before it, a warpgroup's has all of that product's columns.
// CHECK-LABEL: func.func private @k(
// CHECK: %[[P:.*]] = tilewright.mma {{.*}}instruction = "wgmma.m64n32k16.f16.f32"
// CHECK: %[[H:.*]] = arith.truncf %[[P]]
// CHECK: tilewright.mma %[[H]], {{.*}}instruction = "wgmma.m64n128k16.f16.f32"
module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {subgroup = 32 : i64}>} {
  func.func private @k(%a: tensor<64x64xf16>, %b: tensor<64x32xf16>, %c: tensor<32x128xf16>, %o: tensor<64x128xf32>) -> tensor<64x128xf32>
      attributes {tilewright.kernel, tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 32],
        warps = [4, 1, 1], stages = 2, promote = [1], mma = "wgmma.m64n128k16.f16.f32">,
        tilewright.launch = #tilewright.launch<threads = 256, subgroup = 32, tiles = affine_map<() -> (1)>>} {
    %zero = arith.constant 0.0 : f32
    %ep = tensor.empty() : tensor<64x32xf32>
    %zp = linalg.fill {tilewright.tile_sizes = array<i64: 64, 32>} ins(%zero : f32) outs(%ep : tensor<64x32xf32>) -> tensor<64x32xf32>
    %p = linalg.matmul {tilewright.tile_sizes = array<i64: 64, 32, 64>}
        ins(%a, %b : tensor<64x64xf16>, tensor<64x32xf16>) outs(%zp : tensor<64x32xf32>) -> tensor<64x32xf32>
    %eh = tensor.empty() : tensor<64x32xf16>
    %h = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"],
          tilewright.tile_sizes = array<i64: 64, 32>} ins(%p : tensor<64x32xf32>) outs(%eh : tensor<64x32xf16>) {
    ^bb0(%x: f32, %out: f16):
      %0 = arith.truncf %x : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<64x32xf16>
    %er = tensor.empty() : tensor<64x128xf32>
    %zr = linalg.fill {tilewright.tile_sizes = array<i64: 64, 128>} ins(%zero : f32) outs(%er : tensor<64x128xf32>) -> tensor<64x128xf32>
    %r = linalg.matmul {tilewright.tile_sizes = array<i64: 64, 128, 32>}
        ins(%h, %c : tensor<64x32xf16>, tensor<32x128xf16>) outs(%zr : tensor<64x128xf32>) -> tensor<64x128xf32>
    %u = tensor.insert_slice %r into %o[0, 0] [64, 128] [1, 1] : tensor<64x128xf32> into tensor<64x128xf32>
    return %u : tensor<64x128xf32>
  }
}
