// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How each floating-point type is loaded from a row, computed with, and stored back: flushing of subnormals where asked,
// one rounding, and the canonical NaN of the type.

#ifndef TILEWRIGHT_PTXSIM_ARITHMETIC_FLOATTYPES_H
#define TILEWRIGHT_PTXSIM_ARITHMETIC_FLOATTYPES_H

#include "arithmetic/Half.h"

#include <cfloat>

namespace tilewright::ptxsim {

struct F32 {
  using Value = float;
  static float flush(float value) { return std::fabs(value) < FLT_MIN ? std::copysign(0.0f, value) : value; }
  static float load(uint64_t bits, bool ftz) {
    float value = bitCast<float>(static_cast<uint32_t>(bits));
    return ftz ? flush(value) : value;
  }
  static uint64_t store(float value, bool ftz, Rounding) {
    if (ftz)
      value = flush(value);
    return value != value ? 0x7fffffffu : bitCast<uint32_t>(value);
  }
  static float add(float a, float b) { return a + b; }
  static float mul(float a, float b) { return a * b; }
  static float fma(float a, float b, float c) { return std::fma(a, b, c); }
};

struct F64 {
  using Value = double;
  static double load(uint64_t bits, bool) { return bitCast<double>(bits); }
  static uint64_t store(double value, bool, Rounding) {
    return value != value ? 0xfff8000000000000ull : bitCast<uint64_t>(value);
  }
  static double add(double a, double b) { return a + b; }
  static double mul(double a, double b) { return a * b; }
  static double fma(double a, double b, double c) { return std::fma(a, b, c); }
};

/// The 16-bit formats: values in double, sums rounded to odd so that store() rounds once. Products of two are exact.
template <const SmallFormat &Format> struct Small {
  using Value = double;
  static double smallestNormal() { return std::ldexp(1.0, 2 - (1 << (Format.exponentBits - 1))); }
  static double flush(double value) {
    return std::fabs(value) < smallestNormal() ? std::copysign(0.0, value) : value;
  }
  static double load(uint64_t bits, bool ftz) {
    double value = smallToDouble(static_cast<uint16_t>(bits), Format);
    return ftz ? flush(value) : value;
  }
  static uint64_t store(double value, bool ftz, Rounding rounding) {
    uint32_t bits = doubleToSmall(value, Format, rounding);
    uint32_t exponent = bits >> Format.mantissaBits & ((1u << Format.exponentBits) - 1);
    if (ftz && exponent == 0)
      bits &= 0x8000;
    return bits;
  }
  static double add(double a, double b) { return addToOdd(a, b); }
  static double mul(double a, double b) { return a * b; }
  static double fma(double a, double b, double c) { return addToOdd(a * b, c); }
};
using F16 = Small<f16Format>;
using BF16 = Small<bf16Format>;

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ARITHMETIC_FLOATTYPES_H
