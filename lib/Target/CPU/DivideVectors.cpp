// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// x86 divides vectors of floats only, so the code generator would divide integers one by one:
//
//   %q = arith.divsi %a, %b : vector<16xi32>
// becomes
//   %x = arith.sitofp %a : vector<16xi32> to vector<16xf64>          (%y of %b)
//   %z = arith.divf %x, %y : vector<16xf64>
//   %q = arith.fptosi %z : vector<16xf64> to vector<16xi32>
//
// That is exact. Where a / b is not an integer, it is at least 1 / b away from the next one, which is
// 1 / a of it: more than the rounding of a float that has more digits than a. f64 has 53 of them, so it
// divides integers of 32 bits; f32 has 24 and divides those of 16 and 8.
//
// Integers of 64 bits are divided by the reciprocal of the divisor, a little less than it is, such that
// what is left is never negative:
//
//   1. q0 of a is short of a / b by 13 a 2^-53 and one at most; of what is left, less than
//      26624 + b, q1 is taken likewise.
//   2. What is left then is less than 2 b: one more is taken where it is b or more.
//
// A remainder is what the quotient leaves. Constant divisors are left alone where the code generator
// multiplies vectors by their reciprocals. Lanes that nobody uses may divide by zero: floats do
// not trap, and the conversion of what comes out is any integer.

#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

namespace tilewright {
#define GEN_PASS_DEF_DIVIDEVECTORSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// In units of 2^-53, eight: twice what the roundings of the dividend, the divisor, the reciprocal
/// and the product add up to.
static constexpr double kALittleLessThanOne = 1 - 0x1p-50;

namespace {
/// Quotient and remainder of vectors, of which one may not be used.
struct Division {
  Value quotient, remainder;
};

class VectorDivider {
public:
  VectorDivider(OpBuilder &b, Location loc, VectorType type, bool isSigned)
      : b(b), loc(loc), type(type), isSigned(isSigned) {}

  Division divide(Value x, Value y) {
    unsigned bits = type.getElementTypeBitWidth();
    if (bits == 64)
      return divideLong(x, y);
    // Narrow integers are divided as what x86 converts to floats.
    auto wide = type.clone(b.getI32Type());
    if (bits < 32) {
      x = widen(wide, x);
      y = widen(wide, y);
    }
    auto floats = type.clone(bits < 32 ? b.getF32Type() : Type(b.getF64Type()));
    // Of 32 bits as i32 is signed, of fewer always.
    bool isSignedWide = isSigned || bits < 32;
    Value quotient = toInteger(wide, isSignedWide,
                               arith::DivFOp::create(b, loc, toFloat(floats, isSignedWide, x),
                                                     toFloat(floats, isSignedWide, y)));
    Value taken = arith::MulIOp::create(b, loc, quotient, y);
    Value remainder = arith::SubIOp::create(b, loc, x, taken);
    return {narrow(quotient), narrow(remainder)};
  }

private:
  Division divideLong(Value x, Value y);
  /// Both without signs.
  Division divideUnsigned(Value x, Value y);

  Value widen(VectorType wide, Value value) {
    if (isSigned)
      return arith::ExtSIOp::create(b, loc, wide, value);
    return arith::ExtUIOp::create(b, loc, wide, value);
  }
  Value narrow(Value value) {
    return value.getType() == type ? value : arith::TruncIOp::create(b, loc, type, value);
  }
  Value toFloat(VectorType floats, bool isSigned, Value value) {
    if (isSigned)
      return arith::SIToFPOp::create(b, loc, floats, value);
    return arith::UIToFPOp::create(b, loc, floats, value);
  }
  Value toInteger(VectorType integers, bool isSigned, Value value) {
    if (isSigned)
      return arith::FPToSIOp::create(b, loc, integers, value);
    return arith::FPToUIOp::create(b, loc, integers, value);
  }
  Value splat(VectorType type, Attribute value) {
    return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, value));
  }
  /// `value`, negated where `isNegative`.
  Value negateWhere(Value isNegative, Value value) {
    Value zero = splat(type, b.getIntegerAttr(type.getElementType(), 0));
    Value negated = arith::SubIOp::create(b, loc, zero, value);
    return arith::SelectOp::create(b, loc, isNegative, negated, value);
  }

  OpBuilder &b;
  Location loc;
  VectorType type;
  bool isSigned;
};
} // namespace

Division VectorDivider::divideUnsigned(Value x, Value y) {
  auto floats = type.clone(b.getF64Type());
  Value reciprocal =
      arith::DivFOp::create(b, loc, splat(floats, b.getF64FloatAttr(kALittleLessThanOne)),
                            toFloat(floats, /*isSigned=*/false, y));
  Value quotient, rest = x;
  for (unsigned step = 0; step < 2; ++step) {
    Value part = toInteger(type, /*isSigned=*/false,
                           arith::MulFOp::create(b, loc, toFloat(floats, /*isSigned=*/false, rest),
                                                 reciprocal));
    rest = arith::SubIOp::create(b, loc, rest, arith::MulIOp::create(b, loc, part, y));
    quotient = quotient ? arith::AddIOp::create(b, loc, quotient, part).getResult() : part;
  }
  Value one = splat(type, b.getIntegerAttr(type.getElementType(), 1));
  Value isMore = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, rest, y);
  Value next = arith::AddIOp::create(b, loc, quotient, one);
  Value less = arith::SubIOp::create(b, loc, rest, y);
  return {arith::SelectOp::create(b, loc, isMore, next, quotient),
          arith::SelectOp::create(b, loc, isMore, less, rest)};
}

Division VectorDivider::divideLong(Value x, Value y) {
  if (!isSigned)
    return divideUnsigned(x, y);
  Value zero = splat(type, b.getIntegerAttr(type.getElementType(), 0));
  auto isNegative = [&](Value value) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, value, zero);
  };
  // The least integer's size is 2^63, which an unsigned one has.
  Division sizes = divideUnsigned(negateWhere(isNegative(x), x), negateWhere(isNegative(y), y));
  Value differ = arith::XOrIOp::create(b, loc, x, y);
  return {negateWhere(isNegative(differ), sizes.quotient),
          negateWhere(isNegative(x), sizes.remainder)};
}

/// Whether the code generator's way is as fast: it multiplies vectors of up to 32 bits by the
/// reciprocals of constants, and shifts by powers of two.
static bool isLeftAlone(Value divisor, unsigned bits) {
  DenseElementsAttr constants;
  if (!matchPattern(divisor, m_Constant(&constants)))
    return false;
  return bits <= 32 ||
         (constants.isSplat() && constants.getSplatValue<APInt>().abs().isPowerOf2());
}

namespace {
struct DivideVectorsPass : tilewright::impl::DivideVectorsPassBase<DivideVectorsPass> {
  using DivideVectorsPassBase::DivideVectorsPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
      if (!isSigned && !isa<arith::DivUIOp, arith::RemUIOp>(op))
        return;
      auto type = dyn_cast<VectorType>(op->getResult(0).getType());
      if (!type || type.isScalable() || type.getElementType().isIndex())
        return;
      unsigned bits = type.getElementTypeBitWidth();
      if (!llvm::is_contained({8u, 16u, 32u}, bits) && !(bits == 64 && divideLong))
        return;
      Value x = op->getOperand(0), y = op->getOperand(1);
      if (isLeftAlone(y, bits))
        return;
      OpBuilder b(op);
      Division division = VectorDivider(b, op->getLoc(), type, isSigned).divide(x, y);
      op->getResult(0).replaceAllUsesWith(isa<arith::DivSIOp, arith::DivUIOp>(op)
                                              ? division.quotient
                                              : division.remainder);
      op->erase();
    });
  }
};
} // namespace
