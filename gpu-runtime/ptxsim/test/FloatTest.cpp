// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating-point instructions and conversions, at the edges: NaN, infinities, signed zeros, subnormal values, every
// rounding mode, saturation, and the small formats.

#include "InstructionHarness.h"
#include "cases/FloatCases.h"

using namespace tilewright::ptxsim;
using namespace tilewright::ptxsim::cases::floating;

namespace {

TEST(Float, Single) {
  for (const InstructionCase &test : single)
    checkInstruction(test);
}
TEST(Float, Double) {
  for (const InstructionCase &test : doubles)
    checkInstruction(test);
}
TEST(Float, Half) {
  for (const InstructionCase &test : halves)
    checkInstruction(test);
}
TEST(Float, Conversions) {
  for (const InstructionCase &test : conversions)
    checkInstruction(test);
}

} // namespace
