// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of rows of f32 for which AVX-512 has instructions:
//
//   %m = arith.maxnumf %x, %y : vector<2x64xf32>  ->  a call of llvm.maxnum for each row
//
// and what ChooseExtrema.cpp and Avx512Rounding.cpp have.
//
// A register holds a table of sixteen numbers, which vpermps looks up, two of them one for
// vpermi2ps: polynomials of a low degree for each part of the argument's range in place of one
// for all of it.
//
//   %y = math.exp %x                              ->  2^(n + k / 16) (1 + P(r)), P of degree 3,
//                                                     2^(k / 16) by k
//   %y = math.erf %x                              ->  x P(|x| - k / 8), P of degree 4 by the
//                                                     nearest k
//   %y = math.tanh %x                             ->  likewise, of degree 5
//
// Those of f16 and bf16 are computed in f32 and rounded once. GELU is one function
// (Avx512Gelu.cpp).

#include "Avx512.h"

#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace tilewright {
#define GEN_PASS_DEF_AVX512MATHPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

Value tilewright::cpu::lookUpIn512(OpBuilder &builder, Location loc, ArrayRef<float> table,
                                   Value index) {
  auto type = VectorType::get(kLanes, builder.getF32Type());
  auto numbers = [&](ArrayRef<float> part) -> Value {
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, part));
  };
  if (table.size() == kLanes)
    return callIntrinsic(builder, loc, "llvm.x86.avx512.permvar.sf.512", type,
                         {numbers(table), index});
  return callIntrinsic(builder, loc, "llvm.x86.avx512.vpermi2var.ps.512", type,
                       {numbers(table.take_front(kLanes)), index,
                        numbers(table.drop_front(kLanes))});
}

Value tilewright::cpu::callUnmasked(OpBuilder &builder, Location loc, StringRef name, Value a,
                                    Value b, std::optional<int32_t> immediate) {
  constexpr int32_t kRoundToNearest = 4;
  auto number = [&](Type type, int32_t value) -> Value {
    return arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, value));
  };
  SmallVector<Value> arguments = {a, b};
  if (immediate)
    arguments.push_back(number(builder.getI32Type(), *immediate));
  arguments.push_back(a);
  arguments.push_back(number(builder.getI16Type(), -1));
  arguments.push_back(number(builder.getI32Type(), kRoundToNearest));
  return callIntrinsic(builder, loc, name, a.getType(), arguments);
}

/// One at a time: processors with AVX-512 look far enough ahead to begin the next one meanwhile.
static constexpr Registers kRegisters = {kLanes};

/// 2^(k / 16).
static constexpr float kPowers[] = {1,           1.04427373f, 1.09050775f, 1.13878858f,
                                    1.18920708f, 1.24185777f, 1.29683959f, 1.3542556f,
                                    1.41421354f, 1.47682619f, 1.54221082f, 1.61049032f,
                                    1.68179286f, 1.75625217f, 1.8340081f,  1.91520655f};
/// e^r = 1 + r + r^2 (c[0] + c[1] r) for |r| <= ln(2) / 32, with the least error, 2e-9.
static constexpr double kExpSeries[] = {0.50001619, 0.166667187};

/// Values are within a unit in the last place, as those of the expansion are.
static Value expOfRegister(OpBuilder &builder, Location loc, Value row) {
  using tilewright::math::Float;
  tilewright::math::MathBuilder m(builder, loc, row.getType());
  Float x = m(row), magic = m(0x1.8p19);
  // The nearest sixteenth to x / ln 2, whose last four bits are k; ln 2 as a sum.
  Float shifted = fma(x, m(1.4426950408889634), magic), n = shifted - magic;
  Float r = fma(-n, m(0.693138122558593750), x);
  r = fma(-n, m(9.05800061445916e-06), r);
  // Where e^x is infinite or zero, or x is NaN, r may be anything, but n decides then: 1 + P has
  // to be a positive number. The smaller of the absolute values, of NaN and a number the number.
  constexpr int32_t kLeastMagnitude = 2;
  r = m(callUnmasked(builder, loc, "llvm.x86.avx512.mask.range.ps.512", r.value,
                     m(0x1p-5).value, kLeastMagnitude));
  Float power = m(lookUpIn512(builder, loc, kPowers, m.toBits(shifted).value));
  Float p = fma(fma(r, m(kExpSeries[1]), m(kExpSeries[0])), r * r, r);
  // Times 2^n, n rounded down.
  return callUnmasked(builder, loc, "llvm.x86.avx512.mask.scalef.ps.512",
                      fma(power, p, power).value, n.value, std::nullopt);
}

/// erf(a) / a = c[0] + c[1] d + … + c[4] d^4 for a = k / 8 + d, |d| <= 1/16, of each k: relative
/// error below 2^-28. From kErfEnd on, erf rounds to 1, and so does what comes of it.
static constexpr double kErfEnd = 3.84;
static constexpr float kErfTable[][2 * kLanes] = {
    {1.12837917, 1.12252964, 1.10530556, 1.07764509, 1.04099976, 0.997185411, 0.948207512,
     0.896085784, 0.842700793, 0.789678428, 0.738320103, 0.689578235, 0.644070098, 0.60211922,
     0.563812384, 0.529061364, 0.497661133, 0.46933928, 0.443794348, 0.420722973, 0.399837219,
     0.380874143, 0.363599774, 0.347809442, 0.33332597, 0.319996833, 0.307690984, 0.296295758,
     0.285714073, 0.275861988, 0.266666636, 0.258064505},
    {3.83026943e-15, -0.0931548573, -0.181165554, -0.259445864, -0.324434115, -0.373897179,
     -0.407035076, -0.424389294, -0.427593236, -0.419026193, -0.401439225, -0.377613495,
     -0.350093287, -0.321013596, -0.292021436, -0.26427501, -0.238497116, -0.215058127,
     -0.194067585, -0.175459585, -0.159063576, -0.144657624, -0.132004904, -0.120876244,
     -0.111062235, -0.10237826, -0.0946651642, -0.0877875546, -0.0816310473, -0.0760992453,
     -0.0711108663, -0.0665972026},
    {-0.376126159, -0.365645348, -0.335350956, -0.288496376, -0.229913754, -0.165263667,
     -0.100217451, -0.0397286934, 0.0124856347, 0.0541936134, 0.0846300637, 0.104268043,
     0.114465092, 0.11707447, 0.114094339, 0.107400819, 0.0985815711, 0.0888630149, 0.0791099572,
     0.0698712584, 0.06144716, 0.0539598018, 0.0474155137, 0.0417536876, 0.0368814949,
     0.0326962863, 0.0290985548, 0.0259983761, 0.0233177572, 0.0209906795, 0.0189620163,
     0.0171860351},
    {-1.87447055e-12, 0.0552828543, 0.104546453, 0.142760692, 0.166655882, 0.175119001,
     0.169156944, 0.151477431, 0.125822357, 0.0962270824, 0.0663665415, 0.0391031745, 0.0162746644,
     -0.00129177927, -0.0136049798, -0.0212529054, -0.0251360116, -0.0262420329, -0.0254876558,
     -0.0236300841, -0.021236718, -0.0186946422, -0.0162417052, -0.0140046445, -0.0120351018,
     -0.0103387919, -0.00889665997, -0.00767878405, -0.00665264208, -0.00578746667, -0.00505613957,
     -0.00443568756},
    {0.112680591, 0.106458416, 0.0888992144, 0.0628347257, 0.0323289243, 0.00180508391,
     -0.0248047458, -0.0447114479, -0.0565943727, -0.0605790795, -0.057908757, -0.0505159503,
     -0.0404984351, -0.0297433836, -0.019679247, -0.0111895264, -0.0046532463, -6.1885406e-05,
     0.00283748404, 0.00441076605, 0.00503809114, 0.00505333639, 0.00471718587, 0.00421394323,
     0.00366188463, 0.003128999, 0.00264870344, 0.00223285721, 0.00188125471, 0.00158786953,
     0.00134457765, 0.00114314661}};

/// tanh(a) / a = c[0] + c[1] d + … + c[5] d^5 for a = k kTanhStep + d, |d| <= kTanhStep / 2, of
/// each k: relative error below 2^-24. From kTanhEnd on, tanh rounds to 1; no value is above 1.
static constexpr double kTanhStep = 37. / 128, kTanhEnd = 9.0109137;
static constexpr float kTanhTable[][2 * kLanes] = {
    {1, 0.973048091, 0.901710391, 0.807140708, 0.709028363, 0.619078636, 0.541734517, 0.477230757,
     0.424035907, 0.380179763, 0.343818128, 0.313409746, 0.287729144, 0.265822619, 0.246953338,
     0.230551615, 0.216174662, 0.203475669, 0.192180574, 0.182070643, 0.172969684, 0.164734408,
     0.157247216, 0.150410771, 0.144143879, 0.138378233, 0.133056059, 0.128128082, 0.123552099,
     0.119291693, 0.115315311, 0.111595459},
    {-6.67088128e-19, -0.180451766, -0.300048262, -0.342555702, -0.329620212, -0.290371686,
     -0.244772822, -0.202479228, -0.166736871, -0.137771949, -0.11469993, -0.0963968486,
     -0.0818317533, -0.0701596886, -0.060721498, -0.0530142561, -0.0466573574, -0.0413629338,
     -0.0369123556, -0.0331384875, -0.029912496, -0.0271341968, -0.024724951, -0.0226224661,
     -0.0207769517, -0.0191482622, -0.017703766, -0.0164167266, -0.0152650783, -0.0142304841,
     -0.0132976072, -0.0124535402},
    {-0.33332023, -0.271797419, -0.1376701, -0.016692549, 0.0525822043, 0.0774617717,
     0.0776361153, 0.0678415745, 0.0557955317, 0.0446857251, 0.0354635343, 0.0281545874,
     0.0224761106, 0.0180920064, 0.014702999, 0.0120687522, 0.0100049824, 0.00837337971,
     0.00707101775, 0.00602139393, 0.00516746845, 0.00446646521, 0.00388606894, 0.00340166315,
     0.00299433246, 0.00264941272, 0.00235543679, 0.00210335897, 0.00188598665, 0.00169755367,
     0.00153340423, 0.00138975133},
    {4.84084987e-17, 0.130384743, 0.160546884, 0.11135, 0.0505959466, 0.0108719822,
     -0.00763090933, -0.0135331145, -0.0136806676, -0.0117829964, -0.00949214026, -0.00742324721,
     -0.00573914358, -0.00442978647, -0.00343239726, -0.00267819408, -0.00210786681,
     -0.00167471892, -0.00134349847, -0.00108812039, -0.00088944321, -0.000733443419,
     -0.000609821582, -0.000510974787, -0.000431253284, -0.000366426393, -0.000313300086,
     -0.000269442622, -0.000232986917, -0.000202487427, -0.000176815956, -0.000155084912},
    {0.13165848, 0.0749355778, -0.0175504517, -0.0550171696, -0.0449173786, -0.0241474304,
     -0.00941675901, -0.00193251716, 0.00108168647, 0.00194172969, 0.00192681001, 0.00162850344,
     0.00128775148, 0.000988074462, 0.000748725899, 0.000565703027, 0.000428527041, 0.000326510752,
     0.000250702811, 0.000194179171, 0.000151783548, 0.000119746728, 9.53355193e-05,
     7.65717487e-05, 6.20208375e-05, 5.06377764e-05, 4.16567018e-05, 3.45123553e-05,
     2.87843395e-05, 2.41574708e-05, 2.03935469e-05, 1.73000299e-05},
    {-5.78218306e-16, -0.0668775737, -0.0491653383, -0.00470571779, 0.0140264798, 0.0129585555,
     0.00740210013, 0.00329265092, 0.0011344013, 0.000192398991, -0.000150861073, -0.000236861611,
     -0.000226076809, -0.000186713383, -0.000144998237, -0.000109426888, -8.15619132e-05,
     -6.05797904e-05, -4.50738808e-05, -3.37024831e-05, -2.53733324e-05, -1.92558255e-05,
     -1.47392293e-05, -1.13819797e-05, -8.86721864e-06, -6.96801089e-06, -5.52155598e-06,
     -4.41059319e-06, -3.55019415e-06, -2.87844318e-06, -2.34987556e-06, -1.99260307e-06}};

/// `a` is at most `end`, or NaN.
static tilewright::math::Float boundedBy(tilewright::math::Float a, double end) {
  tilewright::math::Float most = (*a.builder)(end);
  return select(a > most, most, a);
}

static Value erfOfRegister(OpBuilder &builder, Location loc, Value row) {
  using tilewright::math::Float;
  tilewright::math::MathBuilder m(builder, loc, row.getType());
  Float x = m(row), a = boundedBy(abs(x), kErfEnd);
  // The nearest k is in the low bits, whose unit is 1/8. Additions have units of their own on
  // some processors, where multiply-adds wait for each other.
  Float shifted = a + m(0x1p20), d = a - (shifted - m(0x1p20));
  return (copysign(a, x) * lookedUpSeries(tablesOf(kErfTable), shifted, d, lookUpIn512)).value;
}

static Value tanhOfRegister(OpBuilder &builder, Location loc, Value row) {
  using tilewright::math::Float;
  tilewright::math::MathBuilder m(builder, loc, row.getType());
  Float x = m(row), a = boundedBy(abs(x), kTanhEnd), magic = m(0x1.8p23);
  // k has five bits, the step seven: their product is exact.
  Float shifted = fma(a, m(1 / kTanhStep), magic), k = shifted - magic;
  Float d = fma(-k, m(kTanhStep), a);
  return (copysign(a, x) * lookedUpSeries(tablesOf(kTanhTable), shifted, d, lookUpIn512)).value;
}

static void populateFunctions(RewritePatternSet &patterns) {
  MLIRContext *context = patterns.getContext();
  patterns.add<FunctionOfRegisters<mlir::math::ExpOp>>(context, kRegisters, expOfRegister);
  patterns.add<FunctionOfRegisters<mlir::math::ErfOp>>(context, kRegisters, erfOfRegister);
  patterns.add<FunctionOfRegisters<mlir::math::TanhOp>>(context, kRegisters, tanhOfRegister);
  populateRoundingPatterns(patterns);
}

namespace {
struct Avx512MathPass : tilewright::impl::Avx512MathPassBase<Avx512MathPass> {
  void runOnOperation() override {
    if (failed(computeByRegisters(getOperation(), {kRegisters, geluOf512, populateFunctions})))
      signalPassFailure();
  }
};
} // namespace
