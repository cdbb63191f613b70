// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two warpgroups share a tile; results are stored from registers.

#include "Hopper.h"

using cute::Int;
using Choice = Hopper<cutlass::half_t, float, float, cute::Shape<Int<128>, Int<64>, Int<64>>, cute::Shape<Int<1>, Int<1>, Int<1>>,
                      cutlass::gemm::KernelTmaWarpSpecializedCooperative, cutlass::epilogue::NoSmemWarpSpecialized>;

RECORD_HOPPER(Choice, 200, 72, 200)
