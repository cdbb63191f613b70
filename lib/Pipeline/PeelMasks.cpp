// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of a loop that need no mask, without one. A loop says from where on it needs
// its mask by a marked comparison, which chooses between values as they are and masked:
//
//   scf.for %k = %begin to %end step %c64 iter_args(%x) {
//     %whole = arith.cmpi slt, %k, %limit {tilewright.whole}
//     %s = arith.select %whole, %scores, %masked
// becomes
//   %y = scf.for %k = %begin to %limit step %c64 iter_args(%x) { … %scores … }
//   scf.for %k = %limit to %end step %c64 iter_args(%y) { … %masked … }
//
// The second loop goes on where the first ended: a ring that the loop carries stays
// full between them, which is why this comes behind the pipelining of loops. %limit is
// a whole number of steps from %begin, and between %begin and %end. Where the
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

/// What `whole` chooses is `isWhole`.
static void decide(RewriterBase &rewriter, arith::CmpIOp whole, bool isWhole) {
  for (Operation *user : llvm::make_early_inc_range(whole->getUsers()))
    if (auto choice = dyn_cast<arith::SelectOp>(user);
        choice && choice.getCondition() == whole.getResult())
      rewriter.replaceOp(choice,
                         isWhole ? choice.getTrueValue() : choice.getFalseValue());
  rewriter.setInsertionPoint(whole);
  rewriter.replaceOpWithNewOp<arith::ConstantOp>(whole, rewriter.getBoolAttr(isWhole));
}

void tilewright::peelMasks(func::FuncOp kernel) {
  SmallVector<arith::CmpIOp> marked;
  kernel.walk([&](arith::CmpIOp op) {
    if (op->hasAttr(kWholeAttr))
      marked.push_back(op);
  });
  IRRewriter rewriter(kernel.getContext());
  for (arith::CmpIOp whole : marked) {
    auto loop = dyn_cast<scf::ForOp>(whole->getParentOp());
    Value limit = whole.getRhs();
    if (loop && whole.getLhs() == loop.getInductionVar() &&
        loop.isDefinedOutsideOfLoop(limit)) {
      IRMapping mapping;
      rewriter.setInsertionPoint(loop);
      auto first = cast<scf::ForOp>(rewriter.clone(*loop, mapping));
      first.getUpperBoundMutable().assign(limit);
      loop.getLowerBoundMutable().assign(limit);
      loop.getInitArgsMutable().assign(first.getResults());
      decide(rewriter, cast<arith::CmpIOp>(mapping.lookup(whole.getOperation())), true);
    }
    decide(rewriter, whole, false);
  }
  if (!marked.empty())
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
