// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of functions that are values become calls by name:
//
//   %p = constant @p;  %q = constant @q
//   %f = arith.select %c, %p, %q
//   %r = call_indirect %f(%x)
// becomes
//   %r = scf.if %c { %0 = call @p(%x) … } else { %1 = call @q(%x) … }

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_RESOLVECALLEESPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

static bool isNamed(Value callee) {
  if (callee.getDefiningOp<func::ConstantOp>())
    return true;
  auto select = callee.getDefiningOp<arith::SelectOp>();
  return select && isNamed(select.getTrueValue()) && isNamed(select.getFalseValue());
}

/// `op` with the function `callee`, which is a constant or chosen from them.
static SmallVector<Value> call(OpBuilder &b, func::CallIndirectOp op, Value callee) {
  Location loc = op.getLoc();
  if (auto name = callee.getDefiningOp<func::ConstantOp>())
    return func::CallOp::create(b, loc, name.getValueAttr(), op.getResultTypes(),
                                op.getArgOperands())
        .getResults();
  auto select = callee.getDefiningOp<arith::SelectOp>();
  auto branch = [&](Value chosen) {
    return [&op, chosen](OpBuilder &b, Location loc) {
      scf::YieldOp::create(b, loc, call(b, op, chosen));
    };
  };
  return scf::IfOp::create(b, loc, select.getCondition(), branch(select.getTrueValue()),
                           branch(select.getFalseValue()))
      .getResults();
}

static LogicalResult resolve(Operation *root) {
  SmallVector<func::CallIndirectOp> calls;
  SmallVector<Operation *> functions; // values that are functions
  root->walk([&](Operation *op) {
    if (auto indirect = dyn_cast<func::CallIndirectOp>(op))
      calls.push_back(indirect);
    else if (llvm::any_of(op->getResultTypes(), llvm::IsaPred<FunctionType>))
      functions.push_back(op);
  });
  for (func::CallIndirectOp op : calls) {
    if (!isNamed(op.getCallee()))
      return op.emitOpError("calls a function that is neither func.constant nor arith.select of "
                            "two; choose by scf.if between calls of each");
    OpBuilder b(op);
    op->replaceAllUsesWith(call(b, op, op.getCallee()));
    op.erase();
  }
  for (Operation *op : llvm::reverse(functions)) {
    if (!op->use_empty())
      return op->emitOpError("is a function that is not only called; host code calls functions "
                             "by name, and choose between calls by scf.if");
    op->erase();
  }
  return success();
}

namespace {
struct ResolveCalleesPass
    : public tilewright::impl::ResolveCalleesPassBase<ResolveCalleesPass> {
  void runOnOperation() override {
    if (failed(resolve(getOperation())))
      signalPassFailure();
  }
};
} // namespace
