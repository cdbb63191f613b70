// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// What stands against a pinned ring that warps' instructions read.

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @Registers(%a: tensor<512x512xf16>, %b: tensor<512x768xf16>, %o: tensor<512x768xf32>) -> tensor<512x768xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'registers' moves registers between warpgroups (setmaxnreg); the warps of 'mma.m16n8k16.f16.f32' have what the block has: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [2, 2, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x768xf16>) outs(%o : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %m : tensor<512x768xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @Store(%a: tensor<512x512xf16>, %b: tensor<512x768xf16>, %o: tensor<512x768xf32>) -> tensor<512x768xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'tma_store' is for sums in layouts of warpgroups' instructions; those of 'mma.m16n8k16.f16.f32' are stored by threads: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [2, 2, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", tma_store = true>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x768xf16>) outs(%o : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %m : tensor<512x768xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @TwoLevels(%a: tensor<512x512xf16>, %b: tensor<512x768xf16>, %o: tensor<512x768xf32>) -> tensor<512x768xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'two_level_sums' is for instructions of warpgroups; leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [2, 2, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", two_level_sums = true>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x768xf16>) outs(%o : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %m : tensor<512x768xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @Cluster(%a: tensor<512x512xf16>, %b: tensor<512x768xf16>, %o: tensor<512x768xf32>) -> tensor<512x768xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster': test does not copy to several blocks at once; leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [2, 2, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", cluster = [2, 1, 1]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x768xf16>) outs(%o : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %m : tensor<512x768xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @Boxes(%a: tensor<512x512xf16>, %b: tensor<512x768xf16>, %o: tensor<512x768xf32>) -> tensor<512x768xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a warp's 96 of 192 neighbours in memory are no whole boxes of swizzled rows}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 192, 64], warps = [4, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x768xf16>) outs(%o : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %m : tensor<512x768xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @Sums(%a: tensor<512x512xf16>, %b: tensor<512x768xf16>, %o: tensor<512x768xf32>) -> tensor<512x768xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a thread has 512 registers of sums and needs 40 beside them, but has 255}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [256, 256, 64], warps = [2, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x768xf16>) outs(%o : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %m : tensor<512x768xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @OneStage(%a: tensor<512x512xf16>, %b: tensor<512x768xf16>, %o: tensor<512x768xf32>) -> tensor<512x768xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stages' is 1; a ring between warps needs 2, one of which is read while the other is filled}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [2, 2, 1], stages = 1, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x768xf16>) outs(%o : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %m : tensor<512x768xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @Step(%a: tensor<512x512xf16>, %b: tensor<512x768xf16>, %o: tensor<512x768xf32>) -> tensor<512x768xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a step along the sum has 256 bytes; rows in shared memory have 32, 64 or 128, as they are swizzled, and whole steps of 'mma.m16n8k16.f16.f32'}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 128], warps = [2, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x768xf16>) outs(%o : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %m : tensor<512x768xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @Threads(%a: tensor<512x512xf16>, %b: tensor<512x768xf16>, %o: tensor<512x768xf32>) -> tensor<512x768xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'tma_copy' is false: what threads copy for the warps of 'mma.m16n8k16.f16.f32' is strategy matrix_unit's; leave it out, or take that}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [2, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", tma_copy = false>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x768xf16>) outs(%o : tensor<512x768xf32>) -> tensor<512x768xf32>
  return %m : tensor<512x768xf32>
}
}
