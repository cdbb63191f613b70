// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One decoder and one encoder over the layout of a type; see number_formats.h.

#include "number_formats.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace tilewright::run {

namespace {

struct Layout {
  int exponentBits;
  int mantissaBits;
  int bias;
  enum { Ieee, FiniteOnly, UnsignedZero } kind = Ieee;

  /// FiniteOnly: no infinity, NaN is all ones; UnsignedZero: nor that, NaN is
  /// where -0 would be.
  bool hasInfinity() const { return kind == Ieee; }
  uint64_t allOnes() const {
    return (uint64_t(1) << (exponentBits + mantissaBits)) - 1;
  }
  /// The least magnitude that no finite number has, if there is no infinity.
  uint64_t end() const { return allOnes() + (kind == UnsignedZero); }
};

Layout layoutOf(tw_dtype dtype) {
  switch (dtype) {
  case TW_F64:
    return {11, 52, 1023};
  case TW_F32:
    return {8, 23, 127};
  case TW_F16:
    return {5, 10, 15};
  case TW_BF16:
    return {8, 7, 127};
  case TW_F8E4M3FN:
    return {4, 3, 7, Layout::FiniteOnly};
  case TW_F8E4M3FNUZ:
    return {4, 3, 8, Layout::UnsignedZero};
  case TW_F8E5M2FNUZ:
    return {5, 2, 16, Layout::UnsignedZero};
  default:
    return {5, 2, 15}; // f8E5M2
  }
}

template <typename To, typename From> To bitCast(From from) {
  To to;
  static_assert(sizeof(To) == sizeof(From));
  std::memcpy(&to, &from, sizeof(to));
  return to;
}

} // namespace

double decodeFloat(tw_dtype dtype, uint64_t bits) {
  if (dtype == TW_F64)
    return bitCast<double>(bits);
  if (dtype == TW_F32)
    return bitCast<float>(static_cast<uint32_t>(bits));
  Layout l = layoutOf(dtype);
  uint64_t mantissa = bits & ((1u << l.mantissaBits) - 1);
  int top = (1 << l.exponentBits) - 1;
  int exponent = static_cast<int>(bits >> l.mantissaBits) & top;
  bool negative = bits >> (l.mantissaBits + l.exponentBits) & 1;
  double value;
  if (l.kind == Layout::UnsignedZero && negative && !exponent && !mantissa)
    return std::numeric_limits<double>::quiet_NaN();
  if (exponent == top && l.hasInfinity())
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (l.kind == Layout::FiniteOnly && exponent == top &&
           mantissa == (1u << l.mantissaBits) - 1)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(double(mantissa), 1 - l.bias - l.mantissaBits);
  else
    value = std::ldexp(double(mantissa + (1u << l.mantissaBits)),
                       exponent - l.bias - l.mantissaBits);
  return negative ? -value : value;
}

uint64_t encodeFloat(tw_dtype dtype, double value) {
  if (dtype == TW_F64)
    return bitCast<uint64_t>(value);
  if (dtype == TW_F32)
    return bitCast<uint32_t>(static_cast<float>(value));
  Layout l = layoutOf(dtype);
  uint64_t sign = uint64_t(std::signbit(value))
                  << (l.exponentBits + l.mantissaBits);
  uint64_t overflow = l.hasInfinity()
                          ? l.allOnes() >> l.mantissaBits << l.mantissaBits
                          : l.end();
  if (std::isnan(value))
    return sign | overflow |
           (l.hasInfinity() ? uint64_t(1) << (l.mantissaBits - 1) : 0);
  double magnitude = std::fabs(value);
  if (std::isinf(value))
    return sign | overflow;
  uint64_t zero = l.kind == Layout::UnsignedZero ? 0 : sign;
  if (magnitude == 0)
    return zero;
  // magnitude = n 2^(exponent - mantissaBits), n rounded to an integer; below
  // the smallest normal exponent the same scale continues as denormals.
  int exponent;
  std::frexp(magnitude, &exponent);
  --exponent;
  int smallest = 1 - l.bias;
  bool normal = exponent >= smallest;
  int scale = (normal ? exponent : smallest) - l.mantissaBits;
  double n = std::nearbyint(std::ldexp(magnitude, -scale));
  // Rounding up to the next power of two carries into the exponent by itself.
  uint64_t bits = static_cast<uint64_t>(n);
  if (normal) {
    if (exponent > l.bias + 1)
      return sign | overflow;
    bits += uint64_t(exponent - smallest) << l.mantissaBits;
  }
  if (bits >= overflow)
    return sign | overflow;
  return bits ? sign | bits : zero;
}

double unitRoundoff(tw_dtype dtype) {
  return std::ldexp(1.0, -layoutOf(dtype).mantissaBits - 1);
}

} // namespace tilewright::run
