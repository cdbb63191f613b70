// RUN: tilewright-opt %s -tilewright-configure | FileCheck %s

// What asynchronous copies bring waits in no registers. Which operands those are is found as the pass finds it that writes them.

#target = #tilewright.target<"cuda:sm_80", "nvvm", {sm = 80, subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, async_copy, load_matrices, mma = ["mma.m16n8k16.f16.f32"]}>
module attributes {tilewright.target = #target} {
  // Rows of unknown length: 2048 elements of the next step wait in 32 registers of 64 threads, each alone.
  // CHECK-LABEL: @Ragged
  // CHECK-SAME: registers = 108
  func.func private @Ragged(%x: tensor<?x?xf16>, %y: tensor<?x?xf16>, %o: tensor<?x?xf32>) -> tensor<?x?xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
    %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 32, 32], warps = [2, 1, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%x, %y : tensor<?x?xf16>, tensor<?x?xf16>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %m : tensor<?x?xf32>
  }

  // A variant to which multiples of 8 elements are promised.
  // CHECK-LABEL: @Promised
  // CHECK-SAME: registers = 76
  func.func private @Promised(%x: tensor<?x?xf16>, %y: tensor<?x?xf16>, %o: tensor<?x?xf32>) -> tensor<?x?xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"], tilewright.divisible = array<i64: 0, 1, 8, 1, 1, 8>} {
    %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 32, 32], warps = [2, 1, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%x, %y : tensor<?x?xf16>, tensor<?x?xf16>) outs(%o : tensor<?x?xf32>) -> tensor<?x?xf32>
    return %m : tensor<?x?xf32>
  }

  // A window may begin anywhere: its tile is 8 words of each thread,
  // CHECK-LABEL: @Anywhere
  // CHECK-SAME: registers = 84
  func.func private @Anywhere(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %o: tensor<64x64xf32>) -> tensor<64x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"], tilewright.views = [strided<[72, 1], offset: ?>, unit, unit]} {
    %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 32, 32], warps = [2, 1, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %m : tensor<64x64xf32>
  }

  // … but for the variant to which it is promised that it does not.
  // CHECK-LABEL: @Aligned
  // CHECK-SAME: registers = 76
  func.func private @Aligned(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>, %o: tensor<64x64xf32>) -> tensor<64x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"], tilewright.views = [strided<[72, 1], offset: ?>, unit, unit], tilewright.aligned = array<i64: 0>} {
    %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 32, 32], warps = [2, 1, 1], stages = 3, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%x, %y : tensor<64x64xf16>, tensor<64x64xf16>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %m : tensor<64x64xf32>
  }

  // Where all is one step, nothing goes on with steps.
  // CHECK-LABEL: @OneStep
  // CHECK-SAME: registers = 62
  func.func private @OneStep(%x: tensor<64x32xf16>, %y: tensor<32x64xf16>, %o: tensor<64x64xf32>) -> tensor<64x64xf32>
      attributes {tilewright.kernel, tilewright.access = ["read", "read", "readwrite"]} {
    %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = matrix_unit, block = [32, 32, 32], warps = [2, 1, 1], stages = 2, promote = [0, 1], mma = "mma.m16n8k16.f16.f32">}
        ins(%x, %y : tensor<64x32xf16>, tensor<32x64xf16>) outs(%o : tensor<64x64xf32>) -> tensor<64x64xf32>
    return %m : tensor<64x64xf32>
  }
}
