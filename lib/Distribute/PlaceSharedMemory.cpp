// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where each buffer lies in shared memory. What is never alive together shares bytes:
// the tile of a result on its way out takes those of the ring that fed the product.
//
//   %a = memref.alloc() : memref<8192xf16, #tilewright.shared>   {tilewright.shared_place = 0}
//   %s = memref.alloc() : memref<2048xf32, #tilewright.shared>   {tilewright.shared_place = 0}
//   scf.for … { … %a … }
//   tilewright.async_wait 0
//   gpu.barrier
//   … %s …
//   gpu.barrier
//
// A buffer's life is a span of ops of one block that has all of its uses: from the first
// that touches it to the last, or to a wait for all that copies put there. Two whose spans
// do not meet may have the same bytes: tilewright-place-barriers lets threads meet
// between them. That costs a barrier, so buffers of a few hundred bytes, in which warps
// pass on what they have summed, share none with each other. One that is touched in other
// ways than by plain accesses (by products of warpgroups, copies by tensor maps) always
// lives, and so does what one role exchanges, beside the buffers of others.
//
// Where variables in shared memory have a type (`typed_shared_memory`), buffers of one
// element type have the same bytes, and are one variable.

#include "SharedAccesses.h"
#include "tilewright/Distribute/Distribute.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace {

/// A buffer, and when it is alive.
struct Buffer {
  memref::AllocOp alloc;
  Type element;
  int64_t bytes = 0, alignment = 1, place = 0;
  /// The span; no first op: always.
  Operation *first = nullptr, *last = nullptr;
  /// The branch of the warps that have it; none: all have.
  Operation *role = nullptr;

  bool meets(const Buffer &other) const {
    return !first || !other.first || role != other.role ||
           std::max(bytes, other.bytes) <= kUnsharedBytes || isTouchedIn(other) ||
           other.isTouchedIn(*this);
  }

private:
  /// Whether an op of the span of `other` touches this buffer.
  bool isTouchedIn(const Buffer &other) const {
    return llvm::any_of(alloc->getUsers(), [&](Operation *user) {
      Operation *op = other.first->getBlock()->findAncestorOpInBlock(*user);
      return op && !op->isBeforeInBlock(other.first) && !other.last->isBeforeInBlock(op);
    });
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Lives
//===----------------------------------------------------------------------===//

static bool isWaitForAll(Operation *op) {
  auto wait = dyn_cast<AsyncWaitOp>(op);
  return wait && wait.getPending() == 0;
}

/// The first op of its block behind `op` that `holds`; null if there is none.
static Operation *findBehind(Operation *op, function_ref<bool(Operation *)> holds) {
  for (Operation *next = op->getNextNode(); next; next = next->getNextNode())
    if (holds(next))
      return next;
  return nullptr;
}

/// The innermost block that has all of `ops`.
static Block *commonBlock(ArrayRef<Operation *> ops) {
  for (Block *block = ops.front()->getBlock(); block;
       block = block->getParentOp()->getBlock())
    if (llvm::all_of(ops,
                     [&](Operation *op) { return block->findAncestorOpInBlock(*op); }))
      return block;
  return nullptr;
}

/// The op of `block` at whose end `copy` has arrived: a loop around it whose steps wait for
/// it, or a wait behind; null if there is none.
static Operation *findWait(Block *block, Operation *copy) {
  Operation *op = block->findAncestorOpInBlock(*copy);
  if (auto loop = dyn_cast<scf::ForOp>(op);
      loop && findBehind(loop.getBody()->findAncestorOpInBlock(*copy), isWaitForAll))
    return loop;
  return findBehind(op, isWaitForAll);
}

/// The span of ops of `block` in which `users` touch a buffer; no last op if copies may
/// still be under way at the block's end.
static std::pair<Operation *, Operation *> findSpan(Block *block,
                                                    ArrayRef<Operation *> users) {
  Operation *first = nullptr, *last = nullptr;
  for (Operation *user : users) {
    Operation *op = block->findAncestorOpInBlock(*user);
    first = !first || op->isBeforeInBlock(first) ? op : first;
    last = !last || last->isBeforeInBlock(op) ? op : last;
  }
  for (Operation *user : users) {
    if (!isa<AsyncCopyRunOp>(user))
      continue;
    Operation *wait = findWait(block, user);
    if (!wait)
      return {first, nullptr};
    last = last->isBeforeInBlock(wait) ? wait : last;
  }
  return {first, last};
}

/// Finds the life of `buffer`, if it has one.
static void findLife(func::FuncOp kernel, Buffer &buffer) {
  SmallVector<Operation *> users;
  kernel.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (llvm::is_contained(op->getOperands(), buffer.alloc.getResult()))
      users.push_back(op);
  });
  if (users.empty() || !isExchanged(buffer.alloc))
    return;
  // What is read before it is written was left there by an earlier step of a loop.
  if (!writesShared(users.front()))
    return;
  for (Block *block = commonBlock(users); block != kernel->getBlock();
       block = block->getParentOp()->getBlock()) {
    auto [first, last] = findSpan(block, users);
    if (!last)
      continue;
    buffer.first = first;
    buffer.last = last;
    buffer.role = first->getParentOfType<RoleOp>();
    return;
  }
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

/// Puts `buffer` at the lowest bytes that none of `placed` has while it is alive.
static void place(Buffer &buffer, ArrayRef<Buffer *> placed) {
  SmallVector<const Buffer *> others;
  for (const Buffer *other : placed)
    if (buffer.meets(*other))
      others.push_back(other);
  llvm::stable_sort(others, [](const Buffer *a, const Buffer *b) {
    return a->place < b->place;
  });
  for (const Buffer *other : others)
    if (buffer.place < other->place + other->bytes &&
        other->place < buffer.place + buffer.bytes)
      buffer.place = llvm::alignTo(other->place + other->bytes, buffer.alignment);
}

/// Puts each buffer into the bytes that are free while it is alive; returns the bytes of
/// all.
static int64_t placeByBytes(MutableArrayRef<Buffer> buffers) {
  // The most aligned first, so that little is lost between them.
  SmallVector<Buffer *> order(llvm::make_pointer_range(buffers)), placed;
  llvm::stable_sort(order, [](const Buffer *a, const Buffer *b) {
    return a->alignment > b->alignment;
  });
  int64_t total = 0;
  for (Buffer *buffer : order) {
    place(*buffer, placed);
    placed.push_back(buffer);
    total = std::max(total, buffer->place + buffer->bytes);
  }
  return total;
}

/// Puts buffers of a type of which none are alive together at one place; returns the bytes
/// of all.
static int64_t placeByType(MutableArrayRef<Buffer> buffers) {
  // The largest first: the others fit into it.
  SmallVector<Buffer *> order(llvm::make_pointer_range(buffers));
  llvm::stable_sort(order, [](const Buffer *a, const Buffer *b) {
    return a->bytes > b->bytes;
  });
  SmallVector<SmallVector<Buffer *, 2>> groups;
  for (Buffer *buffer : order) {
    auto *group = llvm::find_if(groups, [&](ArrayRef<Buffer *> group) {
      return group.front()->element == buffer->element &&
             llvm::none_of(group, [&](const Buffer *b) { return b->meets(*buffer); });
    });
    if (group == groups.end())
      groups.push_back({buffer});
    else
      group->push_back(buffer);
  }
  int64_t total = 0;
  for (ArrayRef<Buffer *> group : groups) {
    total = llvm::alignTo(total, group.front()->alignment);
    for (Buffer *buffer : group)
      buffer->place = total;
    total += group.front()->bytes;
  }
  return total;
}

/// The buffers of `kernel`; says what is none.
static LogicalResult collectBuffers(func::FuncOp kernel, bool typed,
                                    SmallVectorImpl<Buffer> &buffers) {
  // The widest access; what is longer begins with the first bank, where that is said.
  constexpr int64_t kAccess = 16, kBanks = 128;
  WalkResult walk = kernel.walk([&](memref::AllocOp alloc) {
    MemRefType type = alloc.getType();
    std::optional<int64_t> bytes = sharedBytesOf(type);
    if (!isa_and_present<SharedAttr>(type.getMemorySpace()) || type.getRank() != 1 ||
        !type.getLayout().isIdentity() || !bytes) {
      alloc.emitOpError("in a kernel must be a rank-1 memref of static size in "
                        "#tilewright.shared");
      return WalkResult::interrupt();
    }
    Buffer buffer;
    buffer.alloc = alloc;
    buffer.element = type.getElementType();
    buffer.bytes = *bytes;
    int64_t own = std::clamp<int64_t>(llvm::PowerOf2Ceil(*bytes), kAccess,
                                      typed ? kAccess : kBanks);
    buffer.alignment = std::max<int64_t>(own, alloc.getAlignment().value_or(own));
    findLife(kernel, buffer);
    buffers.push_back(buffer);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

LogicalResult tilewright::placeSharedMemory(func::FuncOp kernel) {
  TargetAttr target = getTarget(kernel);
  bool typed = target && target.has("typed_shared_memory");
  SmallVector<Buffer, 0> buffers;
  if (failed(collectBuffers(kernel, typed, buffers)))
    return failure();
  if (buffers.empty())
    return success();
  int64_t total = typed ? placeByType(buffers) : placeByBytes(buffers);
  OpBuilder b(kernel);
  for (Buffer &buffer : buffers)
    buffer.alloc->setAttr(kSharedPlaceAttr, b.getI64IntegerAttr(buffer.place));
  if (target && total > target.getFact("shared_memory", total))
    return kernel.emitOpError()
           << "needs " << total << " bytes of shared memory but " << target.getName()
           << " has " << target.getFact("shared_memory")
           << " for a block; choose smaller tiles or fewer stages";
  kernel->setAttr(kSharedBytesAttr, b.getI64IntegerAttr(total));
  return success();
}
