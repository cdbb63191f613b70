// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions between double and the small formats.

#include "arithmetic/Half.h"

namespace tilewright::ptxsim {
namespace {

/// Of an exponent that an ordinary double has.
double powerOfTwo(int exponent) { return bitCast<double>(static_cast<uint64_t>(exponent + 1023) << 52); }

} // namespace

double smallToDouble(uint32_t bits, const SmallFormat &format) {
  unsigned m = format.mantissaBits;
  uint32_t mantissa = bits & ((1u << m) - 1);
  int exponent = static_cast<int>(bits >> m & ((1u << format.exponentBits) - 1));
  bool negative = bits >> (m + format.exponentBits) & 1;
  int bias = (1 << (format.exponentBits - 1)) - 1;
  int maxExponent = (1 << format.exponentBits) - 1;
  double magnitude;
  if (exponent == maxExponent && !format.finiteOnly)
    magnitude = mantissa ? std::nan("") : INFINITY;
  else if (exponent == maxExponent && mantissa == (1u << m) - 1)
    magnitude = std::nan("");
  else if (exponent == 0)
    magnitude = static_cast<double>(mantissa) * powerOfTwo(1 - bias - static_cast<int>(m));
  else
    magnitude = bitCast<double>(static_cast<uint64_t>(exponent - bias + 1023) << 52 | uint64_t(mantissa) << (52 - m));
  return negative ? -magnitude : magnitude;
}

uint32_t doubleToSmall(double value, const SmallFormat &format, Rounding rounding, bool saturateFinite) {
  unsigned m = format.mantissaBits;
  uint32_t sign = std::signbit(value) ? 1u << (m + format.exponentBits) : 0;
  int bias = (1 << (format.exponentBits - 1)) - 1;
  uint32_t infinity = ((1u << format.exponentBits) - 1) << m;
  uint32_t largest = format.finiteOnly ? infinity | ((1u << m) - 2) : infinity - 1;
  if (std::isnan(value))
    return format.canonicalNaN;
  double magnitude = std::fabs(value);
  if (std::isinf(value))
    return sign | (format.finiteOnly || saturateFinite ? largest : infinity);
  if (magnitude == 0)
    return sign;
  // The common case on the bits themselves: an ordinary number of the format, to nearest.
  uint64_t doubleBits = bitCast<uint64_t>(magnitude);
  unsigned shift = 52 - m;
  if (rounding == Rounding::Nearest && doubleBits >> 52 > static_cast<uint64_t>(1023 - bias)) {
    uint64_t rounded = (doubleBits + (lowBits(shift - 1) + (doubleBits >> shift & 1))) >> shift;
    uint64_t bits = rounded - (static_cast<uint64_t>(1023 - bias) << m);
    if (bits <= largest)
      return sign | static_cast<uint32_t>(bits);
  }
  // magnitude = significand * 2^exponent with one unit being the last place of the format at that size.
  int exponent;
  std::frexp(magnitude, &exponent);
  int unit = exponent - 1 - static_cast<int>(m);
  int least = 1 - bias - static_cast<int>(m);
  if (unit < least)
    unit = least;
  double scaled = std::ldexp(magnitude, -unit);
  double whole = std::floor(scaled);
  double rest = scaled - whole;
  bool up = false;
  switch (rounding) {
  case Rounding::Nearest:
    up = rest > 0.5 || (rest == 0.5 && std::fmod(whole, 2) != 0);
    break;
  case Rounding::NearestAway:
    up = rest >= 0.5;
    break;
  case Rounding::Zero:
    break;
  case Rounding::Down:
    up = sign && rest != 0;
    break;
  case Rounding::Up:
    up = !sign && rest != 0;
    break;
  }
  // Adding the significand to the exponent field carries into the exponent where it must.
  uint64_t significand = static_cast<uint64_t>(whole) + up;
  uint64_t bits = (static_cast<uint64_t>(unit - least) << m) + significand;
  if (bits > largest) {
    bool towardsZero = rounding == Rounding::Zero || (rounding == Rounding::Down && !sign) ||
                       (rounding == Rounding::Up && sign);
    return sign | (format.finiteOnly || saturateFinite || towardsZero ? largest : infinity);
  }
  return sign | static_cast<uint32_t>(bits);
}

double addToOdd(double a, double b) {
  double sum = a + b;
  if (!std::isfinite(sum))
    return sum;
  double bPart = sum - a;
  double error = (a - (sum - bPart)) + (b - bPart);
  if (error == 0)
    return sum;
  uint64_t bits = bitCast<uint64_t>(sum);
  if (bits & 1)
    return sum;
  // The exact value lies between `sum` and its neighbour on the side of the error; the odd one of the two is wanted.
  bool awayFromZero = (error > 0) == (sum > 0);
  return bitCast<double>(awayFromZero ? bits + 1 : bits - 1);
}

} // namespace tilewright::ptxsim
