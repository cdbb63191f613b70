// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What upstream folds to other numbers than its ops have, in forms that it folds right:
//
//   %r = arith.ceildivsi %a, %b : i8        // -128 by 7 would be 18
// becomes
//   %q = arith.divsi %a, %b
//   %r = select (%q * %b != %a and %a, %b have one sign), %q + 1, %q
//
// The quotient is rounded towards zero: one too small where it is positive and lost something. A
// loop between constants whose distance has no number with a sign (-100 to 100 of i8), which would
// be none, counts its iterations (CountedLoops.h).

#include "tilewright/Dialect/CountedLoops.h"
#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DEFINEFOLDSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

/// Whether the bounds are constants and their distance overflows.
static bool isTooFar(scf::ForOp loop) {
  APInt begin, end;
  if (loop.getUnsignedCmp() || !matchPattern(loop.getLowerBound(), m_ConstantInt(&begin)) ||
      !matchPattern(loop.getUpperBound(), m_ConstantInt(&end)))
    return false;
  bool overflows = false;
  (void)end.ssub_ov(begin, overflows);
  return overflows && begin.slt(end);
}

static void expandCeilDiv(arith::CeilDivSIOp op) {
  Type type = op.getType(), element = getElementTypeOrSelf(type);
  auto shaped = dyn_cast<ShapedType>(type);
  if (element.isIndex() || (shaped && !shaped.hasStaticShape()))
    return;
  OpBuilder b(op);
  Location loc = op.getLoc();
  auto constant = [&](int64_t value) -> Value {
    TypedAttr attr = b.getIntegerAttr(element, value);
    if (shaped)
      attr = DenseElementsAttr::get(shaped, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  };
  auto compare = [&](arith::CmpIPredicate predicate, Value x, Value y) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, x, y);
  };
  Value x = op.getLhs(), y = op.getRhs(), zero = constant(0);
  Value quotient = arith::DivSIOp::create(b, loc, x, y);
  Value product = arith::MulIOp::create(b, loc, quotient, y);
  Value isInexact = compare(arith::CmpIPredicate::ne, product, x);
  Value isPositive = compare(arith::CmpIPredicate::eq, compare(arith::CmpIPredicate::slt, x, zero),
                             compare(arith::CmpIPredicate::slt, y, zero));
  Value up = arith::AndIOp::create(b, loc, isInexact, isPositive);
  Value next = arith::AddIOp::create(b, loc, quotient, constant(1));
  op.replaceAllUsesWith(arith::SelectOp::create(b, loc, up, next, quotient).getResult());
  op.erase();
}

namespace {
struct DefineFoldsPass : tilewright::impl::DefineFoldsPassBase<DefineFoldsPass> {
  void runOnOperation() override {
    getOperation().walk([](scf::ForOp loop) {
      if (isTooFar(loop))
        countIterations(loop);
    });
    getOperation().walk([](arith::CeilDivSIOp op) { expandCeilDiv(op); });
  }
};
} // namespace
