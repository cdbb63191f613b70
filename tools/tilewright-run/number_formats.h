// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Float types between their bits and double.
//
//   f16       s eeeee mmmmmmmmmm      bias 15
//   bf16      s eeeeeeee mmmmmmm      bias 127
//   f8E4M3FN  s eeee mmm              bias 7, no infinity, NaN = s1111111
//   f8E5M2    s eeeee mm              bias 15
//   f8E4M3FNUZ, f8E5M2FNUZ            bias 8, 16; no infinity, no -0, NaN = 0x80
#ifndef TILEWRIGHT_RUN_NUMBER_FORMATS_H
#define TILEWRIGHT_RUN_NUMBER_FORMATS_H

#include "tilewright/program_abi.h"

#include <cstdint>

namespace tilewright::run {

/// The value of a float's bits (low bits first).
double decodeFloat(tw_dtype dtype, uint64_t bits);
/// Rounds to nearest, ties to even; beyond the range to infinity, or NaN where
/// there is none.
uint64_t encodeFloat(tw_dtype dtype, double value);
/// Unit roundoff: half the distance from 1 to the next number.
double unitRoundoff(tw_dtype dtype);

} // namespace tilewright::run

#endif // TILEWRIGHT_RUN_NUMBER_FORMATS_H
