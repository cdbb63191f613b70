// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// What stands against blocks that share the sums of all tiles. There are six tiles of 13 steps.

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n32k16.f16.f32"]}>} {
func.func private @NotPersistent(%a: tensor<136x776xf16>, %b: tensor<776x64xf16>, %o: tensor<2x136x64xf32>) -> tensor<2x136x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stream_k' is for persistent blocks; 'persistent' is not true}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (k, n)>, affine_map<(m, n, k, p) -> (p, m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<136x776xf16>, tensor<776x64xf16>) outs(%o : tensor<2x136x64xf32>)
      attrs = {tilewright.split = array<i64: 2, 256>, tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 32, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32", splits = 2, stream_k = 4>} {
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

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n32k16.f16.f32"]}>} {
func.func private @Clusters(%a: tensor<136x776xf16>, %b: tensor<776x64xf16>, %o: tensor<2x136x64xf32>) -> tensor<2x136x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stream_k' is 5 blocks, which are no whole clusters of 2}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (k, n)>, affine_map<(m, n, k, p) -> (p, m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<136x776xf16>, tensor<776x64xf16>) outs(%o : tensor<2x136x64xf32>)
      attrs = {tilewright.split = array<i64: 2, 256>, tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 32, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32", splits = 2, persistent = true, cluster = [2, 1, 1], stream_k = 5>} {
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

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n32k16.f16.f32"]}>} {
func.func private @AnyRows(%a: tensor<?x776xf16>, %b: tensor<776x64xf16>, %o: tensor<2x?x64xf32>) -> tensor<2x?x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stream_k' shares the steps of all tiles when the kernel is compiled, and extents are dynamic}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (k, n)>, affine_map<(m, n, k, p) -> (p, m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<?x776xf16>, tensor<776x64xf16>) outs(%o : tensor<2x?x64xf32>)
      attrs = {tilewright.split = array<i64: 2, 256>, tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 32, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32", splits = 2, persistent = true, stream_k = 4>} {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %x = arith.extf %0 : f16 to f32
    %y = arith.extf %1 : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %2, %p : f32
    linalg.yield %s : f32
  } -> tensor<2x?x64xf32>
  return %r : tensor<2x?x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n32k16.f16.f32"]}>} {
func.func private @TooFewParts(%a: tensor<136x776xf16>, %b: tensor<776x64xf16>, %o: tensor<2x136x64xf32>) -> tensor<2x136x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stream_k': 3 of 18 blocks share the sum of one tile, and there is room for 2 parts; make 'splits' 3}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (k, n)>, affine_map<(m, n, k, p) -> (p, m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<136x776xf16>, tensor<776x64xf16>) outs(%o : tensor<2x136x64xf32>)
      attrs = {tilewright.split = array<i64: 2, 256>, tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 32, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32", splits = 2, persistent = true, stream_k = 18>} {
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

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n32k16.f16.f32"]}>} {
func.func private @MoreBlocksThanSteps(%a: tensor<136x776xf16>, %b: tensor<776x64xf16>, %o: tensor<16x136x64xf32>) -> tensor<16x136x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stream_k': 79 blocks share 78 steps of all tiles, which leaves some with nothing to do}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (k, n)>, affine_map<(m, n, k, p) -> (p, m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<136x776xf16>, tensor<776x64xf16>) outs(%o : tensor<16x136x64xf32>)
      attrs = {tilewright.split = array<i64: 2, 256>, tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 32, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32", splits = 16, persistent = true, stream_k = 79>} {
  ^bb0(%0: f16, %1: f16, %2: f32):
    %x = arith.extf %0 : f16 to f32
    %y = arith.extf %1 : f16 to f32
    %p = arith.mulf %x, %y : f32
    %s = arith.addf %2, %p : f32
    linalg.yield %s : f32
  } -> tensor<16x136x64xf32>
  return %r : tensor<16x136x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n32k16.f16.f32"]}>} {
func.func private @Whole(%a: tensor<136x776xf16>, %b: tensor<776x64xf16>, %o: tensor<136x64xf32>) -> tensor<136x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stream_k' cuts sums into parts, which a second kernel adds up; 'splits' says how many parts of a tile there is room for, 2 at least}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 32, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n32k16.f16.f32", splits = 1, persistent = true, stream_k = 4>}
      ins(%a, %b : tensor<136x776xf16>, tensor<776x64xf16>) outs(%o : tensor<136x64xf32>) -> tensor<136x64xf32>
  return %m : tensor<136x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n32k16.f16.f32"]}>} {
func.func private @OtherStrategy(%a: tensor<136x776xf16>, %b: tensor<776x64xf16>, %o: tensor<2x136x64xf32>) -> tensor<2x136x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy matrix_unit does not carry out 'stream_k' on GPUs; warp_specialized does: leave it out}}
  %r = linalg.generic {indexing_maps = [affine_map<(m, n, k, p) -> (m, k)>, affine_map<(m, n, k, p) -> (k, n)>, affine_map<(m, n, k, p) -> (p, m, n)>],
      iterator_types = ["parallel", "parallel", "reduction", "parallel"]}
      ins(%a, %b : tensor<136x776xf16>, tensor<776x64xf16>) outs(%o : tensor<2x136x64xf32>)
      attrs = {tilewright.split = array<i64: 2, 256>, tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 32, 32], warps = [2, 1, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", splits = 2, stream_k = 4>} {
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
