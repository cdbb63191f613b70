// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sum cut into three slices: blocks add to the result one after the other, and wait for their turn by counters in global memory.

#include "Ampere.h"

using cutlass::gemm::GemmShape;
using Device = cutlass::gemm::device::GemmUniversal<
    cutlass::half_t, cutlass::layout::RowMajor, cutlass::half_t, cutlass::layout::ColumnMajor, float,
    cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<64, 64, 32>,
    GemmShape<32, 32, 32>, GemmShape<16, 8, 16>, cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;

RECORD_AMPERE(Device, 72, 64, 192, 3)
