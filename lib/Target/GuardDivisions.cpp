// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers that have no quotient, for machines that trap there, and code generators that take
// it that none comes up:
//
//   %q = arith.divsi %a, %b : vector<8xi32>
// becomes
//   %ok = … %b != 0 and not (%a == least and %b == -1)
//   %q = arith.divsi %a, (select %ok, %b, 1) : vector<8xi32>
//
// A body may divide in lanes whose result it does not use: select(%b == 0, 0, %a / %b).

#include "tilewright/Target/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

namespace tilewright {
#define GEN_PASS_DEF_GUARDDIVISIONSPASS
#include "tilewright/Target/Passes.h.inc"
} // namespace tilewright

using namespace mlir;

/// Whether `value` is a size, of a loop that runs: what places in memory are computed from.
static bool isSize(Value value) {
  if (value.getDefiningOp<memref::DimOp>())
    return true;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return !number.isZero() && !number.isAllOnes();
  auto product = value.getDefiningOp<arith::MulIOp>();
  return product && isSize(product.getLhs()) && isSize(product.getRhs());
}

static void guard(Operation *op, bool indices) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  Type type = right.getType(), element = getElementTypeOrSelf(type);
  if (type.isIndex() && (!indices || isSize(right)))
    return;
  bool isSigned =
      isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp, arith::FloorDivSIOp>(op);
  APInt divisor;
  if (matchPattern(right, m_ConstantInt(&divisor)) && !divisor.isZero() &&
      !(isSigned && divisor.isAllOnes()))
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  unsigned width = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  auto number = [&](const APInt &value) -> Value {
    TypedAttr attr = b.getIntegerAttr(element, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  };
  auto equal = [&](Value value, const APInt &other) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, value, number(other));
  };
  Value traps = equal(right, APInt::getZero(width));
  if (isSigned)
    traps = arith::OrIOp::create(
        b, loc, traps,
        arith::AndIOp::create(b, loc, equal(left, APInt::getSignedMinValue(width)),
                              equal(right, APInt::getAllOnes(width))));
  op->setOperand(1, arith::SelectOp::create(b, loc, traps, number(APInt(width, 1)), right));
}

namespace {
struct GuardDivisionsPass : tilewright::impl::GuardDivisionsPassBase<GuardDivisionsPass> {
  using GuardDivisionsPassBase::GuardDivisionsPassBase;
  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
              arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
        guard(op, indices);
    });
  }
};
} // namespace
