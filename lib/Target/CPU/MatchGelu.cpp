// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GELU, x Phi(x) with Phi(x) = (1 + erf(x / sqrt 2)) / 2 or its approximation by tanh, as one
// function of x, which looks up polynomials of Q(a) = Phi(-a), a = |x|:
//
//   %s = 0.70710678 x                 or        %s = 0.79788456 (x + 0.044715 x^3)
//   %f = math.erf %s                            %f = math.tanh %s
//   %r = 0.5 x (1 + %f), in any order
//   ->
//   %r = max(x, 0) - a Q(a)           or        %r = x Q(a) where x < 0, else x (1 - Q(a))
//
// Where 1 + %f cancels, Q does not: errors are smaller than those of the ops it replaces.

#include "MathRegisters.h"
#include "Singles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// c[0] + c[1] x + c[2] x^2 + c[3] x^3
using Cubic = std::array<double, 4>;

static std::optional<Cubic> multiply(const Cubic &a, const Cubic &b) {
  Cubic product = {};
  for (size_t i = 0; i < a.size(); ++i)
    for (size_t j = 0; j < b.size(); ++j)
      if (i + j < product.size())
        product[i + j] += a[i] * b[j];
      else if (a[i] != 0 && b[j] != 0)
        return std::nullopt;
  return product;
}

static std::optional<double> numberOf(Value value) {
  APFloat number(0.0);
  if (!matchPattern(value, m_ConstantFloat(&number)))
    return std::nullopt;
  return number.convertToDouble();
}

/// `value` as a polynomial in `x`, made in at most `depth` steps, one after the other.
static std::optional<Cubic> cubicIn(Value x, Value value, int depth) {
  if (value == x)
    return Cubic{0, 1, 0, 0};
  if (std::optional<double> number = numberOf(value))
    return Cubic{*number, 0, 0, 0};
  Operation *op = value.getDefiningOp();
  if (depth == 0 || !isa_and_present<arith::AddFOp, arith::MulFOp, arith::DivFOp>(op))
    return std::nullopt;
  std::optional<Cubic> a = cubicIn(x, op->getOperand(0), depth - 1);
  std::optional<Cubic> b = a ? cubicIn(x, op->getOperand(1), depth - 1) : std::nullopt;
  if (!b)
    return std::nullopt;
  if (isa<arith::MulFOp>(op))
    return multiply(*a, *b);
  if (isa<arith::DivFOp>(op)) {
    std::optional<double> by = numberOf(op->getOperand(1));
    return by && *by != 0 ? multiply(*a, {1 / *by, 0, 0, 0}) : std::nullopt;
  }
  Cubic sum;
  for (auto [to, i, j] : llvm::zip_equal(sum, *a, *b))
    to = i + j;
  return sum;
}

/// How far constants of bodies in the type of `x` may be off, relatively: those of a body in f16 or
/// bf16 that is computed in f32 were rounded to what `x` is widened from, products of two twice.
/// What the program itself widens has constants of f32.
static double roundingBeside(Value x) {
  auto widened = x.getDefiningOp<arith::ExtFOp>();
  if (widened && !isBetweenOps(widened))
    widened = {};
  Type type = getElementTypeOrSelf(widened ? widened.getIn() : x);
  return type.isBF16() ? 0x1p-7 : type.isF16() ? 0x1p-10 : 0x1p-22;
}

/// Whether `value` is `polynomial` of `x` but for how constants are rounded.
static bool isCubic(Value x, Value value, const Cubic &polynomial) {
  constexpr int kDepth = 6;
  std::optional<Cubic> found = cubicIn(x, value, kDepth);
  double rounding = roundingBeside(x);
  return found && llvm::all_of(llvm::zip_equal(*found, polynomial), [&](auto pair) {
           auto [is, should] = pair;
           return std::abs(is - should) <= rounding * std::abs(should);
         });
}

/// The factors of a product, those of factors with no other use in their place.
static void addFactors(Value product, SmallVectorImpl<Value> &factors) {
  constexpr size_t kMost = 4;
  auto op = product.getDefiningOp<arith::MulFOp>();
  if (!op || factors.size() >= kMost) {
    factors.push_back(product);
    return;
  }
  for (Value factor : {op.getLhs(), op.getRhs()})
    if (factor.hasOneUse())
      addFactors(factor, factors);
    else
      factors.push_back(factor);
}

/// f of a factor 1 + f.
static Operation *functionBesideOne(Value factor) {
  auto sum = factor.getDefiningOp<arith::AddFOp>();
  if (!sum)
    return nullptr;
  bool isSecond = numberOf(sum.getLhs()) == 1.0;
  if (!isSecond && numberOf(sum.getRhs()) != 1.0)
    return nullptr;
  return (isSecond ? sum.getRhs() : sum.getLhs()).getDefiningOp();
}

/// Which GELU 0.5 x (1 + f) is, if it is one.
static std::optional<Gelu> geluOf(Value x, Operation *f) {
  constexpr double kRoot = 0.70710678118654752, kFactor = 0.79788456080286536;
  if (auto erf = dyn_cast<mlir::math::ErfOp>(f))
    if (isCubic(x, erf.getOperand(), {0, kRoot, 0, 0}))
      return Gelu::ByErf;
  if (auto tanh = dyn_cast<mlir::math::TanhOp>(f))
    if (isCubic(x, tanh.getOperand(), {0, kFactor, 0, kFactor * 0.044715}))
      return Gelu::ByTanh;
  return std::nullopt;
}

namespace {
struct MatchGelu : OpRewritePattern<arith::MulFOp> {
  MatchGelu(MLIRContext *context, Registers registers, GeluFunction function)
      : OpRewritePattern(context), registers(registers), function(function) {}
  LogicalResult matchAndRewrite(arith::MulFOp op, PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return rewriter.notifyMatchFailure(op, "no vectors of f32");
    SmallVector<Value> factors;
    addFactors(op.getResult(), factors);
    Value x;
    Operation *f = nullptr;
    bool isHalf = false;
    for (Value factor : factors)
      if (numberOf(factor) == 0.5)
        isHalf = true;
      else if (Operation *found = functionBesideOne(factor))
        f = found;
      else
        x = factor;
    if (factors.size() != 3 || !isHalf || !f || !x)
      return rewriter.notifyMatchFailure(op, "no 0.5 x (1 + f)");
    std::optional<Gelu> kind = geluOf(x, f);
    if (!kind)
      return rewriter.notifyMatchFailure(op, "f is none of those of GELU");
    replaceByRegisters(rewriter, op, x, registers, [&](Value part) {
      return function(rewriter, op.getLoc(), part, *kind);
    });
    return success();
  }
  Registers registers;
  GeluFunction function;
};
} // namespace

void tilewright::cpu::populateGeluPatterns(RewritePatternSet &patterns, Registers registers,
                                           GeluFunction function) {
  patterns.add<MatchGelu>(patterns.getContext(), registers, function);
}
