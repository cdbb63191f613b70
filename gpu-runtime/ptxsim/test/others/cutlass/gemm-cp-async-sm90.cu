// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads by cp.async of a warpgroup, whose completion arrives at mbarriers.

#include "Hopper.h"

using cute::Int;
using Choice = Hopper<cutlass::bfloat16_t, float, float, cute::Shape<Int<64>, Int<64>, Int<64>>, cute::Shape<Int<1>, Int<1>, Int<1>>,
                      cutlass::gemm::KernelCpAsyncWarpSpecialized, cutlass::epilogue::NoSmemWarpSpecialized>;

RECORD_HOPPER(Choice, 64, 128, 192)
