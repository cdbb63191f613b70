// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exponentials, logarithms, powers and hyperbolic functions.
//
//   exp:  x = n ln 2 + r, |r| <= ln(2)/2;  e^x = 2^n e^r, e^r by its Taylor
//         series (f32: to r^7, remainder 5e-9; f64: to r^13, 4e-18)
//   log:  x = 2^k m, sqrt(1/2) <= m < sqrt(2), f = m - 1;
//         f32: log m = f - f^2/2 + f^3 q(f), q of degree 7 with the least largest error
//         relative to log m (2^-27.2), without a division;
//         f64: s = f / (2 + f), log m = 2 s + (2/3) s^3 + (2/5) s^5 + …, |s| < 0.172
//   pow:  2^(y log2 x) with log2 x as a sum of two numbers
//
// n is found by adding and subtracting 1.5 * 2^mantissa, which rounds to an
// integer and leaves it in the low bits.

#include "MathBuilder.h"

#include <cmath>

using namespace tilewright::math;

// ln 2 = kLn2High + kLn2Low; the high part has trailing zeros, so that its
// products with exponents are exact.
static constexpr double kLn2HighSingle = 0.693138122558593750,
                        kLn2LowSingle = 9.05800061445916e-06,
                        kLn2HighDouble = 0x1.62e42fee00000p-1,
                        kLn2LowDouble = 0x1.a39ef35793c76p-33;

// log2(e), as sums, too.
static constexpr double kLog2eHighSingle = 1.4426950216293335,
                        kLog2eLowSingle = 1.9259629911266175e-08,
                        kLog2eHighDouble = 1.4426950408889634,
                        kLog2eLowDouble = 2.0355273740931033e-17;

Float tilewright::math::polynomial(Float x, llvm::ArrayRef<double> coefficients) {
  MathBuilder &m = *x.builder;
  Float result = m(coefficients.back());
  for (double c : llvm::reverse(coefficients.drop_back()))
    result = fma(result, x, m(c));
  return result;
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

namespace {
/// The nearest integer, as a float and as an integer.
struct Rounded {
  Float number;
  Bits integer;
};

/// e^r - 1 for small r, and n of the reduction.
struct Reduced {
  Float rest;
  Bits exponent;
};
} // namespace

static Rounded roundToInteger(Float x) {
  MathBuilder &m = *x.builder;
  Float magic = m.either(0x1.8p23, 0x1.8p52);
  Float shifted = x + magic;
  return {shifted - magic, m.toBits(shifted) - m.toBits(magic)};
}

static Reduced reduceExp(Float x) {
  MathBuilder &m = *x.builder;
  Rounded n = roundToInteger(x * m(1.4426950408889634));
  Float r = fma(-n.number, m.either(kLn2HighSingle, kLn2HighDouble), x);
  r = fma(-n.number, m.either(kLn2LowSingle, kLn2LowDouble), r);
  return {r, n.integer};
}

/// e^r - 1, |r| < 0.35.
static Float expm1Series(Float r) {
  MathBuilder &m = *r.builder;
  llvm::SmallVector<double> coefficients; // of r^2
  double factorial = 1;
  for (int k = 2; k <= (m.isDouble ? 13 : 7); ++k) {
    factorial *= k;
    coefficients.push_back(1 / factorial);
  }
  return fma(r * r, polynomial(r, coefficients), r);
}

/// 2^n for n within the normal exponents.
static Float powerOfTwo(Bits n) {
  MathBuilder &m = *n.builder;
  return m.fromBits((n + m.bits(m.bias())) << m.mantissa());
}

/// p * 2^n for n up to twice the normal exponents.
static Float scale(Float p, Bits n) {
  Bits half = n >> 1;
  return p * powerOfTwo(half) * powerOfTwo(n - half);
}

static Float clamp(Float x, double low, double high) {
  MathBuilder &m = *x.builder;
  x = select(x > m(high), m(high), x);
  return select(x < m(low), m(low), x);
}

Float tilewright::math::exp(Float x) {
  MathBuilder &m = *x.builder;
  // Beyond these, the result is infinite or rounds to zero.
  x = m.isDouble ? clamp(x, -746, 710) : clamp(x, -104, 89);
  Reduced reduced = reduceExp(x);
  return scale(expm1Series(reduced.rest) + m(1), reduced.exponent);
}

/// 2^(x + low) for |low| much smaller than 1.
static Float exp2Sum(Float x, Float low) {
  MathBuilder &m = *x.builder;
  Rounded n = roundToInteger(x);
  Float rest = ((x - n.number) + low) * m(0.69314718055994531);
  return scale(expm1Series(rest) + m(1), n.integer);
}

Float tilewright::math::exp2(Float x) {
  MathBuilder &m = *x.builder;
  x = m.isDouble ? clamp(x, -1076, 1025) : clamp(x, -151, 129);
  return exp2Sum(x, m(0));
}

/// The exponent is added to the bits of a number of [0.7, 1.5]. Its series is that of least
/// error among those of degree 6 that are 1 at 0: 2e-9, and with rounding one unit in the
/// last place.
Float tilewright::math::exp2Flushed(Float x) {
  MathBuilder &m = *x.builder;
  assert(!m.isDouble && "of f32 alone");
  x = clamp(x, -127, 128);
  Float shifted = x + m(0x1.8p23);
  Float rest = x - (shifted - m(0x1.8p23));
  Float power = polynomial(rest, {1, 0.6931472028550816, 0.24022647913626272,
                                  0.0555033247110038, 0.009618437357853268,
                                  0.0013398874422113915, 0.00015353361879089558});
  return m.fromBits(m.toBits(power) + (m.toBits(shifted) << m.mantissa()));
}

/// Without the sign of zero.
static Float expm1Unsigned(Float x) {
  MathBuilder &m = *x.builder;
  x = m.isDouble ? clamp(x, -40, 710) : clamp(x, -19, 89);
  Reduced reduced = reduceExp(x);
  // 2^n (e^r - 1) + (2^n - 1) by halves, so that 2^n itself cannot overflow.
  Float half = powerOfTwo(reduced.exponent - m.bits(1));
  Float result = fma(half, expm1Series(reduced.rest), half - m(0.5));
  return result + result;
}

Float tilewright::math::expm1(Float x) {
  return select(x == (*x.builder)(0), x, expm1Unsigned(x));
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// x = 2^power (1 + f), sqrt(1/2) <= 1 + f < sqrt(2), for positive x.
struct Split {
  Bits power; // the exponent as an integer
  Float exponent, f;
};
} // namespace

static Split split(Float x) {
  MathBuilder &m = *x.builder;
  int up = m.mantissa() + 2;
  Truth tiny = x < m(m.minNormal());
  x = select(tiny, x * m(std::ldexp(1.0, up)), x);
  Bits root = m.toBits(m(0.70710678118654752));
  Bits above = m.toBits(x) - root;
  Bits exponent = above >> m.mantissa();
  Bits fraction = above & m.bits((int64_t(1) << m.mantissa()) - 1);
  exponent = select(tiny, exponent - m.bits(up), exponent);
  return {exponent, m.toFloat(exponent), m.fromBits(fraction + root) - m(1)};
}

/// 2/5 + (2/7) z + (2/9) z^2 + …, z < 0.0295.
static Float logSeriesRest(Float z) {
  llvm::SmallVector<double> coefficients;
  for (int k = 5; k <= (z.builder->isDouble ? 23 : 11); k += 2)
    coefficients.push_back(2.0 / k);
  return polynomial(z, coefficients);
}

/// 2/3 + (2/5) z + (2/7) z^2 + …
static Float logSeries(Float z) {
  return fma(logSeriesRest(z), z, (*z.builder)(2.0 / 3));
}

/// log(1 + f) - f + low, for f of a split.
static Float logRest(Float f, Float low) {
  MathBuilder &m = *f.builder;
  if (!m.isDouble) {
    Float cubes = polynomial(f, {0.3333333134651184, -0.2500081956386566, 0.20001226663589478,
                                 -0.16623356938362122, 0.14201757311820984, -0.13160182535648346,
                                 0.1276157647371292, -0.07634496688842773});
    return fma(f * f, fma(cubes, f, m(-0.5)), low);
  }
  Float s = f / (m(2) + f);
  Float z = s * s;
  Float halfSquare = m(0.5) * f * f;
  return fma(s, fma(z, logSeries(z), halfSquare), low) - halfSquare;
}

/// log(1 + f) (unit + unitLow), for f of a split.
static Float scaledLog(Float f, Float unit, Float unitLow) {
  Float rest = logRest(f, (*f.builder)(0));
  return fma(f, unit, fma(f, unitLow, rest * unit));
}

/// Results of a logarithm where x is not a positive number.
static Float logEdges(Float x, Float result) {
  MathBuilder &m = *x.builder;
  result = select(x == m(m.infinity()), x, result);
  result = select(x == m(0), m(-m.infinity()), result);
  return select((x < m(0)) | isNaN(x), m(m.nan()), result);
}

/// log(2^exponent (1 + f)).
static Float logOfSplit(Split parts) {
  MathBuilder &m = *parts.f.builder;
  Float low = parts.exponent * m.either(kLn2LowSingle, kLn2LowDouble);
  return fma(parts.exponent, m.either(kLn2HighSingle, kLn2HighDouble),
             parts.f + logRest(parts.f, low));
}

Float tilewright::math::log(Float x) { return logEdges(x, logOfSplit(split(x))); }

Float tilewright::math::log2(Float x) {
  MathBuilder &m = *x.builder;
  Split parts = split(x);
  Float fraction = scaledLog(parts.f, m.either(kLog2eHighSingle, kLog2eHighDouble),
                             m.either(kLog2eLowSingle, kLog2eLowDouble));
  return logEdges(x, fraction + parts.exponent);
}

Float tilewright::math::log10(Float x) {
  MathBuilder &m = *x.builder;
  Split parts = split(x);
  Float fraction = scaledLog(parts.f, m.either(0.4342944920063019, 0.4342944819032518),
                             m.either(-1.0103050052231683e-08, 1.098319650216765e-17));
  return logEdges(x, fma(parts.exponent, m(0.30102999566398120), fraction));
}

Float tilewright::math::log1p(Float x) {
  MathBuilder &m = *x.builder;
  Float u = m(1) + x;
  // 1 + x = 2^k (1 + f + lost), where the sum lost 2^k lost, which is nothing beside a large log.
  Split parts = split(u);
  Float lost = (x - (u - m(1))) * powerOfTwo(m.bits(0) - parts.power);
  parts.f = parts.f + select(u < m.either(0x1p30, 0x1p60), lost, m(0));
  Float result = logEdges(u, logOfSplit(parts));
  return select(x == m(0), x, result);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

namespace {
struct Sum {
  Float high, low;
};
} // namespace

/// a + b for |a| >= |b|, exactly.
static Sum addExactly(Float a, Float b) {
  Float high = a + b;
  return {high, b - (high - a)};
}

/// log2 of a positive number to about 1.5 times the digits.
static Sum log2Sum(Float x) {
  MathBuilder &m = *x.builder;
  Split parts = split(x);
  Float f = parts.f;
  // s = f / (2 + f), twice as precise.
  Sum sum = addExactly(m(2), f);
  Float inverse = m(1) / sum.high;
  Float s = f * inverse;
  Float sLow = (fma(-s, sum.high, f) - s * sum.low) * inverse;
  // s^3 (2/3 + (2/5) s^2 + …), a hundredth of 2 s, as a sum, too.
  Float z = s * s;
  Float zLow = fma(s, s, -z) + (s + s) * sLow;
  Float cube = s * z;
  Float cubeLow = fma(s, z, -cube) + fma(s, zLow, sLow * z);
  Float first = m(2.0 / 3);
  Sum series = addExactly(first, z * logSeriesRest(z));
  series.low = series.low + m.either(-1.9868214925130207e-08, 3.700743415417188e-17);
  Float term = cube * series.high;
  Float termLow = fma(cube, series.high, -term) + fma(cube, series.low, cubeLow * series.high);
  Sum natural = addExactly(s + s, term);
  natural.low = natural.low + ((sLow + sLow) + termLow);
  // Times log2(e), plus the exponent.
  Float e = m.either(kLog2eHighSingle, kLog2eHighDouble);
  Float eLow = m.either(kLog2eLowSingle, kLog2eLowDouble);
  Float high = natural.high * e;
  Float low = fma(natural.high, e, -high);
  low = fma(natural.high, eLow, fma(natural.low, e, low));
  Sum result = addExactly(parts.exponent, high);
  return {result.high, result.low + low};
}

Float tilewright::math::pow(Float x, Float y) {
  MathBuilder &m = *x.builder;
  Float zero = m(0), one = m(1), infinity = m(m.infinity());
  Float a = abs(x);
  Sum log = log2Sum(a);
  Truth finite = (zero < a) & (a < infinity);
  log.high = select(finite, log.high,
                    select(a == zero, -infinity, infinity));
  log.low = select(finite, log.low, zero);
  Float e = y * log.high;
  Float low = fma(y, log.high, -e) + y * log.low;
  double least = m.isDouble ? -1076 : -151, most = m.isDouble ? 1025 : 129;
  Truth inside = (m(least) < e) & (e < m(most));
  low = select(inside, low, zero);
  Float result = exp2Sum(clamp(e, least, most), low);

  // The sign: negative for negative x and odd y; no value for other fractions.
  Float half = y * m(0.5);
  auto whole = [&](Float v) {
    return v == m(mlir::math::TruncOp::create(m.builder, m.loc, v.value));
  };
  Truth isWhole = whole(y);
  Truth isEven = whole(half);
  Truth negative = m.toBits(x) < m.bits(0);
  Truth noValue = (x < zero) & (-infinity < x);
  result = select(noValue, select(isWhole, result, m(m.nan())), result);
  Float signedResult = select(isEven, result, -result);
  result = select(negative, select(isWhole, signedResult, result), result);
  result = select(isNaN(x) | isNaN(y), x + y, result);
  // (-1)^infinity is 1: |x| = 1 has logarithm 0, and 0 * infinity is NaN.
  result = select((a == one) & (abs(y) == infinity), one, result);
  return select((y == zero) | (x == one), one, result);
}

Float tilewright::math::cbrt(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  // Scaled by a cube away from both ends of the range.
  Truth tiny = a < m.either(0x1p-60, 0x1p-500);
  Truth huge = a > m.either(0x1p60, 0x1p500);
  auto choose = [&](double down, double up) {
    return select(tiny, m(up), select(huge, m(down), m(1)));
  };
  Float scaled = a * (m.isDouble ? choose(0x1p-600, 0x1p600)
                                 : choose(0x1p-90, 0x1p90));
  // A third of the bits is a third of the exponent: 5 % error. Each step of
  // Halley's iteration cubes it.
  Bits guess = divideUnsigned(m.toBits(scaled), 3) +
               m.bits(m.isDouble ? 0x2a9f7893782da1ce : 0x2a5137a0);
  Float t = m.fromBits(guess);
  for (int step = 0; step < (m.isDouble ? 3 : 2); ++step) {
    Float cube = t * t * t;
    t = t - t * (cube - scaled) / (cube + cube + scaled);
  }
  t = t * (m.isDouble ? choose(0x1p200, 0x1p-200) : choose(0x1p30, 0x1p-30));
  Truth usual = (m(0) < a) & (a < m(m.infinity()));
  return select(usual, copysign(t, x), x);
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

Float tilewright::math::sinh(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  Float e = expm1Unsigned(a);
  Float result = m(0.5) * (e + e / (e + m(1)));
  // e^a may be infinite where half of it is not.
  Float root = exp(a * m(0.5));
  result = select(a > m.either(80, 700), m(0.5) * root * root, result);
  return copysign(result, x);
}

Float tilewright::math::cosh(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  Float e = exp(a);
  Float result = m(0.5) * e + m(0.5) / e;
  Float root = exp(a * m(0.5));
  return select(a > m.either(80, 700), m(0.5) * root * root, result);
}

Float tilewright::math::tanh(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  a = select(a > m.either(10, 22), m.either(10, 22), a);
  // With e = e^2a - 1: e / (e + 2), or 1 - 2 / (e + 2) where that loses less.
  Float e = expm1Unsigned(a + a);
  Truth small = a < m(0.55);
  Float q = select(small, e, m(2)) / (e + m(2));
  return copysign(select(small, q, m(1) - q), x);
}

Float tilewright::math::asinh(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  Float square = a * a;
  Float result = log1p(a + square / (m(1) + sqrt(m(1) + square)));
  Float large = log(a) + m(0.69314718055994531);
  return copysign(select(a > m.either(0x1p14, 0x1p28), large, result), x);
}

Float tilewright::math::acosh(Float x) {
  MathBuilder &m = *x.builder;
  Float t = x - m(1);
  Float result = log1p(t + sqrt(fma(t, t, t + t)));
  Float large = log(x) + m(0.69314718055994531);
  result = select(x > m.either(0x1p14, 0x1p28), large, result);
  return select(x < m(1), m(m.nan()), result);
}

Float tilewright::math::atanh(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  return copysign(m(0.5) * log1p((a + a) / (m(1) - a)), x);
}
