// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// Fields that no later stage would carry out.

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @Thread(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy simt_contraction does not carry out 'thread' on GPUs; on CPUs simt_contraction, reduction, streaming and attention do: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [2, 2, 1], thread = [4, 8, 1], promote = [0, 1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @PromotedTwice(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'promote' names operand 1 twice}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [2, 2, 1], promote = [1, 1, 0]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @PromotedResult(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'promote' names operand 2; the operands are operand 0 and operand 1}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [2, 2, 1], promote = [2]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @StagesOfNothing(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stages' is 2, but no operand goes through shared memory ('promote')}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [2, 2, 1], stages = 2>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @TooManyStages(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'stages' is 4, but without matrix instructions there are at most 2}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [2, 2, 1], stages = 4, promote = [0, 1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @NoPower(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'block' has 48, which is no power of two}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [48, 64, 8], warps = [2, 2, 1], promote = [0, 1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @WarpsOfSums(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 4 warps along loop 2, which is summed}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [1, 1, 4], promote = [0, 1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @MoreWarpsThanRows(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 4 warps do not divide the tile of 2 along loop 0}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [2, 64, 8], warps = [4, 1, 1], promote = [0, 1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @IdleLanes(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: a warp's part of the tile has 4 elements, which 32 lanes cannot divide among themselves}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [4, 4, 8], warps = [2, 2, 1], promote = [0, 1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

// A block computes one of a batch at a time.
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @WarpsOfBatch(%a: tensor<4x64x64xf32>, %b: tensor<4x64x64xf32>, %o: tensor<4x64x64xf32>) -> tensor<4x64x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{4 warps along loop 0, of which a block computes one at a time}}
  %m = linalg.batch_matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [1, 64, 64, 8], warps = [4, 1, 1, 1], promote = [0, 1]>}
      ins(%a, %b : tensor<4x64x64xf32>, tensor<4x64x64xf32>) outs(%o : tensor<4x64x64xf32>) -> tensor<4x64x64xf32>
  return %m : tensor<4x64x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, thread_memory = 100000}>} {
func.func private @OnePacked(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{a CPU packs both operands of a contraction, none, or operand 1, whose rows are vectors; 'promote' has the other one}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 32, 16], thread = [8, 32, 8], promote = [0]>}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, thread_memory = 100000}>} {
func.func private @RowsInPlace(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'promote' has one operand, and the other cannot be read where it is: operand 0 is widened for the product}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 32, 16], thread = [8, 32, 8], promote = [1]>}
      ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, thread_memory = 100000}>} {
func.func private @PartOfStep(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{a chunk of the sum has 20 elements ('block'), which is no multiple of the 8 of a step ('thread')}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 32, 20], thread = [8, 32, 8], promote = [0, 1]>}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, thread_memory = 4000}>} {
func.func private @LargePanels(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{needs 6656 bytes for packed panels but cpu has 4000}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [32, 32, 16], thread = [8, 32, 8], promote = [0, 1]>}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64}>} {
func.func private @StagesOfCpu(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy simt_contraction does not carry out 'stages' on CPUs; on GPUs warp_specialized, matrix_unit, simt_contraction and attention do: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 32, 1], thread = [8, 32, 1], stages = 2>}
      ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
  return %m : tensor<64x64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @ClusterOfElements(%x: tensor<64x512xf32>, %y: tensor<64x512xf32>, %o: tensor<64x512xf32>) -> tensor<64x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy streaming does not carry out 'cluster' on GPUs; warp_specialized and reduction do: leave it out}}
  %r = linalg.add {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [8, 64], warps = [4, 1], cluster = [2, 1]>}
      ins(%x, %y : tensor<64x512xf32>, tensor<64x512xf32>) outs(%o : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %r : tensor<64x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @StagesOfElements(%x: tensor<64x512xf32>, %y: tensor<64x512xf32>, %o: tensor<64x512xf32>) -> tensor<64x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy streaming does not carry out 'stages' on GPUs; warp_specialized, matrix_unit, simt_contraction and attention do: leave it out}}
  %r = linalg.add {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [8, 64], warps = [4, 1], stages = 2>}
      ins(%x, %y : tensor<64x512xf32>, tensor<64x512xf32>) outs(%o : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %r : tensor<64x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @InstructionOfElements(%x: tensor<64x512xf32>, %y: tensor<64x512xf32>, %o: tensor<64x512xf32>) -> tensor<64x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy streaming does not carry out 'mma' on GPUs; warp_specialized, matrix_unit and attention do: leave it out}}
  %r = linalg.add {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [8, 64], warps = [4, 1], mma = "mma.m16n8k16.f16.f32">}
      ins(%x, %y : tensor<64x512xf32>, tensor<64x512xf32>) outs(%o : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %r : tensor<64x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @StagesOfSums(%x: tensor<64x512xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy reduction does not carry out 'stages' on GPUs; warp_specialized, matrix_unit, simt_contraction and attention do: leave it out}}
  %r = linalg.reduce ins(%x : tensor<64x512xf32>) outs(%o : tensor<64xf32>) dimensions = [1] {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [8, 64], warps = [4, 1], stages = 2>}
    (%a: f32, %s: f32) {
      %t = arith.addf %a, %s : f32
      linalg.yield %t : f32
    }
  return %r : tensor<64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @InstructionOfThreads(%a: tensor<64x512xf32>, %b: tensor<512x512xf32>, %o: tensor<64x512xf32>) -> tensor<64x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy simt_contraction does not carry out 'mma' on GPUs; warp_specialized, matrix_unit and attention do: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 16], warps = [2, 2, 1], promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
      ins(%a, %b : tensor<64x512xf32>, tensor<512x512xf32>) outs(%o : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %m : tensor<64x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>} {
func.func private @PromoteOfFewRows(%a: tensor<1x512xf32>, %b: tensor<512x512xf32>, %o: tensor<1x512xf32>) -> tensor<1x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy skinny_contraction does not carry out 'promote' on GPUs; warp_specialized, matrix_unit, simt_contraction, reduction and attention do: leave it out}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = skinny_contraction, block = [1, 32, 64], warps = [1, 1, 4], promote = [0, 1]>}
      ins(%a, %b : tensor<1x512xf32>, tensor<512x512xf32>) outs(%o : tensor<1x512xf32>) -> tensor<1x512xf32>
  return %m : tensor<1x512xf32>
}
}

// -----

// Rows of a reduction stay in shared memory, which CPUs do not have.
module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, thread_memory = 100000}>} {
func.func private @RowsOfCpu(%x: tensor<64x512xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy reduction does not carry out 'promote' on CPUs; simt_contraction does: leave it out}}
  %r = linalg.reduce ins(%x : tensor<64x512xf32>) outs(%o : tensor<64xf32>) dimensions = [1] {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [8, 64], thread = [8, 16], promote = [0]>}
    (%a: f32, %s: f32) {
      %t = arith.addf %a, %s : f32
      linalg.yield %t : f32
    }
  return %r : tensor<64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, thread_memory = 100000}>} {
func.func private @WarpsOfCpu(%x: tensor<64x512xf32>, %y: tensor<64x512xf32>, %o: tensor<64x512xf32>) -> tensor<64x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy streaming does not carry out 'warps' on CPUs; on GPUs warp_specialized, matrix_unit, skinny_contraction, simt_contraction, reduction, streaming, attention and irregular do: leave it out}}
  %r = linalg.add {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [8, 64], thread = [1, 16], warps = [2, 1]>}
      ins(%x, %y : tensor<64x512xf32>, tensor<64x512xf32>) outs(%o : tensor<64x512xf32>) -> tensor<64x512xf32>
  return %r : tensor<64x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @OneOfTwo(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: threads multiply both operands out of shared memory; 'promote' has to name both}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [2, 2, 1], promote = [1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @RasterOfRows(%x: tensor<64x512xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'raster' is 4, but there are tiles along one loop only; leave it out}}
  %r = linalg.reduce ins(%x : tensor<64x512xf32>) outs(%o : tensor<64xf32>) dimensions = [1] {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [8, 64], warps = [1, 1], raster = 4>}
    (%a: f32, %s: f32) {
      %t = arith.addf %a, %s : f32
      linalg.yield %t : f32
    }
  return %r : tensor<64xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>} {
func.func private @WarpsOfRows(%x: tensor<64x512xf32>, %o: tensor<64xf32>) -> tensor<64xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'warps' has [4, 1], but the 4 warps of this strategy lie over the block as it lies in memory; write [1, 4]}}
  %r = linalg.reduce ins(%x : tensor<64x512xf32>) outs(%o : tensor<64xf32>) dimensions = [1] {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [8, 512], warps = [4, 1]>}
    (%a: f32, %s: f32) {
      %t = arith.addf %a, %s : f32
      linalg.yield %t : f32
    }
  return %r : tensor<64xf32>
}
}
