// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScoreComparisons.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

using Expression = ElementExpression;

void tilewright::addSymbol(Offset &offset, Value value, int64_t factor) {
  for (auto &[known, times] : offset.symbols)
    if (known == value) {
      times += factor;
      return;
    }
  offset.symbols.push_back({value, factor});
}

/// Coordinates and their sums do not wrap around in it.
static bool isWide(Type type) { return type.isIndex() || type.getIntOrFloatBitWidth() >= 32; }

/// The signed number that `value` is, in a type that may be wider.
static Value withoutCasts(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::ExtSIOp>(op) || !isWide(value.getType()))
      break;
    value = op->getOperand(0);
  }
  return value;
}

/// Adds what a scalar of the program is, which may be a sum of sizes.
static void addScalar(Linear &sum, Value value, int64_t factor) {
  value = withoutCasts(value);
  APInt number;
  Operation *op = value.getDefiningOp();
  if (matchPattern(value, m_ConstantInt(&number))) {
    sum.offset.constant += factor * number.getSExtValue();
  } else if (isa_and_present<arith::AddIOp, arith::SubIOp>(op) && isWide(value.getType()) &&
             sum.opsLeft > 0) {
    --sum.opsLeft;
    addScalar(sum, op->getOperand(0), factor);
    addScalar(sum, op->getOperand(1), isa<arith::AddIOp>(op) ? factor : -factor);
  } else {
    addSymbol(sum.offset, value, factor);
  }
}

static bool isCast(const Expression &expression) {
  return expression.is("arith.index_cast") || expression.is("arith.index_castui") ||
         expression.is("arith.extsi") || expression.is("arith.extui");
}

/// A coordinate or a number, or a sum of them, that is the same whether its type is signed.
static bool isNonNegative(const Expression &expression) {
  return !expression.anyOf([](const Expression &part) {
    if (part.kind == Expression::Coordinate)
      return false;
    APInt number;
    if (part.kind == Expression::Element)
      return !matchPattern(part.tensor, m_ConstantInt(&number)) || number.isNegative();
    return !isCast(part) && !part.is("arith.addi");
  });
}

/// The number is the same in front of `cast`, a cast, and behind it.
static bool keepsNumber(const Linear &sum, const Expression &cast) {
  const Expression &from = *cast.operands[0];
  if ((cast.is("arith.index_castui") || cast.is("arith.extui")) && !isNonNegative(from))
    return false;
  if (isWide(cast.type))
    return true;
  if (from.kind != Expression::Coordinate)
    return false;
  int64_t size = sum.expressions.sizeOf(from.coordinate);
  return !ShapedType::isDynamic(size) &&
         size <= int64_t(1) << (cast.type.getIntOrFloatBitWidth() - 1);
}

static bool addTo(Linear &sum, const Expression &expression, int64_t factor) {
  if (expression.kind == Expression::Coordinate) {
    if (expression.coordinate != kUnitCoordinate)
      sum.factors[expression.coordinate] += factor;
    return true;
  }
  if (expression.kind == Expression::Element) {
    APInt number;
    if (!expression.isElement())
      addScalar(sum, expression.tensor, factor);
    else if (matchPattern(expression.tensor, m_ConstantInt(&number)))
      sum.offset.constant += factor * number.getSExtValue();
    else if (sum.takesElements)
      sum.elements.push_back({&expression, factor});
    else
      return false;
    return true;
  }
  if (sum.opsLeft == 0)
    return false;
  --sum.opsLeft;
  if (isCast(expression))
    return keepsNumber(sum, expression) && addTo(sum, *expression.operands[0], factor);
  bool adds = expression.is("arith.addi");
  return (adds || expression.is("arith.subi")) && isWide(expression.type) &&
         addTo(sum, *expression.operands[0], factor) &&
         addTo(sum, *expression.operands[1], adds ? factor : -factor);
}

/// What `side` is the negative of, where integers are negated as floats and compared with
/// `other`, a number that these have: rounding keeps the order, so that the result is as of
/// integers. torch-mlir negates ONNX's so.
static const Expression *negatedAsFloat(const ElementExpressions &expressions,
                                        const Expression &side, const Expression &other) {
  if (!side.is("arith.fptosi") || !side.operands[0]->is("arith.negf") ||
      !side.operands[0]->operands[0]->is("arith.sitofp"))
    return nullptr;
  const Expression &asFloat = *side.operands[0]->operands[0];
  auto precision = APFloat::semanticsPrecision(cast<FloatType>(asFloat.type).getFloatSemantics());
  int64_t most = int64_t(1) << std::min(precision, 62u);
  Linear number(expressions);
  bool isNumber = addTo(number, other, 1) && number.factors.empty() &&
                  number.offset.symbols.empty() && std::abs(number.offset.constant) < most;
  return isNumber && asFloat.type.getIntOrFloatBitWidth() >= 32 ? asFloat.operands[0] : nullptr;
}

std::optional<Linear> tilewright::excess(const ElementExpressions &expressions,
                                         const Expression &expression, bool isInverted,
                                         bool takesElements) {
  auto compare = expression.kind == Expression::Scalar
                     ? dyn_cast<arith::CmpIOp>(expression.op)
                     : arith::CmpIOp();
  if (!compare)
    return {};
  using P = arith::CmpIPredicate;
  P predicate = compare.getPredicate();
  if (isInverted)
    predicate = arith::invertPredicate(predicate);
  if (predicate == P::eq || predicate == P::ne)
    return {};
  bool isLess = llvm::is_contained({P::slt, P::sle, P::ult, P::ule}, predicate);
  bool isStrict = llvm::is_contained({P::slt, P::sgt, P::ult, P::ugt}, predicate);
  bool isUnsigned = llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, predicate);
  // Differences and elements may be negative, which are large numbers to it.
  if (isUnsigned && !llvm::all_of(expression.operands, [](const Expression *operand) {
        return isNonNegative(*operand);
      }))
    return {};
  Linear sum(expressions);
  sum.takesElements = takesElements;
  for (unsigned side : {0, 1}) {
    const Expression &operand = *expression.operands[side];
    int64_t factor = (side == 0) == isLess ? -1 : 1;
    const Expression *inner =
        negatedAsFloat(expressions, operand, *expression.operands[1 - side]);
    if (inner ? !addTo(sum, *inner, -factor) : !addTo(sum, operand, factor))
      return {};
  }
  sum.offset.constant -= isStrict;
  return sum;
}
