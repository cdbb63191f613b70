// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// Windows that may begin anywhere are read element by element; where their rows end within a tile, each of 128 x 16 by 64
// threads has its place and its check in registers, 96 of them, beside 16 words that wait. Of rows of two tiles none is checked.

#target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #target} {
  func.func private @Clipped(%x: tensor<512x28xf16>, %y: tensor<28x64xf16>, %o: tensor<512x64xf32>) -> tensor<512x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"], tilewright.views = [strided<[8, 1], offset: ?>, unit, unit]} {
    // expected-error @below {{the pinned lowering config does not fit: needs 296 registers per thread but cuda:sm_80 has 255}}
    %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [128, 64, 16], warps = [2, 1, 1], stages = 4, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%x, %y : tensor<512x28xf16>, tensor<28x64xf16>) outs(%o : tensor<512x64xf32>) -> tensor<512x64xf32>
    return %m : tensor<512x64xf32>
  }
}

// -----

#target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #target} {
  func.func private @Whole(%x: tensor<512x32xf16>, %y: tensor<32x64xf16>, %o: tensor<512x64xf32>) -> tensor<512x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"], tilewright.views = [strided<[8, 1], offset: ?>, unit, unit]} {
    %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [128, 64, 16], warps = [2, 1, 1], stages = 4, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%x, %y : tensor<512x32xf16>, tensor<32x64xf16>) outs(%o : tensor<512x64xf32>) -> tensor<512x64xf32>
    return %m : tensor<512x64xf32>
  }
}
