// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dispatch overwrites its destinations, but tensors are values:
//
//   %0 = tilewright.dispatch @k(%x) outs(%y)     // updates %y
//   return %0, %y                                // but %y is wanted, too
//
// gives the dispatch a copy:
//
//   %c = bufferization.alloc_tensor() copy(%y)
//   %0 = tilewright.dispatch @k(%x) outs(%c)
//
// A destination may be overwritten if its buffer belongs to this value alone
// (it was made for it: tensor.empty, or the result of a dispatch), and nobody
// looks at the value later. Loop-carried tensors qualify if the initial value
// and each yielded value do. Whatever is not understood is copied.
//
// A store to the caller's memref overwrites in the same way, and comes after all that is computed
// (KeepOverwritten.h).

#include "KeepOverwritten.h"
#include "tilewright/Target/Host/Passes.h"

#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/Windows.h"
#include "tilewright/Target/Host/Host.h"

namespace tilewright {
#define GEN_PASS_DEF_PREPAREDESTINATIONSPASS
#include "tilewright/Target/Host/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// The insertion of a dispatch's result into the tensor that its destination
/// is a window of, or null: the dispatch then writes it there.
static tensor::InsertSliceOp insertionOf(DispatchOp dispatch, unsigned number) {
  auto slice =
      dispatch.getOuts()[number].getDefiningOp<tensor::ExtractSliceOp>();
  OpResult result = dispatch->getResult(number);
  if (!slice || !result.hasOneUse())
    return {};
  auto insert = dyn_cast<tensor::InsertSliceOp>(*result.getUsers().begin());
  return insert && isSameWindow(slice, insert) ? insert
                                               : tensor::InsertSliceOp();
}

/// The first of the insertions from `whole` to `insertion`, each into the result of the one
/// before; null if it does not begin there.
static tensor::InsertSliceOp firstInto(Value whole, tensor::InsertSliceOp insertion) {
  while (insertion && insertion.getDest() != whole)
    insertion = insertion.getDest().getDefiningOp<tensor::InsertSliceOp>();
  return insertion;
}

/// The uses of `whole` by which kernels write windows of it, that of `insertion` and those that
/// other insertions, from or into it, put there, and by the first of these insertions.
static SmallVector<OpOperand *> windowsAround(Value whole, tensor::InsertSliceOp insertion) {
  SmallVector<OpOperand *> uses;
  insertion = firstInto(whole, insertion);
  uses.push_back(&insertion.getDestMutable());
  for (OpOperand &use : whole.getUses()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
    auto dispatch = slice && slice->hasOneUse()
                        ? dyn_cast<DispatchOp>(*slice->getUsers().begin())
                        : DispatchOp();
    if (!dispatch)
      continue;
    int64_t number = int64_t(slice->getUses().begin()->getOperandNumber()) -
                     int64_t(dispatch.getInputs().size());
    auto own = number >= 0 ? insertionOf(dispatch, number) : tensor::InsertSliceOp();
    if (own && firstInto(whole, own) == insertion)
      uses.push_back(&use);
  }
  return uses;
}

/// True if the use leaves no other value behind that shares the buffer.
static bool isReader(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return &use == &insert.getSourceMutable();
  return isa<tensor::DimOp, tensor::ExtractOp, tensor::InsertOp, CheckOp,
             bufferization::AllocTensorOp,
             bufferization::MaterializeInDestinationOp>(op) ||
         (isa<DispatchOp>(op) &&
          use.getOperandNumber() < cast<DispatchOp>(op).getInputs().size());
}

/// True if the user only reads, and comes before `top` in its block; so do the
/// users of its result if that is a window.
static bool onlyReadsBefore(OpOperand &use, Operation *top) {
  Operation *op = top->getBlock()->findAncestorOpInBlock(*use.getOwner());
  if (!op || op == top || !op->isBeforeInBlock(top))
    return false;
  if (isa<tensor::ExtractSliceOp, tensor::CastOp, tensor::PadOp, Im2colOp, PickOp>(
          use.getOwner()))
    return llvm::all_of(use.getOwner()->getUses(), [&](OpOperand &inner) {
      return onlyReadsBefore(inner, top);
    });
  return isReader(use);
}

/// True if `consumer` is the last to look at `value` or its buffer: `value`
/// lives in a block that encloses the consumer without a loop in between, and
/// every other user (but those of `along`, which belong to the consumer) only
/// reads, and comes earlier in that block.
static bool isLastUse(Value value, OpOperand &consumer, ArrayRef<OpOperand *> along) {
  Block *block = value.getParentBlock();
  Operation *user = consumer.getOwner();
  Operation *top = block->findAncestorOpInBlock(*user);
  if (!top)
    return false;
  for (Operation *op = user; op != top; op = op->getParentOp())
    if (!isa<scf::IfOp>(op->getParentOp()))
      return false;
  for (OpOperand &use : value.getUses()) {
    if (&use == &consumer || llvm::is_contained(along, &use))
      continue;
    if (!onlyReadsBefore(use, top))
      return false;
  }
  return true;
}

/// Is the buffer of `consumer`'s value free to be taken over by its user?
static bool isOwned(OpOperand &consumer, DenseSet<Value> &assumed,
                    ArrayRef<OpOperand *> along = {});

/// The same for a value that nobody else uses: is its buffer its own?
static bool hasOwnBuffer(Value value, DenseSet<Value> &assumed) {
  auto loopCarried = [&](scf::ForOp loop, unsigned number) {
    BlockArgument argument = loop.getRegionIterArg(number);
    // A cycle of owned values is owned.
    if (!assumed.insert(argument).second)
      return true;
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    return isOwned(loop.getInitArgsMutable()[number], assumed) &&
           isOwned(yield->getOpOperand(number), assumed);
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    return loop && argument.getArgNumber() > 0 &&
           loopCarried(loop, argument.getArgNumber() - 1);
  }
  Operation *op = value.getDefiningOp();
  if (isa<tensor::EmptyOp, bufferization::AllocTensorOp, DispatchOp,
          tensor::FromElementsOp, tensor::InsertOp, tensor::InsertSliceOp>(op))
    return true;
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return isOwned(op->getOpOperand(0), assumed);
  if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(op)) {
    // The caller's own buffer, which gets another value at the end; any second
    // look at it as a tensor could see the new elements.
    auto users = toTensor.getBuffer().getUsers();
    return toTensor.getWritable() &&
           llvm::count_if(users, llvm::IsaPred<bufferization::ToTensorOp>) == 1 &&
           llvm::any_of(users, llvm::IsaPred<
                                   bufferization::MaterializeInDestinationOp>);
  }
  auto result = cast<OpResult>(value);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return loopCarried(loop, result.getResultNumber());
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return isOwned(branch.thenYield()->getOpOperand(result.getResultNumber()),
                   assumed) &&
           isOwned(branch.elseYield()->getOpOperand(result.getResultNumber()),
                   assumed);
  return false;
}

static bool isOwned(OpOperand &consumer, DenseSet<Value> &assumed, ArrayRef<OpOperand *> along) {
  return isLastUse(consumer.get(), consumer, along) &&
         hasOwnBuffer(consumer.get(), assumed);
}

static bool isOwned(OpOperand &consumer, ArrayRef<OpOperand *> along) {
  DenseSet<Value> assumed;
  return isOwned(consumer, assumed, along);
}

/// Where a loop carries a tensor that it may not overwrite only because of what
/// it starts from, one copy of that in front of the loop is enough.
static bool copyBeforeLoop(OpOperand &consumer, ArrayRef<OpOperand *> along) {
  auto argument = dyn_cast<BlockArgument>(consumer.get());
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (!loop || argument.getArgNumber() == 0)
    return false;
  OpOperand &init = loop.getInitArgsMutable()[argument.getArgNumber() - 1];
  Value before = init.get();
  OpBuilder builder(loop);
  Value copy = createCopy(builder, consumer.getOwner()->getLoc(), before);
  init.set(copy);
  if (isOwned(consumer, along))
    return true;
  init.set(before);
  copy.getDefiningOp()->erase();
  return false;
}

/// Makes `consumer`'s value, which `along` use with it, one that may be overwritten.
static void makeOwned(OpOperand &consumer, ArrayRef<OpOperand *> along = {}) {
  if (isOwned(consumer, along) || copyBeforeLoop(consumer, along))
    return;
  Operation *first = consumer.getOwner();
  for (OpOperand *use : along)
    if (use->getOwner()->getBlock() == first->getBlock() &&
        use->getOwner()->isBeforeInBlock(first))
      first = use->getOwner();
  OpBuilder builder(first);
  Value copy =
      createCopy(builder, consumer.getOwner()->getLoc(), consumer.get());
  consumer.set(copy);
  for (OpOperand *use : along)
    use->set(copy);
}

/// Access of the kernel to the tensor that is operand `number` of the dispatch.
static StringRef getAccess(DispatchOp dispatch, unsigned number) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      dispatch, dispatch.getCalleeAttr());
  auto access =
      kernel ? kernel->getAttrOfType<ArrayAttr>(kAccessAttr) : ArrayAttr();
  unsigned position = 0;
  for (unsigned i = 0; i < number; ++i)
    position += isa<ShapedType>(dispatch->getOperand(i).getType());
  if (!access || position >= access.size())
    return "readwrite";
  auto text = dyn_cast<StringAttr>(access[position]);
  return text ? text.getValue() : "readwrite";
}

/// A new tensor of the type and shape of `like`.
static Value createEmptyLike(OpBuilder &builder, Location loc, Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  SmallVector<Value> sizes;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (type.isDynamicDim(d))
      sizes.push_back(tensor::DimOp::create(builder, loc, like, d));
  return tensor::EmptyOp::create(builder, loc, type, sizes);
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Stores follow everything that may read what they overwrite: they are all
/// made of the values that memrefs hold at the end (RaiseMemrefs.cpp).
static void sinkStores(Block &block) {
  for (auto store :
       llvm::to_vector(block.getOps<bufferization::MaterializeInDestinationOp>()))
    store->moveBefore(block.getTerminator());
}

namespace {
struct PrepareDestinationsPass
    : tilewright::impl::PrepareDestinationsPassBase<PrepareDestinationsPass> {
  void runOnOperation() override {
    SmallVector<Block *> bodies;
    getOperation().walk([&](func::FuncOp func) {
      if (!isKernel(func) && !func.isExternal())
        bodies.push_back(&func.getBody().front());
    });
    llvm::for_each(bodies, [](Block *body) { sinkStores(*body); });
    SmallVector<DispatchOp> dispatches;
    SmallVector<tensor::InsertSliceOp> insertions;
    getOperation().walk([&](DispatchOp op) { dispatches.push_back(op); });
    getOperation().walk([&](tensor::InsertSliceOp op) {
      auto result = dyn_cast<OpResult>(op.getSource());
      auto dispatch = op.getSource().getDefiningOp<DispatchOp>();
      if (!dispatch || insertionOf(dispatch, result.getResultNumber()) != op)
        insertions.push_back(op);
    });
    for (tensor::InsertSliceOp insertion : insertions)
      makeOwned(insertion.getDestMutable());
    for (DispatchOp dispatch : dispatches) {
      OpBuilder builder(dispatch);
      Location loc = dispatch.getLoc();
      for (auto [number, out] : llvm::enumerate(dispatch.getOutsMutable())) {
        if (tensor::InsertSliceOp insertion = insertionOf(dispatch, number)) {
          auto slice = out.get().getDefiningOp<tensor::ExtractSliceOp>();
          makeOwned(slice.getSourceMutable(), windowsAround(slice.getSource(), insertion));
          insertion->setAttr(kInPlaceAttr, builder.getUnitAttr());
          continue;
        }
        auto type = dyn_cast<RankedTensorType>(out.get().getType());
        if (!type || isOwned(out, {}) || copyBeforeLoop(out, {}))
          continue;
        if (getAccess(dispatch, out.getOperandNumber()) == "write") {
          out.set(createEmptyLike(builder, loc, out.get()));
          continue;
        }
        out.set(createCopy(builder, loc, out.get()));
      }
    }
    llvm::for_each(bodies, [](Block *body) { keepOverwritten(*body, /*insertsInPlace=*/false); });
  }
};
} // namespace
