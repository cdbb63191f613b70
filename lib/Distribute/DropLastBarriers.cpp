// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A barrier behind accesses to shared memory lets it be written again. Behind the last
// exchange of values, and behind a ring whose product leaves straight from registers,
// nothing writes it again, and each warp may go on by itself:
//
//   vector.store %v, %s[%i]                vector.store %v, %s[%i]
//   gpu.barrier                            gpu.barrier
//   %w = vector.load %s[%j]         ->     %w = vector.load %s[%j]
//   gpu.barrier
//   vector.store %w, %out[%k]              vector.store %w, %out[%k]
//   return                                 return
//
// A barrier that orders accesses to global memory stays: the kernel reads in front of it
// what it writes.

#include "tilewright/Dialect/Rings.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright;

static bool isBarrier(Operation *op) {
  auto named = dyn_cast<BarrierOp>(op);
  return isa<gpu::BarrierOp>(op) || (named && !named.getArrive());
}

/// The memory that a plain access touches, or null.
static Value memoryOf(Operation *op) {
  return TypeSwitch<Operation *, Value>(op)
      .Case<memref::LoadOp, memref::StoreOp>([](auto access) { return access.getMemRef(); })
      .Case<vector::LoadOp, vector::StoreOp>([](auto access) { return access.getBase(); })
      .Default([](Operation *) { return Value(); });
}

static bool isShared(Value memory) {
  return memory &&
         isa_and_present<SharedAttr>(cast<MemRefType>(memory.getType()).getMemorySpace());
}

/// Whether `op` touches no memory that threads of a block share but global memory; waits
/// for stores are for those of the thread.
static bool isOfOneThread(Operation *op) {
  bool other = false;
  op->walk([&](Operation *inner) {
    Value memory = memoryOf(inner);
    other |= memory ? isShared(memory)
                    : !isa<scf::IfOp, scf::YieldOp, StoreWaitOp>(inner) &&
                          !isMemoryEffectFree(inner);
  });
  return !other;
}

/// Whether `op` touches no global memory that the kernel writes.
static bool readsNothingWritten(Operation *op) {
  bool other = false;
  op->walk([&](Operation *inner) {
    Value memory = memoryOf(inner);
    if (auto copy = dyn_cast<AsyncCopyRunOp>(inner))
      memory = copy.getSource();
    if (memory)
      other |= !isShared(memory) &&
               llvm::any_of(memory.getUsers(), [&](Operation *user) {
                 return !isa<memref::LoadOp, vector::LoadOp, AsyncCopyRunOp>(user);
               });
    else if (!isa<scf::IfOp, scf::ForOp, scf::YieldOp, LoadMatricesOp, AsyncCommitOp,
                  AsyncWaitOp>(inner))
      other |= !isBarrier(inner) && !isMemoryEffectFree(inner);
  });
  return !other;
}

/// Whether `barrier`, behind which nothing touches shared memory, orders no accesses to
/// global memory either.
static bool ordersNothing(Operation *barrier) {
  for (Operation *op = barrier->getPrevNode(); op; op = op->getPrevNode()) {
    if (isBarrier(op))
      return true;
    if (!isa<memref::AllocOp>(op) && !readsNothingWritten(op))
      return false;
  }
  return isa<func::FuncOp>(barrier->getParentOp());
}

static void dropAtEnd(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block.without_terminator()))) {
    if (isOfOneThread(&op))
      continue;
    if (isBarrier(&op) && ordersNothing(&op))
      op.erase();
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      for (Region &region : branch->getRegions())
        if (!region.empty())
          dropAtEnd(region.front());
    return;
  }
}

void tilewright::dropLastBarriers(func::FuncOp kernel) {
  if (!kernel.isExternal())
    dropAtEnd(kernel.getBody().front());
}
