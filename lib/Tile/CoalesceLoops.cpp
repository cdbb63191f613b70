// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tilewright-coalesce-loops: one loop of steps for each matrix product.
//
//   scf.for %kh = 0 to 3 {                     scf.for %i = 0 to 18 {
//     scf.for %kw = 0 to 3 {                     %c = %i mod 2 * 32
//       scf.for %c = 0 to 64 step 32 {    ->     %kw = %i / 2 mod 3, %kh = %i / 6
//         … mma …                                … mma …
//
// Copies of later steps overlap the products of this one: with a loop of two
// steps inside of others, that would begin anew for each of theirs.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Tile/Tile.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_COALESCELOOPSPASS
#include "tilewright/Tile/Passes.h.inc"
} // namespace tilewright

/// Divisions by what is not constant would cost more than is won.
static bool hasConstantBounds(scf::ForOp loop) {
  return getConstantIntValue(loop.getLowerBound()) &&
         getConstantIntValue(loop.getUpperBound()) &&
         getConstantIntValue(loop.getStep());
}

/// The loop that is all there is in `loop`, which passes its values on; or null.
static scf::ForOp onlyLoopIn(scf::ForOp loop) {
  Block *body = loop.getBody();
  auto inner = dyn_cast<scf::ForOp>(body->front());
  if (!inner || inner->getNextNode() != body->getTerminator() ||
      !llvm::equal(inner.getInitArgs(), loop.getRegionIterArgs()) ||
      !llvm::equal(body->getTerminator()->getOperands(), inner.getResults()))
    return {};
  return inner;
}

/// What upstream leaves, by division of numbers that are never negative.
static void expand(RewriterBase &rewriter, affine::AffineDelinearizeIndexOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value rest = op.getLinearIndex();
  SmallVector<Value> results(op.getNumResults());
  ArrayRef<int64_t> basis = op.getStaticBasis();
  for (unsigned i = results.size(); i-- > 0;) {
    // The first result has no bound, or takes what is left.
    int64_t size = i ? basis[basis.size() - results.size() + i] : 0;
    if (i == 0) {
      results[i] = rest;
    } else if (size == 1) {
      results[i] = arith::ConstantIndexOp::create(rewriter, loc, 0);
    } else {
      Value by = arith::ConstantIndexOp::create(rewriter, loc, size);
      results[i] = arith::RemUIOp::create(rewriter, loc, rest, by);
      rest = arith::DivUIOp::create(rewriter, loc, rest, by);
    }
  }
  rewriter.replaceOp(op, results);
}

/// Says of loops of steps inside of others why they are still there.
static void explainNests(func::FuncOp kernel) {
  kernel.walk([&](scf::ForOp outer) {
    auto inner = outer.getBody()->getOps<scf::ForOp>();
    if (inner.empty())
      return;
    bool constant = hasConstantBounds(outer) &&
                    llvm::all_of(inner, [](scf::ForOp loop) {
                      return hasConstantBounds(loop);
                    });
    addExplanation(
        kernel,
        Twine("a loop of steps inside of another, which copies do not look beyond: ") +
            (constant ? "there is more in the outer one than the inner one"
                      : "their bounds are known only at run time, and dividing by "
                        "them would cost more than is won"));
  });
}

/// Bounds that tiling has put between loops.
static void hoistConstants(func::FuncOp kernel) {
  Block &entry = kernel.getBody().front();
  SmallVector<arith::ConstantOp> constants;
  kernel.walk([&](arith::ConstantOp op) {
    if (isa<scf::ForOp>(op->getParentOp()))
      constants.push_back(op);
  });
  for (arith::ConstantOp op : llvm::reverse(constants))
    op->moveBefore(&entry, entry.begin());
}

void tilewright::coalesceLoops(func::FuncOp kernel) {
  // A ring is filled by one loop. By the bounds of the outermost nothing is divided.
  auto config = kernel->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  bool isRinged = config && config.isWarpSpecialized();
  if (isRinged)
    hoistConstants(kernel);
  SmallVector<SmallVector<scf::ForOp>> nests;
  kernel.walk<WalkOrder::PreOrder>([&](scf::ForOp loop) {
    SmallVector<scf::ForOp> nest;
    for (; loop && (hasConstantBounds(loop) || (isRinged && nest.empty()));
         loop = onlyLoopIn(loop))
      nest.push_back(loop);
    if (nest.size() < 2)
      return WalkResult::advance();
    nests.push_back(std::move(nest));
    return WalkResult::skip();
  });
  IRRewriter rewriter(kernel.getContext());
  for (SmallVector<scf::ForOp> &nest : nests)
    (void)mlir::coalesceLoops(rewriter, nest);
  kernel.walk([&](affine::AffineDelinearizeIndexOp op) { expand(rewriter, op); });
  explainNests(kernel);
}

namespace {
struct CoalesceLoopsPass
    : public tilewright::impl::CoalesceLoopsPassBase<CoalesceLoopsPass> {
  void runOnOperation() override {
    for (func::FuncOp func : getOperation().getOps<func::FuncOp>()) {
      auto config = func->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
      // Panels are packed for a loop over rows and one over columns.
      if (isKernel(func) && config && config.getMma() && !func->hasAttr(kPanelsAttr))
        coalesceLoops(func);
    }
  }
};
} // namespace
