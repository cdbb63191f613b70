// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bits, of which those that differ are counted.

#include "Ampere.h"

using cutlass::gemm::GemmShape;
using Device = cutlass::gemm::device::GemmUniversal<
    cutlass::uint1b_t, cutlass::layout::RowMajor, cutlass::uint1b_t, cutlass::layout::ColumnMajor, int32_t, cutlass::layout::RowMajor, int32_t,
    cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<64, 64, 512>, GemmShape<32, 32, 512>,
    GemmShape<16, 8, 256>, cutlass::epilogue::thread::LinearCombination<int32_t, 4, int32_t, int32_t>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3, 128, 128, cutlass::arch::OpXorPopc>;

RECORD_AMPERE(Device, 68, 72, 1152, 1)
