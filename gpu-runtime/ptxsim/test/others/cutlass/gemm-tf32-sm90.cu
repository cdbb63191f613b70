// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma takes tf32 from shared memory along k only: a, which lies the other way, is multiplied from registers.

#include "Hopper.h"

using cute::Int;
using Choice = Hopper<cutlass::tfloat32_t, float, float, cute::Shape<Int<64>, Int<64>, Int<32>>,
                      cute::Shape<Int<1>, Int<1>, Int<1>>, cutlass::gemm::KernelTmaWarpSpecialized,
                      cutlass::epilogue::NoSmemWarpSpecialized, void, cutlass::layout::ColumnMajor,
                      cutlass::layout::ColumnMajor,
                      // As many stages as fit into what is left of the shared memory: three.
                      cutlass::gemm::collective::StageCountAutoCarveout<180 * 1024>>;

RECORD_HOPPER(Choice, 64, 128, 160)
