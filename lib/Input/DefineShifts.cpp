// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shifts by more than a number's width, which are poison in arith and differ from
// target to target, are what front ends take them for: all bits leave the number.
//
//   %r = arith.shli %x, %n : i32      // shrui likewise
//   %s = arith.shrsi %x, %n : i32
// becomes
//   %in = arith.cmpi ule, %n, %c31
//   %y = arith.shli %x, %n
//   %r = arith.select %in, %y, %c0    // negative %n are large ones; of i64: %x by %n & 63
//   %m = arith.minui %n, %c31
//   %s = arith.shrsi %x, %m
//
// Amounts that are seen to be smaller stay: constants, and what a constant masks.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DEFINESHIFTSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

static bool isBelow(Value amount, unsigned width) {
  if (auto mask = amount.getDefiningOp<arith::AndIOp>())
    return isBelow(mask.getLhs(), width) || isBelow(mask.getRhs(), width);
  DenseIntElementsAttr elements;
  if (matchPattern(amount, m_Constant(&elements)))
    return llvm::all_of(elements.getValues<APInt>(),
                        [&](const APInt &value) { return value.ult(width); });
  APInt value;
  return matchPattern(amount, m_ConstantInt(&value)) && value.ult(width);
}

static void define(Operation *op) {
  Value amount = op->getOperand(1);
  Type type = amount.getType(), element = getElementTypeOrSelf(type);
  unsigned width =
      element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  auto shaped = dyn_cast<ShapedType>(type);
  if (isBelow(amount, width) || (shaped && !shaped.hasStaticShape()))
    return;
  OpBuilder b(op);
  Location loc = op->getLoc();
  auto constant = [&](int64_t value) -> Value {
    TypedAttr attr = b.getIntegerAttr(element, value);
    if (shaped)
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  };
  if (isa<arith::ShRSIOp>(op)) {
    op->setOperand(
        1, arith::MinUIOp::create(b, loc, amount, constant(width - 1)));
    return;
  }
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, amount,
                                       constant(width - 1));
  Value zero = constant(0);
  // PTX takes amounts of 32 bits, for which LLVM keeps the low half of %n and drops the select.
  if (width == 64)
    op->setOperand(1, arith::AndIOp::create(b, loc, amount, constant(width - 1)));
  b.setInsertionPointAfter(op);
  Value result = op->getResult(0);
  auto defined = arith::SelectOp::create(b, loc, inside, result, zero);
  result.replaceAllUsesExcept(defined, defined);
}

namespace {
struct DefineShiftsPass
    : public tilewright::impl::DefineShiftsPassBase<DefineShiftsPass> {
  void runOnOperation() override {
    SmallVector<Operation *> shifts;
    getOperation().walk([&](Operation *op) {
      if (isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op))
        shifts.push_back(op);
    });
    for (Operation *op : shifts)
      define(op);
  }
};
} // namespace
