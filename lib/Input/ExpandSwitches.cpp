// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Choices between several cases become choices between two, which all stages know:
//
//   %r = scf.index_switch %n  case 2 { A }  case 5 { B }  default { C }
// becomes
//   %is2 = arith.cmpi eq, %n, %c2
//   %r = scf.if %is2 { A } else {
//     %is5 = arith.cmpi eq, %n, %c5
//     %s = scf.if %is5 { B } else { C }
//     scf.yield %s
//   }
//
// The only block of an scf.execute_region takes the place of the op.

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_EXPANDSWITCHESPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

/// The ops of `region`, which has one block, in the place of `op`.
static void inlineRegion(RewriterBase &rewriter, Operation *op, Region &region) {
  Operation *yield = region.front().getTerminator();
  SmallVector<Value> results(yield->getOperands());
  rewriter.inlineBlockBefore(&region.front(), op);
  rewriter.eraseOp(yield);
  rewriter.replaceOp(op, results);
}

static void expandSwitch(RewriterBase &rewriter, scf::IndexSwitchOp op) {
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  scf::IfOp outermost, last;
  for (auto [number, body] : llvm::zip_equal(op.getCases(), op.getCaseRegions())) {
    Value value = arith::ConstantIndexOp::create(rewriter, loc, number);
    Value isCase = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, op.getArg(),
                                         value);
    auto choice = scf::IfOp::create(rewriter, loc, op.getResultTypes(), isCase,
                                    /*addThenBlock=*/false, /*addElseBlock=*/false);
    rewriter.inlineRegionBefore(body, choice.getThenRegion(), choice.getThenRegion().end());
    if (last)
      scf::YieldOp::create(rewriter, loc, choice.getResults());
    else
      outermost = choice;
    last = choice;
    if (number != op.getCases().back())
      rewriter.createBlock(&choice.getElseRegion());
  }
  if (!last)
    return inlineRegion(rewriter, op, op.getDefaultRegion());
  rewriter.inlineRegionBefore(op.getDefaultRegion(), last.getElseRegion(),
                              last.getElseRegion().end());
  rewriter.replaceOp(op, outermost.getResults());
}

namespace {
struct ExpandSwitchesPass
    : public tilewright::impl::ExpandSwitchesPassBase<ExpandSwitchesPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](Operation *op) {
      if (auto choice = dyn_cast<scf::IndexSwitchOp>(op))
        expandSwitch(rewriter, choice);
      else if (auto region = dyn_cast<scf::ExecuteRegionOp>(op);
               region && region.getRegion().hasOneBlock())
        inlineRegion(rewriter, op, region.getRegion());
    });
  }
};
} // namespace
