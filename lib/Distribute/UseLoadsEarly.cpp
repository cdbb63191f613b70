// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is beside the sums of warpgroups, a residual say, meets them piece by piece. Sums
// take most of a thread's registers, and each op of block form reads all of a tile before
// the next one begins, so that what was read would need as many again:
//
//   %r = load_matrices %p[%i]              %r = load_matrices %p[%i]
//   mbarrier_wait …                        %x = addf %sum, %r
//   %s = load_matrices %p[%j]        ->    mbarrier_wait …
//   %x = addf %sum, %r                     %s = load_matrices %p[%j]
//   %y = addf %other, %s                   %y = addf %other, %s
//
// Within a block, what is computed from a load without side effects moves up to the last of
// its operands. Blocks that multiply keep their order, which is their pipeline.

#include "LayoutRules.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;

/// Whether `op` reads memory; loads that may be outside of it stand in branches.
static bool isLoad(Operation &op) {
  return isa<LoadMatricesOp, memref::LoadOp, vector::LoadOp>(op) ||
         (isa<scf::IfOp>(op) && op.getNumResults());
}

static bool multiplies(Operation &op) {
  return op.walk([](MmaOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

/// The first op of `block` behind all that multiplies and waits for products; its end if
/// it multiplies itself.
static Block::iterator behindProducts(Block &block) {
  Block::iterator begin = block.begin();
  for (Operation &op : block) {
    if (isa<MmaOp>(op))
      return block.end();
    if (isa<MmaWaitOp>(op) || multiplies(op))
      begin = std::next(op.getIterator());
  }
  return begin;
}

static void useLoadsEarly(Block &block) {
  llvm::DenseSet<Operation *> ofLoads;
  // By the op that ops were moved behind, the last one of them: they keep their order.
  llvm::DenseMap<Operation *, Operation *> behind;
  Block::iterator begin = behindProducts(block);
  for (Operation &op : llvm::make_early_inc_range(llvm::make_range(begin, block.end()))) {
    if (isLoad(op)) {
      ofLoads.insert(&op);
      continue;
    }
    if (op.getNumRegions() || op.getNumResults() != 1 || !isPure(&op))
      continue;
    Operation *last = nullptr;
    bool usesLoad = false;
    for (Value operand : op.getOperands()) {
      Operation *definition = operand.getDefiningOp();
      if (!definition || definition->getBlock() != &block)
        continue;
      usesLoad |= ofLoads.contains(definition);
      if (!last || last->isBeforeInBlock(definition))
        last = definition;
    }
    if (!usesLoad)
      continue;
    ofLoads.insert(&op);
    Operation *&place = behind.try_emplace(last, last).first->second;
    op.moveAfter(place);
    place = &op;
  }
}

void tilewright::useLoadsEarly(func::FuncOp kernel) {
  if (kernel->hasAttr(kLoadedTilesAttr))
    kernel.walk([](Block *block) { ::useLoadsEarly(*block); });
}
