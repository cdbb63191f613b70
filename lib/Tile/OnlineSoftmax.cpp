// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of an online softmax: of each row the largest score so far, the sum of the
// exponentials, and the factor by which all before shrinks when a larger score comes.
//
//   m' = max(m, s)      p = exp2(c s - c m')      l' = l exp2(c m - c m') + sum p      c = log2(e)
//
// `largest` starts from the lowest finite number, so that hidden scores, -inf, are no NaN. It need
// not be NaN where a score is: the score's own exponential is. What is added to scores (a mask of
// floats) may be the lowest number itself, which has no multiple: there, scores stay in natural
// units and are multiplied by log2(e) after the largest is subtracted.

#include "AttentionBlock.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

static constexpr double kLog2E = 1.4426950408889634, kLn2 = 0.6931471805599453;

void AttentionBlock::choosePowerScale() {
  bool addsMask = op.getMask() &&
                  isa<FloatType>(getElementTypeOrSelf(op.getMask().getType()));
  // The largest of scaled scores is the scaled largest of scores.
  if (!addsMask && op.getSoftcapValue() == 0 && op.getScaleValue() > 0)
    powerScale = op.getScaleValue() * kLog2E;
  if (!getElementTypeOrSelf(op.getValue().getType()).isF32())
    powerFlags = arith::FastMathFlags::afn;
}

/// Scale and cap, where they are not part of the powers.
Value AttentionBlock::scaleScores(Value values) {
  if (powerScale != 0)
    return values;
  auto type = cast<VectorType>(values.getType());
  double scale = op.getScaleValue(), cap = op.getSoftcapValue();
  if (cap == 0)
    return arith::MulFOp::create(b, loc, values, splat(type, scale));
  Value part = arith::MulFOp::create(b, loc, values, splat(type, scale / cap));
  Value bent = mlir::math::TanhOp::create(b, loc, part);
  return arith::MulFOp::create(b, loc, bent, splat(type, cap));
}

/// What no key has been seen of.
AttentionBlock::Carried AttentionBlock::start(VectorType rows) {
  // Finite, the multiple of it as well.
  double lowest = powerScale != 0 ? -1e38 / std::max(1.0, powerScale)
                                  : -3.4028234663852886e38;
  Carried first;
  first.largest = splat(rows, lowest);
  if (powerScale != 0)
    first.scaled = splat(rows, float(lowest) * float(powerScale));
  first.sum = splat(rows, 0);
  return first;
}

void AttentionBlock::largestOf(Carried &after, Value largest) {
  after.largest = largest;
  if (powerScale != 0)
    after.scaled = arith::MulFOp::create(
        b, loc, largest, splat(cast<VectorType>(largest.getType()), powerScale));
}

/// Powers of the scores' distance to the largest of their query.
Value AttentionBlock::powersOf(Value values, const Carried &after, const Scores &scores) {
  auto type = cast<VectorType>(values.getType());
  Value power;
  if (powerScale != 0) {
    Value negated = arith::NegFOp::create(b, loc, after.scaled);
    power = mlir::math::FmaOp::create(b, loc, values, splat(type, powerScale),
                                      alongQueries(negated, scores));
  } else {
    power = arith::SubFOp::create(b, loc, values, alongQueries(after.largest, scores));
    power = arith::MulFOp::create(b, loc, power, splat(type, kLog2E));
  }
  return mlir::math::Exp2Op::create(b, loc, power, powerFlags);
}

/// How much the largest grows, in powers of two; negative.
Value AttentionBlock::differenceOf(const Carried &before, const Carried &after) {
  if (powerScale != 0)
    return arith::SubFOp::create(b, loc, before.scaled, after.scaled);
  auto type = cast<VectorType>(after.largest.getType());
  Value difference = arith::SubFOp::create(b, loc, before.largest, after.largest);
  return arith::MulFOp::create(b, loc, difference, splat(type, kLog2E));
}

/// What all before shrinks by.
Value AttentionBlock::shrinkOf(Value difference) {
  return mlir::math::Exp2Op::create(b, loc, difference, powerFlags);
}

/// What results are multiplied by: 0 of queries that saw no key.
Value AttentionBlock::inverseOf(Value sum, Value &isEmpty) {
  auto type = cast<VectorType>(sum.getType());
  Value zero = splat(type, 0);
  isEmpty = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, sum, zero);
  Value inverse = arith::DivFOp::create(b, loc, splat(type, 1), sum);
  return arith::SelectOp::create(b, loc, isEmpty, zero, inverse);
}

Value AttentionBlock::logSumExp(const Carried &last, Value isEmpty) {
  auto type = cast<VectorType>(last.sum.getType());
  Value logarithm;
  if (powerScale != 0) {
    logarithm = arith::AddFOp::create(b, loc, last.scaled,
                                      mlir::math::Log2Op::create(b, loc, last.sum));
    logarithm = arith::MulFOp::create(b, loc, logarithm, splat(type, kLn2));
  } else {
    logarithm = arith::AddFOp::create(b, loc, last.largest,
                                      mlir::math::LogOp::create(b, loc, last.sum));
  }
  return arith::SelectOp::create(b, loc, isEmpty, splat(type, -INFINITY), logarithm);
}
