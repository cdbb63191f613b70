// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-share-reciprocals: quotients of a thread by one number, as of the elements of a
// row by its sum. The division that NVIDIA's GPUs round correctly is a dozen instructions with
// a branch, over which nothing is scheduled.
//
//   %q = arith.divf %x, %s : f32                several
// becomes, by a power of two %p that brings %s to [1/2, 1),
//   %t = %s * %p    %y = 1 / %t                 once
//   %n = %x * %p    %0 = %n * %y
//   %r = fma(-%0, %t, %n)    %1 = fma(%r, %y, %0)
//   %q = %1 is NaN ? %0 : %1                    where anything is infinite or zero
//
// which is correctly rounded but for some quotients of which the exact one lies close to the
// middle of two floats (0.5 + 2^-22 units in the last place at most, 0.5 + 2^-19 where %s is made
// of an exponential, whose reciprocal is a rough quotient), and below 2^-100.
// Where all that is made of %q rounds to 16 bits, %0 is precise enough (3 units in the last
// place of f32: %y may be a rough quotient then, too, see NativeMath.cpp).

#include "tilewright/Dialect/Quotients.h"
#include "tilewright/Target/NVVM/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright {
#define GEN_PASS_DEF_SHARERECIPROCALSPASS
#include "tilewright/Target/NVVM/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// So many quotients make up for a division of the number that they share.
static constexpr size_t kMinQuotients = 3;

static constexpr uint32_t kExponent = 0x7f800000u, kUnit = 0x00800000u;

/// 2^p for which `divisor` times it lies in [1/2, 1); the nearest normal one where there is none.
static Value scaleOf(OpBuilder &b, Location loc, Value divisor) {
  auto number = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(value)));
  };
  Value bits = arith::BitcastOp::create(b, loc, b.getI32Type(), divisor);
  Value exponent = arith::AndIOp::create(b, loc, bits, number(kExponent));
  exponent = arith::MinUIOp::create(b, loc, exponent, number(252 * kUnit));
  Value scale = arith::SubIOp::create(b, loc, number(253 * kUnit), exponent);
  return arith::BitcastOp::create(b, loc, b.getF32Type(), scale);
}

/// `quotients` are all by one number.
static void shareReciprocal(ArrayRef<arith::DivFOp> quotients) {
  // That may have been a quotient itself, which has been replaced.
  Value divisor = quotients.front()->getOperand(1);
  OpBuilder b(divisor.getContext());
  b.setInsertionPointAfterValue(divisor);
  Location loc = divisor.getLoc();
  Value scale = scaleOf(b, loc, divisor);
  Value scaled = arith::MulFOp::create(b, loc, divisor, scale);
  Value one = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(1));
  Value reciprocal = arith::DivFOp::create(b, loc, one, scaled);
  for (arith::DivFOp op : quotients) {
    b.setInsertionPoint(op);
    loc = op.getLoc();
    Value number = arith::MulFOp::create(b, loc, op.getLhs(), scale);
    Value quotient = arith::MulFOp::create(b, loc, number, reciprocal);
    if (!becomesNarrow(op)) {
      Value negative = arith::NegFOp::create(b, loc, quotient);
      Value left = math::FmaOp::create(b, loc, negative, scaled, number);
      Value corrected = math::FmaOp::create(b, loc, left, reciprocal, quotient);
      Value isNaN =
          arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, corrected, corrected);
      quotient = arith::SelectOp::create(b, loc, isNaN, quotient, corrected);
    }
    op.replaceAllUsesWith(quotient);
    op.erase();
  }
}

namespace {
struct ShareReciprocalsPass
    : tilewright::impl::ShareReciprocalsPassBase<ShareReciprocalsPass> {
  void runOnOperation() override {
    llvm::MapVector<Value, SmallVector<arith::DivFOp>> quotients;
    getOperation()->walk([&](arith::DivFOp op) {
      if (op.getType().isF32())
        quotients[op.getRhs()].push_back(op);
    });
    for (ArrayRef<arith::DivFOp> ops : llvm::make_second_range(quotients))
      if (ops.size() >= kMinQuotients)
        shareReciprocal(ops);
  }
};
} // namespace
