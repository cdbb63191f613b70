// RUN: tilewright-opt %s -tilewright-configure -split-input-file | FileCheck %s

// What a config leaves unused is said with what the config is: pinned, or ranked first.
module attributes {tilewright.target = #tilewright.target<"test", "nvvm", {subgroup = 32, max_threads = 1024, shared_memory = 166912, registers = 255, access_bytes = 16, mma = ["mma.m16n8k16.f16.f32"], async_copy, load_matrices}>} {
// CHECK-LABEL: func.func private @Pinned(
// CHECK-SAME: "not on matrix units: 'mma.m16n8k16.f16.f32' computes it, but this config was pinned"
func.func private @Pinned(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>, %o: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 64, 8], warps = [2, 2, 1], promote = [0, 1]>}
    ins(%a, %b : tensor<256x256xf16>, tensor<256x256xf16>) outs(%o : tensor<256x256xf32>) -> tensor<256x256xf32>
  return %m : tensor<256x256xf32>
}
}

// -----

module attributes {tilewright.target = #tilewright.target<"cpu", "cpu", {subgroup = 1, max_threads = 1, shared_memory = 0, registers = 32, access_bytes = 64, vector_bytes = 64, l2_bytes = 1048576, thread_memory = 1048576}>} {
// CHECK-LABEL: func.func private @PinnedInPlace(
// CHECK-SAME: "operands are not packed into panels: this config was pinned"
func.func private @PinnedInPlace(%a: tensor<457x512xf32>, %b: tensor<512x330xf32>, %o: tensor<457x330xf32>) -> tensor<457x330xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul {tilewright.lowering_config = #tilewright.lowering_config<strategy = simt_contraction, block = [64, 48, 64], thread = [8, 48, 1]>}
    ins(%a, %b : tensor<457x512xf32>, tensor<512x330xf32>) outs(%o : tensor<457x330xf32>) -> tensor<457x330xf32>
  return %m : tensor<457x330xf32>
}
// CHECK-LABEL: func.func private @RankedFirst(
// CHECK-SAME: "operands are not packed into panels: this config ranks first"
func.func private @RankedFirst(%a: tensor<8x64xf32>, %b: tensor<64x64xf32>, %o: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {tilewright.kernel} {
  %m = linalg.matmul ins(%a, %b : tensor<8x64xf32>, tensor<64x64xf32>) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
  return %m : tensor<8x64xf32>
}
}
