// RUN: tilewright-opt %s -split-input-file -verify-diagnostics -tilewright-configure

#target = #tilewright.target<"cpu:words", "cpu", {access_bytes = 64 : i64, chip = "x86-64-v4", max_threads = 1 : i64, registers = 32 : i64,
    shared_memory = 0 : i64, subgroup = 1 : i64, thread_memory = 1048576 : i64, vector_bytes = 64 : i64,
    panel_mma = ["amx.m16n16k64.s8.s32", "dot.m1n16k4.s8.s32"]}>
module attributes {tilewright.target = #target} {
  func.func private @Columns(%a: tensor<64x256xi8>, %b: tensor<256x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> attributes {tilewright.kernel} {
    // expected-error @+1 {{'thread' has 24 columns, which is no multiple of the 16 of 'dot.m1n16k4.s8.s32'}}
    %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 48, 64],
        thread = [8, 24, 8], mma = "dot.m1n16k4.s8.s32", promote = [0, 1]>}
      ins(%a, %b : tensor<64x256xi8>, tensor<256x64xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
    return %r : tensor<64x64xi32>
  }

  func.func private @Step(%a: tensor<64x256xi8>, %b: tensor<256x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> attributes {tilewright.kernel} {
    // expected-error @+1 {{'thread' has 32 elements along the sum; 'amx.m16n16k64.s8.s32' takes 64}}
    %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 64],
        thread = [16, 16, 32], mma = "amx.m16n16k64.s8.s32", promote = [0, 1]>}
      ins(%a, %b : tensor<64x256xi8>, tensor<256x64xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
    return %r : tensor<64x64xi32>
  }

  func.func private @Registers(%a: tensor<64x256xi8>, %b: tensor<256x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> attributes {tilewright.kernel} {
    // expected-error @+1 {{'thread' has 8 tiles; there are tile registers for 4}}
    %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 64],
        thread = [64, 32, 64], mma = "amx.m16n16k64.s8.s32", promote = [0, 1]>}
      ins(%a, %b : tensor<64x256xi8>, tensor<256x64xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
    return %r : tensor<64x64xi32>
  }

  func.func private @NotPacked(%a: tensor<64x256xi8>, %b: tensor<256x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> attributes {tilewright.kernel} {
    // expected-error @+1 {{'dot.m1n16k4.s8.s32' multiplies packed operands; 'promote' has to name both}}
    %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 1],
        thread = [8, 16, 1], mma = "dot.m1n16k4.s8.s32">}
      ins(%a, %b : tensor<64x256xi8>, tensor<256x64xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
    return %r : tensor<64x64xi32>
  }

  func.func private @Unknown(%a: tensor<64x256xi8>, %b: tensor<256x64xi8>, %c: tensor<64x64xi32>) -> tensor<64x64xi32> attributes {tilewright.kernel} {
    // expected-error @+1 {{cpu:words has no instruction 'dot.m1n8k4.s8.s32'}}
    %r = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 64],
        thread = [8, 16, 8], mma = "dot.m1n8k4.s8.s32", promote = [0, 1]>}
      ins(%a, %b : tensor<64x256xi8>, tensor<256x64xi8>) outs(%c : tensor<64x64xi32>) -> tensor<64x64xi32>
    return %r : tensor<64x64xi32>
  }
}
