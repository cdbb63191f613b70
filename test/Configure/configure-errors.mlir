// RUN: tilewright-opt %s -tilewright-configure -verify-diagnostics -split-input-file

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @SharedMemory(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: needs 135168 bytes of shared memory but test has 49152}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [128, 128, 64], warps = [2, 4, 1], stages = 2, promote = [0, 1]>}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @Threads(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: needs 2048 threads per block but test has 1024}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [8, 8, 1]>}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @Registers(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: needs 613 registers per thread but test has 255}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [128, 128, 8], warps = [1, 1, 1], promote = [0, 1]>}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @WholeDynamicDim(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'block' asks for all of loop 2 of linalg.matmul in one tile, but its extent is dynamic}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 16, 0]>}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @WrongRank(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'block' has 2 entries but linalg.matmul has 3 loops}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [16, 16]>}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @WrongStrategy(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>, %o: tensor<?x?xf32>) -> tensor<?x?xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: strategy matrix_unit multiplies by the instruction that 'mma' names, and there is none; --list-instructions prints those of the target}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [16, 16, 16]>}
      ins(%a, %b : tensor<?x?xf32>, tensor<?x?xf32>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %m : tensor<?x?xf32>
}
}

// -----

module {
// expected-error @+1 {{is in no module with 'tilewright.target'}}
func.func private @NoTarget(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  return %x : tensor<8xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @NotComputed(%x: tensor<8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{returns a value that no linalg op of the kernel computes}}
  return %x : tensor<8xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @NotProgramForm(%x: tensor<8xf32>, %o: tensor<4xf32>) -> tensor<4xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{is not part of program form: kernels hold linalg ops on tensors and scalar arithmetic; keep it on the host or normalize it}}
  %s = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  return %s : tensor<4xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @ResultOfLowerRank(%x: tensor<?xf32>, %o: tensor<?x?xf32>, %p: tensor<?xf32>) -> (tensor<?x?xf32>, tensor<?xf32>) attributes {tilewright.kernel} {
  // expected-error @+1 {{is a result of the kernel but does not run over all loops that are spread over blocks; dispatch it as a kernel of its own}}
  %e = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<?xf32>) outs(%p : tensor<?xf32>) {
  ^bb0(%0: f32, %1: f32):
    %s = math.exp %0 : f32
    linalg.yield %s : f32
  } -> tensor<?xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%e : tensor<?xf32>) outs(%o : tensor<?x?xf32>) {
  ^bb0(%0: f32, %1: f32):
    linalg.yield %0 : f32
  } -> tensor<?x?xf32>
  return %r, %e : tensor<?x?xf32>, tensor<?xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @TransposeInPlace(%o: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{operand 0 reads destination 0 elsewhere than where it is written; dispatch it as a kernel of its own}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%o : tensor<8x8xf32>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%0: f32, %1: f32):
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @StepOfPart(%x: tensor<?xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: the step 96 of the split loop does not divide the unit of its parts, 1024}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<8xf32>)
      attrs = {tilewright.split = array<i64: 0, 1024>, tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [96], splits = 8>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @MorePartsThanSteps(%x: tensor<700xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'splits' is 8, but the 700 elements of the split loop are 6 steps of 128; a partition has one at least}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<700xf32>) outs(%o : tensor<8xf32>)
      attrs = {tilewright.split = array<i64: 0, 128>, tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [128], splits = 8>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @SplitsOfWholeKernel(%x: tensor<?xf32>, %o: tensor<f32>) -> tensor<f32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'splits' is 8 but the kernel computes 1 part}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%x : tensor<?xf32>) outs(%o : tensor<f32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = reduction, block = [96], splits = 8>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}
}

// -----

#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @PartsOfInput(%x: tensor<?x8xf32>, %o: tensor<8xf32>) -> tensor<8xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{'tilewright.split' counts parts by a loop that an input has}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<?x8xf32>) outs(%o : tensor<8xf32>) attrs = {tilewright.split = array<i64: 0, 1024>} {
  ^bb0(%0: f32, %1: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}
}

// -----

// A tile that no operand asks shared memory for, but that is turned around in
// it: rows of 128 elements, padded.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @ScratchOfTranspose(%x: tensor<1024x512xf32>, %o: tensor<512x1024xf32>) -> tensor<512x1024xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: needs 67584 bytes of shared memory (67584 of them to move values between threads) but test has 49152}}
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<1024x512xf32>) outs(%o : tensor<512x1024xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [128, 128], warps = [8, 1]>} {
  ^bb0(%0: f32, %1: f32):
    linalg.yield %0 : f32
  } -> tensor<512x1024xf32>
  return %r : tensor<512x1024xf32>
}
}

// -----

// The tiles of the operands would fit; the transpose, which takes their place behind the loop, does not.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 49152, registers = 255, access_bytes = 16}>
module attributes {tilewright.target = #target} {
func.func private @OperandsAndScratch(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %c: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{needs 67584 bytes of shared memory (67584 of them to move values between threads) but test has 49152}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [128, 128, 8], warps = [2, 2, 1], stages = 2, promote = [0, 1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%m, %c : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) {
  ^bb0(%0: f32, %1: f32, %2: f32):
    %s = arith.addf %0, %1 : f32
    linalg.yield %s : f32
  } -> tensor<512x512xf32>
  return %r : tensor<512x512xf32>
}
}

// -----

// A multiprocessor has 65536 registers: 1024 threads of a block have 64 each, however many an instruction can name.
#target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, sm = 80}>
module attributes {tilewright.target = #target} {
func.func private @RegistersOfManyThreads(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>, %o: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: needs 114 registers per thread but test has 64 for each of 1024}}
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [256, 256, 8], warps = [8, 4, 1], stages = 2, promote = [0, 1]>}
      ins(%a, %b : tensor<512x512xf32>, tensor<512x512xf32>) outs(%o : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %m : tensor<512x512xf32>
}
}
