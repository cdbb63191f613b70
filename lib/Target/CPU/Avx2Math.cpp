// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of rows of f32 by AVX2, which looks up one of eight numbers of a register (vpermps):
//
//   %y = math.exp %x        ->  2^(n + k / 8) (1 + P(r)), P of degree 3, 2^(k / 8) by k
//   GELU (MatchGelu.cpp)    ->  x Q(|x|) where x < 0, else x (1 - Q(|x|)), Q of degree 7 for each
//                               of eight parts of the range
//
// Those of f16 and bf16 are computed in f32 and rounded once. Other functions are expanded as
// everywhere, a register at a time: there are sixteen, of which a row of four registers needs
// more if all are computed step by step.

#include "MathRegisters.h"
#include "RowLoops.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {
#define GEN_PASS_DEF_AVX2MATHPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;
using tilewright::math::Bits;
using tilewright::math::Float;
using tilewright::math::MathBuilder;

/// Numbers of f32 or i32 of a register.
static constexpr int64_t kLanes = 8;
/// A cache line of f16 or two of f32: their steps run beside each other.
static constexpr Registers kRegisters = {kLanes, /*together=*/4};

/// `table[index mod 8]` for each lane.
static Value lookUp(OpBuilder &builder, Location loc, ArrayRef<float> table, Value index) {
  auto type = VectorType::get(kLanes, builder.getF32Type());
  Value numbers =
      arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, table));
  return callIntrinsic(builder, loc, "llvm.x86.avx2.permps", type, {numbers, index});
}

/// 2^(k / 8).
static constexpr float kPowers[] = {1,          1.09050775f, 1.18920708f, 1.29683959f,
                                    1.41421354f, 1.54221082f, 1.68179286f, 1.8340081f};
/// e^r = 1 + r + r^2 (c[0] + c[1] r) for |r| <= ln(2) / 16, with the least error, 3e-8.
static constexpr double kExpSeries[] = {0.500064711, 0.166682306};

static Value expOfRegister(OpBuilder &builder, Location loc, Value row) {
  MathBuilder m(builder, loc, row.getType());
  // Beyond these, the result is infinite or rounds to zero.
  Float x = m(row), most = m(89), least = m(-104), magic = m(0x1.8p20);
  x = select(x > most, most, x);
  x = select(x < least, least, x);
  // The nearest eighth to x / ln 2, whose last three bits are k; ln 2 as a sum.
  Float shifted = fma(x, m(1.4426950408889634), magic), n = shifted - magic;
  Float r = fma(-n, m(0.693138122558593750), x);
  r = fma(-n, m(9.05800061445916e-06), r);
  // Half of n, rounded down, goes into the exponent of the power, the rest into a factor: the
  // result may be infinite or subnormal. Of NaN, r is NaN, and the powers may be anything.
  Bits bits = m.toBits(shifted), exponents = m.bits(int32_t(0xff800000));
  Bits half = (bits << 19) & exponents, rest = ((bits << 20) & exponents) - half;
  Float power = m(lookUp(builder, loc, kPowers, bits.value));
  power = m.fromBits(m.toBits(power) + half);
  Float p = fma(fma(r, m(kExpSeries[1]), m(kExpSeries[0])), r * r, r);
  return (fma(power, p, power) * m.fromBits(rest + m.toBits(m(1)))).value;
}

/// Q(a) = Phi(-a) = c[0] + c[1] d + … + c[7] d^7 for a = k + d, |d| <= 1/2, of each k: relative
/// error below 2^-22 up to 2.5, of Q(3) 2^-22 up to 3.5. From 6.5 on, Q is zero.
static constexpr double kEnd = 7.25;
static constexpr float kErfTable[][kLanes] = {
    {0.5, 0.158655256, 0.0227501299, 0.00134989864, 3.16713122e-05, 2.86670854e-07,
     9.87093185e-10},
    {-0.398942292, -0.241970703, -0.0539910085, -0.00443183957, -0.00013383216, -1.48708409e-06,
     -6.08164497e-09},
    {3.28663702e-07, 0.120984927, 0.0539912842, 0.00664765853, 0.000267658499, 3.7159507e-06,
     1.81899615e-08},
    {0.0664854497, -2.48790201e-07, -0.0269941967, -0.00590945687, -0.000334487937,
     -5.92861943e-06, -3.50574325e-08},
    {3.61184866e-05, -0.0201552603, 0.00449173292, 0.00332664116, 0.000289871328, 6.79568666e-06,
     4.99956627e-08},
    {-0.0101149278, 0.00403088657, 0.00224059145, -0.00110534753, -0.000182653908,
     -6.09769722e-06, -5.88970828e-08},
    {0.000292568729, 0.00195766031, -0.00129641173, 9.09429145e-05, 8.38407796e-05, 4.3385603e-06,
     5.44261809e-08},
    {0.000919306476, -0.000736106886, 0.000127528619, 7.99352711e-05, -2.30707483e-05,
     -1.79438143e-06, -2.63741242e-08}};
static constexpr float kTanhTable[][kLanes] = {
    {0.5, 0.158808008, 0.0227011517, 0.00121246441, 1.75615769e-05, 4.58648373e-08,
     1.41302152e-11},
    {-0.398942292, -0.241772085, -0.0544002317, -0.00426553609, -8.81722153e-05, -3.18580305e-07,
     -1.2941366e-10},
    {3.43719904e-07, 0.120697595, 0.0541691147, 0.00671637431, 0.000206293, 1.0539236e-06,
     5.67999814e-10},
    {0.0668143257, -0.000411183573, -0.0266058054, -0.00611033291, -0.000296097685,
     -2.20554193e-06, -1.66908221e-09},
    {3.76839635e-05, -0.0200014412, 0.00429450627, 0.00340115256, 0.000288118521, 3.33066896e-06,
     3.92419164e-09},
    {-0.0103488211, 0.00428504869, 0.00209318521, -0.00105296262, -0.000197348199,
     -3.93408664e-06, -7.23929006e-09},
    {0.000304110814, 0.0019080434, -0.00120620034, 4.82020441e-05, 9.32007606e-05, 3.41832219e-06,
     8.4403089e-09},
    {0.000965308456, -0.000808721816, 0.000146665785, 8.1744387e-05, -2.45193332e-05,
     -1.52622897e-06, -4.30162839e-09}};

static Value geluOfRegister(OpBuilder &builder, Location loc, Value row, Gelu kind) {
  MathBuilder m(builder, loc, row.getType());
  Float x = m(row), a = abs(x), end = m(kEnd), magic = m(0x1.8p23);
  a = select(a > end, end, a);
  // The nearest k is in the low bits.
  Float shifted = a + magic, d = a - (shifted - magic);
  Float q = lookedUpSeries(tablesOf(kind == Gelu::ByErf ? kErfTable : kTanhTable), shifted, d,
                           lookUp);
  return (x * select(m.toBits(x) < m.bits(0), q, m(1) - q)).value;
}

namespace {
/// A function without a form of its own here.
struct SplitFunction : RewritePattern {
  explicit SplitFunction(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isCostly(*op) || isa<mlir::math::ExpOp>(op) || op->getNumOperands() != 1)
      return rewriter.notifyMatchFailure(op, "no function of one number that is expanded");
    auto type = dyn_cast<VectorType>(op->getResult(0).getType());
    if (!isSingle(type) || op->getOperand(0).getType() != type ||
        (type.getRank() == 1 && type.getNumElements() <= kLanes))
      return rewriter.notifyMatchFailure(op, "no vectors of several registers of f32");
    replaceByRegisters(rewriter, op, op->getOperand(0), {kLanes}, [&](Value part) {
      return rewriter
          .create(op->getLoc(), op->getName().getIdentifier(), part, part.getType(),
                  op->getAttrs())
          ->getResult(0);
    });
    return success();
  }
};
} // namespace

static void populateFunctions(RewritePatternSet &patterns) {
  patterns.add<FunctionOfRegisters<mlir::math::ExpOp>>(patterns.getContext(), kRegisters,
                                                       expOfRegister);
  patterns.add<SplitFunction>(patterns.getContext());
}

namespace {
struct Avx2MathPass : tilewright::impl::Avx2MathPassBase<Avx2MathPass> {
  void runOnOperation() override {
    if (failed(computeByRegisters(getOperation(),
                                  {kRegisters, geluOfRegister, populateFunctions})))
      signalPassFailure();
  }
};
} // namespace
