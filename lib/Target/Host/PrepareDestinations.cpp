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

#include "tilewright/Target/Host/Passes.h"

#include "tilewright/Dialect/Tilewright.h"

namespace tilewright {
#define GEN_PASS_DEF_PREPAREDESTINATIONSPASS
#include "tilewright/Target/Host/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

/// True if the use leaves no other value behind that shares the buffer.
static bool isReader(OpOperand &use) {
  Operation *op = use.getOwner();
  return isa<tensor::DimOp, tensor::ExtractOp, tensor::InsertOp,
             bufferization::AllocTensorOp,
             bufferization::MaterializeInDestinationOp>(op) ||
         (isa<DispatchOp>(op) &&
          use.getOperandNumber() < cast<DispatchOp>(op).getInputs().size());
}

/// True if `consumer` is the last to look at `value` or its buffer: `value`
/// lives in a block that encloses the consumer without a loop in between, and
/// every other user only reads, and comes earlier in that block.
static bool isLastUse(Value value, OpOperand &consumer) {
  Block *block = value.getParentBlock();
  Operation *user = consumer.getOwner();
  Operation *top = block->findAncestorOpInBlock(*user);
  if (!top)
    return false;
  for (Operation *op = user; op != top; op = op->getParentOp())
    if (!isa<scf::IfOp>(op->getParentOp()))
      return false;
  for (OpOperand &use : value.getUses()) {
    if (&use == &consumer)
      continue;
    Operation *other = block->findAncestorOpInBlock(*use.getOwner());
    if (!isReader(use) || !other || other == top ||
        !other->isBeforeInBlock(top))
      return false;
  }
  return true;
}

/// Is the buffer of `consumer`'s value free to be taken over by its user?
static bool isOwned(OpOperand &consumer, DenseSet<Value> &assumed);

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
          tensor::FromElementsOp, tensor::InsertOp>(op))
    return true;
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return isOwned(op->getOpOperand(0), assumed);
  if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(op)) {
    // The caller's own buffer, to be written in place; any second look at it
    // as a tensor could see the new elements.
    return toTensor.getWritable() &&
           llvm::count_if(toTensor.getBuffer().getUsers(), [](Operation *user) {
             return isa<bufferization::ToTensorOp>(user);
           }) == 1;
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

static bool isOwned(OpOperand &consumer, DenseSet<Value> &assumed) {
  return isLastUse(consumer.get(), consumer) &&
         hasOwnBuffer(consumer.get(), assumed);
}

/// Access of the kernel to the tensor that is operand `number` of the dispatch.
static StringRef getAccess(DispatchOp dispatch, unsigned number) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      dispatch, dispatch.getCalleeAttr());
  auto access = kernel ? kernel->getAttrOfType<ArrayAttr>(kAccessAttr)
                       : ArrayAttr();
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

namespace {
struct PrepareDestinationsPass
    : tilewright::impl::PrepareDestinationsPassBase<PrepareDestinationsPass> {
  void runOnOperation() override {
    SmallVector<DispatchOp> dispatches;
    getOperation().walk([&](DispatchOp op) { dispatches.push_back(op); });
    for (DispatchOp dispatch : dispatches) {
      OpBuilder builder(dispatch);
      Location loc = dispatch.getLoc();
      for (OpOperand &out : dispatch.getOutsMutable()) {
        auto type = dyn_cast<RankedTensorType>(out.get().getType());
        DenseSet<Value> assumed;
        if (!type || isOwned(out, assumed))
          continue;
        if (getAccess(dispatch, out.getOperandNumber()) == "write") {
          out.set(createEmptyLike(builder, loc, out.get()));
          continue;
        }
        out.set(bufferization::AllocTensorOp::create(
            builder, loc, type, /*dynamicSizes=*/ValueRange(), out.get()));
      }
    }
  }
};
} // namespace
