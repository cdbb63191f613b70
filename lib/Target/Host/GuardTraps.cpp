// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runtime functions are no-ops once an error is recorded; what remains is the
// machine's own: dividing, and looping while data says so.

#include "tilewright/Target/Host/ConvertHost.h"
#include "tilewright/Target/Host/HostCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

/// Records an error instead of dividing by zero, or the least integer by -1.
static void guardDivision(Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  Type type = right.getType();
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                      arith::FloorDivSIOp>(op);
  APInt divisor;
  if (!type.isIntOrIndex() ||
      (matchPattern(right, m_ConstantInt(&divisor)) && !divisor.isZero() &&
       !(isSigned && divisor.isAllOnes())))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  };
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto equal = [&](Value a, const APInt &b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                                 constant(b));
  };
  Value bad = equal(right, APInt::getZero(bits));
  if (isSigned) {
    Value overflow = arith::AndIOp::create(
        builder, loc, equal(left, APInt::getSignedMinValue(bits)),
        equal(right, APInt::getAllOnes(bits)));
    bad = arith::OrIOp::create(builder, loc, bad, overflow);
  }
  Value one = constant(APInt(bits, 1));
  Value zero32 = createI32(builder, loc, 0), one32 = createI32(builder, loc, 1);
  Value good = arith::SelectOp::create(builder, loc, bad, zero32, one32);
  callSupport(builder, loc, "twh_check", Type(),
              {getCallContext(op), good,
               createString(builder, loc,
                            (op->getName().getStringRef() +
                             ": the result does not exist (division by zero, or "
                             "overflow)")
                                .str())});
  op->setOperand(1, arith::SelectOp::create(builder, loc, bad, one, right));
}

/// Ends a loop whose condition is data when an error is recorded.
static void guardLoop(scf::ConditionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value ok = callSupport(builder, loc, "twh_ok", builder.getI32Type(),
                         {getCallContext(op)});
  Value isOk = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, ok,
                                     createI32(builder, loc, 0));
  op.getConditionMutable().assign(
      arith::AndIOp::create(builder, loc, op.getCondition(), isOk));
}

void host::guardTraps(Operation *func) {
  func->walk([](Operation *op) {
    if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
      guardDivision(op);
    if (auto condition = dyn_cast<scf::ConditionOp>(op))
      guardLoop(condition);
  });
}
