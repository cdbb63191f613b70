// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Quotients.h.

#include "tilewright/Dialect/Quotients.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace tilewright;

bool tilewright::becomesNarrow(Value value, unsigned steps) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
    if (auto truncated = dyn_cast<arith::TruncFOp>(user))
      return getElementTypeOrSelf(truncated.getType()).getIntOrFloatBitWidth() == 16;
    return steps > 0 && isa<arith::MulFOp>(user) && becomesNarrow(user->getResult(0), steps - 1);
  });
}

/// What an op computes element by element that the body of another one reads as `value`.
static Value computedAs(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto op = argument ? dyn_cast<linalg::LinalgOp>(argument.getOwner()->getParentOp())
                     : linalg::LinalgOp();
  OpOperand *input = op ? op.getMatchingOpOperand(argument) : nullptr;
  if (!input || !op.isDpsInput(input))
    return value;
  auto result = dyn_cast<OpResult>(input->get());
  auto producer = result ? dyn_cast<linalg::LinalgOp>(result.getOwner()) : linalg::LinalgOp();
  if (!producer || producer.getNumReductionLoops())
    return value;
  return producer.getBlock()->getTerminator()->getOperand(result.getResultNumber());
}

/// True if `value` is made of an exponential in up to `steps` operations: then it is not
/// correctly rounded itself.
static bool isOfExponential(Value value, unsigned steps = 4) {
  Operation *op = computedAs(value).getDefiningOp();
  if (!op)
    return false;
  if (isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::TanhOp>(op))
    return true;
  return steps > 0 &&
         isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp, math::FmaOp>(op) &&
         llvm::any_of(op->getOperands(),
                      [&](Value operand) { return isOfExponential(operand, steps - 1); });
}

bool tilewright::mayDivideRoughly(arith::DivFOp op) {
  Type type = op.getType();
  if (type.isF16() || type.isBF16())
    return true;
  return type.isF32() && (becomesNarrow(op) || isOfExponential(op.getLhs()) ||
                          isOfExponential(op.getRhs()));
}
