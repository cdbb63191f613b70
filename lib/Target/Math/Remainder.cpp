// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The remainder of a division, exactly: what targets make of x - trunc(x / y) * y
// is wrong wherever the quotient has more digits than a float.
//
// Long division with digits of 11 bits (f64: 25). Multiples t of |y| by powers of
// two, from the first that is about as large as |x| down to |y| itself:
//
//   q = a / t, rounded to the nearest integer
//   a = a - q high - q low      where t = high + low, and `low` has a digit's bits
//
// Products and differences are exact: |a - q t| is at most t / 2. No multiply-add
// has to be fused, which Vulkan does not promise. The number of digits is that of
// the largest quotient there is; what a lane does not need changes nothing.

#include "MathBuilder.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using tilewright::math::Bits;
using tilewright::math::Float;
using tilewright::math::MathBuilder;
using tilewright::math::Truth;

/// `body` so often on these values.
static SmallVector<Float>
repeat(MathBuilder &m, int64_t times, ArrayRef<Float> values,
       llvm::function_ref<SmallVector<Float>(ArrayRef<Float>)> body) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(m.builder, m.loc, value);
  };
  SmallVector<Value> start;
  for (Float value : values)
    start.push_back(value.value);
  auto loop = scf::ForOp::create(m.builder, m.loc, index(0), index(times),
                                 index(1), start);
  OpBuilder::InsertionGuard guard(m.builder);
  m.builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Float> carried, results;
  for (Value value : loop.getRegionIterArgs())
    carried.push_back(m(value));
  SmallVector<Value> yielded;
  for (Float value : body(carried))
    yielded.push_back(value.value);
  scf::YieldOp::create(m.builder, m.loc, yielded);
  for (Value value : loop.getResults())
    results.push_back(m(value));
  return results;
}

Float tilewright::math::remainder(Float x, Float y) {
  MathBuilder &m = *x.builder;
  Float infinity = m(m.infinity());
  Float size = abs(x), divisor = abs(y);
  Truth finite = size < infinity, some = divisor > m(0);
  Truth divides = finite & some & (divisor < infinity);
  Float a = select(divides, size, m(0)), b = select(divides, divisor, m(1));

  // So large that q t may not be a number: half of it, whose remainder is doubled.
  Truth huge = a > m.either(0x1p126, 0x1p1022);
  a = select(huge, a * m(0.5), a);
  int digit = m.isDouble ? 25 : 11;
  Float up = m(std::ldexp(1.0, digit)), down = m(std::ldexp(1.0, -digit));
  // 2^2098 and 2^277 are the largest quotients.
  int64_t digits = m.isDouble ? 84 : 26;
  Float top = repeat(m, digits, {b}, [&](ArrayRef<Float> t) {
    return SmallVector<Float>{select(t[0] <= a * down, t[0] * up, t[0])};
  })[0];
  Bits upper = m.bits(-(int64_t(1) << digit));
  Float rest = repeat(m, digits + 1, {a, top}, [&](ArrayRef<Float> values) {
    Float a = values[0], t = values[1];
    Float q = m.make<mlir::math::RoundEvenOp, 0>(a / t);
    Float high = m.fromBits(m.toBits(t) & upper);
    return SmallVector<Float>{a - q * high - q * (t - high),
                              select(t > b, t * down, t)};
  })[0];
  rest = select(huge, rest + rest, rest);
  rest = select(rest < m(0), rest + b, rest);
  rest = select(rest < m(0), rest + b, rest);
  rest = select(b <= rest, rest - b, rest);

  Float result = copysign(rest, x);
  result = select(divides, result, x); // a finite number by an infinite one
  Truth defined = finite & some;       // and not by NaN
  return select(defined, result, m(m.nan()));
}
