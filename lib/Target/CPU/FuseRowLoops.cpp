// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops over the same tiles of the same rows, of which the second waits for nothing that the
// first computes, become one, which reads each tile, and computes what both need, once:
//
//   scf.for %i … { %v = read %x[%i]; %w = read %y[%i]; write addf %v, %w to %h[%i] }
//   %s = scf.for %i … { %v = read %x[%i]; %w = read %y[%i]; sum up addf %v, %w }
//   ->
//   %s = scf.for %i … { %v = read %x[%i]; %w = read %y[%i]; %a = addf %v, %w
//                       write %a to %h[%i]; sum up %a }
//
// A second loop that sums up squares of distances to the first one's mean does without that mean
// (RunningMean.cpp). Rows of several dims have nests of loops in the place of both.

#include "RunningMean.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {
#define GEN_PASS_DEF_FUSEROWLOOPSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Whether `op` of `second`, or below it, writes nothing, reads inputs alone, and needs nothing
/// that is computed from `first` on but what the others of `second` do.
static bool isIndependent(Operation *op, scf::ForOp first, scf::ForOp second, ArrayAttr access) {
  DominanceInfo dominance;
  auto isKnown = [&](Value value) {
    Operation *definition = value.getDefiningOp();
    return second->isAncestor(value.getParentBlock()->getParentOp()) || !definition ||
           dominance.properlyDominates(definition, first);
  };
  return llvm::all_of(op->getOperands(), isKnown) &&
         (isa<scf::ForOp>(op) || (op->getNumRegions() == 0 && isMemoryEffectFree(op)) ||
          isReadOfInput(op, access));
}

/// The same of all ops of `second`.
static bool isIndependent(scf::ForOp first, scf::ForOp second, ArrayAttr access) {
  return !second
              .walk([&](Operation *op) {
                return isIndependent(op, first, second, access) ? WalkResult::advance()
                                                                : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Whether nests of loops, innermost first, have nothing in front of the loops in them.
static bool areSimple(const LoopPairs &pairs) {
  for (auto [inner, outer] : llvm::zip(pairs, llvm::drop_begin(pairs))) {
    auto [first, second] = outer;
    if (!llvm::hasSingleElement(first.getOps<scf::ForOp>()) ||
        &second.getBody()->front() != inner.second)
      return false;
  }
  return true;
}

static bool shareReads(scf::ForOp first, scf::ForOp second, ArrayAttr access) {
  Twins twins(first, second, access);
  for (auto x : first.getBody()->getOps<vector::TransferReadOp>())
    for (auto y : second.getBody()->getOps<vector::TransferReadOp>())
      if (twins.haveSameTile(x, y))
        return true;
  return false;
}

/// Of equal ops in the body of `loop` the first; `op` is a copy that may go.
static Operation *findEqual(scf::ForOp loop, Operation *op, ArrayAttr access) {
  if (op->getNumRegions() || (!isMemoryEffectFree(op) && !isReadOfInput(op, access)))
    return op;
  for (Operation &other : *loop.getBody()) {
    if (&other == op)
      break;
    if (OperationEquivalence::isEquivalentTo(&other, op,
                                             OperationEquivalence::IgnoreLocations)) {
      op->erase();
      return &other;
    }
  }
  return op;
}

/// Both loops, in the place of the first.
static scf::ForOp fuse(scf::ForOp first, scf::ForOp second, ArrayAttr access) {
  OpBuilder builder(first);
  SmallVector<Value> inits(first.getInitArgs());
  llvm::append_range(inits, second.getInitArgs());
  auto loop = scf::ForOp::create(builder, first.getLoc(), first.getLowerBound(),
                                 first.getUpperBound(), first.getStep(), inits);
  if (inits.empty())
    loop.getBody()->getTerminator()->erase();
  unsigned own = first.getNumRegionIterArgs();
  SmallVector<Value> yields;
  builder.setInsertionPointToEnd(loop.getBody());
  for (scf::ForOp part : {first, second}) {
    IRMapping mapping;
    mapping.map(part.getInductionVar(), loop.getInductionVar());
    for (auto [number, argument] : llvm::enumerate(part.getRegionIterArgs()))
      mapping.map(argument, loop.getRegionIterArg(number + (part == second ? own : 0)));
    for (Operation &op : part.getBody()->without_terminator()) {
      Operation *made = findEqual(loop, builder.clone(op, mapping), access);
      mapping.map(op.getResults(), made->getResults());
    }
    for (Value value : part.getYieldedValues())
      yields.push_back(mapping.lookupOrDefault(value));
  }
  scf::YieldOp::create(builder, loop.getLoc(), yields);
  first.replaceAllUsesWith(loop.getResults().take_front(own));
  second.replaceAllUsesWith(loop.getResults().drop_front(own));
  first.erase();
  second.erase();
  return loop;
}

/// Both nests, in the place of the first. Returns the innermost loop.
static scf::ForOp fuseNests(scf::ForOp first, scf::ForOp second, ArrayAttr access) {
  scf::ForOp loop = fuse(first, second, access);
  SmallVector<scf::ForOp> inner(loop.getOps<scf::ForOp>());
  return inner.empty() ? loop : fuseNests(inner[0], inner[1], access);
}

/// Likewise, where the second nest waits for the first only for a mean that it does without. Of
/// few registers, steps of a mean wait for each other longer than those that convert numbers and
/// keep their distances.
static scf::ForOp fuseAroundMean(const LoopPairs &pairs, ArrayAttr access, int64_t registers) {
  constexpr int64_t kMany = 32;
  scf::ForOp first = pairs.back().first, second = pairs.back().second;
  std::optional<SquaredDistances> sum =
      matchSquaredDistances(pairs.front().second, pairs.size());
  if (!sum || !isMeanOf(*sum, pairs, access) ||
      !llvm::all_of(opsFor(*sum, sum->x), [&](Operation *op) {
        return isIndependent(op, first, second, access) &&
               (registers >= kMany || !isa<arith::ExtFOp>(op));
      }))
    return {};
  scf::ForOp loop = fuseNests(first, takeRunningMean(*sum), access);
  takeSumsFromMean(loop, sum->steps);
  return loop;
}

namespace {
struct FuseRowLoopsPass : tilewright::impl::FuseRowLoopsPassBase<FuseRowLoopsPass> {
  using FuseRowLoopsPassBase::FuseRowLoopsPassBase;
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    ArrayAttr access = accessOfKernel(func);
    if (!access)
      return;
    SmallVector<scf::ForOp> loops = innermostLoops(func);
    for (size_t i = 0; i + 1 < loops.size();) {
      if (scf::ForOp both = fuse(func, loops[i], loops[i + 1], access)) {
        loops[i] = both;
        loops.erase(loops.begin() + i + 1);
      } else {
        ++i;
      }
    }
  }

  /// Both nests, if they can be one: its innermost loop.
  scf::ForOp fuse(func::FuncOp func, scf::ForOp first, scf::ForOp second, ArrayAttr access) {
    LoopPairs pairs = pairLoops(first, second);
    if (!haveCommonSteps(first, second) || !areSimple(pairs) ||
        !shareReads(first, second, access))
      return {};
    if (isIndependent(pairs.back().first, pairs.back().second, access))
      return fuseNests(pairs.back().first, pairs.back().second, access);
    scf::ForOp loop = fuseAroundMean(pairs, access, registers);
    if (loop)
      addExplanation(func, "a row is read once for its mean and its variance, around a running "
                           "mean");
    return loop;
  }
};
} // namespace
