// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-native-math: what the hardware has an instruction for. All other math is
// expanded behind this pass, with the errors that lib/Target/ExpandMath.cpp lists.
//
//   %p = math.exp2 %x fastmath<afn> : f32     ->    ex2.approx.ftz.f32
//   %e = math.exp %x : f32                    ->    seven multiplications and additions around
//                                                   ex2.approx.ftz.f32 of [-1/2, 1/2]
//   %t = math.tanh %x : f32                   ->    1 - 2 / (e^2|x| + 1) by ex2.approx and
//                                                   rcp.approx, a polynomial below 5/8
//   %r = math.rsqrt %x : f32                  ->    rsqrt.approx.f32
//   %q = arith.divf %x, %y : f32              ->    div.full.f32, where only products, and what
//                                                   rounds to 16 bits, are made of %q, or %x or
//                                                   %y of an exponential (1 / (1 + e^-x))
//
// ex2.approx is within 2^-22 of the result, relatively; a power below 2^-126 is zero. An
// exponential is within 3 units in the last place, div.full.f32 within 2, tanh within 4, rsqrt
// within 2.2 (2^-22.9, relatively).

#include "Intrinsics.h"
#include "tilewright/Dialect/Quotients.h"
#include "tilewright/Target/NVVM/Passes.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace tilewright {
#define GEN_PASS_DEF_NATIVEMATHPASS
#include "tilewright/Target/NVVM/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static Value callIntrinsic(OpBuilder &b, Location loc, StringRef name, ValueRange operands) {
  return callIntrinsic(b, loc, b.getF32Type(), name, operands);
}

/// Replaces `op` by `value`, which is f32, as its type has it.
static void replaceBy(OpBuilder &b, Operation *op, Value value) {
  Type type = op->getResult(0).getType();
  if (!type.isF32())
    value = arith::TruncFOp::create(b, op->getLoc(), type, value);
  op->getResult(0).replaceAllUsesWith(value);
  op->erase();
}

static bool isUpToSingle(Type type) { return type.isF16() || type.isBF16() || type.isF32(); }

namespace {
/// Numbers of f32 at a place.
struct Singles {
  OpBuilder &b;
  Location loc;
  Value number(float value) {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(value));
  }
  Value fma(Value x, Value y, Value z) { return math::FmaOp::create(b, loc, x, y, z); }
};
} // namespace

/// e^x = 2^n 2^f, n the integer next to x log2(e), at most 126 either way: what is beyond stays in
/// f, so that powers below the normal numbers, infinities and NaN are what they are. n comes from
/// the last bits of a sum with a number of 2^23 and more, and those are the exponent of 2^n.
static void expandExp(math::ExpOp op) {
  if (!isUpToSingle(op.getType()))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Singles of{b, loc};
  constexpr float kLog2e = 1.44269504f, kLog2eRest = 1.92596299e-8f; // together log2(e)
  constexpr float kRange = 252, kInteger = 12582912;                 // 3 * 2^22
  Value x = widen(b, loc, op.getOperand());
  Value part = callIntrinsic(b, loc, "llvm.nvvm.saturate.f",
                             of.fma(x, of.number(kLog2e / kRange), of.number(0.5f)));
  // 1 + n + 126: the exponent of 2^n.
  Value shifted = of.fma(part, of.number(kRange), of.number(kInteger + 1));
  Value negative = arith::SubFOp::create(b, loc, of.number(kInteger + 127), shifted);
  Value rest = of.fma(x, of.number(kLog2eRest), of.fma(x, of.number(kLog2e), negative));
  Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), shifted);
  Value mantissa = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(23));
  Value power = arith::BitcastOp::create(b, loc, b.getF32Type(),
                                         arith::ShLIOp::create(b, loc, bits, mantissa));
  Value fraction = callIntrinsic(b, loc, "llvm.nvvm.ex2.approx.ftz.f", rest);
  replaceBy(b, op, arith::MulFOp::create(b, loc, fraction, power));
}

/// The polynomial, of the least largest error of tanh(x) / x (2^-27.7), in the square of x.
static void expandTanh(math::TanhOp op) {
  if (!isUpToSingle(op.getType()))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  Singles of{b, loc};
  constexpr float kTwoLog2e = 2.88539008f, kSmall = 0.625f;
  constexpr float kSeries[] = {-0.00570498677f, 0.020639087f, -0.053739715f, 0.133314422f,
                               -0.333332819f};
  Value x = widen(b, loc, op.getOperand());
  Value size = math::AbsFOp::create(b, loc, x);
  Value exponent = arith::MulFOp::create(b, loc, size, of.number(kTwoLog2e));
  Value power = callIntrinsic(b, loc, "llvm.nvvm.ex2.approx.ftz.f", exponent);
  Value inverse = callIntrinsic(b, loc, "llvm.nvvm.rcp.approx.ftz.f",
                                arith::AddFOp::create(b, loc, power, of.number(1)).getResult());
  Value large = of.fma(inverse, of.number(-2), of.number(1));
  Value square = arith::MulFOp::create(b, loc, x, x);
  Value series = of.number(kSeries[0]);
  for (float next : llvm::drop_begin(kSeries))
    series = of.fma(series, square, of.number(next));
  Value small = of.fma(size, arith::MulFOp::create(b, loc, series, square), size);
  Value isSmall =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size, of.number(kSmall));
  Value result = arith::SelectOp::create(b, loc, isSmall, small, large);
  // By bits: of an f16 that was extended, LLVM would take the sign from 16 bits, with six more.
  auto bitsOf = [&](Value number) -> Value {
    return arith::BitcastOp::create(b, loc, b.getI32Type(), number);
  };
  Value signBit = arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(INT32_MIN));
  Value sign = arith::AndIOp::create(b, loc, bitsOf(x), signBit);
  Value both = arith::OrIOp::create(b, loc, bitsOf(result), sign);
  replaceBy(b, op, arith::BitcastOp::create(b, loc, b.getF32Type(), both));
}

static void divideRoughly(arith::DivFOp op) {
  if (!mayDivideRoughly(op))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  replaceBy(b, op,
            callIntrinsic(b, loc, "llvm.nvvm.div.full",
                          {widen(b, loc, op.getLhs()), widen(b, loc, op.getRhs())}));
}

namespace {
struct NativeMathPass
    : tilewright::impl::NativeMathPassBase<NativeMathPass> {
  void runOnOperation() override {
    // While exponentials are still ops.
    getOperation()->walk([](arith::DivFOp op) { divideRoughly(op); });
    getOperation()->walk([](math::RsqrtOp op) {
      if (!isUpToSingle(op.getType()))
        return;
      OpBuilder b(op);
      Value x = widen(b, op.getLoc(), op.getOperand());
      replaceBy(b, op, callIntrinsic(b, op.getLoc(), "llvm.nvvm.rsqrt.approx.f", x));
    });
    getOperation()->walk([](math::Exp2Op op) {
      if (!op.getType().isF32() ||
          !bitEnumContainsAll(op.getFastmath(), arith::FastMathFlags::afn))
        return;
      OpBuilder b(op);
      replaceBy(b, op,
                callIntrinsic(b, op.getLoc(), "llvm.nvvm.ex2.approx.ftz.f", op.getOperand()));
    });
    getOperation()->walk([](math::ExpOp op) { expandExp(op); });
    getOperation()->walk([](math::TanhOp op) { expandTanh(op); });
  }
};
} // namespace
