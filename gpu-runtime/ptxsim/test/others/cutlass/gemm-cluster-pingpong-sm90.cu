// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Four blocks: both operands are multicast.

#include "Hopper.h"

using cute::Int;
using Choice = Hopper<cutlass::bfloat16_t, cutlass::bfloat16_t, float, cute::Shape<Int<64>, Int<64>, Int<64>>, cute::Shape<Int<2>, Int<2>, Int<1>>,
                      cutlass::gemm::KernelTmaWarpSpecializedPingpong, cutlass::epilogue::TmaWarpSpecialized>;

RECORD_HOPPER(Choice, 256, 128, 320)
