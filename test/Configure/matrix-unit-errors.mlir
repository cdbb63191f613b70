// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

#cuda = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #cuda} {
  func.func private @tile(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
    // expected-error @below {{'block' entry 32 of loop 0 of linalg.generic is no multiple of the instruction's 16 times 4 warps}}
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 64, 32], warps = [4, 1, 1], promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) {
      ^bb0(%x: f16, %y: f16, %z: f32):
        %xe = arith.extf %x : f16 to f32
        %ye = arith.extf %y : f16 to f32
        %p = arith.mulf %xe, %ye : f32
        %s = arith.addf %z, %p : f32
        linalg.yield %s : f32
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

#cuda = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #cuda} {
  func.func private @types(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
    // expected-error @below {{matrix instruction 'mma.m16n8k16.f16.f32' is for other types}}
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 64, 32], warps = [2, 2, 1], promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%a, %b : tensor<64x64xf32>, tensor<64x64xf32>) outs(%c : tensor<64x64xf32>) {
      ^bb0(%x: f32, %y: f32, %z: f32):
        %p = arith.mulf %x, %y : f32
        %s = arith.addf %z, %p : f32
        linalg.yield %s : f32
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

#cuda = #tilewright.target<"cuda:sm_75", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 65536, registers = 255, mma = ["mma.m16n8k8.f16.f32"]}>
module attributes {tilewright.target = #cuda} {
  func.func private @absent(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {tilewright.kernel} {
    // expected-error @below {{cuda:sm_75 has no matrix instruction 'mma.m16n8k16.f16.f32'}}
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [64, 64, 32], warps = [2, 2, 1], promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%c : tensor<64x64xf32>) {
      ^bb0(%x: f16, %y: f16, %z: f32):
        %xe = arith.extf %x : f16 to f32
        %ye = arith.extf %y : f16 to f32
        %p = arith.mulf %xe, %ye : f32
        %s = arith.addf %z, %p : f32
        linalg.yield %s : f32
    } -> tensor<64x64xf32>
    return %r : tensor<64x64xf32>
  }
}

// -----

#cuda = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #cuda} {
  func.func private @ring(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel} {
    // expected-error @below {{the pinned lowering config does not fit: needs 245760 bytes of shared memory but cuda:sm_80 has 166912}}
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [128, 256, 64], warps = [2, 4, 1], stages = 5, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) {
      ^bb0(%x: f16, %y: f16, %z: f32):
        %xe = arith.extf %x : f16 to f32
        %ye = arith.extf %y : f16 to f32
        %p = arith.mulf %xe, %ye : f32
        %s = arith.addf %z, %p : f32
        linalg.yield %s : f32
    } -> tensor<512x512xf32>
    return %r : tensor<512x512xf32>
  }
}

// -----

#cuda = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #cuda} {
  func.func private @registers(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>, %c: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
    // expected-error @below {{the pinned lowering config does not fit: needs 376 registers per thread but cuda:sm_80 has 255}}
    %r = linalg.generic {
        indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
        iterator_types = ["parallel", "parallel", "reduction"],
        tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [128, 128, 32], warps = [2, 1, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%a, %b : tensor<512x512xf16>, tensor<512x512xf16>) outs(%c : tensor<512x512xf32>) {
      ^bb0(%x: f16, %y: f16, %z: f32):
        %xe = arith.extf %x : f16 to f32
        %ye = arith.extf %y : f16 to f32
        %p = arith.mulf %xe, %ye : f32
        %s = arith.addf %z, %p : f32
        linalg.yield %s : f32
    } -> tensor<512x512xf32>
    return %r : tensor<512x512xf32>
  }
}

// -----

#target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, async_copy, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #target,
    tilewright.pins = {Batch = #tilewright.lowering_config<strategy = matrix_unit, block = [2, 64, 64, 32], warps = [1, 2, 2, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}} {
func.func private @Batch(%a: tensor<3x40x32xf16>, %b: tensor<3x32x48xf16>, %c: tensor<3x40x48xf32>) -> tensor<3x40x48xf32>
    attributes {tilewright.kernel} {
  // expected-error @+1 {{the pinned lowering config does not fit: 'block' has 2 for loop 0 of linalg.batch_matmul, whose matrices a block multiplies one at a time: the entry is 1}}
  %r = linalg.batch_matmul ins(%a, %b : tensor<3x40x32xf16>, tensor<3x32x48xf16>) outs(%c : tensor<3x40x48xf32>) -> tensor<3x40x48xf32>
  return %r : tensor<3x40x48xf32>
}
}
