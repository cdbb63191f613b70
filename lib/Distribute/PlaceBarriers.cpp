// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the threads of a block wait for each other because of shared memory: in front of
// an access whose bytes another thread may have touched since they met last. Ops are in
// the order of block form, where each is done by all threads before the next one begins.
//
//   vector.store %v, %a[%i]                vector.store %v, %a[%i]
//   %w = vector.load %a[%j]         ->     gpu.barrier
//   vector.store %w, %b[%i]                %w = vector.load %a[%j]
//   %x = vector.load %b[%j]                vector.store %w, %b[%i]
//                                          gpu.barrier
//                                          %x = vector.load %b[%j]
//
// What has been stored is read behind a barrier (threads write each element of a buffer
// once before it is read); what has been read, or belongs to another buffer that has the
// same bytes, is written behind one. In a loop also when the other access is one of the
// step before. A copy by cp.async counts as a read until a barrier that is behind a wait
// for it. Branches and loops whose threads may go different ways exchange nothing inside:
// for what is outside of them, a barrier stands in front.
//
// Not of this pass: rings, whose schedule says when threads meet (`tilewright.stages`, and
// all that mbarriers guard), and orders of accesses to global memory.

#include "SharedAccesses.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// What threads did with each buffer (by its number) since they met last.
struct Accesses {
  llvm::SmallBitVector read, written;
  /// Filled by copies that no wait has been for yet. A barrier does not end that.
  llvm::SmallBitVector copied;

  explicit Accesses(size_t buffers = 0)
      : read(buffers), written(buffers), copied(buffers) {}
  void add(const Accesses &other) {
    read |= other.read;
    written |= other.written;
    copied |= other.copied;
  }
  void wait() {
    written |= copied;
    copied.reset();
  }
  void meet() {
    read.reset();
    written.reset();
  }
};

/// What a block or an op does, for one who only looks at its ends.
struct Summary {
  Accesses first; // in front of any barrier
  Accesses last;  // behind the last one
  bool meets = false; // on every way through

  explicit Summary(size_t buffers) : first(buffers), last(buffers) {}
};

/// The named barrier of the warps that run a region, and how many threads they are; none:
/// all threads of the block.
using Meeting = std::optional<std::pair<int64_t, int64_t>>;

class BarrierPlacer {
public:
  explicit BarrierPlacer(func::FuncOp kernel);
  void place() { visit(kernel.getBody().front(), Accesses(buffers.size()), {}); }

private:
  struct Buffer {
    int64_t begin, end; // bytes
    bool isScheduled;
  };

  bool conflict(const Accesses &before, const Accesses &after) const;
  std::optional<Accesses> accessOf(Operation *op) const;
  void insertBarrier(Operation *before, Meeting meeting);
  Summary visit(Block &block, Accesses before, Meeting meeting);
  Summary visitRegions(Operation *op, Accesses before, Meeting meeting);
  Summary visitLoop(ArrayRef<Block *> blocks, Accesses before, Meeting meeting);

  func::FuncOp kernel;
  SmallVector<Buffer> buffers;
  DenseMap<Value, unsigned> numbers;
};

} // namespace

BarrierPlacer::BarrierPlacer(func::FuncOp kernel) : kernel(kernel) {
  kernel.walk([&](memref::AllocOp alloc) {
    auto place = alloc->getAttrOfType<IntegerAttr>(kSharedPlaceAttr);
    if (!place || !isExchanged(alloc))
      return;
    numbers[alloc] = buffers.size();
    int64_t begin = place.getInt();
    buffers.push_back({begin, begin + *sharedBytesOf(alloc.getType()),
                       alloc->hasAttr(kStagesAttr)});
  });
}

/// Whether `after` must not begin before all threads are done with `before`.
bool BarrierPlacer::conflict(const Accesses &before, const Accesses &after) const {
  llvm::SmallBitVector writes = after.written;
  writes |= after.copied;
  for (unsigned number : after.read.set_bits())
    if (before.written[number] && !buffers[number].isScheduled)
      return true;
  for (unsigned number : writes.set_bits()) {
    if (before.read[number] && !buffers[number].isScheduled)
      return true;
    for (auto [other, buffer] : llvm::enumerate(buffers))
      if (other != number && buffer.begin < buffers[number].end &&
          buffers[number].begin < buffer.end &&
          (before.read[other] || before.written[other]))
        return true;
  }
  return false;
}

/// What `op` itself does; nothing if it touches no buffer.
std::optional<Accesses> BarrierPlacer::accessOf(Operation *op) const {
  std::optional<Accesses> found;
  for (Value operand : op->getOperands()) {
    auto number = numbers.find(operand);
    if (number == numbers.end())
      continue;
    if (!found)
      found.emplace(buffers.size());
    llvm::SmallBitVector &set = isa<AsyncCopyRunOp>(op) ? found->copied
                                : writesShared(op)      ? found->written
                                                        : found->read;
    set.set(number->second);
  }
  return found;
}

void BarrierPlacer::insertBarrier(Operation *before, Meeting meeting) {
  OpBuilder b(before);
  if (meeting)
    BarrierOp::create(b, before->getLoc(), meeting->first, meeting->second,
                      /*arrive=*/false);
  else
    gpu::BarrierOp::create(b, before->getLoc());
}

/// What a region behind `before` must know of it, if all meet in front of it where they
/// have to.
static Accesses underWay(const Accesses &before) {
  Accesses result(before.copied.size());
  result.copied = before.copied;
  return result;
}

/// Whether all who run a region meet in `op`.
static bool isMeeting(Operation *op, Meeting meeting) {
  if (auto named = dyn_cast<BarrierOp>(op))
    return meeting && !named.getArrive() && int64_t(named.getId()) == meeting->first;
  return !meeting && isa<gpu::BarrierOp, ClusterBarrierOp>(op);
}

/// Places the barriers of `block`, which begins behind accesses `before`.
Summary BarrierPlacer::visit(Block &block, Accesses before, Meeting meeting) {
  Summary summary(buffers.size());
  Accesses now = std::move(before);
  auto meet = [&] {
    now.meet();
    summary.last.meet();
    summary.meets = true;
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    if (isMeeting(&op, meeting)) {
      meet();
      continue;
    }
    if (isa<AsyncWaitOp>(op)) {
      now.wait();
      summary.last.wait();
      continue;
    }
    Summary inner(buffers.size());
    if (std::optional<Accesses> own = accessOf(&op))
      inner.first = inner.last = *own;
    else if (op.getNumRegions() != 0)
      inner = visitRegions(&op, underWay(now), meeting);
    else
      continue;
    if (conflict(now, inner.first)) {
      insertBarrier(&op, meeting);
      meet();
    }
    if (!summary.meets)
      summary.first.add(inner.first);
    if (inner.meets)
      meet();
    now.add(inner.last);
    summary.last.add(inner.last);
  }
  return summary;
}

/// Of a loop whose steps run `blocks`, one after the other.
Summary BarrierPlacer::visitLoop(ArrayRef<Block *> blocks, Accesses before,
                                 Meeting meeting) {
  auto step = [&](Accesses now) {
    Summary summary(buffers.size());
    for (Block *block : blocks) {
      Summary part = visit(*block, now, meeting);
      if (!summary.meets)
        summary.first.add(part.first);
      if (part.meets) {
        now.meet();
        summary.last.meet();
        summary.meets = true;
      }
      now.add(part.last);
      summary.last.add(part.last);
    }
    return summary;
  };
  Summary summary = step(before);
  before.add(summary.last);
  return conflict(summary.last, summary.first) || before.copied.any() ? step(before)
                                                                     : summary;
}

/// Of an op with regions; copies may be under way in front of it.
Summary BarrierPlacer::visitRegions(Operation *op, Accesses before, Meeting meeting) {
  if (auto role = dyn_cast<RoleOp>(op))
    meeting = {role.getBarrier(), role.getThreads()};
  if (isa<scf::ForOp, scf::WhileOp>(op)) {
    SmallVector<Block *> blocks;
    for (Region &region : op->getRegions())
      blocks.push_back(&region.front());
    Summary summary = visitLoop(blocks, before, meeting);
    summary.meets &= isa<scf::WhileOp>(op); // its condition is computed once at least
    return summary;
  }
  Summary summary(buffers.size());
  summary.meets = true;
  for (Region &region : op->getRegions()) {
    if (region.empty()) {
      summary.meets = false;
      continue;
    }
    Summary part = visit(region.front(), before, meeting);
    summary.first.add(part.first);
    summary.last.add(part.last);
    summary.meets &= part.meets;
  }
  return summary;
}

/// A role becomes a branch.
static void replaceRole(RoleOp role) {
  OpBuilder b(role);
  auto branch =
      scf::IfOp::create(b, role.getLoc(), role.getMine(), /*withElseRegion=*/false);
  Block &from = role.getBody().front(), *to = branch.thenBlock();
  to->getOperations().splice(to->begin(), from.getOperations());
  role.erase();
}

void tilewright::placeBarriers(func::FuncOp kernel) {
  if (kernel.isExternal())
    return;
  BarrierPlacer(kernel).place();
  kernel.walk([](RoleOp role) { replaceRole(role); });
}
