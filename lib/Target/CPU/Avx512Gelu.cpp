// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GELU (MatchGelu.cpp) is max(x, 0) - |x| Q(|x|), Q(a) = Phi(-a): a polynomial of degree 5 for
// each of sixteen parts of the range, as in Avx512Math.cpp.

#include "Avx512.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Q(a) = c[0] + c[1] d + … + c[5] d^5 for a = k / 2 + d, |d| <= 1/4, of each k: relative error
/// below 2^-23 up to 1.75, 2^-20 up to 3.25. From 5.75 on, Q is zero; kEnd is in the last part.
static constexpr double kEnd = 7.5;
static constexpr float kErfTable[][kLanes] = {
    {0.5, 0.308537573, 0.158655271, 0.0668071955, 0.0227501225, 0.00620966218, 0.00134989852,
     0.000232629929, 3.16715887e-05, 3.39775283e-06, 2.86663351e-07, 1.89907148e-08},
    {-0.398942232, -0.352065176, -0.241970643, -0.129517674, -0.0539910793, -0.0175283421,
     -0.00443183212, -0.000872660079, -0.000133819442, -1.59806714e-05, -1.48613424e-06,
     -1.07619108e-07},
    {-1.59596016e-06, 0.0880097598, 0.120981045, 0.0971395001, 0.0539937057, 0.0219114162,
     0.00664758217, 0.00152687053, 0.000267517229, 3.59266051e-05, 3.71049896e-06,
     2.95412349e-07},
    {0.0665149763, 0.0439982191, -3.84800387e-06, -0.0269772261, -0.0269883741, -0.0153350243,
     -0.00591037283, -0.00163777231, -0.000335271761, -5.14788335e-05, -5.98482484e-06,
     -5.30179079e-07},
    {-0.000164271725, -0.0198864993, -0.0199774001, -0.0061298809, 0.00437675137, 0.00588724343,
     0.00333326496, 0.00119292829, 0.000297094346, 5.35949039e-05, 7.15278429e-06,
     7.15253123e-07},
    {-0.00954371225, -0.00443537952, 0.0040321853, 0.00575997308, 0.00216536177,
     -0.000678372337, -0.00108616357, -0.000560362125, -0.000174223431, -3.68250658e-05,
     -5.55200904e-06, -6.12175256e-07}};
static constexpr float kTanhTable[][kLanes] = {
    {0.5, 0.308571994, 0.158808023, 0.0669522807, 0.0227011442, 0.00603370368, 0.0012124643,
     0.000176057161, 1.75617515e-05, 1.14153374e-06, 4.58359999e-08, 1.07740761e-09},
    {-0.398942232, -0.35188362, -0.241772026, -0.129775465, -0.0544003062, -0.0175941549,
     -0.00426553236, -0.000742461008, -8.81571614e-05, -6.76587388e-06, -3.1789989e-07,
     -8.66089422e-09},
    {-1.67159533e-06, 0.0882537588, 0.120693788, 0.0966912135, 0.0541714057, 0.0222876891,
     0.00671635894, 0.00143319508, 0.000206157521, 1.89425755e-05, 1.05361414e-06,
     3.36597061e-08},
    {0.0668452382, 0.0438743383, -0.000414498674, -0.0267181192, -0.0266001951, -0.015452507,
     -0.00611097552, -0.00165754324, -0.000297104911, -3.35077602e-05, -2.26254429e-06,
     -8.71583481e-08},
    {-0.000172043045, -0.0202138368, -0.0198277608, -0.0058087483, 0.00418695807, 0.00570069905,
     0.00340424688, 0.00126129773, 0.000295784994, 4.24186546e-05, 3.55695352e-06,
     1.66371052e-07},
    {-0.0097514065, -0.00439755805, 0.00427641813, 0.00560771441, 0.00202439143,
     -0.000564005924, -0.00103751372, -0.000591520627, -0.000185689772, -3.31831143e-05,
     -3.29505178e-06, -1.75278785e-07}};

/// x where that is positive, zero with its sign where it is negative. Of -infinity, whose product
/// with zero that is, NaN.
static Value positivePart(OpBuilder &builder, Location loc, Value x) {
  // Four bits for each class of numbers: 0 keeps the number, 2 makes a NaN quiet.
  constexpr int32_t kSignalingNaN = 2 << 4, kNegativeInfinity = 3 << 16, kNegative = 7 << 24;
  auto type = VectorType::get(kLanes, builder.getI32Type());
  auto number = [&](Type type, int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  Value table = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, kSignalingNaN | kNegativeInfinity | kNegative));
  constexpr int32_t kNoExceptions = 0, kCurrentDirection = 4;
  return callIntrinsic(builder, loc, "llvm.x86.avx512.mask.fixupimm.ps.512", x.getType(),
                       {x, x, table, number(builder.getI32Type(), kNoExceptions),
                        number(builder.getI16Type(), -1),
                        number(builder.getI32Type(), kCurrentDirection)});
}

Value tilewright::cpu::geluOf512(OpBuilder &builder, Location loc, Value row, Gelu kind) {
  using tilewright::math::Float;
  tilewright::math::MathBuilder m(builder, loc, row.getType());
  // The smaller of the magnitudes, without a sign; of NaN and a number the number.
  constexpr int32_t kLeastMagnitude = 2, kNoSign = 2 << 2;
  Float a = m(callUnmasked(builder, loc, "llvm.x86.avx512.mask.range.ps.512", row, m(kEnd).value,
                           kLeastMagnitude | kNoSign));
  // The nearest k is in the low bits, whose unit is 1/2.
  Float shifted = a + m(0x1p22), d = a - (shifted - m(0x1p22));
  Float positive = m(positivePart(builder, loc, row));
  auto tables = tablesOf(kind == Gelu::ByErf ? kErfTable : kTanhTable);
  return fma(-a, lookedUpSeries(tables, shifted, d, lookUpIn512), positive).value;
}
