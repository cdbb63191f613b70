// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Double buffering of loops that multiply from shared memory.
//
//   for %k iter_args(%c)              if (lb < ub) { store stage 0 <- load(lb) }
//     store shared <- load(%k)        barrier
//     barrier                    ->   for %k iter_args(%c, %stage)
//     %n = mma shared, %c               %next = %k + step < ub ? %k + step : %k
//     barrier                           %v = load(%next)             (registers)
//     yield %n                          %n = mma stage %stage, %c      (hides the load)
//                                       store stage 1 - %stage <- f(%v)
//                                       barrier
//                                       yield %n, 1 - %stage
//
// What is computed from the loaded values (f: a cast, a dequantisation) stands behind
// the product, too: what is staged in registers is as small as it was in memory.
//
// The last step loads its own tile once more instead of branching around the
// load; nobody reads it.
//
// Tiles that asynchronous copies can bring (TileCopies.cpp) need no registers: their
// copies start where the others' loads do, and are waited for in front of the barrier.

#include "LoopParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tilewright;

/// Splits `loads` into what reads memory, with what that needs, and what is computed
/// from it.
static void splitLoads(ArrayRef<Operation *> loads,
                       SmallVectorImpl<Operation *> &reads,
                       SmallVectorImpl<Operation *> &computes) {
  llvm::SmallPtrSet<Operation *, 16> computed;
  for (Operation *op : loads) {
    bool follows = llvm::any_of(op->getOperands(), [&](Value operand) {
      Operation *def = operand.getDefiningOp();
      return def && (isa<vector::TransferReadOp>(def) || computed.contains(def));
    });
    if (!follows) {
      reads.push_back(op);
    } else if (isMemoryEffectFree(op)) {
      computed.insert(op);
      computes.push_back(op);
    } else { // reads where another read says
      reads.assign(loads.begin(), loads.end());
      computes.clear();
      return;
    }
  }
}

namespace {
/// One loop while its double-buffered form is written.
class DoubleBuffer {
public:
  DoubleBuffer(scf::ForOp loop, const LoopParts &parts, ArrayRef<TileCopy> copies);
  void write();

private:
  void writeFirstTile(OpBuilder &b);
  scf::ForOp writeLoop(OpBuilder &b);
  void cloneAll(OpBuilder &b, IRMapping &mapping, ArrayRef<Operation *> ops);
  void cloneStores(OpBuilder &b, IRMapping &mapping, Value stage);
  void copyTiles(OpBuilder &b, Value k, Value stage);
  void waitForCopies(OpBuilder &b);

  scf::ForOp loop;
  Location loc;
  const LoopParts &parts;
  ArrayRef<TileCopy> copies;
  /// Reads and writes that are asynchronous copies.
  llvm::SmallPtrSet<Operation *, 4> copied;
  /// What else is loaded, and computed from it.
  SmallVector<Operation *> reads, computes;
  /// The tiles with two stages.
  DenseMap<Value, Value> staged;
  Value zero, one;
};
} // namespace

DoubleBuffer::DoubleBuffer(scf::ForOp loop, const LoopParts &parts, ArrayRef<TileCopy> copies)
    : loop(loop), loc(loop.getLoc()), parts(parts), copies(copies) {
  for (const TileCopy &copy : copies)
    copied.insert({copy.read, copy.write});
  SmallVector<Operation *> loads(llvm::make_filter_range(
      parts.loads, [&](Operation *op) { return !copied.contains(op); }));
  splitLoads(loads, reads, computes);
}

void DoubleBuffer::copyTiles(OpBuilder &b, Value k, Value stage) {
  if (!copies.empty())
    startCopies(b, loop, parts, copies, staged, k, stage);
}

void DoubleBuffer::waitForCopies(OpBuilder &b) {
  if (!copies.empty())
    AsyncWaitOp::create(b, loc, 0);
  gpu::BarrierOp::create(b, loc);
}

void DoubleBuffer::cloneAll(OpBuilder &b, IRMapping &mapping, ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    b.clone(*op, mapping);
}

void DoubleBuffer::cloneStores(OpBuilder &b, IRMapping &mapping, Value stage) {
  for (vector::TransferWriteOp store : parts.stores) {
    if (copied.contains(store))
      continue;
    IRMapping local(mapping);
    local.map(store.getBase(), stageOf(b, loc, staged.lookup(store.getBase()), stage));
    b.clone(*store, local);
  }
}

/// Brings the first tile, if there is one, into stage 0.
void DoubleBuffer::writeFirstTile(OpBuilder &b) {
  copyTiles(b, loop.getLowerBound(), zero);
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                    loop.getLowerBound(), loop.getUpperBound());
  auto first = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
  {
    OpBuilder inner(first.thenBlock()->getTerminator());
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), loop.getLowerBound());
    cloneAll(inner, mapping, reads);
    cloneAll(inner, mapping, computes);
    cloneStores(inner, mapping, zero);
  }
  waitForCopies(b);
}

/// Multiplies one stage while the next tile comes into the other.
scf::ForOp DoubleBuffer::writeLoop(OpBuilder &b) {
  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(zero);
  auto piped = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  piped->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder inner = OpBuilder::atBlockBegin(piped.getBody());
  Value k = piped.getInductionVar(), stage = piped.getRegionIterArgs().back();
  Value ahead = arith::AddIOp::create(inner, loc, k, loop.getStep());
  Value hasNext = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                        ahead, loop.getUpperBound());
  // Written as k + (0 or step): what is known to divide k still divides it.
  Value advance = arith::SelectOp::create(inner, loc, hasNext, loop.getStep(), zero);
  Value next = arith::AddIOp::create(inner, loc, k, advance);
  auto otherStage = [&]() -> Value {
    return arith::SubIOp::create(inner, loc, one, stage);
  };
  if (!copies.empty())
    copyTiles(inner, ahead, otherStage());
  IRMapping following;
  following.map(loop.getInductionVar(), next);
  cloneAll(inner, following, reads);

  IRMapping work;
  work.map(loop.getInductionVar(), k);
  for (auto [from, to] : llvm::zip(loop.getRegionIterArgs(), piped.getRegionIterArgs()))
    work.map(from, to);
  for (memref::AllocOp tile : parts.tiles)
    work.map(tile.getResult(), stageOf(inner, loc, staged.lookup(tile), stage));
  for (Operation *op : parts.work)
    inner.clone(*op, work);
  Value other = otherStage();
  cloneAll(inner, following, computes);
  cloneStores(inner, following, other);
  waitForCopies(inner);
  SmallVector<Value> yields;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    yields.push_back(work.lookupOrDefault(value));
  yields.push_back(other);
  scf::YieldOp::create(inner, loc, yields);
  return piped;
}

void DoubleBuffer::write() {
  OpBuilder b(loop);
  for (memref::AllocOp tile : parts.tiles)
    staged[tile] = addStages(tile, 2);
  zero = arith::ConstantIndexOp::create(b, loc, 0);
  one = arith::ConstantIndexOp::create(b, loc, 1);
  writeFirstTile(b);
  scf::ForOp piped = writeLoop(b);
  loop.replaceAllUsesWith(piped.getResults().drop_back());
  loop.erase();
  for (memref::AllocOp tile : parts.tiles)
    tile.erase();
}

void tilewright::doubleBuffer(scf::ForOp loop, const LoopParts &parts,
                              ArrayRef<TileCopy> copies) {
  DoubleBuffer(loop, parts, copies).write();
}
