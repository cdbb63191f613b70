// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What integers have a part in: powers, and conversions to bf16 and to i1.

#include "MathBuilder.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;
using tilewright::math::convertFloat;
using tilewright::math::getPrecision;

namespace {
/// Arithmetic of integers of one type, scalars or vectors.
class Integers {
public:
  Integers(OpBuilder &b, Location loc, Type type)
      : b(b), loc(loc), type(type),
        width(getElementTypeOrSelf(type).getIntOrFloatBitWidth()) {}

  Value number(int64_t value) {
    TypedAttr attr = b.getIntegerAttr(getElementTypeOrSelf(type),
                                      APInt(width, uint64_t(value), /*isSigned=*/true,
                                            /*implicitTrunc=*/true));
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  template <typename Op> Value make(Value left, Value right) {
    return Op::create(b, loc, left, right);
  }
  Value compare(arith::CmpIPredicate predicate, Value left, Value right) {
    return arith::CmpIOp::create(b, loc, predicate, left, right);
  }
  Value select(Value condition, Value one, Value other) {
    return arith::SelectOp::create(b, loc, condition, one, other);
  }
  Value negate(Value value) { return make<arith::SubIOp>(number(0), value); }

  OpBuilder &b;
  Location loc;
  Type type;
  unsigned width;
};

/// `value`, of indices, as integers of 64 bits.
static Value asIntegers(PatternRewriter &b, Location loc, Value value) {
  Type type = b.getI64Type();
  if (auto vector = dyn_cast<VectorType>(value.getType()))
    type = vector.clone(type);
  return arith::IndexCastOp::create(b, loc, type, value);
}

static bool isIndices(Value value) { return getElementTypeOrSelf(value.getType()).isIndex(); }

/// x^n by squaring, modulo 2^width. Of negative n 1 / x^-n: 0 but for x = 1 and x = -1, and for
/// x = 0, which has no result.
struct ExpandIPowI : OpRewritePattern<mlir::math::IPowIOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::math::IPowIOp op,
                                PatternRewriter &rewriter) const override {
    using P = arith::CmpIPredicate;
    if (isIndices(op.getResult())) {
      Location loc = op.getLoc();
      Value power =
          mlir::math::IPowIOp::create(rewriter, loc, asIntegers(rewriter, loc, op.getLhs()),
                                      asIntegers(rewriter, loc, op.getRhs()));
      rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, op.getType(), power);
      return success();
    }
    Integers i(rewriter, op.getLoc(), op.getType());
    Value x = op.getLhs(), n = op.getRhs(), zero = i.number(0), one = i.number(1);
    Value result = one, square = x;
    auto hasBit = [&](unsigned bit) {
      return i.compare(P::ne, i.make<arith::AndIOp>(n, i.number(int64_t(1) << bit)), zero);
    };
    for (unsigned bit = 0; bit + 1 < i.width; ++bit) {
      if (bit)
        square = i.make<arith::MulIOp>(square, square);
      result = i.select(hasBit(bit), i.make<arith::MulIOp>(result, square), result);
    }
    Value minusOne = i.number(-1);
    Value ofMinusOne = i.select(hasBit(0), minusOne, one);
    Value inverse = i.select(i.compare(P::eq, x, minusOne), ofMinusOne,
                             i.select(i.compare(P::eq, x, one), one, zero));
    rewriter.replaceOp(op, i.select(i.compare(P::slt, n, zero), inverse, result));
    return success();
  }
};

/// x^n, through pow of a part of n that is a multiple of 4096 and the rest, where n may have more
/// digits than the float that it becomes: both are exact as far as x^n is finite, and the rest,
/// of the same sign, has the last bit, which decides the sign of the result.
struct ExpandFPowI : OpRewritePattern<mlir::math::FPowIOp> {
  ExpandFPowI(MLIRContext *context, bool wide) : OpRewritePattern(context), wide(wide) {}

  LogicalResult matchAndRewrite(mlir::math::FPowIOp op,
                                PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type precision = getPrecision(op.getType(), wide);
    if (!precision)
      return rewriter.notifyMatchFailure(op, "not a type that is computed");
    Value x = convertFloat(rewriter, loc, op.getLhs(), precision), n = op.getRhs();
    if (isIndices(n))
      n = asIntegers(rewriter, loc, n);
    auto power = [&](Value exponent) -> Value {
      exponent = arith::SIToFPOp::create(rewriter, loc, x.getType(), exponent);
      return mlir::math::PowFOp::create(rewriter, loc, x, exponent);
    };
    Integers i(rewriter, loc, n.getType());
    Value result;
    if (i.width <= (precision.isF64() ? 53u : 24u)) {
      result = power(n);
    } else {
      Value rest = i.make<arith::RemSIOp>(n, i.number(4096));
      result = arith::MulFOp::create(rewriter, loc, power(i.make<arith::SubIOp>(n, rest)),
                                     power(rest));
    }
    rewriter.replaceOp(
        op, convertFloat(rewriter, loc, result, getElementTypeOrSelf(op.getType())));
    return success();
  }
  bool wide;
};

/// Of an integer with more bits than f32 has digits the low ones become one, which says whether
/// there are any: f32 has it exactly then, and rounds to the bf16 that it would.
template <typename Op> struct ExpandIntegerToBF16 : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    using P = arith::CmpIPredicate;
    Location loc = op.getLoc();
    Value value = op.getIn();
    Integers i(rewriter, loc, value.getType());
    if (!getElementTypeOrSelf(op.getType()).isBF16() || i.width <= 16)
      return failure();
    constexpr bool isSigned = std::is_same_v<Op, arith::SIToFPOp>;
    Value zero = i.number(0), negative, size = value;
    if (isSigned) {
      negative = i.compare(P::slt, value, zero);
      size = i.select(negative, i.negate(value), value);
    }
    // Steps of 8 bits leave at least 17 where they are taken, more than the 8 of bf16 and two to
    // round by.
    for (unsigned low = 8; low + 24 <= i.width; low += 8) {
      Value rest = i.make<arith::AndIOp>(size, i.number((int64_t(1) << low) - 1));
      Value any = i.select(i.compare(P::ne, rest, zero), i.number(int64_t(1) << low), zero);
      Value shorter = i.make<arith::OrIOp>(i.make<arith::SubIOp>(size, rest), any);
      Value high = i.make<arith::ShRUIOp>(size, i.number(low + 16));
      size = i.select(i.compare(P::ne, high, zero), shorter, size);
    }
    if (isSigned)
      size = i.select(negative, i.negate(size), size);
    Type wide = rewriter.getF32Type();
    if (auto vector = dyn_cast<VectorType>(op.getType()))
      wide = vector.clone(wide);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getType(),
                                                 Op::create(rewriter, loc, wide, size));
    return success();
  }
};
/// A float to one bit: the lowest of the number. Targets differ, where they have it at all (PTX has
/// no conversion to predicates, and LLVM's is inverted), and arith has no result of fptosi of 1.
template <typename Op> struct ExpandFloatToBit : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isInteger(1))
      return failure();
    Type wide = rewriter.getI32Type();
    if (auto vector = dyn_cast<VectorType>(op.getType()))
      wide = vector.clone(wide);
    Value number = Op::create(rewriter, op.getLoc(), wide, op.getIn());
    rewriter.replaceOpWithNewOp<arith::TruncIOp>(op, op.getType(), number);
    return success();
  }
};
} // namespace

void tilewright::math::populateIntegerPatterns(RewritePatternSet &patterns, bool wide) {
  MLIRContext *context = patterns.getContext();
  patterns.add<ExpandFPowI>(context, wide);
  patterns.add<ExpandIPowI, ExpandIntegerToBF16<arith::SIToFPOp>,
               ExpandIntegerToBF16<arith::UIToFPOp>, ExpandFloatToBit<arith::FPToSIOp>,
               ExpandFloatToBit<arith::FPToUIOp>>(context);
}
