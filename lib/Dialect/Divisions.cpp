// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tilewright/Dialect/Divisions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

static bool isSignedDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
}

bool tilewright::isIntegerDivision(Operation *op) {
  return isSignedDivision(op) || isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op);
}

/// `value` as a constant of `type`, an integer, an index, or a vector of these.
static Value makeNumber(OpBuilder &b, Location loc, Type type, const APInt &value) {
  TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type), value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = DenseElementsAttr::get(vector, Attribute(attr));
  return arith::ConstantOp::create(b, loc, attr);
}

static unsigned widthOf(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
}

Value tilewright::hasNoQuotient(OpBuilder &b, Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  bool isSigned = isSignedDivision(op);
  APInt divisor;
  if (matchPattern(right, m_ConstantInt(&divisor)) && !divisor.isZero() &&
      !(isSigned && divisor.isAllOnes()))
    return {};
  Location loc = op->getLoc();
  unsigned width = widthOf(right.getType());
  auto equal = [&](Value value, const APInt &other) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value,
                                 makeNumber(b, loc, value.getType(), other));
  };
  Value isBad = equal(right, APInt::getZero(width));
  if (isSigned)
    isBad = arith::OrIOp::create(
        b, loc, isBad,
        arith::AndIOp::create(b, loc, equal(left, APInt::getSignedMinValue(width)),
                              equal(right, APInt::getAllOnes(width))));
  return isBad;
}

void tilewright::divideByOneWhere(OpBuilder &b, Value isBad, Operation *op) {
  Value right = op->getOperand(1);
  Value one = makeNumber(b, op->getLoc(), right.getType(), APInt(widthOf(right.getType()), 1));
  op->setOperand(1, arith::SelectOp::create(b, op->getLoc(), isBad, one, right));
}
