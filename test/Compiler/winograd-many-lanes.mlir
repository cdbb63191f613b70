// Both sides of tiles of 64 columns are more results than a block of 64 lanes exchanges through 32 KiB: tiles of fewer are taken.
//
// RUN: tilewright-compile %s --target=vulkan:1.3+subgroup=64 --list-configs | FileCheck %s
//
// CHECK: main_matmul_0
// CHECK-NEXT: #tilewright.lowering_config<strategy = skinny_contraction

func.func @main(%x: tensor<4x4x8x8x1x64xf32>, %y: tensor<1x16x16x64xf32>) -> tensor<1x16x16x64xf32> {
  %r = linalg.winograd_output_transform fmr(F_2_3) ins(%x : tensor<4x4x8x8x1x64xf32>) outs(%y : tensor<1x16x16x64xf32>) -> tensor<1x16x16x64xf32>
  return %r : tensor<1x16x16x64xf32>
}
