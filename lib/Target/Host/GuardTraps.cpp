// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runtime functions are no-ops once an error is recorded; what remains is the
// machine's own: dividing, and looping while data says so.

#include "tilewright/Dialect/Divisions.h"
#include "tilewright/Target/Host/ConvertHost.h"
#include "tilewright/Target/Host/HostCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

/// Records an error instead of dividing by zero, or the least integer by -1.
static void guardDivision(Operation *op) {
  if (!op->getOperand(1).getType().isIntOrIndex())
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value bad = hasNoQuotient(builder, op);
  if (!bad)
    return;
  Value zero32 = createI32(builder, loc, 0), one32 = createI32(builder, loc, 1);
  Value good = arith::SelectOp::create(builder, loc, bad, zero32, one32);
  callSupport(builder, loc, "twh_check", Type(),
              {getCallContext(op), good,
               createString(builder, loc,
                            (op->getName().getStringRef() +
                             ": the result does not exist (division by zero, or "
                             "overflow)")
                                .str())});
  divideByOneWhere(builder, bad, op);
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
    if (isIntegerDivision(op))
      guardDivision(op);
    if (auto condition = dyn_cast<scf::ConditionOp>(op))
      guardLoop(condition);
  });
}
