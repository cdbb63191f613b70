// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// CHECK: module @program attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {chip = "sm_80", subgroup = 32 : i64}>}
module @program attributes {tilewright.target = #tilewright.target<"cuda:sm_80", "nvvm", {chip = "sm_80", subgroup = 32}>} {
  // CHECK: func.func private @kernel
  // CHECK-SAME: tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = #{{.*}}, dims = [0, 0, 1, 1]>
  func.func private @kernel(%a: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32>
      attributes {tilewright.kernel,
                  tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32,
                      tiles = affine_map<()[s0, s1] -> (s0 ceildiv 128, s1 ceildiv 128)>, dims = [0, 0, 1, 1]>} {
    // CHECK: #tilewright.lowering_config<strategy = simt_contraction, block = [128, 128, 16], stages = 2, promote = [0, 1]>
    %r = linalg.copy {tilewright.lowering_config = #tilewright.lowering_config<
             strategy = simt_contraction, block = [128, 128, 16], stages = 2, promote = [0, 1]>}
           ins(%a : tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
  func.func @main(%a: tensor<?x?xf32>, %e: tensor<?x?xf32>) -> tensor<?x?xf32> {
    // CHECK: tilewright.dispatch @kernel(%{{.*}} : tensor<?x?xf32>) outs(%{{.*}} : tensor<?x?xf32>) -> tensor<?x?xf32>
    %r = tilewright.dispatch @kernel(%a : tensor<?x?xf32>) outs(%e : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %r : tensor<?x?xf32>
  }
  // CHECK: memref<8xf32, #tilewright.shared<swizzle = [3, 2, 3]>>
  func.func private @shared(memref<8xf32, #tilewright.shared<swizzle = [3, 2, 3]>>)
  // CHECK: memref<8xf32, #tilewright.shared<swizzle = [3, 2, 3, 5]>>
  func.func private @folded(memref<8xf32, #tilewright.shared<swizzle = [3, 2, 3, 5]>>)
}

// A persistent grid, clusters of two tiles along the rows; no dynamic dims.
// CHECK-LABEL: @walks
// CHECK-SAME: tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = #{{[^,]*}}, persistent = true, cluster = [2, 1]>
// CHECK-SAME: tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], registers = [40, 232], persistent = true, cluster = [2, 1, 1], tma_store = true, two_level_sums = true>
func.func private @walks() attributes {
  tilewright.launch = #tilewright.launch<threads = 128, subgroup = 32, tiles = affine_map<() -> (4, 4)>, persistent = true, cluster = [2, 1]>,
  tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64],
      registers = [40, 232], persistent = true, cluster = [2, 1, 1], tma_store = true, two_level_sums = true>}

// Blocks that share all sums.
// CHECK-LABEL: @shares
// CHECK-SAME: shares = #tilewright.shares<tiles = 2, steps = 4, blocks = 3, parts = 2>
// CHECK-SAME: tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], splits = 2, persistent = true, stream_k = 3>
func.func private @shares() attributes {
  shares = #tilewright.shares<tiles = 2, steps = 4, blocks = 3, parts = 2>,
  tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], splits = 2,
      persistent = true, stream_k = 3>}

// Rings that those who multiply fill, and that threads fill; both as they are by default are not printed.
// CHECK-LABEL: @filled
// CHECK-SAME: alone = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], producer = false>
// CHECK-SAME: both = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], producer = false, tma_copy = false>
// CHECK-SAME: neither = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64]>
func.func private @filled() attributes {
  alone = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], producer = false>,
  both = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], tma_copy = false, producer = false>,
  neither = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 64], producer = true, tma_copy = true>}
