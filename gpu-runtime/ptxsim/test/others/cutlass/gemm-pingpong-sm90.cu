// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A warpgroup loads by tensor maps; two others take tiles in turns, each storing one while the other multiplies.

#include "Hopper.h"

using cute::Int;
using Choice = Hopper<cutlass::half_t, cutlass::half_t, float, cute::Shape<Int<64>, Int<64>, Int<64>>, cute::Shape<Int<1>, Int<1>, Int<1>>,
                      cutlass::gemm::KernelTmaWarpSpecializedPingpong, cutlass::epilogue::TmaWarpSpecialized>;

RECORD_HOPPER(Choice, 192, 128, 192)
