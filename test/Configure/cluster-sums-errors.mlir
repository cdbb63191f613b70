// RUN: tilewright-opt %s -split-input-file -tilewright-configure -verify-diagnostics

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @Steps(%a: tensor<256x192xf16>, %b: tensor<192x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 4 blocks along loop 2, which has no step of 64 for each: there are 192 elements}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 4, cluster = [1, 1, 4]>}
      ins(%a, %b : tensor<256x192xf16>, tensor<192x256xf16>) outs(%z : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @Splits(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 4 blocks along loop 2, which is summed, and 'splits' is 2; each block has one part}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 2, cluster = [1, 1, 4]>}
      ins(%a, %b : tensor<256x512xf16>, tensor<512x256xf16>) outs(%z : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @Persistent(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 4 blocks along loop 2, which is summed: 'persistent' blocks would have to wait for each other between tiles; the few tiles of sums in parts are one each: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 4, persistent = true, cluster = [1, 1, 4]>}
      ins(%a, %b : tensor<256x512xf16>, tensor<512x256xf16>) outs(%z : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @TmaStore(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 4 blocks along loop 2, which is summed: 'tma_store' stores tiles in layouts of an instruction's sums; each block's slice is stored by threads: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 4, cluster = [1, 1, 4], tma_store = true>}
      ins(%a, %b : tensor<256x512xf16>, tensor<512x256xf16>) outs(%z : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @TooMany(%a: tensor<512x512xf16>, %b: tensor<512x256xf16>, %o: tensor<512x256xf32>) -> tensor<512x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<512x256xf32>) -> tensor<512x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 4 blocks along loop 2, of 16 in all; there are 2, 4 or 8, and at most 8 in all}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 4, cluster = [4, 1, 4]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x256xf16>) outs(%z : tensor<512x256xf32>) -> tensor<512x256xf32>
  return %m : tensor<512x256xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @Three(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 3 blocks along loop 2, of 3 in all; there are 2, 4 or 8, and at most 8 in all}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 3, cluster = [1, 1, 3]>}
      ins(%a, %b : tensor<256x512xf16>, tensor<512x256xf16>) outs(%z : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @FromMemory(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 4 blocks along loop 2, which is summed, and sums begin with what is in memory; that would count once for each part}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 4, cluster = [1, 1, 4]>}
      ins(%a, %b : tensor<256x512xf16>, tensor<512x256xf16>) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @OddPairs(%a: tensor<192x512xf16>, %b: tensor<512x256xf16>, %o: tensor<192x256xf32>) -> tensor<192x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<192x256xf32>) -> tensor<192x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 4 blocks along loop 2, which is summed, and 2 along loop 0, of whose tiles there may be no multiple: all blocks of a cluster have a tile}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 4, cluster = [2, 1, 4]>}
      ins(%a, %b : tensor<192x512xf16>, tensor<512x256xf16>) outs(%z : tensor<192x256xf32>) -> tensor<192x256xf32>
  return %m : tensor<192x256xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n8k16.f16.f32"]}>} {
func.func private @Slices(%a: tensor<8x512xf16>, %b: tensor<64x512xf16>, %o: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 8 blocks along loop 2, and a tile has 8 elements along loop 0, which are no slices of two or more for each}}
  %m = linalg.matmul indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>] {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [8, 64, 64], warps = [1, 4, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n8k16.f16.f32", splits = 8, cluster = [1, 1, 8]>}
      ins(%a, %b : tensor<8x512xf16>, tensor<64x512xf16>) outs(%z : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %m : tensor<8x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @Warps(%a: tensor<256x512xf16>, %b: tensor<512x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 4 blocks along loop 2, which is summed; that is for instructions of warpgroups}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 64], warps = [4, 1, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", splits = 4, cluster = [1, 1, 4]>}
      ins(%a, %b : tensor<256x512xf16>, tensor<512x256xf16>) outs(%z : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}
}

// -----

#pixels = affine_map<(m, n, tap, k) -> (tap, m, k)>
#filters = affine_map<(m, n, tap, k) -> (tap, k, n)>
#sums = affine_map<(m, n, tap, k) -> (m, n)>
module attributes {tilewright.target = #tilewright.target<"cuda:sm_90a", "nvvm", {sm = 90, subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, index_bits = 32, load_matrices, async_copy, multicast, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n64k16.f16.f32"]}>} {
func.func private @Uneven(%a: tensor<3x256x192xf16>, %b: tensor<3x192x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %z = linalg.fill ins(%zero : f32) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 2 blocks along loop 3, inside of other summed loops, where all parts have as many whole steps; 192 elements are no multiple of 2 times 64}}
  %m = linalg.generic {indexing_maps = [#pixels, #filters, #sums], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%a, %b : tensor<3x256x192xf16>, tensor<3x192x256xf16>) outs(%z : tensor<256x256xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 64, 1, 64], warps = [4, 1, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n64k16.f16.f32", splits = 2, cluster = [1, 1, 1, 2]>} {
  ^bb0(%x: f16, %y: f16, %acc: f32):
    %v = arith.extf %x : f16 to f32
    %w = arith.extf %y : f16 to f32
    %t = arith.mulf %v, %w : f32
    %s = arith.addf %acc, %t : f32
    linalg.yield %s : f32
  } -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}
}
