// A convolution with padding is one kernel: asynchronous copies leave out what is
// outside of the image, and nothing else is written than the result.
//
// REQUIRES: tilewright-compile
// RUN: rm -rf %t && tilewright-compile %s --target=cuda:sm_80 --emit=ptx -o %t --explain 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// RUN: FileCheck %s --input-file %t/cuda_sm_80/conv_matmul_0_aligned.ptx
// RUN: ls %t/cuda_sm_80 | FileCheck %s --check-prefix=FILES

// EXPLAIN-DAG: argument 0 is padded where it is read, not in memory
// EXPLAIN-DAG: asynchronous copies of 16 and 16 bytes a thread
// FILES-COUNT-2: conv_matmul_0
// FILES-NOT: conv

// CHECK-NOT: ld.global
// CHECK: setp.
// CHECK: cp.async.cg.shared.global [%{{.*}}], [%{{.*}}], 16, %r
// CHECK: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @conv(%x: tensor<4x56x56x64xf16>, %w: tensor<3x3x64x128xf16>) -> tensor<4x56x56x128xf32> {
  %h = arith.constant 0.0 : f16
  %f = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %i: index, %j: index, %c: index):
    tensor.yield %h : f16
  } : tensor<4x56x56x64xf16> to tensor<4x58x58x64xf16>
  %e = tensor.empty() : tensor<4x56x56x128xf32>
  %z = linalg.fill ins(%f : f32) outs(%e : tensor<4x56x56x128xf32>) -> tensor<4x56x56x128xf32>
  %r = linalg.conv_2d_nhwc_hwcf ins(%p, %w : tensor<4x58x58x64xf16>, tensor<3x3x64x128xf16>) outs(%z : tensor<4x56x56x128xf32>) -> tensor<4x56x56x128xf32>
  return %r : tensor<4x56x56x128xf32>
}
