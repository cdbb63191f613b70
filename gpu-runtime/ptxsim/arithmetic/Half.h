// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small floating-point formats, described by their field widths, and correctly rounded conversion to them from double in
// every rounding mode. Results of the half-precision arithmetic are computed in double with rounding to odd, which makes
// the final rounding the only one.

#ifndef TILEWRIGHT_PTXSIM_ARITHMETIC_HALF_H
#define TILEWRIGHT_PTXSIM_ARITHMETIC_HALF_H

#include "isa/Types.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace tilewright::ptxsim {

template <typename To, typename From> inline To bitCast(const From &from) {
  static_assert(sizeof(To) == sizeof(From), "bitCast needs equal sizes");
  To to;
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

struct SmallFormat {
  unsigned exponentBits;
  unsigned mantissaBits;
  /// e4m3: no infinities, only the all-ones pattern is NaN.
  bool finiteOnly;
  uint32_t canonicalNaN;
};

inline constexpr SmallFormat f16Format = {5, 10, false, 0x7fff};
inline constexpr SmallFormat bf16Format = {8, 7, false, 0x7fff};
inline constexpr SmallFormat tf32Format = {8, 10, false, 0x3ffff};
inline constexpr SmallFormat e4m3Format = {4, 3, true, 0x7f};
inline constexpr SmallFormat e5m2Format = {5, 2, false, 0x7f};

/// Exact.
double smallToDouble(uint32_t bits, const SmallFormat &format);

/// Rounds once, to the mode. Overflow gives infinity or, with `saturateFinite` or without infinities, the largest finite
/// value, as the mode says.
uint32_t doubleToSmall(double value, const SmallFormat &format, Rounding rounding = Rounding::Nearest,
                       bool saturateFinite = false);

/// The bits in the place that f32 has for them, times 2^112 (exact) for the difference of the exponents' biases.
inline double halfToDouble(uint64_t bits) {
  uint32_t magnitude = static_cast<uint32_t>(bits & 0x7fff) << 13;
  if ((bits & 0x7c00) == 0x7c00)
    magnitude |= 0x7f800000;
  float value = bitCast<float>(magnitude);
  if ((bits & 0x7c00) != 0x7c00)
    value *= 0x1p112f;
  return bits & 0x8000 ? -static_cast<double>(value) : static_cast<double>(value);
}
inline double bfloatToDouble(uint64_t bits) {
  return bitCast<float>(static_cast<uint32_t>(static_cast<uint16_t>(bits)) << 16);
}

/// a + b rounded to odd: inexact results get an odd last bit, so a later rounding to a much narrower format is exact.
double addToOdd(double a, double b);

} // namespace tilewright::ptxsim

#endif // TILEWRIGHT_PTXSIM_ARITHMETIC_HALF_H
