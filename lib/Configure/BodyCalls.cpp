// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BodyCalls.h.

#include "BodyCalls.h"
#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/Quotients.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

bool tilewright::isCall(Operation *op) {
  if (auto division = dyn_cast<arith::DivFOp>(op))
    return !matchPattern(division.getRhs(), m_Constant()) && !mayDivideRoughly(division);
  return isa<math::SqrtOp, arith::RemFOp>(op) ||
         (isa<math::RsqrtOp>(op) && op->getResult(0).getType().isF64());
}

bool tilewright::hasCall(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->without_terminator(),
                      [](Operation &inner) { return isCall(&inner); });
}

bool tilewright::hasFunction(linalg::LinalgOp op) {
  return llvm::any_of(op.getBlock()->without_terminator(), [](Operation &inner) {
    return isa<math::MathDialect>(inner.getDialect()) && !isCall(&inner) &&
           !isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::FloorOp, math::RoundOp,
                math::RoundEvenOp, math::TruncOp, math::CopySignOp, math::FmaOp, math::RsqrtOp>(
               inner);
  });
}

bool tilewright::convertsToFloat8(linalg::LinalgOp op, TargetAttr target) {
  return target.getFact("sm", 0) < 89 &&
         llvm::any_of(op.getBlock()->without_terminator(), [](Operation &inner) {
           return inner.getNumResults() == 1 && isFloat8(inner.getResult(0).getType());
         });
}
