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
// Within a block, what is computed from a load moves up to it, as far as it meets the sums;
// what follows, an activation say, moves down to where it is used, as pieces leave one by
// one, too. Few values of arguments, one per row say, are read in front of all pieces. Blocks that
// multiply keep their order, which is their pipeline.

#include "LayoutRules.h"
#include "tilewright/Dialect/Divisibility.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace tilewright;

/// Whether `op` reads memory; loads that may be outside of it stand in branches.
static bool isLoad(Operation *op) {
  return isa<LoadMatricesOp, memref::LoadOp, vector::LoadOp>(op) ||
         (isa<scf::IfOp>(op) && op->getNumResults());
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

namespace {
/// What a value of a block is computed from.
enum class From { Nothing, Loads, Sums, Both };

/// The order of one block's ops behind its products.
class Scheduler {
public:
  explicit Scheduler(Block &block) : block(block) {}
  void readFewFirst(func::FuncOp kernel);
  void run();

private:
  From from(Value value) const;
  void moveBehind(Operation *op, Operation *anchor);
  Operation *firstUser(Operation *op) const;

  Block &block;
  /// Ops that can move: where they come from, and the last of the others that they wait for.
  llvm::MapVector<Operation *, std::pair<From, Operation *>> movable;
  /// Ops that have moved up.
  llvm::DenseSet<Operation *> early;
  /// By the op that ops were moved behind, the last one of them: they keep their order.
  llvm::DenseMap<Operation *, Operation *> last;
};
} // namespace

/// Sums are all floats that neither are constant nor come from loads of this block.
From Scheduler::from(Value value) const {
  Operation *op = value.getDefiningOp();
  if (auto found = movable.find(op); found != movable.end())
    return found->second.first;
  if (op && op->getBlock() == &block && isLoad(op))
    return From::Loads;
  bool isConstant = op && op->hasTrait<OpTrait::ConstantLike>();
  return isConstant || !isa<FloatType>(value.getType()) ? From::Nothing : From::Sums;
}

/// `op`, and in front of it what it is computed from, behind `anchor`.
void Scheduler::moveBehind(Operation *op, Operation *anchor) {
  if (!movable.contains(op) || !early.insert(op).second ||
      op->isBeforeInBlock(anchor))
    return;
  for (Value operand : op->getOperands())
    if (Operation *definition = operand.getDefiningOp())
      moveBehind(definition, anchor);
  Operation *&place = last.try_emplace(anchor, anchor).first->second;
  op->moveAfter(place);
  place = op;
}

/// The first op of the block that uses a result of `op`, or has an op that does.
Operation *Scheduler::firstUser(Operation *op) const {
  Operation *first = nullptr;
  for (Operation *user : op->getUsers()) {
    Operation *here = block.findAncestorOpInBlock(*user);
    if (!here)
      return nullptr;
    if (!first || here->isBeforeInBlock(first))
      first = here;
  }
  return first;
}

/// Whether `op` does nothing but compute, and read arguments that the kernel does not write.
static bool onlyReads(Operation *op, func::FuncOp kernel) {
  if (isa<scf::IfOp>(op))
    return llvm::all_of(op->getRegions(), [&](Region &region) {
      return llvm::all_of(region.getOps(), [&](Operation &inner) {
        return onlyReads(&inner, kernel);
      });
    });
  Value memory;
  if (auto load = dyn_cast<memref::LoadOp>(op))
    memory = load.getMemRef();
  else if (auto load = dyn_cast<vector::LoadOp>(op))
    memory = load.getBase();
  if (!memory)
    return isPure(op);
  auto argument = dyn_cast<BlockArgument>(memory);
  return argument && argument.getOwner()->getParentOp() == kernel &&
         !cast<MemRefType>(argument.getType()).getMemorySpace() && isReadOnly(kernel, argument);
}

/// What meets pieces may wait for values that are read behind these.
void Scheduler::readFewFirst(func::FuncOp kernel) {
  constexpr int64_t kFew = 8; // registers
  Block::iterator first = behindProducts(block);
  auto isBehind = [&](Operation *op) {
    return op->getBlock() == &block && !op->isBeforeInBlock(&*first);
  };
  BackwardSliceOptions slice;
  slice.filter = isBehind;
  slice.inclusive = true;
  llvm::SetVector<Operation *> reads;
  int64_t bits = 0;
  for (Operation &op : llvm::make_range(first, block.end())) {
    if (!isLoad(&op) || !onlyReads(&op, kernel))
      continue;
    for (Type type : op.getResultTypes()) {
      auto vector = dyn_cast<VectorType>(type);
      bits += vector ? vector.getNumElements() * vector.getElementTypeBitWidth()
                     : std::max(32u, type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64u);
    }
    if (bits > 32 * kFew || failed(getBackwardSlice(&op, &reads, slice)) ||
        !llvm::all_of(reads, [&](Operation *read) { return onlyReads(read, kernel); }))
      return;
  }
  // What is read first already is where it is to be, with what it is computed from.
  while (reads.contains(&*first))
    ++first;
  for (Operation *op : topologicalSort(reads))
    op->moveBefore(&*first);
}

void Scheduler::run() {
  SmallVector<Operation *> meetings;
  for (Operation &op : llvm::make_range(behindProducts(block), block.end())) {
    if (op.getNumRegions() || op.getNumResults() != 1 || !isPure(&op))
      continue;
    bool ofLoads = false, ofSums = false, ofBoth = false;
    Operation *anchor = nullptr;
    for (Value operand : op.getOperands()) {
      From where = from(operand);
      ofLoads |= where == From::Loads;
      ofSums |= where == From::Sums;
      ofBoth |= where == From::Both;
      Operation *definition = operand.getDefiningOp();
      if (auto found = movable.find(definition); found != movable.end())
        definition = found->second.second;
      if (definition && definition->getBlock() == &block &&
          (!anchor || anchor->isBeforeInBlock(definition)))
        anchor = definition;
    }
    if (!ofLoads && !ofSums && !ofBoth)
      continue;
    bool meets = ofLoads && (ofSums || ofBoth);
    From result = meets || ofBoth ? From::Both : ofLoads ? From::Loads : From::Sums;
    movable[&op] = {result, anchor};
    // What is narrower takes fewer registers.
    bool narrows = isa<arith::TruncFOp>(op) && !meetings.empty() &&
                   llvm::is_contained(meetings, op.getOperand(0).getDefiningOp());
    if (anchor && (meets || narrows))
      meetings.push_back(&op);
  }
  for (Operation *op : meetings)
    moveBehind(op, movable[op].second);
  // Users first: they are behind.
  for (auto &[op, origin] : llvm::reverse(movable))
    if (Operation *user = early.contains(op) ? nullptr : firstUser(op))
      op->moveBefore(user);
}

void tilewright::useLoadsEarly(func::FuncOp kernel) {
  if (!kernel->hasAttr(kLoadedTilesAttr))
    return;
  kernel.walk([&](Block *block) {
    Scheduler scheduler(*block);
    scheduler.readFewFirst(kernel);
    scheduler.run();
  });
}
