// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of f16 and bf16 is done in f32, and numbers stay f32 from op to op. Those that loops
// carry do as well: no rounding and widening in each step.
//
//   %r = scf.for … iter_args(%a = %init) -> vector<64xf16> {
//     %w = arith.extf %a fastmath<contract>, %s = arith.addf %w, %x : vector<64xf32>
//     yield (arith.truncf %s fastmath<contract>) }
//   ->
//   %s = scf.for … iter_args(%w = extf %init) -> vector<64xf32> { yield (arith.addf %w, %x) }
//   %r = arith.truncf %s fastmath<contract>

#include "Singles.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace tilewright {
#define GEN_PASS_DEF_CARRYSINGLESPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// What the loop yields as its number `i`, in f32; null if it does not compute that in f32 of
/// what it carries.
static Value singleYielded(scf::ForOp loop, unsigned i) {
  auto narrowed = loop.getYieldedValues()[i].getDefiningOp<arith::TruncFOp>();
  BlockArgument carried = loop.getRegionIterArg(i);
  bool isWidened = llvm::all_of(carried.getUsers(), [](Operation *user) {
    return isBetweenOps(dyn_cast<arith::ExtFOp>(user));
  });
  if (!isBetweenOps(narrowed) || !isWidened || carried.use_empty())
    return {};
  return narrowed.getIn();
}

/// Widened values are what they were narrowed from.
static void dropCasts(Value narrow, Value single) {
  for (Operation *user : llvm::make_early_inc_range(narrow.getUsers()))
    if (isBetweenOps(dyn_cast<arith::ExtFOp>(user))) {
      user->getResult(0).replaceAllUsesWith(single);
      user->erase();
    }
}

/// The loop carries f32 beside what it carried; what nothing reads then goes away by
/// canonicalization.
static void carrySingles(scf::ForOp loop) {
  IRRewriter b(loop);
  Location loc = loop.getLoc();
  auto contract =
      arith::FastMathFlagsAttr::get(b.getContext(), arith::FastMathFlags::contract);
  for (unsigned i = 0; i < loop.getNumResults(); ++i) {
    Value single = singleYielded(loop, i);
    if (!single)
      continue;
    b.setInsertionPoint(loop);
    Value init =
        arith::ExtFOp::create(b, loc, single.getType(), loop.getInitArgs()[i], contract);
    auto made = loop.replaceWithAdditionalYields(
        b, init, /*replaceInitOperandUsesInLoop=*/false,
        [&](OpBuilder &, Location, ArrayRef<BlockArgument>) {
          return SmallVector<Value>{loop.getYieldedValues()[i]
                                        .getDefiningOp<arith::TruncFOp>()
                                        .getIn()};
        });
    if (failed(made))
      return;
    loop = cast<scf::ForOp>(made->getOperation());
    dropCasts(loop.getRegionIterArg(i), loop.getRegionIterArgs().back());
    b.setInsertionPointAfter(loop);
    Value wide = loop.getResults().back();
    Value result = arith::TruncFOp::create(b, loc, loop.getResult(i).getType(), wide,
                                           arith::RoundingModeAttr(), contract);
    loop.getResult(i).replaceAllUsesWith(result);
    dropCasts(result, wide);
    // Nothing reads what was carried: not of an outer loop either.
    b.setInsertionPoint(loop);
    Value none = arith::ConstantOp::create(b, loc, b.getZeroAttr(result.getType()));
    loop.getInitArgsMutable()[i].set(none);
    loop.getBody()->getTerminator()->setOperand(i, loop.getRegionIterArg(i));
  }
}

namespace {
struct CarrySinglesPass : tilewright::impl::CarrySinglesPassBase<CarrySinglesPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) || func.isExternal())
      return;
    // Innermost first: an outer loop then yields what an inner one carries.
    SmallVector<scf::ForOp> loops;
    func.walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      carrySingles(loop);
  }
};
} // namespace
