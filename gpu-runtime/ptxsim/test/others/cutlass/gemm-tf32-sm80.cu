// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The upper bits of f32 on matrix units.

#include "Ampere.h"

using cutlass::gemm::GemmShape;
using Device = cutlass::gemm::device::GemmUniversal<
    cutlass::tfloat32_t, cutlass::layout::RowMajor, cutlass::tfloat32_t, cutlass::layout::ColumnMajor, float,
    cutlass::layout::RowMajor, float, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<64, 64, 16>,
    GemmShape<32, 32, 16>, GemmShape<16, 8, 8>, cutlass::epilogue::thread::LinearCombination<float, 4, float, float>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 3>;

RECORD_AMPERE(Device, 68, 72, 80, 1)
