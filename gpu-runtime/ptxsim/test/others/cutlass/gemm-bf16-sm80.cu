// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both operands along their other dim: ldmatrix transposes.

#include "Ampere.h"

using cutlass::gemm::GemmShape;
using Device = cutlass::gemm::device::GemmUniversal<
    cutlass::bfloat16_t, cutlass::layout::ColumnMajor, cutlass::bfloat16_t, cutlass::layout::RowMajor, cutlass::bfloat16_t,
    cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<64, 64, 32>,
    GemmShape<32, 32, 32>, GemmShape<16, 8, 16>, cutlass::epilogue::thread::LinearCombination<cutlass::bfloat16_t, 8, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;

RECORD_AMPERE(Device, 72, 80, 96, 1)
