// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Trigonometric functions and their inverses.
//
//   sin, cos:  x = n pi/2 + r, |r| <= pi/4, with pi/2 as a sum of three numbers
//              and fused multiply-adds; Taylor series in r. Good to 10^5 in f32
//              and 10^9 in f64; the error grows with |x| beyond.
//   atan:      |x| -> t with |t| <= tan(pi/8) by one division, plus 0, pi/4 or
//              pi/2; near-minimax polynomial in t^2
//   asin:      near-minimax polynomial up to 1/2, pi/2 - 2 asin(sqrt((1-x)/2))
//              above

#include "MathBuilder.h"

using namespace tilewright::math;

namespace {
/// Sine and cosine of x = n pi/2 + r, and n.
struct Circle {
  Float sine, cosine;
  Bits quadrant;
};
} // namespace

static Circle reduceToQuadrant(Float x) {
  MathBuilder &m = *x.builder;
  Float magic = m.either(0x1.8p23, 0x1.8p52);
  Float shifted = fma(x, m(0.63661977236758134), magic);
  Float n = -(shifted - magic);
  Float r = fma(n, m.either(1.5707963705062866, 1.5707963267948966), x);
  r = fma(n, m.either(-4.371138828673793e-08, 6.123233995736766e-17), r);
  r = fma(n, m.either(-1.7151245100058819e-15, -1.4973849048591698e-33), r);

  Float z = r * r;
  llvm::SmallVector<double> sine, cosine; // of r^3, of r^4
  double factorial = 2, sign = -1;
  for (int k = 3; k <= (m.isDouble ? 17 : 9); k += 2) {
    factorial *= k;
    sine.push_back(sign / factorial);
    factorial *= k + 1;
    sign = -sign;
    cosine.push_back(sign / factorial);
  }
  Float half = m(0.5) * z;
  Float head = m(1) - half;
  Float tail = (m(1) - head) - half;
  return {fma(r * z, polynomial(z, sine), r),
          head + fma(z * z, polynomial(z, cosine), tail),
          m.toBits(shifted)};
}

/// The value of a quadrant: the other function in odd ones, negative in two.
static Float pick(Circle circle, Bits quadrant, Float even, Float odd) {
  MathBuilder &m = *even.builder;
  Float value = select((quadrant & m.bits(1)) == m.bits(0), even, odd);
  return select((quadrant & m.bits(2)) == m.bits(0), value, -value);
}

Float tilewright::math::sin(Float x) {
  Circle circle = reduceToQuadrant(x);
  Float value = pick(circle, circle.quadrant, circle.sine, circle.cosine);
  return select(x == (*x.builder)(0), x, value); // with its sign
}

Float tilewright::math::cos(Float x) {
  MathBuilder &m = *x.builder;
  Circle circle = reduceToQuadrant(x);
  return pick(circle, circle.quadrant + m.bits(1), circle.sine, circle.cosine);
}

Float tilewright::math::tan(Float x) {
  MathBuilder &m = *x.builder;
  Circle circle = reduceToQuadrant(x);
  Truth even = (circle.quadrant & m.bits(1)) == m.bits(0);
  Float value = select(even, circle.sine, -circle.cosine) /
                select(even, circle.cosine, circle.sine);
  return select(x == m(0), x, value);
}

//===----------------------------------------------------------------------===//
// Inverses
//===----------------------------------------------------------------------===//

static constexpr double kAtanSingle[] = {
    -0.33333331761168520, 0.19999540483648963, -0.14263955597984639,
    0.10743731490791083, -0.064519282081217488};
static constexpr double kAtanDouble[] = {
    -0.33333333333333330, 0.19999999999995521, -0.14285714284666543,
    0.11111111015256362, -0.090909045781239019, 0.076921831908260866,
    -0.066645114473819480, 0.058581489128022099, -0.050854497379402599,
    0.039231658295587191, -0.019176887119062259};
static constexpr double kAsinSingle[] = {
    0.16666666337430907, 0.075000945434974235, 0.044599401528512184,
    0.031100662735494568, 0.017149238357677253, 0.033690847202830120};
static constexpr double kAsinDouble[] = {
    0.16666666666666668, 0.074999999999984329, 0.044642857146355430,
    0.030381944138531247, 0.022372172942149888, 0.017352392720869973,
    0.013971212973552933, 0.011479177415184906, 0.010322814350185779,
    0.0054575067186403583, 0.017400879442694022, -0.014851887071247203,
    0.028757851367421565};

/// What pi, as one number, leaves out.
static Float piLow(MathBuilder &m) {
  return m.either(-8.742277657347586e-08, 1.2246467991473532e-16);
}

static Float pi(MathBuilder &m) {
  return m.either(3.1415927410125732, 3.1415926535897931);
}

/// factor * pi + rest; factor is a multiple of 1/4.
static Float addPi(double factor, Float rest) {
  MathBuilder &m = *rest.builder;
  return m(factor) * pi(m) + fma(m(factor), piLow(m), rest);
}

/// atan of numerator / denominator, both positive.
static Float atanOfRatio(Float numerator, Float denominator) {
  MathBuilder &m = *numerator.builder;
  Truth middle = denominator * m(0.41421356237309503) < numerator;
  Truth large = denominator * m(2.4142135623730949) < numerator;
  Float n = select(large, -denominator,
                   select(middle, numerator - denominator, numerator));
  Float d = select(large, numerator,
                   select(middle, denominator + numerator, denominator));
  Float t = n / d;
  Float z = t * t;
  Float series = m.isDouble ? polynomial(z, kAtanDouble)
                            : polynomial(z, kAtanSingle);
  Float result = fma(t * z, series, t);
  return select(large, addPi(0.5, result),
                select(middle, addPi(0.25, result), result));
}

Float tilewright::math::atan(Float x) {
  return copysign(atanOfRatio(abs(x), (*x.builder)(1)), x);
}

Float tilewright::math::atan2(Float y, Float x) {
  MathBuilder &m = *x.builder;
  Float infinity = m(m.infinity()), zero = m(0), one = m(1);
  Float a = abs(y), b = abs(x);
  // Equal infinities are equal; nothing over nothing is nothing.
  Truth bothInfinite = (a == infinity) & (b == infinity);
  Truth bothZero = (a == zero) & (b == zero);
  // Within the range, so that sums and products below do not overflow.
  Float down = m.either(0x1p-4, 0x1p-4), up = m.either(0x1p4, 0x1p4);
  Float large = m.either(0x1p120, 0x1p1000), small = m.either(0x1p-100, 0x1p-900);
  Truth isLarge = (a > large) | (b > large);
  Truth isSmall = (a < small) & (b < small);
  Float factor = select(isLarge, down, select(isSmall, up * up, one));
  Float ratio = atanOfRatio(select(bothInfinite, one, a * factor),
                            select(bothInfinite | bothZero, one, b * factor));
  Truth left = m.toBits(x) < m.bits(0);
  Float result = select(left, addPi(1, -ratio), ratio);
  result = copysign(result, y);
  return select(isNaN(x) | isNaN(y), x + y, result);
}

/// asin(v) / v - 1 = z * series(z), z = v^2.
static Float asinSeries(Float z) {
  return z.builder->isDouble ? polynomial(z, kAsinDouble)
                             : polynomial(z, kAsinSingle);
}

Float tilewright::math::asin(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  Truth large = a > m(0.5);
  Float z = select(large, m(0.5) * (m(1) - a), a * a);
  Float v = select(large, sqrt(z), a);
  Float result = fma(v * z, asinSeries(z), v);
  result = select(large, addPi(0.5, -(result + result)), result);
  return copysign(result, x);
}

Float tilewright::math::acos(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  Truth large = a > m(0.5);
  Float z = select(large, m(0.5) * (m(1) - a), a * a);
  Float v = select(large, sqrt(z), x);
  Float result = fma(v * z, asinSeries(z), v);
  Float twice = result + result;
  return select(large, select(x < m(0), addPi(1, -twice), twice),
                addPi(0.5, -result));
}
