// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// What stands against a pinned config of warps with roles.

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @NoWarpgroups(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: test has no warpgroups whose instructions multiply; cuda:sm_90a has}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @OtherInstruction(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: test has no copy engines (TMA) that fill a ring; cuda:sm_90 and newer have}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @OtherStrategy(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'wgmma.m64n128k16.f16.f32' is for strategy warp_specialized}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32">}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @OtherTypes(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: matrix instruction 'wgmma.m64n128k32.s8.s32' is for other types}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k32.s8.s32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @OneOperand(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: both operands must be in 'promote'}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @Rows(%a: tensor<512x512xf16>, %b: tensor<512x510xf16>, %o: tensor<512x510xf32>) -> tensor<512x510xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: operand 1 has rows of 1020 bytes; a tensor map needs multiples of 16}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x510xf16>) outs(%o : tensor<512x510xf32>) -> tensor<512x510xf32>
  return %m : tensor<512x510xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @WarpsAlongColumns(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: warpgroups lie along the rows, or the columns of swapped operands, and not along loop 1 beside loop 0}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [4, 2, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @NoWholeWarpgroup(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 2 warps multiply; it must be 1 to 4 warpgroups of four}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [2, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @Tile(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: the tile 64 x 128 x 64 is no multiple of 'wgmma.m64n128k16.f16.f32' on 2 warpgroups along the rows}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @NoRows(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'block' has 0, all of a dim, for loop 0 of linalg.matmul; tiles of instructions have a number of elements}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [0, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @Box(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: the tile has 512 rows or columns; boxes of a tensor map have at most 256}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [512, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @Step(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a step along the sum has 256 bytes; rows in shared memory have 32, 64 or 128, as they are swizzled}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 128], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @OneStage(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stages' is 1; a ring between warps needs 2, one of which is read while the other is filled}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 1, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @Sums(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a thread has 256 registers of sums and needs 40 registers beside them, but has 232}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [256, 256, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @OneGroup(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'registers' moves registers from the warps that copy to several warpgroups; beside one each thread has as many as it can use: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [64, 128, 64], warps = [4, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @TooMany(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'registers' asks for 66560 in all; the block of 384 threads starts with 64512}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 240]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @WrongWay(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'registers' must take from the 168 that a thread starts with where warps copy, and give where they multiply}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [176, 160]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @SharedMemory(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: needs 262272 bytes of shared memory but test has 232448}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 8, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @ForOthers(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy matrix_unit does not carry out 'registers' on GPUs; warp_specialized and attention do: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 64, 32], warps = [2, 2, 1], stages = 4, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n128k16.f16.f32"]}>} {
func.func private @ClusterAlongTheSum(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 2 blocks along loop 2, which is summed, and 'splits' is 1; each block has one part}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], cluster = [1, 1, 2]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n128k16.f16.f32"]}>} {
func.func private @ClusterAlongBoth(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 2 blocks along loop 1, and others along another loop; a tile is shared along one}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], cluster = [2, 2, 1]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n128k16.f16.f32"]}>} {
func.func private @ClusterOfThree(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 3 blocks along loop 0; it must be 2, 4 or 8}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], cluster = [3, 1, 1]>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n128k16.f16.f32"]}>} {
func.func private @ClusterOfOneTile(%a: tensor<128x512xf16>, %b: tensor<512x512xf16>, %o: tensor<128x512xf32>) -> tensor<128x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 2 blocks along loop 0, which has one tile}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], cluster = [2, 1, 1]>}
      ins(%a, %b : tensor<128x512xf16>, tensor<512x512xf16>) outs(%o : tensor<128x512xf32>) -> tensor<128x512xf32>
  return %m : tensor<128x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n128k16.f16.f32"]}>} {
func.func private @ClusterOfSums(%a: tensor<384x512xf16>, %b: tensor<512x512xf16>, %o: tensor<384x512xf32>) -> tensor<384x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'cluster' has 2 blocks along loop 0, of whose tiles there may be no multiple, and sums begin with what is in memory}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], cluster = [2, 1, 1]>}
      ins(%a, %b : tensor<384x512xf16>, tensor<512x512xf16>) outs(%o : tensor<384x512xf32>) -> tensor<384x512xf32>
  return %m : tensor<384x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n128k16.f16.f32"]}>} {
func.func private @RolesOfOthers(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy matrix_unit does not carry out 'persistent' on GPUs; warp_specialized and attention do: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [128, 128, 64], warps = [2, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", persistent = true>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n128k16.f16.f32"]}>} {
func.func private @NarrowRows(%a: tensor<512x512xf16>, %b: tensor<512x520xf16>, %o: tensor<512x520xi8>) -> tensor<512x520xi8> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x520xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x520xf32>) -> tensor<512x520xf32>
  // expected-error @+1 {{the pinned lowering config does not fit: 'tma_store': result 0 has rows of 520 bytes; a tensor map needs multiples of 16}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], tma_store = true>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x520xf16>) outs(%f : tensor<512x520xf32>) -> tensor<512x520xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<512x520xf32>) outs(%o : tensor<512x520xi8>) {
  ^bb0(%x: f32, %y: i8):
    %t = arith.fptosi %x : f32 to i8
    linalg.yield %t : i8
  } -> tensor<512x520xi8>
  return %n : tensor<512x520xi8>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k32.e4m3.f32"], warpgroup_mma = ["wgmma.m64n128k32.e4m3.f32", "wgmma.m64n256k32.e4m3.f32", "wgmma.m64n128k32.s8.s32"], float8_sum_bits = 14}>} {
func.func private @OneLevel(%a: tensor<512x512xf8E4M3FN>, %b: tensor<512x512xf8E4M3FN>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: tensor cores keep 14 bits of sums of 8-bit floats; without 'two_level_sums' that is for --fp=fast-f8-sums}}
  %m = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 128], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k32.e4m3.f32", registers = [40, 232]>}
      ins(%a, %b : tensor<512x512xf8E4M3FN>, tensor<512x512xf8E4M3FN>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k32.e4m3.f32"], warpgroup_mma = ["wgmma.m64n128k32.e4m3.f32", "wgmma.m64n256k32.e4m3.f32", "wgmma.m64n128k32.s8.s32"], float8_sum_bits = 14}>} {
func.func private @TwoLevelsOfIntegers(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>, %o: tensor<512x512xi32>) -> tensor<512x512xi32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'two_level_sums' adds partial sums of f32; those of 'wgmma.m64n128k32.s8.s32' are of another type}}
  %m = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 128], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k32.s8.s32", registers = [40, 232], two_level_sums = true>}
      ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%o : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %m : tensor<512x512xi32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k32.e4m3.f32"], warpgroup_mma = ["wgmma.m64n128k32.e4m3.f32", "wgmma.m64n256k32.e4m3.f32", "wgmma.m64n128k32.s8.s32"], float8_sum_bits = 14}>} {
func.func private @TwoLevelsOfTooMany(%a: tensor<512x512xf8E4M3FN>, %b: tensor<512x512xf8E4M3FN>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a thread has 256 sums in two levels and needs 40 registers beside them, but has 232}}
  %m = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 256, 128], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k32.e4m3.f32", registers = [40, 232], two_level_sums = true>}
      ins(%a, %b : tensor<512x512xf8E4M3FN>, tensor<512x512xf8E4M3FN>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k32.e4m3.f32"], warpgroup_mma = ["wgmma.m64n128k32.e4m3.f32", "wgmma.m64n256k32.e4m3.f32", "wgmma.m64n128k32.s8.s32"], float8_sum_bits = 14}>} {
func.func private @OfOtherStrategies(%a: tensor<512x512xf8E4M3FN>, %b: tensor<512x512xf8E4M3FN>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy matrix_unit does not carry out 'two_level_sums' on GPUs; warp_specialized does: leave it out}}
  %m = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [128, 128, 32], warps = [2, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k32.e4m3.f32", two_level_sums = true>}
      ins(%a, %b : tensor<512x512xf8E4M3FN>, tensor<512x512xf8E4M3FN>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k32.e4m3.f32"], warpgroup_mma = ["wgmma.m64n128k32.e4m3.f32", "wgmma.m64n256k32.e4m3.f32", "wgmma.m64n128k32.s8.s32"], float8_sum_bits = 14}>} {
func.func private @OperandInRegisters(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>, %o: tensor<512x512xi32>) -> tensor<512x512xi32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a thread has 160 registers of sums and of an operand and needs 40 registers beside them, but has 168}}
  %m = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [256, 128, 128], warps = [8, 1, 1], stages = 4, promote = [1], mma = "wgmma.m64n128k32.s8.s32">}
      ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%o : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %m : tensor<512x512xi32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, warpgroup_mma = ["wgmma.m64n128k32.s8.s32"]}>} {
func.func private @StoredInOrderOfRegisters(%a: tensor<512x512xi8>, %b: tensor<512x512xi8>, %o: tensor<512x512xi32>) -> tensor<512x512xi32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'tma_store': the rows of an operand in registers are neighbours in memory, and sums have the order in which threads read them}}
  %m = linalg.contract indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>]
      {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 128], warps = [8, 1, 1], stages = 4, promote = [1], mma = "wgmma.m64n128k32.s8.s32", registers = [40, 232], tma_store = true>}
      ins(%a, %b : tensor<512x512xi8>, tensor<512x512xi8>) outs(%o : tensor<512x512xi32>) -> tensor<512x512xi32>
  return %m : tensor<512x512xi32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @RegistersOfNobody(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'registers' moves registers from warps that copy, of which 'producer = false' has none: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], producer = false>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @NoProducerElsewhere(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy matrix_unit does not carry out 'producer' on GPUs; warp_specialized does: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 64, 32], warps = [2, 2, 1], stages = 4, promote = [0, 1], mma = "mma.m16n8k16.f16.f32", producer = false>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @SumsWithoutProducer(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a thread has 256 registers of sums and needs 40 registers beside them, but has 255}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [256, 256, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n256k16.f16.f32", producer = false>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @ThreadsOfAClusterCopy(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'tma_copy' is false: threads copy to their own block, and not to those of a 'cluster'}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232], cluster = [2, 1, 1], tma_copy = false>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n256k16.f16.f32", "wgmma.m64n128k16.f16.f32", "wgmma.m64n8k16.f16.f32", "wgmma.m64n128k32.s8.s32"]}>} {
func.func private @ThreeWarpgroupsCopy(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'tma_copy' is false: 3 warpgroups cannot share the copies of a step evenly; 1, 2, 4 or a 'producer' can}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [192, 128, 64], warps = [12, 1, 1], stages = 4, promote = [0, 1], mma = "wgmma.m64n128k16.f16.f32", producer = false, tma_copy = false>}
      ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, tensor_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n128k16.f16.f32"]}>} {
func.func private @RowsReduced(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  %zero = arith.constant 0.0 : f16
  %es = tensor.empty() : tensor<512xf16>
  %zs = linalg.fill ins(%zero : f16) outs(%es : tensor<512xf16>) -> tensor<512xf16>
  %s = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<512x512xf16>) outs(%zs : tensor<512xf16>) {
  ^bb0(%x: f16, %acc: f16):
    %0 = arith.maximumf %x, %acc : f16
    linalg.yield %0 : f16
  } -> tensor<512xf16>
  %er = tensor.empty() : tensor<512x512xf16>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%a, %s : tensor<512x512xf16>, tensor<512xf16>) outs(%er : tensor<512x512xf16>) {
  ^bb0(%x: f16, %most: f16, %out: f16):
    %0 = arith.divf %x, %most : f16
    linalg.yield %0 : f16
  } -> tensor<512x512xf16>
  // expected-error @+1 {{the pinned lowering config does not fit: rows of an operand are reduced before the product, and no role of warps does}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [128, 128, 64], warps = [8, 1, 1], stages = 4, promote = [1], mma = "wgmma.m64n128k16.f16.f32", registers = [40, 232]>}
      ins(%r, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

// However many registers setmaxnreg gives, one instruction names those that threads start with.
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 232448, registers = 255, access_bytes = 16, load_matrices, async_copy, mma = ["mma.m16n8k16.f16.f32"], warpgroup_mma = ["wgmma.m64n224k16.f16.f32"]}>} {
func.func private @WideInstructionOfThreeGroups(%a: tensor<576x512xf16>, %b: tensor<512x448xf16>, %o: tensor<576x448xf32>) -> tensor<576x448xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: one instruction has 112 sums of a thread and needs 26 registers beside them, but threads of 3 warpgroups start with 128}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = warp_specialized, block = [192, 224, 64], warps = [12, 1, 1], stages = 2, promote = [0, 1], mma = "wgmma.m64n224k16.f16.f32", registers = [32, 160]>}
      ins(%a, %b : tensor<576x512xf16>, tensor<512x448xf16>) outs(%o : tensor<576x448xf32>) -> tensor<576x448xf32>
  return %m : tensor<576x448xf32>
}
}
