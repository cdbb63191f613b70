// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-divide-by-rows: quotients by what a whole row shares, as of softmax. The
// division that NVIDIA's GPUs round correctly is a dozen instructions with a branch, over
// which nothing is scheduled.
//
//   %b = vector.broadcast %s : vector<4xf32> to vector<4x128xf32>
//   %q = arith.divf %x, %b
// becomes, by a power of two %p that brings %s to [1/2, 1),
//   %t = %s * %p    %y = 1 / %t                 once for a row
//   %n = %x * %p    %0 = %n * %y
//   %r = fma(-%0, %t, %n)    %1 = fma(%r, %y, %0)
//   %q = %1 is NaN ? %0 : %1                    where anything is infinite or zero
//
// which is correctly rounded but for some quotients of which the exact one lies close to the
// middle of two floats (0.5 + 2^-22 units in the last place at most), and below 2^-100.
// Where all that is made of %q is a narrower float, %0 is precise enough (1.5 units in the
// last place of f32).

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Vectorize/Vectorize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DIVIDEBYROWSPASS
#include "tilewright/Vectorize/Passes.h.inc"
} // namespace tilewright

/// A row has at least so many elements: as many as make up for a division of its own.
static constexpr int64_t kFewest = 4;

static constexpr uint32_t kExponent = 0x7f800000u, kUnit = 0x00800000u;

/// `value` is `narrow` through `spread`, the last of them first.
struct Shared {
  Value narrow;
  SmallVector<Operation *> spread;
};

static int64_t elementsOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getNumElements() : 1;
}

static Shared findShared(Value value) {
  Shared shared{value, {}};
  while (Operation *op = shared.narrow.getDefiningOp()) {
    if (!isa<vector::BroadcastOp, vector::TransposeOp, vector::ShapeCastOp>(op))
      break;
    shared.spread.push_back(op);
    shared.narrow = op->getOperand(0);
  }
  return shared;
}

static Value spread(OpBuilder &b, const Shared &shared, Value narrow) {
  for (Operation *op : llvm::reverse(shared.spread)) {
    IRMapping mapping;
    mapping.map(op->getOperand(0), narrow);
    narrow = b.clone(*op, mapping)->getResult(0);
  }
  return narrow;
}

static Value constant(OpBuilder &b, Location loc, Type type, Attribute number) {
  if (auto vector = dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, number);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(number));
}

/// 2^p for which `divisor` times it lies in [1/2, 1); the nearest normal one where there is none.
static Value scaleOf(OpBuilder &b, Location loc, Value divisor) {
  Type bits = b.getI32Type(), type = divisor.getType();
  if (auto vector = dyn_cast<VectorType>(type))
    bits = vector.clone(bits);
  auto number = [&](uint32_t value) {
    return constant(b, loc, bits, b.getI32IntegerAttr(int32_t(value)));
  };
  Value exponent = arith::AndIOp::create(b, loc, arith::BitcastOp::create(b, loc, bits, divisor),
                                         number(kExponent));
  exponent = arith::MinUIOp::create(b, loc, exponent, number(252 * kUnit));
  Value scale = arith::SubIOp::create(b, loc, number(253 * kUnit), exponent);
  return arith::BitcastOp::create(b, loc, type, scale);
}

static void divideByRow(arith::DivFOp op, const Shared &shared) {
  OpBuilder b(op);
  Location loc = op.getLoc();
  // Once for a row, where that is known.
  b.setInsertionPointAfterValue(shared.narrow);
  Value scale = scaleOf(b, loc, shared.narrow);
  Value divisor = arith::MulFOp::create(b, loc, shared.narrow, scale);
  Value one = constant(b, loc, divisor.getType(), b.getF32FloatAttr(1));
  Value reciprocal = arith::DivFOp::create(b, loc, one, divisor);

  b.setInsertionPoint(op);
  Value wide = spread(b, shared, reciprocal);
  Value scaled = arith::MulFOp::create(b, loc, op.getLhs(), spread(b, shared, scale));
  Value quotient = arith::MulFOp::create(b, loc, scaled, wide);
  if (!llvm::all_of(op->getUsers(), llvm::IsaPred<arith::TruncFOp>)) {
    Value by = spread(b, shared, divisor);
    Value left = math::FmaOp::create(b, loc, arith::NegFOp::create(b, loc, quotient), by, scaled);
    Value corrected = math::FmaOp::create(b, loc, left, wide, quotient);
    Value isNaN = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, corrected, corrected);
    quotient = arith::SelectOp::create(b, loc, isNaN, quotient, corrected);
  }
  op.replaceAllUsesWith(quotient);
  op.erase();
}

static void divideByRows(func::FuncOp kernel) {
  SmallVector<arith::DivFOp> quotients;
  kernel.walk([&](arith::DivFOp op) {
    if (isa<VectorType>(op.getType()) && getElementTypeOrSelf(op.getType()).isF32())
      quotients.push_back(op);
  });
  for (arith::DivFOp op : quotients)
    if (Shared shared = findShared(op.getRhs());
        elementsOf(shared.narrow.getType()) * kFewest <= elementsOf(op.getType()))
      divideByRow(op, shared);
}

namespace {
struct DivideByRowsPass : public tilewright::impl::DivideByRowsPassBase<DivideByRowsPass> {
  void runOnOperation() override {
    for (auto kernel : getOperation().getOps<func::FuncOp>())
      if (isKernel(kernel) && !kernel.isExternal() &&
          getTarget(kernel).getBackend() == "nvvm")
        divideByRows(kernel);
  }
};
} // namespace
