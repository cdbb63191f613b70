// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Double buffering of loops that multiply from shared memory.
//
//   for %k iter_args(%c)              if (lb < ub) { store slot 0 <- load(lb) }
//     store shared <- load(%k)        barrier
//     barrier                    ->   for %k iter_args(%c, %slot)
//     %n = mma shared, %c               %next = %k + step < ub ? %k + step : %k
//     barrier                           %v = load(%next)             (registers)
//     yield %n                          %n = mma slot %slot, %c      (hides the load)
//                                       store slot 1 - %slot <- %v
//                                       barrier
//                                       yield %n, 1 - %slot
//
// The last step loads its own tile once more instead of branching around the
// load; nobody reads it.

#include "LoopParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace tilewright;

void tilewright::doubleBuffer(scf::ForOp loop, const LoopParts &parts) {
  Location loc = loop.getLoc();
  OpBuilder b(loop);
  DenseMap<Value, Value> slotted;
  for (memref::AllocOp tile : parts.tiles)
    slotted[tile] = addSlots(tile, 2);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);

  auto cloneLoads = [&](OpBuilder &b, IRMapping &mapping, Value k) {
    mapping.map(loop.getInductionVar(), k);
    for (Operation *op : parts.loads)
      b.clone(*op, mapping);
  };
  auto cloneStores = [&](OpBuilder &b, IRMapping &mapping, Value slot) {
    for (vector::TransferWriteOp store : parts.stores) {
      IRMapping local(mapping);
      local.map(store.getBase(),
                slotOf(b, loc, slotted.lookup(store.getBase()), slot));
      b.clone(*store, local);
    }
  };

  // The first tile.
  Value any = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                    loop.getLowerBound(), loop.getUpperBound());
  auto first = scf::IfOp::create(b, loc, any, /*withElseRegion=*/false);
  {
    OpBuilder inner(first.thenBlock()->getTerminator());
    IRMapping mapping;
    cloneLoads(inner, mapping, loop.getLowerBound());
    cloneStores(inner, mapping, zero);
  }
  gpu::BarrierOp::create(b, loc);

  SmallVector<Value> inits(loop.getInitArgs());
  inits.push_back(zero);
  auto piped = scf::ForOp::create(b, loc, loop.getLowerBound(),
                                  loop.getUpperBound(), loop.getStep(), inits);
  piped->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  OpBuilder inner = OpBuilder::atBlockBegin(piped.getBody());
  Value k = piped.getInductionVar(), slot = piped.getRegionIterArgs().back();
  Value ahead = arith::AddIOp::create(inner, loc, k, loop.getStep());
  Value isLast = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::slt,
                                       ahead, loop.getUpperBound());
  // Written as k + (0 or step): what is known to divide k still divides it.
  Value advance = arith::SelectOp::create(inner, loc, isLast, loop.getStep(), zero);
  Value next = arith::AddIOp::create(inner, loc, k, advance);
  IRMapping loads;
  cloneLoads(inner, loads, next);

  IRMapping work;
  work.map(loop.getInductionVar(), k);
  for (auto [from, to] : llvm::zip(loop.getRegionIterArgs(), piped.getRegionIterArgs()))
    work.map(from, to);
  for (memref::AllocOp tile : parts.tiles)
    work.map(tile.getResult(), slotOf(inner, loc, slotted.lookup(tile), slot));
  for (Operation *op : parts.work)
    inner.clone(*op, work);
  Value other = arith::SubIOp::create(inner, loc, one, slot);
  cloneStores(inner, loads, other);
  gpu::BarrierOp::create(inner, loc);
  SmallVector<Value> yields;
  for (Value value : loop.getBody()->getTerminator()->getOperands())
    yields.push_back(work.lookupOrDefault(value));
  yields.push_back(other);
  scf::YieldOp::create(inner, loc, yields);

  loop.replaceAllUsesWith(piped.getResults().drop_back());
  loop.erase();
  for (memref::AllocOp tile : parts.tiles)
    tile.erase();
}
