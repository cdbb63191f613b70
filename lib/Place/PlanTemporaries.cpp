// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where temporaries of known size lie: one allocation for all of them, an arena,
// in which those that are not alive together share bytes.
//
//   func.func @main(…) {
//     %0 = tensor.empty() : tensor<256x512xf32>
//     %1 = tilewright.dispatch @a(…) outs(%0)
//     %2 = tensor.empty() : tensor<256x1024xf32>
//     %3 = tilewright.dispatch @b(%1 …) outs(%2)
//     …
// becomes
//   func.func @main(…) attributes {tilewright.arena = array<i64: 1572864, 1572864>} {
//     %0 = tensor.empty() {tilewright.temporary = array<i64: 0, 1048576>} …
//     %2 = tensor.empty() {tilewright.temporary = array<i64: 1, 0>} …
//
// A tensor is alive from the first op of the function's block that uses it, or
// anything that shares its buffer, to the last. Larger ones are placed first,
// each at the lowest offset where nothing that is alive with it lies ("greedy by
// size", Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net
// Inference", 2020). What leaves the function, or goes where its uses cannot be
// followed, is left alone: the runtime's pool gives it memory.

#include "tilewright/Place/Place.h"

#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/Temporaries.h"
#include "tilewright/Dialect/Windows.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PLANTEMPORARIESPASS
#include "tilewright/Place/Passes.h.inc"
} // namespace tilewright

/// Every device takes operands at multiples of this.
static constexpr int64_t kAlignment = 256;
/// What every Vulkan device can allocate at once (maxMemoryAllocationSize).
static constexpr int64_t kMaxArena = int64_t(1) << 30;

namespace {
struct Temporary {
  tensor::EmptyOp op;
  int64_t bytes;
  /// Positions in the block, both inclusive.
  int64_t first, last;
  int64_t offset = -1;

  bool aliveWith(const Temporary &other) const {
    return first <= other.last && other.first <= last;
  }
  int64_t end() const { return offset + bytes; }
};
} // namespace

/// Bytes in memory, rounded up to the alignment; nothing where they are not known
/// or more than an arena has.
static std::optional<int64_t> sizeOf(RankedTensorType type) {
  if (!type.hasStaticShape())
    return std::nullopt;
  Type element = type.getElementType();
  unsigned bits = element.isIndex()        ? 64
                  : element.isInteger(1)   ? 8
                  : element.isIntOrFloat() ? element.getIntOrFloatBitWidth()
                                           : 0;
  if (bits == 0 || bits % 8)
    return std::nullopt;
  int64_t bytes = bits / 8;
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes) || bytes > kMaxArena)
      return std::nullopt;
  return llvm::alignTo(bytes, kAlignment);
}

/// The values that share the buffer of `use`'s value through its user; nothing
/// where the user is not understood.
static std::optional<ValueRange> sharing(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto dispatch = dyn_cast<DispatchOp>(op)) {
    int64_t number =
        int64_t(use.getOperandNumber()) - int64_t(dispatch.getInputs().size());
    return number < 0 ? ValueRange()
                      : ValueRange(dispatch->getResults().slice(number, 1));
  }
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
          tensor::ExtractSliceOp, tensor::PadOp, Im2colOp>(op) ||
      (isa<PickOp>(op) && use.getOperandNumber() == 0))
    return ValueRange(op->getResults());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return &use == &insert.getSourceMutable() ? ValueRange()
                                              : ValueRange(op->getResults());
  if (isa<tensor::InsertOp>(op))
    return ValueRange(op->getResults());
  if (isa<tensor::DimOp, tensor::ExtractOp, CheckOp, PickOp,
          bufferization::MaterializeInDestinationOp>(op))
    return ValueRange();
  return std::nullopt;
}

/// The temporary that `op` makes, unless it leaves the function.
static std::optional<Temporary> describe(tensor::EmptyOp op,
                                         const DenseMap<Operation *, int64_t> &position) {
  std::optional<int64_t> bytes = sizeOf(op.getType());
  if (!bytes || *bytes == 0 || op->use_empty())
    return std::nullopt;
  Temporary result{op, *bytes, INT64_MAX, 0};
  SmallVector<Value> work = {op.getResult()};
  while (!work.empty()) {
    for (OpOperand &use : work.pop_back_val().getUses()) {
      std::optional<ValueRange> more = sharing(use);
      Operation *top = op->getBlock()->findAncestorOpInBlock(*use.getOwner());
      if (!more || !top)
        return std::nullopt;
      llvm::append_range(work, *more);
      int64_t at = position.lookup(top);
      result.first = std::min(result.first, at);
      result.last = std::max(result.last, at);
    }
  }
  return result;
}

/// The lowest offset at which `temporary` touches none of `placed` that is alive
/// with it.
static int64_t findOffset(const Temporary &temporary,
                          ArrayRef<Temporary *> placed) {
  SmallVector<Temporary *> neighbours;
  llvm::copy_if(placed, std::back_inserter(neighbours),
                [&](Temporary *t) { return t->aliveWith(temporary); });
  llvm::sort(neighbours, [](Temporary *a, Temporary *b) {
    return std::pair(a->offset, a->end()) < std::pair(b->offset, b->end());
  });
  int64_t offset = 0;
  for (Temporary *neighbour : neighbours) {
    if (offset + temporary.bytes <= neighbour->offset)
      break;
    offset = std::max(offset, neighbour->end());
  }
  return offset;
}

/// Most bytes of `temporaries` that are alive at one op.
static int64_t findLivePeak(ArrayRef<Temporary *> temporaries) {
  int64_t peak = 0;
  for (Temporary *at : temporaries) {
    int64_t live = 0;
    for (Temporary *other : temporaries)
      if (other->first <= at->first && at->first <= other->last)
        live += other->bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

void tilewright::planTemporaries(func::FuncOp func) {
  Block &block = func.getBody().front();
  DenseMap<Operation *, int64_t> position;
  SmallVector<Operation *> ops;
  for (Operation &op : block) {
    position[&op] = int64_t(ops.size());
    ops.push_back(&op);
  }
  SmallVector<Temporary> temporaries;
  for (auto empty : block.getOps<tensor::EmptyOp>())
    if (std::optional<Temporary> temporary = describe(empty, position))
      temporaries.push_back(*temporary);
  if (temporaries.size() < 2)
    return;

  SmallVector<Temporary *> order, placed;
  for (Temporary &temporary : temporaries)
    order.push_back(&temporary);
  llvm::stable_sort(order, [](Temporary *a, Temporary *b) {
    return a->bytes > b->bytes;
  });
  int64_t size = 0;
  for (Temporary *temporary : order) {
    int64_t offset = findOffset(*temporary, placed);
    if (offset + temporary->bytes > kMaxArena)
      continue;
    temporary->offset = offset;
    size = std::max(size, temporary->end());
    placed.push_back(temporary);
  }

  Builder builder(func.getContext());
  int64_t number = 0;
  for (Temporary &temporary : temporaries) {
    if (temporary.offset < 0)
      continue;
    temporary.op->setAttr(
        kTemporaryAttr,
        builder.getDenseI64ArrayAttr({number++, temporary.offset}));
    // What it makes may be overwritten (by poison): not before it is alive.
    temporary.op->moveBefore(ops[temporary.first]);
  }
  func->setAttr(kArenaAttr, builder.getDenseI64ArrayAttr(
                                {size, findLivePeak(placed)}));
}

namespace {
struct PlanTemporariesPass
    : tilewright::impl::PlanTemporariesPassBase<PlanTemporariesPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (!isKernel(func) && !func.isExternal() && func.getBody().hasOneBlock())
      planTemporaries(func);
  }
};
} // namespace
