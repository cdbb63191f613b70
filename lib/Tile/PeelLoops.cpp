// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-peel-loops: whole tiles first, without bounds checks.
//
//   scf.for %i = %c0 to %n step %c8 {
//     %s = affine.min(8, %n - %i)
//     … tiles of %s rows …
//   }
// becomes
//   %split = %n - %n mod 8
//   scf.for %i = %c0 to %split step %c8 { … tiles of 8 rows … }
//   scf.for %i = %split to %n step %c8 { … tiles of %n - %i rows … }
//
// Upstream does the splitting; here is which loops: all of a CPU kernel, the
// outermost first, but none inside a partial tile, so that two nested loops
// give three versions of their body and not four.

#include "tilewright/Dialect/Strategies.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Transforms.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PEELLOOPSPASS
#include "tilewright/Tile/Passes.h.inc"
} // namespace tilewright

void tilewright::peelLoops(func::FuncOp kernel) {
  SmallVector<scf::ForOp> loops;
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    loops.push_back(loop);
  });
  // The partial tiles are clones: what they contain is not in the list.
  IRRewriter rewriter(kernel.getContext());
  for (scf::ForOp loop : loops) {
    scf::ForOp partial;
    (void)scf::peelForLoopAndSimplifyBounds(rewriter, loop, partial);
  }
  // The sizes of whole tiles are constants now, in the form affine.apply.
  kernel.walk([&](affine::AffineApplyOp apply) {
    AffineMap map = apply.getAffineMap();
    if (!map.isSingleConstant())
      return;
    rewriter.setInsertionPoint(apply);
    rewriter.replaceOpWithNewOp<arith::ConstantIndexOp>(
        apply, map.getSingleConstantResult());
  });
}

namespace {
struct PeelLoopsPass
    : public tilewright::impl::PeelLoopsPassBase<PeelLoopsPass> {
  void runOnOperation() override {
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>()) {
      TargetAttr target = getTarget(func);
      auto config = func->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
      bool ownsLoops = traitsOf(config).ownsLoops;
      // Later stages take these loops apart, and tell edges from what is inside.
      if (!func->hasAttr(kPanelsAttr) && !func->hasAttr(kChunksAttr) && !ownsLoops &&
          isKernel(func) && target && target.getFact("subgroup", 1) <= 1)
        peelLoops(func);
    }
  }
};
} // namespace
