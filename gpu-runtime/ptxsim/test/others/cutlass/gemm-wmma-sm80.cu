// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wmma, whose fragments are the compiler's secret.

#include "Ampere.h"

#include "cutlass/gemm/kernel/default_gemm_universal.h"

using cutlass::gemm::GemmShape;
using Device = cutlass::gemm::device::GemmUniversal<
    cutlass::half_t, cutlass::layout::RowMajor, cutlass::half_t, cutlass::layout::ColumnMajor, float,
    cutlass::layout::RowMajor, float, cutlass::arch::OpClassWmmaTensorOp, cutlass::arch::Sm70, GemmShape<64, 64, 32>,
    GemmShape<32, 32, 32>, GemmShape<16, 16, 16>, cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 2, 8, 8>;

RECORD_AMPERE(Device, 72, 80, 96, 1)
