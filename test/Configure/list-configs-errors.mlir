// REQUIRES: tilewright-compile
// RUN: not tilewright-compile %s --target=cpu:x86-64-v4 --list-configs -o - 2>&1 | FileCheck %s

// The pinned op is the root of the kernel, and no product; one is fused in front of it.

// CHECK: error: 'linalg.generic' op the pinned lowering config does not fit:
// CHECK-NOT: Stack dump
func.func @Relu(%a: tensor<64x32xf32>, %b: tensor<32x64xf32>, %c: tensor<64x64xf32>, %o: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %zero = arith.constant 0.0 : f32
  %m = linalg.matmul ins(%a, %b : tensor<64x32xf32>, tensor<32x64xf32>) outs(%c : tensor<64x64xf32>) -> tensor<64x64xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<64x64xf32>) outs(%o : tensor<64x64xf32>)
      attrs = {tilewright.lowering_config = #tilewright.lowering_config<strategy = streaming, block = [16, 16]>} {
  ^bb0(%x: f32, %acc: f32):
    %y = arith.maximumf %x, %zero : f32
    linalg.yield %y : f32
  } -> tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}
