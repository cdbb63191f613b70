// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Math functions as arithmetic, the same for all targets:
//
//   %y = math.exp %x : f16
//
// becomes an extension to f32, a range reduction, a polynomial, a scaling by a
// power of two put together from bits, and a truncation. The functions are in
// Math/; f16 and bf16 are computed in f32.
//
// Largest errors seen against a correctly rounded result, in units of the last
// place, where every multiply-add below is fused and division and sqrt are
// correctly rounded (test/unit/Target/MathTest.cpp holds them to this):
//
//   exp exp2 expm1 log log2 log10 log1p        2      erf erfc       4
//   sin cos (|x| < 1e5, f64: 1e9)              2      pow            2
//   tan                                        4      sinh cosh tanh 4
//   asin acos atan atan2                       4      asinh acosh atanh 4
//   rsqrt                                      2      cbrt           2
//   remainder (arith.remf)                     exact

#include "Math/MathBuilder.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Target/Passes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {
#define GEN_PASS_DEF_EXPANDMATHPASS
#include "tilewright/Target/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using tilewright::math::convertFloat;
using tilewright::math::Float;
using tilewright::math::getPrecision;
using tilewright::math::MathBuilder;

/// True for ops that every target computes exactly or correctly rounded.
static bool isNative(Operation *op) {
  return isa<mlir::math::AbsFOp, mlir::math::AbsIOp, mlir::math::CeilOp,
             mlir::math::CopySignOp, mlir::math::CountLeadingZerosOp,
             mlir::math::CtPopOp, mlir::math::CountTrailingZerosOp,
             mlir::math::FloorOp, mlir::math::FmaOp, mlir::math::RoundEvenOp,
             mlir::math::SqrtOp, mlir::math::TruncOp>(op);
}

//===----------------------------------------------------------------------===//
// Functions of floats
//===----------------------------------------------------------------------===//

static Float rsqrt(Float x) { return (*x.builder)(1) / sqrt(x); }

/// To the nearest integer, halves away from zero.
static Float round(Float x) {
  Float size = abs(x);
  Float down = x.builder->make<mlir::math::TruncOp, 0>(size);
  // The difference is exact, the sum of a large number and 0.5 is not.
  Float up = down + (*x.builder)(1);
  return copysign(select((*x.builder)(0.5) <= size - down, up, down), x);
}

Value tilewright::math::convertFloat(OpBuilder &builder, Location loc, Value value,
                                     Type element) {
  Type type = value.getType();
  Type from = getElementTypeOrSelf(type);
  if (from == element)
    return value;
  Type to = isa<VectorType>(type) ? Type(cast<VectorType>(type).clone(element))
                                  : element;
  if (from.getIntOrFloatBitWidth() < element.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, to, value);
  return arith::TruncFOp::create(builder, loc, to, value);
}

Type tilewright::math::getPrecision(Type type, bool wide) {
  Type element = getElementTypeOrSelf(type);
  MLIRContext *context = type.getContext();
  if (element.isF64() || (wide && element.isF32()))
    return Float64Type::get(context);
  if (element.isF32() || element.isF16() || element.isBF16())
    return wide ? Type(Float64Type::get(context)) : Float32Type::get(context);
  return Type();
}

namespace {
template <typename Op> struct ExpandUnary : OpRewritePattern<Op> {
  using Function = Float (*)(Float);
  ExpandUnary(MLIRContext *context, Function function, bool wide,
              PatternBenefit benefit = 1)
      : OpRewritePattern<Op>(context, benefit), function(function), wide(wide) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    Type precision = getPrecision(type, wide);
    if (!precision)
      return rewriter.notifyMatchFailure(op, "not a type that is computed");
    Location loc = op.getLoc();
    Value x = convertFloat(rewriter, loc, op->getOperand(0), precision);
    MathBuilder builder(rewriter, loc, x.getType());
    Value result = function(builder(x)).value;
    rewriter.replaceOp(
        op, convertFloat(rewriter, loc, result, getElementTypeOrSelf(type)));
    return success();
  }
  Function function;
  bool wide;
};

/// Powers that may be approximate, of 16 and 32 bits.
struct ExpandApproximateExp2 : ExpandUnary<mlir::math::Exp2Op> {
  explicit ExpandApproximateExp2(MLIRContext *context)
      : ExpandUnary(context, tilewright::math::exp2Flushed, /*wide=*/false,
                    /*benefit=*/2) {}
  LogicalResult matchAndRewrite(mlir::math::Exp2Op op,
                                PatternRewriter &rewriter) const override {
    if (!bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn) ||
        getElementTypeOrSelf(op.getType()).isF64())
      return failure();
    return ExpandUnary::matchAndRewrite(op, rewriter);
  }
};

template <typename Op> struct ExpandBinary : OpRewritePattern<Op> {
  using Function = Float (*)(Float, Float);
  ExpandBinary(MLIRContext *context, Function function, bool wide)
      : OpRewritePattern<Op>(context), function(function), wide(wide) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Type type = op.getType();
    Type precision = getPrecision(type, wide);
    if (!precision)
      return rewriter.notifyMatchFailure(op, "not a type that is computed");
    Location loc = op.getLoc();
    Value x = convertFloat(rewriter, loc, op->getOperand(0), precision);
    Value y = convertFloat(rewriter, loc, op->getOperand(1), precision);
    MathBuilder builder(rewriter, loc, x.getType());
    Value result = function(builder(x), builder(y)).value;
    rewriter.replaceOp(
        op, convertFloat(rewriter, loc, result, getElementTypeOrSelf(type)));
    return success();
  }
  Function function;
  bool wide;
};

/// The nearest to x between two bounds; NaN stays.
struct ExpandClampF : OpRewritePattern<mlir::math::ClampFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::math::ClampFOp op,
                                PatternRewriter &rewriter) const override {
    Value atLeast =
        arith::MaximumFOp::create(rewriter, op.getLoc(), op.getValue(), op.getMin());
    rewriter.replaceOpWithNewOp<arith::MinimumFOp>(op, atLeast, op.getMax());
    return success();
  }
};

struct ExpandSinCos : OpRewritePattern<mlir::math::SincosOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(mlir::math::SincosOp op,
                                PatternRewriter &rewriter) const override {
    Value x = op->getOperand(0);
    Value sine = mlir::math::SinOp::create(rewriter, op.getLoc(), x);
    Value cosine = mlir::math::CosOp::create(rewriter, op.getLoc(), x);
    rewriter.replaceOp(op, {sine, cosine});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Questions about floats
//===----------------------------------------------------------------------===//

/// isnan, isinf, isfinite, isnormal by comparisons.
template <typename Op> struct ExpandClass : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value x = op->getOperand(0);
    auto element = cast<FloatType>(getElementTypeOrSelf(x.getType()));
    auto constant = [&](const APFloat &value) -> Value {
      TypedAttr attr = rewriter.getFloatAttr(element, value);
      if (auto vector = dyn_cast<VectorType>(x.getType()))
        attr = DenseElementsAttr::get(vector, Attribute(attr));
      return arith::ConstantOp::create(rewriter, loc, attr);
    };
    auto compare = [&](arith::CmpFPredicate predicate, Value a, Value b) -> Value {
      return arith::CmpFOp::create(rewriter, loc, predicate, a, b);
    };
    if constexpr (std::is_same_v<Op, mlir::math::IsNaNOp>) {
      rewriter.replaceOp(op, compare(arith::CmpFPredicate::UNO, x, x));
    } else {
      Value a = mlir::math::AbsFOp::create(rewriter, loc, x);
      const llvm::fltSemantics &format = element.getFloatSemantics();
      Value infinity = constant(APFloat::getInf(format));
      Value finite = compare(arith::CmpFPredicate::OLT, a, infinity);
      if constexpr (std::is_same_v<Op, mlir::math::IsInfOp>) {
        finite = compare(arith::CmpFPredicate::OEQ, a, infinity);
      } else if constexpr (std::is_same_v<Op, mlir::math::IsNormalOp>) {
        Value least = constant(APFloat::getSmallestNormalized(format));
        finite = arith::AndIOp::create(
            rewriter, loc, finite,
            compare(arith::CmpFPredicate::OGE, a, least));
      }
      rewriter.replaceOp(op, finite);
    }
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

void tilewright::populateExpandMathPatterns(RewritePatternSet &patterns,
                                            bool wide) {
  MLIRContext *context = patterns.getContext();
  auto unary = [&](auto op, Float (*function)(Float)) {
    patterns.add<ExpandUnary<decltype(op)>>(context, function, wide);
  };
  unary(mlir::math::AcosOp(), math::acos);
  unary(mlir::math::AcoshOp(), math::acosh);
  unary(mlir::math::AsinOp(), math::asin);
  unary(mlir::math::AsinhOp(), math::asinh);
  unary(mlir::math::AtanOp(), math::atan);
  unary(mlir::math::AtanhOp(), math::atanh);
  unary(mlir::math::CbrtOp(), math::cbrt);
  unary(mlir::math::CosOp(), math::cos);
  unary(mlir::math::CoshOp(), math::cosh);
  unary(mlir::math::ErfOp(), math::erf);
  unary(mlir::math::ErfcOp(), math::erfc);
  unary(mlir::math::ExpOp(), math::exp);
  unary(mlir::math::Exp2Op(), math::exp2);
  unary(mlir::math::ExpM1Op(), math::expm1);
  unary(mlir::math::LogOp(), math::log);
  unary(mlir::math::Log10Op(), math::log10);
  unary(mlir::math::Log1pOp(), math::log1p);
  unary(mlir::math::Log2Op(), math::log2);
  unary(mlir::math::RoundOp(), round);
  unary(mlir::math::RsqrtOp(), rsqrt);
  unary(mlir::math::SinOp(), math::sin);
  unary(mlir::math::SinhOp(), math::sinh);
  unary(mlir::math::TanOp(), math::tan);
  unary(mlir::math::TanhOp(), math::tanh);
  patterns.add<ExpandBinary<mlir::math::Atan2Op>>(context, math::atan2, wide);
  patterns.add<ExpandBinary<mlir::math::PowFOp>>(context, math::pow, wide);
  // The reference has a library's, which is exact, too.
  if (!wide) {
    patterns.add<ExpandBinary<arith::RemFOp>>(context, math::remainder, wide);
    patterns.add<ExpandApproximateExp2>(context);
  }
  math::populateIntegerPatterns(patterns, wide);
  patterns.add<ExpandClampF, ExpandSinCos, ExpandClass<mlir::math::IsNaNOp>,
               ExpandClass<mlir::math::IsInfOp>,
               ExpandClass<mlir::math::IsFiniteOp>,
               ExpandClass<mlir::math::IsNormalOp>>(context);
}

LogicalResult tilewright::expandMath(Operation *root, bool wide) {
  RewritePatternSet patterns(root->getContext());
  populateExpandMathPatterns(patterns, wide);
  if (failed(applyPatternsBounded(root, std::move(patterns), "lower",
                                  "expansion of math functions")))
    return failure();
  WalkResult result = root->walk([](Operation *op) {
    if (!isa_and_present<mlir::math::MathDialect>(op->getDialect()) ||
        isNative(op))
      return WalkResult::advance();
    op->emitOpError() << "has no expansion for " << op->getResult(0).getType()
                      << "; write it in terms of others, or use f32 or f64";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

namespace {
struct ExpandMathPass : tilewright::impl::ExpandMathPassBase<ExpandMathPass> {
  using ExpandMathPassBase::ExpandMathPassBase;
  void runOnOperation() override {
    if (failed(expandMath(getOperation(), wide)))
      signalPassFailure();
  }
};
} // namespace

void tilewright::registerTargetPasses() { registerTilewrightTargetPasses(); }
