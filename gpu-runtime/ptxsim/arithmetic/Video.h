// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Video instructions: integer operations on chosen bytes and halves of registers.
//
//   scalar    vadd.s32.u32.s32.sat.min d, a.b0, b.h1, c     one value each of a and b; .min, .max or .add with c
//             vadd.s32.u32.s32 d.h0, a.b0, b.h1, c          or into a part of c
//   pairs     vadd2.s32.s32.s32 d.h1, a.h03, b.h21, c       halves 0 to 3 of {b, a}, the highest lane's first;
//   fours     vadd4.u32.u32.u32.add d, a, b, c              lanes outside the mask come from c, or lanes are summed to c

#ifndef TILEWRIGHT_PTXSIM_ARITHMETIC_VIDEO_H
#define TILEWRIGHT_PTXSIM_ARITHMETIC_VIDEO_H

#include "isa/Types.h"

#include <cstdint>

namespace tilewright::ptxsim {

enum class VideoOp : uint8_t { Add, Sub, AbsDiff, Average, Min, Max, ShiftLeft, ShiftRight, Mad, Set };
enum class VideoSecond : uint8_t { None, Add, Min, Max };

/// A part of a register: `bits` wide (32: all of it), the one with this number.
struct VideoPart {
  uint8_t bits = 32;
  uint8_t number = 0;
};

/// One video instruction; the type of the result is the instruction's.
struct VideoCode {
  VideoOp op = VideoOp::Add;
  VideoSecond second = VideoSecond::None;
  ScalarType aType = ScalarType::U32, bType = ScalarType::U32;
  bool saturate = false, wrap = false;
  /// Scalar.
  VideoPart a, b, d;
  /// vmad: signs of the operands, a*b+c+1, bits to shift right.
  bool negateA = false, negateB = false, negateC = false, plusOne = false;
  uint8_t scale = 0;
  /// Pairs and fours: how many lanes, where each is taken from, which are computed.
  uint8_t lanes = 1;
  uint8_t aFrom[4] = {0, 1, 2, 3}, bFrom[4] = {0, 1, 2, 3};
  uint8_t mask = 0xff;
};

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ARITHMETIC_VIDEO_H
