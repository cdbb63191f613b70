// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vectorised handlers of the instructions that kernels spend their time in. They give the same results, bit for bit, as
// the general ones; FastPathTest.cpp compares the two.

#ifndef TILEWRIGHT_PTXSIM_ARITHMETIC_FASTPATHS_H
#define TILEWRIGHT_PTXSIM_ARITHMETIC_FASTPATHS_H

#include "decode/Program.h"

namespace tilewright::ptxsim {

/// The fast handler of a decoded instruction, or null where it has none.
Handler fastHandler(const Inst &inst);

/// Lanes whose row value is not zero, as a mask.
uint32_t nonZeroLanes(const uint64_t *row);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ARITHMETIC_FASTPATHS_H
