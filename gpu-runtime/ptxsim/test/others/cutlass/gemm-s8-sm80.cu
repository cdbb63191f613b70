// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers of 8 bits, summed in 32.

#include "Ampere.h"

using cutlass::gemm::GemmShape;
using Device = cutlass::gemm::device::GemmUniversal<
    int8_t, cutlass::layout::RowMajor, int8_t, cutlass::layout::ColumnMajor, int32_t,
    cutlass::layout::RowMajor, int32_t, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<64, 64, 64>,
    GemmShape<32, 32, 64>, GemmShape<16, 8, 32>, cutlass::epilogue::thread::LinearCombination<int32_t, 4, int32_t, int32_t>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;

RECORD_AMPERE(Device, 68, 72, 208, 1)
