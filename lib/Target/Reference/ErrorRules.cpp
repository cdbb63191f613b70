// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of each op; see ErrorRules.h.

#include "ErrorRules.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace tilewright;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

double tilewright::getUnitRoundoff(Type type) {
  return std::ldexp(1.0, -int(cast<FloatType>(type).getFPMantissaWidth()));
}

/// What a result may lose below the normal numbers: those of f32 may be flushed
/// to zero, narrower types keep them and round to a multiple of the smallest.
static double getFloor(Type type) {
  const llvm::fltSemantics &semantics =
      cast<FloatType>(type).getFloatSemantics();
  llvm::APFloat number = type.isF64() || type.isF32() || type.isBF16()
                             ? llvm::APFloat::getSmallestNormalized(semantics)
                             : llvm::APFloat::getSmallest(semantics);
  bool lost;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

static double getLargest(Type type) {
  llvm::APFloat number =
      llvm::APFloat::getLargest(cast<FloatType>(type).getFloatSemantics());
  bool lost;
  number.convert(llvm::APFloat::IEEEdouble(),
                 llvm::APFloat::rmNearestTiesToEven, &lost);
  return number.convertToDouble();
}

/// Types whose range real data leaves.
static bool hasSmallRange(Type type) {
  return isa<FloatType>(type) && !type.isF64() && !type.isF32() &&
         !type.isBF16();
}

/// Unit roundoffs between two right results of an op on the same operands.
static double getFactor(Operation *op) {
  Type type = op->getResult(0).getType();
  bool viaF32 = type.isBF16() || type.getIntOrFloatBitWidth() == 8;
  if (isa<arith::DivFOp>(op))
    return viaF32 ? 2 : 6;
  if (isa<math::SqrtOp>(op))
    return viaF32 ? 2 : 10;
  if (op->getName().getDialectNamespace() != "math" || isa<math::FmaOp>(op))
    return 2;
  if (type.getIntOrFloatBitWidth() <= 16)
    return 3; // computed in f32, rounded once
  if (type.isF64())
    return isa<math::PowFOp, math::FPowIOp>(op) ? 80 : 24;
  return 18;
}

//===----------------------------------------------------------------------===//
// Arithmetic on bounds
//===----------------------------------------------------------------------===//

Value ErrorRules::constant(double value) {
  return arith::ConstantOp::create(builder, builder.getUnknownLoc(),
                                   builder.getF64FloatAttr(value));
}

Value ErrorRules::widen(Value value) {
  Location loc = value.getLoc();
  Type type = value.getType(), f64 = builder.getF64Type();
  if (type.isF64())
    return value;
  if (isa<FloatType>(type))
    return arith::ExtFOp::create(builder, loc, f64, value);
  if (type.isIndex())
    value =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
  if (type.isInteger(1))
    return arith::UIToFPOp::create(builder, loc, f64, value);
  return arith::SIToFPOp::create(builder, loc, f64, value);
}

Value ErrorRules::abs(Value value) {
  return math::AbsFOp::create(builder, value.getLoc(), value);
}

Value ErrorRules::add(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::AddFOp::create(builder, a.getLoc(), a, b);
}

Value ErrorRules::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, a.getLoc(), a, b);
}

Value ErrorRules::mul(Value a, Value b) {
  return arith::MulFOp::create(builder, a.getLoc(), a, b);
}

Value ErrorRules::max(Value a, Value b) {
  if (!a || !b)
    return a ? a : b;
  return arith::MaxNumFOp::create(builder, a.getLoc(), a, b);
}

Value ErrorRules::smaller(Value a, Value b) {
  return arith::MinNumFOp::create(builder, a.getLoc(), a, b);
}

Value ErrorRules::isAbove(Value a, Value b) {
  return arith::CmpFOp::create(builder, a.getLoc(), arith::CmpFPredicate::OGT,
                               a, b);
}

Value ErrorRules::select(Value condition, Value a, Value b) {
  return arith::SelectOp::create(builder, condition.getLoc(), condition, a, b);
}

Value ErrorRules::scale(Value value, Value bound) {
  if (!bound)
    return nullptr;
  Value known = select(isAbove(bound, constant(0)), mul(abs(value), bound),
                       constant(0));
  return select(isAbove(constant(kInfinity), bound), known, constant(kInfinity));
}

Value ErrorRules::ifInexact(ArrayRef<Value> bounds, double unknown) {
  Value any;
  for (Value bound : bounds)
    any = max(any, bound);
  if (!any)
    return nullptr;
  return select(isAbove(any, constant(0)), constant(unknown), constant(0));
}

Value ErrorRules::evaluate(Operation *op, ValueRange operands) {
  OperationState state(op->getLoc(), op->getName());
  state.addOperands(operands);
  state.addTypes(builder.getF64Type());
  return builder.create(state)->getResult(0);
}

Value ErrorRules::distance(Value value, Value z) {
  Value d = abs(sub(value, z));
  Value isNan = arith::CmpFOp::create(builder, d.getLoc(),
                                      arith::CmpFPredicate::UNO, d, d);
  Value isFinite = isAbove(constant(kInfinity), abs(z));
  return select(isNan, select(isFinite, constant(kInfinity), constant(0)), d);
}

Value ErrorRules::round(Operation *op, Value bound, double factor) {
  Type type = op->getResult(0).getType();
  double unit = factor * getUnitRoundoff(type);
  Value z = widen(op->getResult(0));
  // An infinite result must be infinite, NaN must be NaN.
  Value rounding =
      smaller(mul(abs(z), constant(unit)), constant(unit * getLargest(type)));
  Value total = add(bound, add(rounding, constant(getFloor(type))));
  if (!bound || !hasSmallRange(type))
    return total;
  // Either side of the largest number: finite in one program, not in the other.
  Value exact = isa<arith::TruncFOp>(op) ? widen(op->getOperand(0)) : z;
  if (!isa<arith::TruncFOp>(op) &&
      llvm::all_of(op->getOperands(),
                   [&](Value operand) { return operand.getType() == type; })) {
    SmallVector<Value> operands;
    for (Value operand : op->getOperands())
      operands.push_back(widen(operand));
    exact = evaluate(op, operands);
  }
  double limit = getLargest(type) * (1 + getUnitRoundoff(type) / 2);
  Value size = abs(exact);
  Value reaches = isAbove(add(size, total), constant(limit));
  Value isWithin = isAbove(constant(limit), sub(size, total));
  Value either =
      arith::AndIOp::create(builder, op->getLoc(), reaches, isWithin);
  return select(either, constant(kInfinity), total);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

Value ErrorRules::getSumBound(Value acc, Value term, Value termValue,
                              Value perTerm) {
  Value own = mul(abs(widen(termValue)), perTerm);
  return add(acc, add(term, own));
}

Value ErrorRules::ofProduct(Value x, Value y, Value bx, Value by) {
  Value both = bx && by ? scale(bx, by) : Value();
  return add(add(scale(x, by), scale(y, bx)), both);
}

/// |x/y - x'/y'| <= (bx + |x/y| by) / (|y| - by).
Value ErrorRules::ofQuotient(Operation *op, Value bx, Value by) {
  Value y = abs(widen(op->getOperand(1)));
  Value above = add(bx, scale(widen(op->getResult(0)), by));
  if (!above)
    return nullptr;
  Value below = by ? sub(y, by) : y;
  Value ratio = arith::DivFOp::create(builder, op->getLoc(), above, below);
  Value bound = select(isAbove(below, constant(0)), ratio, constant(kInfinity));
  bound = select(isAbove(constant(kInfinity), above), bound, constant(kInfinity));
  return select(isAbove(above, constant(0)), bound, constant(0));
}

/// Of max(x, y): from the operands' ends, so that one far below does not count.
Value ErrorRules::ofExtreme(Operation *op, Value bx, Value by, bool isMax) {
  if (!bx && !by)
    return nullptr;
  Value x = widen(op->getOperand(0)), y = widen(op->getOperand(1));
  Value z = widen(op->getResult(0));
  auto extreme = [&](Value a, Value b) {
    return isMax ? max(a, b) : smaller(a, b);
  };
  auto low = [&](Value v, Value b) { return b ? sub(v, b) : v; };
  Value above = sub(extreme(add(x, bx), add(y, by)), z);
  Value below = sub(z, extreme(low(x, bx), low(y, by)));
  return max(max(above, below), constant(0));
}

Value ErrorRules::ofComparison(Operation *op, Value bx, Value by) {
  Value reach = add(bx, by);
  if (!reach)
    return nullptr;
  Value gap = abs(sub(widen(op->getOperand(0)), widen(op->getOperand(1))));
  Value isClose = arith::CmpFOp::create(builder, op->getLoc(),
                                        arith::CmpFPredicate::OLE, gap, reach);
  Value isInexact = isAbove(reach, constant(0));
  Value either =
      arith::AndIOp::create(builder, op->getLoc(), isClose, isInexact);
  return select(either, constant(1), constant(0));
}

Value ErrorRules::ofSelect(arith::SelectOp op, ArrayRef<Value> bounds) {
  if (!bounds[1] && !bounds[2] && !bounds[0])
    return nullptr;
  Value zero = constant(0);
  Value ofTrue = bounds[1] ? bounds[1] : zero,
        ofFalse = bounds[2] ? bounds[2] : zero;
  Value chosen = select(op.getCondition(), ofTrue, ofFalse);
  if (!bounds[0])
    return chosen;
  Value gap =
      max(abs(sub(widen(op.getTrueValue()), widen(op.getFalseValue()))), zero);
  return select(isAbove(bounds[0], zero), add(gap, max(ofTrue, ofFalse)),
                chosen);
}

Value ErrorRules::ofMonotone(Operation *op, Value bx) {
  if (!bx)
    return nullptr;
  Value x = widen(op->getOperand(0)), z = widen(op->getResult(0));
  Value above = distance(evaluate(op, add(x, bx)), z);
  Value below = distance(evaluate(op, sub(x, bx)), z);
  return select(isAbove(bx, constant(0)), max(above, below), constant(0));
}

/// x^y. For y >= 1 the slope grows with |x|, so (|x| + bx)^y - |x|^y bounds the
/// change of either sign; else, and where y is not exact, the corners do as
/// long as x stays positive.
Value ErrorRules::ofPower(Operation *op, Value bx, Value by) {
  if (!bx && !by)
    return nullptr;
  Location loc = op->getLoc();
  Value x = widen(op->getOperand(0)), y = widen(op->getOperand(1));
  Value z = widen(op->getResult(0));
  auto power = [&](Value a, Value b) -> Value {
    return math::PowFOp::create(builder, loc, a, b);
  };
  Value xs[] = {bx ? sub(x, bx) : x, add(x, bx)};
  Value ys[] = {by ? sub(y, by) : y, add(y, by)};
  Value corners;
  for (Value a : xs)
    for (Value b : ys)
      corners = max(corners, distance(power(a, b), z));
  Value bound =
      select(isAbove(xs[0], constant(0)), corners, constant(kInfinity));
  if (!by) {
    Value isSteep = arith::CmpFOp::create(
        builder, loc, arith::CmpFPredicate::OGE, y, constant(1));
    Value size = abs(x);
    Value change = distance(power(add(size, bx), y), power(size, y));
    bound = select(isSteep, change, bound);
  }
  Value zero = constant(0);
  return select(isAbove(max(max(bx, by), zero), zero), bound, zero);
}

/// The angle of (x, y) turns by at most the way over the distance from 0, as
/// long as that is longer; there may be a full turn where it is not.
Value ErrorRules::ofAngle(Operation *op, Value by, Value bx) {
  Value way = add(bx, by);
  if (!way)
    return nullptr;
  Value y = widen(op->getOperand(0)), x = widen(op->getOperand(1));
  Value rest = sub(max(abs(x), abs(y)), way);
  Value ratio = arith::DivFOp::create(builder, op->getLoc(), way, rest);
  Value turn = constant(6.3);
  Value bound = select(isAbove(rest, constant(0)), smaller(ratio, turn), turn);
  // Across the negative x axis it jumps.
  Value isAcross = isAbove(way, abs(y));
  Value isLeft = isAbove(way, x);
  Value jumps = arith::AndIOp::create(builder, op->getLoc(), isAcross, isLeft);
  return select(isAbove(way, constant(0)), select(jumps, turn, bound),
                constant(0));
}

/// Of an integer: what lies beyond the narrower type's numbers wraps around.
Value ErrorRules::ofTruncation(Operation *op, Value bound) {
  if (!bound)
    return nullptr;
  unsigned width = op->getResult(0).getType().getIntOrFloatBitWidth();
  Value x = widen(op->getOperand(0));
  double range = std::ldexp(1.0, width);
  Value isOutside = isAbove(add(abs(x), bound), constant(range / 2 - 1));
  Value isSigned = isAbove(constant(0), sub(x, bound));
  Value isBeyond = isAbove(add(x, bound), constant(range - 1));
  Location loc = op->getLoc();
  Value wraps = arith::AndIOp::create(
      builder, loc, isOutside,
      arith::OrIOp::create(builder, loc, isSigned, isBeyond));
  Value all = select(isAbove(bound, constant(0)), constant(range), constant(0));
  return select(wraps, all, bound);
}

Value ErrorRules::ofFloatOp(Operation *op, ArrayRef<Value> b) {
  auto at = [&](unsigned i) { return op->getOperand(i); };
  if (isa<arith::AddFOp, arith::SubFOp>(op))
    return round(op, add(b[0], b[1]), 2);
  if (isa<arith::MulFOp>(op))
    return round(op, ofProduct(widen(at(0)), widen(at(1)), b[0], b[1]), 2);
  if (isa<math::FmaOp>(op))
    return round(
        op, add(ofProduct(widen(at(0)), widen(at(1)), b[0], b[1]), b[2]), 2);
  if (isa<arith::DivFOp>(op))
    return round(op, ofQuotient(op, b[0], b[1]), getFactor(op));
  if (isa<arith::NegFOp, math::AbsFOp, arith::ExtFOp>(op))
    return b[0];
  if (isa<arith::TruncFOp>(op))
    return round(op, b[0], 2);
  if (isa<arith::MaximumFOp, arith::MaxNumFOp>(op))
    return ofExtreme(op, b[0], b[1], true);
  if (isa<arith::MinimumFOp, arith::MinNumFOp>(op))
    return ofExtreme(op, b[0], b[1], false);
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op))
    return b[0] ? round(op, b[0], 2) : Value();
  if (isa<math::FloorOp, math::CeilOp, math::RoundOp, math::RoundEvenOp,
          math::TruncOp>(op))
    return ofMonotone(op, b[0]);
  if (isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op,
          math::Log10Op, math::Log1pOp, math::SqrtOp, math::RsqrtOp,
          math::CbrtOp, math::TanhOp, math::ErfOp, math::ErfcOp, math::AtanOp,
          math::AsinOp, math::AcosOp, math::SinhOp, math::AsinhOp,
          math::AcoshOp, math::AtanhOp>(op))
    return round(op, ofMonotone(op, b[0]), getFactor(op));
  if (isa<math::SinOp, math::CosOp>(op))
    return round(op, b[0] ? smaller(b[0], constant(2)) : Value(),
                 getFactor(op));
  if (isa<math::CoshOp>(op)) {
    Value bound;
    if (b[0])
      bound = distance(evaluate(op, add(abs(widen(at(0))), b[0])),
                       widen(op->getResult(0)));
    return round(op, bound, getFactor(op));
  }
  if (isa<math::PowFOp, math::FPowIOp>(op))
    return round(op, ofPower(op, b[0], b[1]), getFactor(op));
  if (isa<math::Atan2Op>(op))
    return round(op, ofAngle(op, b[0], b[1]), getFactor(op));
  if (isa<math::CopySignOp>(op) && !b[1])
    return b[0];
  // Steps, poles, bits: nothing is known unless the operands are exact.
  return round(op, ifInexact(b, kInfinity), getFactor(op));
}

Value ErrorRules::ofIntegerOp(Operation *op, ArrayRef<Value> b) {
  if (isa<arith::CmpFOp, arith::CmpIOp>(op))
    return ofComparison(op, b[0], b[1]);
  if (isa<arith::FPToSIOp, arith::FPToUIOp>(op)) {
    if (!b[0])
      return nullptr;
    Value x = widen(op->getOperand(0)), z = widen(op->getResult(0));
    auto to = [&](Value end) -> Value {
      return distance(math::TruncOp::create(builder, op->getLoc(), end), z);
    };
    return select(isAbove(b[0], constant(0)),
                  max(to(add(x, b[0])), to(sub(x, b[0]))), constant(0));
  }
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return add(b[0], b[1]);
  if (isa<arith::MulIOp>(op)) {
    if (!b[0] && !b[1])
      return nullptr;
    return ofProduct(widen(op->getOperand(0)), widen(op->getOperand(1)), b[0],
                     b[1]);
  }
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::IndexCastOp,
          arith::IndexCastUIOp, math::AbsIOp>(op))
    return b[0];
  if (isa<arith::TruncIOp>(op))
    return ofTruncation(op, b[0]);
  if (isa<arith::MaxSIOp, arith::MaxUIOp>(op))
    return ofExtreme(op, b[0], b[1], true);
  if (isa<arith::MinSIOp, arith::MinUIOp>(op))
    return ofExtreme(op, b[0], b[1], false);
  bool isCondition = op->getResult(0).getType().isInteger(1);
  return ifInexact(b, isCondition ? 1 : kInfinity);
}

Value ErrorRules::getBound(Operation *op, ArrayRef<Value> bounds) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<ub::PoisonOp>(op))
    return nullptr;
  if (auto choice = dyn_cast<arith::SelectOp>(op))
    return ofSelect(choice, bounds);
  Type type = op->getResult(0).getType();
  if (!isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return isa<FloatType>(type) ? constant(kInfinity)
                                : ifInexact(bounds, kInfinity);
  if (isa<FloatType>(type))
    return ofFloatOp(op, bounds);
  return ofIntegerOp(op, bounds);
}
