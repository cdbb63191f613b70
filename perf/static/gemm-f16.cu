// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUTLASS's product of halves with sums in f32, at the tile that it uses for large ones: 128x128 by four warps, row-major
// operands as in examples/matmul-f16.mlir, DEPTH of k at a time, in STAGES stages.

#include "cutlass/gemm/device/gemm_universal.h"

using cutlass::gemm::GemmShape;
using Kernel = cutlass::gemm::device::GemmUniversal<
    cutlass::half_t, cutlass::layout::RowMajor, cutlass::half_t, cutlass::layout::RowMajor, cutlass::half_t,
    cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<128, 128, DEPTH>,
    GemmShape<64, 64, DEPTH>, GemmShape<16, 8, 16>,
    cutlass::epilogue::thread::LinearCombination<cutlass::half_t, 8, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, STAGES>::GemmKernel;

extern "C" __global__ void __launch_bounds__(Kernel::kThreadCount) gemm(__grid_constant__ const Kernel::Params params) {
  extern __shared__ __align__(16) unsigned char shared[];
  Kernel::invoke(params, *reinterpret_cast<Kernel::SharedStorage *>(shared));
}
