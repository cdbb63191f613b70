// RUN: tilewright-opt %s -tilewright-configure -split-input-file -verify-diagnostics

// Windows whose strides only a launch tells, of operands of 2^31 elements and more: each of 256 x 32 by 8 x 128 pieces of a thread has
// its offset, place and address of 64 bits in registers, 64 of them.

#target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #target} {
  func.func private @Wide(%x: tensor<512x64xf16>, %y: tensor<64x64xf16>, %o: tensor<512x64xf32>) -> tensor<512x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"], tilewright.index_bits = 64, tilewright.views = [strided<[?, 1], offset: ?>, unit, unit]} {
    // expected-error @below {{the pinned lowering config does not fit: needs 280 registers per thread but cuda:sm_80 has 255}}
    %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [256, 64, 32], warps = [4, 1, 1], stages = 4, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%x, %y : tensor<512x64xf16>, tensor<64x64xf16>) outs(%o : tensor<512x64xf32>) -> tensor<512x64xf32>
    return %m : tensor<512x64xf32>
  }
}

// -----

#target = #tilewright.target<"cuda:sm_80", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #target} {
  func.func private @Narrow(%x: tensor<512x64xf16>, %y: tensor<64x64xf16>, %o: tensor<512x64xf32>) -> tensor<512x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"], tilewright.views = [strided<[?, 1], offset: ?>, unit, unit]} {
    %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [256, 64, 32], warps = [4, 1, 1], stages = 4, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%x, %y : tensor<512x64xf16>, tensor<64x64xf16>) outs(%o : tensor<512x64xf32>) -> tensor<512x64xf32>
    return %m : tensor<512x64xf32>
  }
}
