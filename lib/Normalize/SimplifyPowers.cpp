// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-simplify-powers: powers of constant exponents, as front ends spell squares and roots,
// without the logarithm that any other power takes (over a hundred instructions):
//
//   %y = math.powf %x, 2.0     ->    %y = arith.mulf %x, %x
//   %y = math.powf %x, 3.0     ->    %s = arith.mulf %x, %x    %y = arith.mulf %s, %x
//   %y = math.powf %x, 0.5     ->    math.sqrt of %x + 0.0, of infinity where %x is -infinity
//   %y = math.powf %x, -0.5    ->    math.rsqrt of the same
//   %y = math.fpowi %x, -2     ->    %r = arith.divf 1.0, %x   %y = arith.mulf %r, %r
//
// Exponents are 0, 1, -1, 2, -2, 3, 4, 0.5 and -0.5. Zeros, infinities and NaN are what C's
// pow makes of them. Third and fourth powers of f16 and bf16 are computed in f32, so that they are
// rounded once.

#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SIMPLIFYPOWERSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The exponent of a power, where it is a constant.
static std::optional<double> constantExponent(Operation *op) {
  if (auto power = dyn_cast<math::PowFOp>(op)) {
    APFloat exponent(0.0);
    if (!matchPattern(power.getRhs(), m_ConstantFloat(&exponent)))
      return std::nullopt;
    bool inexact;
    exponent.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    return exponent.convertToDouble();
  }
  APInt exponent;
  if (auto power = dyn_cast<math::FPowIOp>(op))
    if (matchPattern(power.getRhs(), m_ConstantInt(&exponent)) && exponent.isSignedIntN(64))
      return double(exponent.getSExtValue());
  return std::nullopt;
}

namespace {
/// Powers of `x` in front of an op.
struct Powers {
  OpBuilder &b;
  Location loc;
  Value x;

  Value number(double value) {
    return arith::ConstantOp::create(b, loc, b.getFloatAttr(x.getType(), value));
  }
  Value times(Value lhs, Value rhs) { return arith::MulFOp::create(b, loc, lhs, rhs); }
  Value inverse() { return arith::DivFOp::create(b, loc, number(1), x); }
  /// The root of -0 is 0, that of -infinity infinity.
  Value radicand() {
    double infinity = std::numeric_limits<double>::infinity();
    Value isLeast = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, x, number(-infinity));
    Value positive = arith::AddFOp::create(b, loc, x, number(0));
    return arith::SelectOp::create(b, loc, isLeast, number(infinity), positive);
  }
};
} // namespace

/// x^exponent, or null where it takes a logarithm.
static Value simplify(OpBuilder &b, Location loc, Value x, double exponent) {
  Powers of{b, loc, x};
  if (exponent == 0)
    return of.number(1);
  if (exponent == 1)
    return x;
  if (exponent == -1)
    return of.inverse();
  if (exponent == 2)
    return of.times(x, x);
  if (exponent == 0.5)
    return math::SqrtOp::create(b, loc, of.radicand());
  if (exponent == -0.5)
    return math::RsqrtOp::create(b, loc, of.radicand());
  if (exponent == 3)
    return of.times(of.times(x, x), x);
  if (exponent == 4) {
    Value square = of.times(x, x);
    return of.times(square, square);
  }
  if (exponent == -2) {
    Value inverse = of.inverse();
    return of.times(inverse, inverse);
  }
  return Value();
}

static void simplifyPower(Operation *op, double exponent) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Value x = op->getOperand(0);
  Type type = x.getType();
  bool isNarrow = type.isF16() || type.isBF16();
  if (!isNarrow && !type.isF32() && !type.isF64())
    return;
  bool isRoundedTwice = llvm::is_contained({3.0, 4.0, -2.0, -0.5}, exponent);
  Value result;
  if (isNarrow && isRoundedTwice) {
    result = simplify(b, loc, arith::ExtFOp::create(b, loc, b.getF32Type(), x), exponent);
    result = arith::TruncFOp::create(b, loc, type, result);
  } else {
    result = simplify(b, loc, x, exponent);
  }
  if (!result)
    return;
  op->getResult(0).replaceAllUsesWith(result);
  op->erase();
}

namespace {
struct SimplifyPowersPass
    : public tilewright::impl::SimplifyPowersPassBase<SimplifyPowersPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (std::optional<double> exponent = constantExponent(op))
        simplifyPower(op, *exponent);
    });
  }
};
} // namespace
