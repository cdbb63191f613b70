// On sm_90a a padded convolution of a batch is copied by TMA's im2col mode, in tiles of pixels that run over rows and
// images, and stored by TMA.
//
// REQUIRES: tilewright-compile
// RUN: rm -rf %t && tilewright-compile %s --target=cuda:sm_90a --emit=ptx -o %t --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: FileCheck %s --input-file %t/cuda_sm_90a/conv_matmul_0_im2col.ptx
// RUN: tilewright-compile %s --target=cuda:sm_90a --emit=manifest -o - | tr -d ' \n' | FileCheck %s --check-prefix=MANIFEST

// EXPLAIN: variant conv_matmul_0_im2col
// EXPLAIN: strategy warp_specialized
// EXPLAIN: reads pixels of images through an im2col tensor map

// MANIFEST: "params":[{"buffer":0},{"buffer":1},{"buffer":2},
// MANIFEST-SAME: "image":{"dims":[4,56,56,64],"lower":[-1,-1],"steps":[1,1],"strides":[200704,3584,64],"upper":[-1,-1]},"swizzle":128,"tensor_map":0}

// CHECK: .target sm_90a
// CHECK: cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes
// CHECK-SAME: }], [{{.*}}], {%{{.*}}, %{{.*}}}
// CHECK: wgmma.mma_async
func.func @conv(%x: tensor<4x56x56x64xf16>, %w: tensor<3x3x64x128xf16>, %o: tensor<4x56x56x128xf32>) -> tensor<4x56x56x128xf32> {
  %zero = arith.constant 0.0 : f16
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index, %l: index):
    tensor.yield %zero : f16
  } : tensor<4x56x56x64xf16> to tensor<4x58x58x64xf16>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<4x58x58x64xf16>, tensor<3x3x64x128xf16>) outs(%o : tensor<4x56x56x128xf32>) -> tensor<4x56x56x128xf32>
  return %r : tensor<4x56x56x128xf32>
}
