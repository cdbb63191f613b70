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

#include "RowLoops.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/CPU/Passes.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {
#define GEN_PASS_DEF_FUSEROWLOOPSPASS
#include "tilewright/Target/CPU/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

/// Whether `second` writes nothing, reads inputs alone, and knows all that it needs in front of
/// `first`.
static bool isIndependent(scf::ForOp first, scf::ForOp second, ArrayAttr access) {
  DominanceInfo dominance;
  auto isKnown = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return second->isProperAncestor(value.getParentBlock()->getParentOp()) ||
           value.getParentBlock() == second.getBody() ||
           (op ? dominance.properlyDominates(op, first) : true);
  };
  if (!llvm::all_of(second->getOperands(), isKnown))
    return false;
  return llvm::all_of(*second.getBody(), [&](Operation &op) {
    return op.getNumRegions() == 0 && llvm::all_of(op.getOperands(), isKnown) &&
           (isMemoryEffectFree(&op) || isReadOfInput(&op, access));
  });
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
  if (!isMemoryEffectFree(op) && !isReadOfInput(op, access))
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

namespace {
struct FuseRowLoopsPass : tilewright::impl::FuseRowLoopsPassBase<FuseRowLoopsPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    ArrayAttr access = accessOfKernel(func);
    if (!access)
      return;
    SmallVector<scf::ForOp> loops = innermostLoops(func);
    for (size_t i = 0; i + 1 < loops.size();) {
      scf::ForOp first = loops[i], second = loops[i + 1];
      if (first->getBlock() == second->getBlock() && commonSteps(first, second) &&
          shareReads(first, second, access) && isIndependent(first, second, access)) {
        loops[i] = fuse(first, second, access);
        loops.erase(loops.begin() + i + 1);
      } else {
        ++i;
      }
    }
  }
};
} // namespace
