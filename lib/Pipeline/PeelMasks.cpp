// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of a loop that need no mask, without one. A loop says which steps these are by marked
// comparisons with limits, the first step without and the first one with a mask again. Either
// may be missing:
//
//   scf.for %k = %begin to %end step %c64 iter_args(%x) {
//     %below = arith.cmpi slt, %k, %last {tilewright.whole}
//     %above = arith.cmpi sge, %k, %first {tilewright.whole}
//     %whole = arith.andi %below, %above
//     %s = arith.select %whole, %scores, %masked
// becomes
//   %y = scf.for %k = %begin to %first step %c64 iter_args(%x) { … %masked … }
//   %z = scf.for %k = %first to %last step %c64 iter_args(%y) { … %scores … }
//   scf.for %k = %last to %end step %c64 iter_args(%z) { … %masked … }
//
// Each loop goes on where the one before ended: a ring that the loop carries stays
// full between them, which is why this comes behind the pipelining of loops. Limits are
// whole numbers of steps from %begin, and %begin <= %first <= %last <= %end. Where a
// comparison is in no such loop (the last step, taken out of it), masked is right.

#include "tilewright/Pipeline/Pipeline.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"

namespace tilewright {
#define GEN_PASS_DEF_PEELMASKSPASS
#include "tilewright/Pipeline/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// `condition`, which comparisons and conjunctions of them make, is `value`; so are choices by it.
static void decide(RewriterBase &rewriter, Operation *condition, bool value) {
  for (Operation *user : llvm::make_early_inc_range(condition->getUsers())) {
    if (auto choice = dyn_cast<arith::SelectOp>(user)) {
      if (choice.getCondition() == condition->getResult(0))
        rewriter.replaceOp(choice, value ? choice.getTrueValue() : choice.getFalseValue());
    } else if (auto both = dyn_cast<arith::AndIOp>(user)) {
      if (value)
        rewriter.replaceOp(both, both.getLhs() == condition->getResult(0) ? both.getRhs()
                                                                         : both.getLhs());
      else
        decide(rewriter, both, false);
    }
  }
  rewriter.setInsertionPoint(condition);
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(condition, rewriter.getBoolAttr(value));
}

void tilewright::peelMasks(func::FuncOp kernel) {
  SmallVector<arith::CmpIOp> marked;
  kernel.walk([&](arith::CmpIOp op) {
    if (op->hasAttr(kWholeAttr))
      marked.push_back(op);
  });
  if (marked.empty())
    return;
  IRRewriter rewriter(kernel.getContext());
  // Of a loop that is split there are two, each with the marks that are left.
  while (!marked.empty()) {
    arith::CmpIOp whole = marked.pop_back_val();
    bool isFirst = whole.getPredicate() == arith::CmpIPredicate::slt;
    auto loop = dyn_cast<scf::ForOp>(whole->getParentOp());
    Value limit = whole.getRhs();
    if (!whole->use_empty() && loop && whole.getLhs() == loop.getInductionVar() &&
        loop.isDefinedOutsideOfLoop(limit)) {
      IRMapping mapping;
      rewriter.setInsertionPoint(loop);
      auto first = cast<scf::ForOp>(rewriter.clone(*loop, mapping));
      first.getUpperBoundMutable().assign(limit);
      loop.getLowerBoundMutable().assign(limit);
      loop.getInitArgsMutable().assign(first.getResults());
      for (arith::CmpIOp other : llvm::to_vector(marked))
        if (Operation *copy = mapping.lookupOrNull(other.getOperation()))
          marked.push_back(cast<arith::CmpIOp>(copy));
      decide(rewriter, mapping.lookup(whole.getOperation()), isFirst);
      decide(rewriter, whole, !isFirst);
    } else {
      decide(rewriter, whole, false);
    }
  }
  (void)runRegionDCE(rewriter, kernel->getRegions());
}

namespace {
struct PeelMasksPass : tilewright::impl::PeelMasksPassBase<PeelMasksPass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      peelMasks(getOperation());
  }
};
} // namespace
