// A convolution is an implicit product on matrix units: the windows are read where
// they lie, 16 bytes at a time along the channels, without a division.
//
// REQUIRES: tilewright-compile
// RUN: rm -rf %t && tilewright-compile %s --target=cuda:sm_80 --emit=ptx -o %t --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: FileCheck %s --input-file %t/cuda_sm_80/conv_matmul_0_aligned.ptx

// EXPLAIN: strategy = matrix_unit, block = [1, 1, 64, 128, 1, 1, 64]

// CHECK-NOT: ld.global{{.*}}.b16
// CHECK-NOT: div.
// CHECK: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16,
// CHECK: ldmatrix.sync.aligned.m8n8.x4
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @conv(%x: tensor<4x58x58x64xf16>, %w: tensor<3x3x64x128xf16>, %o: tensor<4x56x56x128xf32>) -> tensor<4x56x56x128xf32> {
  %r = linalg.conv_2d_nhwc_hwcf ins(%x, %w : tensor<4x58x58x64xf16>, tensor<3x3x64x128xf16>) outs(%o : tensor<4x56x56x128xf32>) -> tensor<4x56x56x128xf32>
  return %r : tensor<4x56x56x128xf32>
}
