// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The error function and its complement.
//
//   |x| <= 1:  erf x = x P(x^2)
//   above:     erfc a = e^(-a^2) Q(t) / (1 + 2 a), t = (a - 2) / (a + 2): the
//              scaled function is smooth on [0, infinity], which t maps to
//              [-1, 1]. The square's rounding error goes into the exponential.
//              In f32, erf a is a polynomial of its own up to where it rounds to 1.
//
// Near-minimax polynomials (Chebyshev), relative error below 2^-27 and 2^-57.

#include "MathBuilder.h"

using namespace tilewright::math;

static constexpr double kErfSingle[] = {
    1.1283791658483509, -0.37612626666720331, 0.11283594715160218,
    -0.026854212010626412, 0.0051890874234339740, -0.00080168642871658695,
    7.8758750626854883e-5};
static constexpr double kErfDouble[] = {
    1.1283791670955126, -0.37612638903183748, 0.11283791670954879,
    -0.026866170645076793, 0.0052239776248180145, -0.00085483269808337899,
    0.00012055331111642711, -1.4925595266831182e-5, 1.6461000484121368e-6,
    -1.6350312701054695e-7, 1.4659775274047436e-8, -1.1372848856791674e-9,
    5.9571761477489114e-11};
static constexpr double kErfcSingle[] = {
    1.2769783815525287, -0.092763759813539367, -0.16603039128745391,
    0.16404939535070092, -0.054220186051100921, -0.0080186356921772286,
    0.0087242945379763937, 0.0012166654960141197, -0.0014635116701689404,
    -0.00035717789246255338, 0.00022110545249492225, 6.3100185458788244e-5,
    -2.0108931189167087e-5};
static constexpr double kErfcDouble[] = {
    1.2769783815525287, -0.092763826585745919, -0.16603039761528934,
    0.16405128003343041, -0.054220000992042349, -0.0080340150819752831,
    0.0087226538758746611, 0.0012713389581100456, -0.0014568139491262833,
    -0.00045434075628149932, 0.00020636722448383409, 0.00015103874232474986,
    -1.5098923716599938e-6, -3.6421699337278875e-5, -1.3492685520880125e-5,
    3.7064916061729371e-6, 5.2226704756541245e-6, 1.5114425670785466e-6,
    -6.9055643759689307e-7, -8.4371626082867933e-7, -2.7430962743899564e-7,
    1.4418882817745430e-7, 1.7789335597515507e-7, 2.6121302389807337e-8,
    -4.4167724049739182e-8, -1.7168740946971526e-8, 4.4614418829222398e-9,
    2.5779290187405004e-9, 3.7735156594839204e-11};

/// erf(a) by a - kErfTailMiddle, 1 < a < kErfTailEnd; from there on it is 1.
static constexpr double kErfTailMiddle = 2.46, kErfTailEnd = 3.92;
static constexpr double kErfTailSingle[] = {
    0.99949664635944224, 0.0026562335678528208, -0.0065345179888645355,
    0.0098325029654068134, -0.0099142081430754845, 0.0067993736563449255,
    -0.0029370916393083191, 0.00045960713328092965, 0.00035577906977732581,
    -0.00029983210692684752, 7.5916105288012287e-05, 2.478698338614403e-05,
    -1.7363989750760553e-05, 8.318155313051571e-08, 1.0989250775542323e-06};

static Float erfSeries(Float x) {
  Float z = x * x;
  return x * (x.builder->isDouble ? polynomial(z, kErfDouble)
                                  : polynomial(z, kErfSingle));
}

/// erfc of a >= 0.
static Float erfcOfPositive(Float a) {
  MathBuilder &m = *a.builder;
  // Zero long before; keeps the formula finite.
  Float limit = m.either(16, 32);
  a = select(a > limit, limit, a);
  Float t = (a - m(2)) / (a + m(2));
  Float q = m.isDouble ? polynomial(t, kErfcDouble) : polynomial(t, kErfcSingle);
  Float square = a * a;
  Float lost = fma(a, a, -square);
  Float e = exp(-square);
  e = fma(e, -lost, e);
  return e * q / fma(m(2), a, m(1));
}

Float tilewright::math::erf(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  // Near 1 an absolute error is a relative one: no exponential is needed.
  Float tail = m.isDouble ? m(1) - erfcOfPositive(a)
                          : select(a > m(kErfTailEnd), m(1),
                                   polynomial(a - m(kErfTailMiddle), kErfTailSingle));
  return select(a > m(1), copysign(tail, x), erfSeries(x));
}

Float tilewright::math::erfc(Float x) {
  MathBuilder &m = *x.builder;
  Float a = abs(x);
  Float result = erfcOfPositive(a);
  result = select(x < m(0), m(2) - result, result);
  return select(a < m(0.5), m(1) - erfSeries(x), result);
}
