// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix units of f64.

#include "Ampere.h"

using cutlass::gemm::GemmShape;
using Device = cutlass::gemm::device::GemmUniversal<
    double, cutlass::layout::ColumnMajor, double, cutlass::layout::RowMajor, double,
    cutlass::layout::RowMajor, double, cutlass::arch::OpClassTensorOp, cutlass::arch::Sm80, GemmShape<32, 32, 16>,
    GemmShape<16, 16, 16>, GemmShape<8, 8, 4>, cutlass::epilogue::thread::LinearCombination<double, 1, double, double>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, 4>;

RECORD_AMPERE(Device, 36, 40, 52, 1)
