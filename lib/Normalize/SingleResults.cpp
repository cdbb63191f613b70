// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels compute with ops of one result:
//
//   %low, %high = arith.mului_extended %a, %b : i32
// becomes
//   %x = arith.extui %a : i32 to i64;  %y = arith.extui %b : i32 to i64
//   %p = arith.muli %x, %y;  %low = arith.trunci %p;  %high = arith.trunci (%p >> 32)
//
// The upper half of a product of 64-bit integers is made of products of their halves.

#include "SingleResults.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright;

static Value constant(OpBuilder &b, Location loc, Type type, int64_t value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// The upper half of the product of two integers without a sign, of `width` bits:
///   x = x1 2^h + x0, y = y1 2^h + y0, h = width / 2
///   x y = x1 y1 2^2h + (x1 y0 + x0 y1) 2^h + x0 y0
static Value highOfHalves(OpBuilder &b, Location loc, Value x, Value y, unsigned width) {
  Type type = x.getType();
  Value half = constant(b, loc, type, width / 2);
  Value mask = constant(b, loc, type, int64_t((uint64_t(1) << (width / 2)) - 1));
  auto high = [&](Value v) -> Value { return arith::ShRUIOp::create(b, loc, v, half); };
  auto low = [&](Value v) -> Value { return arith::AndIOp::create(b, loc, v, mask); };
  auto times = [&](Value v, Value w) -> Value { return arith::MulIOp::create(b, loc, v, w); };
  auto plus = [&](Value v, Value w) -> Value { return arith::AddIOp::create(b, loc, v, w); };
  Value x0 = low(x), x1 = high(x), y0 = low(y), y1 = high(y);
  // Neither sum exceeds `width` bits.
  Value middle = plus(times(x1, y0), high(times(x0, y0)));
  Value other = plus(times(x0, y1), low(middle));
  return plus(plus(times(x1, y1), high(middle)), high(other));
}

/// What a negative `x` counts for in the upper half: `y`, which is 2^width y too much.
static Value countedTooMuch(OpBuilder &b, Location loc, Value x, Value y) {
  Value zero = constant(b, loc, x.getType(), 0);
  Value isNegative = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, zero);
  return arith::SelectOp::create(b, loc, isNegative, y, zero);
}

/// The lower and upper halves of a product.
static void splitProduct(RewriterBase &b, Operation *op, unsigned width, bool isSigned) {
  Location loc = op->getLoc();
  Value x = op->getOperand(0), y = op->getOperand(1);
  Value low = arith::MulIOp::create(b, loc, x, y), high;
  if (width == 1) { // 1 * 1 and -1 * -1 are 01
    high = constant(b, loc, x.getType(), 0);
  } else if (width <= 32) {
    Type type = x.getType(), wide = b.getIntegerType(2 * width);
    auto extend = [&](Value v) -> Value {
      return isSigned ? arith::ExtSIOp::create(b, loc, wide, v).getResult()
                      : arith::ExtUIOp::create(b, loc, wide, v).getResult();
    };
    Value product = arith::MulIOp::create(b, loc, extend(x), extend(y));
    high = arith::ShRUIOp::create(b, loc, product, constant(b, loc, wide, width));
    high = arith::TruncIOp::create(b, loc, type, high);
  } else {
    high = highOfHalves(b, loc, x, y, width);
    if (isSigned) {
      high = arith::SubIOp::create(b, loc, high, countedTooMuch(b, loc, x, y));
      high = arith::SubIOp::create(b, loc, high, countedTooMuch(b, loc, y, x));
    }
  }
  b.replaceOp(op, {low, high});
}

bool tilewright::splitResults(RewriterBase &b, Operation *op) {
  b.setInsertionPoint(op);
  Location loc = op->getLoc();
  if (auto both = dyn_cast<math::SincosOp>(op)) {
    Value x = both.getOperand();
    Value sine = math::SinOp::create(b, loc, x, both.getFastmath());
    Value cosine = math::CosOp::create(b, loc, x, both.getFastmath());
    b.replaceOp(op, {sine, cosine});
    return true;
  }
  if (!isa<arith::AddUIExtendedOp, arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op))
    return false;
  auto type = dyn_cast<IntegerType>(op->getOperand(0).getType());
  if (!type || type.getWidth() == 0 || type.getWidth() > 64)
    return false;
  if (isa<arith::AddUIExtendedOp>(op)) {
    Value sum = arith::AddIOp::create(b, loc, op->getOperand(0), op->getOperand(1));
    Value carry = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, sum,
                                        op->getOperand(0));
    b.replaceOp(op, {sum, carry});
    return true;
  }
  // Halves of an odd number of bits are none.
  if (type.getWidth() > 32 && type.getWidth() % 2)
    return false;
  splitProduct(b, op, type.getWidth(), isa<arith::MulSIExtendedOp>(op));
  return true;
}
