// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two blocks of a cluster multicast the parts of b that both need.

#include "Hopper.h"

using cute::Int;
using Choice = Hopper<cutlass::half_t, float, float, cute::Shape<Int<128>, Int<64>, Int<64>>, cute::Shape<Int<2>, Int<1>, Int<1>>,
                      cutlass::gemm::KernelTmaWarpSpecializedCooperative, cutlass::epilogue::TmaWarpSpecializedCooperative>;

RECORD_HOPPER(Choice, 256, 64, 256)
