// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// 8-bit floats, added up in the matrix unit.

#include "Hopper.h"

using cute::Int;
using Choice = Hopper<cutlass::float_e4m3_t, float, float, cute::Shape<Int<64>, Int<64>, Int<128>>, cute::Shape<Int<1>, Int<1>, Int<1>>,
                      cutlass::gemm::KernelTmaWarpSpecializedPingpongFP8FastAccum, cutlass::epilogue::TmaWarpSpecialized>;

RECORD_HOPPER(Choice, 128, 96, 384)
