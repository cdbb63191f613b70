// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GELU, x Phi(x) with Phi(x) = (1 + erf(x / sqrt 2)) / 2 or its approximation by tanh, as one
// function of x:
//
//   %s = 0.70710678 x                 or        %s = 0.79788456 (x + 0.044715 x^3)
//   %f = math.erf %s                            %f = math.tanh %s
//   %r = 0.5 x (1 + %f), in any order
//   ->
//   %r = max(x, 0) - |x| Q(|x|), Q(a) = Phi(-a): a polynomial of degree 5 for each of sixteen
//                                parts of the range, as in Avx512Math.cpp
//
// Where 1 + %f cancels, Q does not: errors are smaller than those of the ops it replaces.

#include "Avx512.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Q(a) = c[0] + c[1] d + … + c[5] d^5 for a = k / 2 + d, |d| <= 1/4, of each k: relative error
/// below 2^-23 up to 1.75, 2^-20 up to 3.25. From 5.75 on, Q is zero; kEnd is in the last part.
static constexpr double kEnd = 7.5;
static constexpr float kErfTable[][kLanes] = {
    {0.5, 0.308537573, 0.158655271, 0.0668071955, 0.0227501225, 0.00620966218, 0.00134989852,
     0.000232629929, 3.16715887e-05, 3.39775283e-06, 2.86663351e-07, 1.89907148e-08},
    {-0.398942232, -0.352065176, -0.241970643, -0.129517674, -0.0539910793, -0.0175283421,
     -0.00443183212, -0.000872660079, -0.000133819442, -1.59806714e-05, -1.48613424e-06,
     -1.07619108e-07},
    {-1.59596016e-06, 0.0880097598, 0.120981045, 0.0971395001, 0.0539937057, 0.0219114162,
     0.00664758217, 0.00152687053, 0.000267517229, 3.59266051e-05, 3.71049896e-06,
     2.95412349e-07},
    {0.0665149763, 0.0439982191, -3.84800387e-06, -0.0269772261, -0.0269883741, -0.0153350243,
     -0.00591037283, -0.00163777231, -0.000335271761, -5.14788335e-05, -5.98482484e-06,
     -5.30179079e-07},
    {-0.000164271725, -0.0198864993, -0.0199774001, -0.0061298809, 0.00437675137, 0.00588724343,
     0.00333326496, 0.00119292829, 0.000297094346, 5.35949039e-05, 7.15278429e-06,
     7.15253123e-07},
    {-0.00954371225, -0.00443537952, 0.0040321853, 0.00575997308, 0.00216536177,
     -0.000678372337, -0.00108616357, -0.000560362125, -0.000174223431, -3.68250658e-05,
     -5.55200904e-06, -6.12175256e-07}};
static constexpr float kTanhTable[][kLanes] = {
    {0.5, 0.308571994, 0.158808023, 0.0669522807, 0.0227011442, 0.00603370368, 0.0012124643,
     0.000176057161, 1.75617515e-05, 1.14153374e-06, 4.58359999e-08, 1.07740761e-09},
    {-0.398942232, -0.35188362, -0.241772026, -0.129775465, -0.0544003062, -0.0175941549,
     -0.00426553236, -0.000742461008, -8.81571614e-05, -6.76587388e-06, -3.1789989e-07,
     -8.66089422e-09},
    {-1.67159533e-06, 0.0882537588, 0.120693788, 0.0966912135, 0.0541714057, 0.0222876891,
     0.00671635894, 0.00143319508, 0.000206157521, 1.89425755e-05, 1.05361414e-06,
     3.36597061e-08},
    {0.0668452382, 0.0438743383, -0.000414498674, -0.0267181192, -0.0266001951, -0.015452507,
     -0.00611097552, -0.00165754324, -0.000297104911, -3.35077602e-05, -2.26254429e-06,
     -8.71583481e-08},
    {-0.000172043045, -0.0202138368, -0.0198277608, -0.0058087483, 0.00418695807, 0.00570069905,
     0.00340424688, 0.00126129773, 0.000295784994, 4.24186546e-05, 3.55695352e-06,
     1.66371052e-07},
    {-0.0097514065, -0.00439755805, 0.00427641813, 0.00560771441, 0.00202439143,
     -0.000564005924, -0.00103751372, -0.000591520627, -0.000185689772, -3.31831143e-05,
     -3.29505178e-06, -1.75278785e-07}};

/// x where that is positive, zero with its sign where it is negative. Of -infinity, whose product
/// with zero that is, NaN.
static Value positivePart(OpBuilder &builder, Location loc, Value x) {
  // Four bits for each class of numbers: 0 keeps the number, 2 makes a NaN quiet.
  constexpr int32_t kSignalingNaN = 2 << 4, kNegativeInfinity = 3 << 16, kNegative = 7 << 24;
  auto type = VectorType::get(kLanes, builder.getI32Type());
  auto number = [&](Type type, int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  Value table = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, kSignalingNaN | kNegativeInfinity | kNegative));
  constexpr int32_t kNoExceptions = 0, kCurrentDirection = 4;
  return callIntrinsic(builder, loc, "llvm.x86.avx512.mask.fixupimm.ps.512", x.getType(),
                       {x, x, table, number(builder.getI32Type(), kNoExceptions),
                        number(builder.getI16Type(), -1),
                        number(builder.getI32Type(), kCurrentDirection)});
}

static Value geluOfRegister(OpBuilder &builder, Location loc, Value row,
                            ArrayRef<ArrayRef<float>> tables) {
  using tilewright::math::Float;
  tilewright::math::MathBuilder m(builder, loc, row.getType());
  // The smaller of the magnitudes, without a sign; of NaN and a number the number.
  constexpr int32_t kLeastMagnitude = 2, kNoSign = 2 << 2;
  Float a = m(callUnmasked(builder, loc, "llvm.x86.avx512.mask.range.ps.512", row, m(kEnd).value,
                           kLeastMagnitude | kNoSign));
  // The nearest k is in the low bits, whose unit is 1/2.
  Float shifted = a + m(0x1p22), d = a - (shifted - m(0x1p22));
  Float positive = m(positivePart(builder, loc, row));
  return fma(-a, lookedUpSeries(tables, shifted, d), positive).value;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

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

/// Whether `value` is `polynomial` of `x` but for how constants of f32 are rounded.
static bool isCubic(Value x, Value value, const Cubic &polynomial) {
  constexpr int kDepth = 6;
  constexpr double kRounding = 0x1p-22;
  std::optional<Cubic> found = cubicIn(x, value, kDepth);
  return found && llvm::all_of(llvm::zip_equal(*found, polynomial), [&](auto pair) {
           auto [is, should] = pair;
           return std::abs(is - should) <= kRounding * std::abs(should);
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

/// The tables of 0.5 x (1 + f); none if f is none of those of GELU.
static SmallVector<ArrayRef<float>> tablesFor(Value x, Operation *f) {
  constexpr double kRoot = 0.70710678118654752, kFactor = 0.79788456080286536;
  if (auto erf = dyn_cast<mlir::math::ErfOp>(f))
    if (isCubic(x, erf.getOperand(), {0, kRoot, 0, 0}))
      return tablesOf(kErfTable);
  if (auto tanh = dyn_cast<mlir::math::TanhOp>(f))
    if (isCubic(x, tanh.getOperand(), {0, kFactor, 0, kFactor * 0.044715}))
      return tablesOf(kTanhTable);
  return {};
}

namespace {
struct Gelu : OpRewritePattern<arith::MulFOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(arith::MulFOp op, PatternRewriter &rewriter) const override {
    if (!isSingle(op.getType()))
      return rewriter.notifyMatchFailure(op, "no vectors of f32");
    SmallVector<Value> factors;
    addFactors(op.getResult(), factors);
    Value x;
    Operation *function = nullptr;
    bool isHalf = false;
    for (Value factor : factors)
      if (numberOf(factor) == 0.5)
        isHalf = true;
      else if (Operation *found = functionBesideOne(factor))
        function = found;
      else
        x = factor;
    if (factors.size() != 3 || !isHalf || !function || !x)
      return rewriter.notifyMatchFailure(op, "no 0.5 x (1 + f)");
    SmallVector<ArrayRef<float>> tables = tablesFor(x, function);
    if (tables.empty())
      return rewriter.notifyMatchFailure(op, "f is none of those of GELU");
    replaceByRegisters(rewriter, op, x, [&](Value part) {
      return geluOfRegister(rewriter, op.getLoc(), part, tables);
    });
    return success();
  }
};
} // namespace

void tilewright::cpu::populateGeluPatterns(RewritePatternSet &patterns) {
  patterns.add<Gelu>(patterns.getContext());
}
