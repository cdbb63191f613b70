// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies divide by one where integers have no quotient:
//
//   %q = arith.divsi %a, %b : i32
// becomes
//   %bad = … %b == 0 or (%a == least and %b == -1)
//   %q = arith.divsi %a, (select %bad, 1, %b) : i32
//
// A body may divide in elements whose quotient it does not use, as select(%b == 0, 0, %a / %b)
// and a branch do that becomes a selection, and vectors divide outside of the tile: CPUs trap there, and
// the code generators of GPUs take it that nobody divides so, and drop what is chosen then.

#include "tilewright/Dialect/Divisions.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_GUARDDIVISIONSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

static bool isInBody(Operation *op) {
  for (Operation *around = op->getParentOp(); around; around = around->getParentOp())
    if (isa<linalg::LinalgOp>(around) || isIrregular(around))
      return true;
  return false;
}

/// Whether one is chosen as the divisor already.
static bool isGuarded(Operation *op) {
  auto chosen = op->getOperand(1).getDefiningOp<arith::SelectOp>();
  return chosen && matchPattern(chosen.getTrueValue(), m_One());
}

namespace {
struct GuardDivisionsPass : tilewright::impl::GuardDivisionsPassBase<GuardDivisionsPass> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (!isIntegerDivision(op) || !isInBody(op) || isGuarded(op))
        return;
      OpBuilder b(op);
      if (Value isBad = hasNoQuotient(b, op))
        divideByOneWhere(b, isBad, op);
    });
  }
};
} // namespace
