// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KeepOverwritten.h"

#include "tilewright/Target/Host/Passes.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/Host/Host.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace tilewright {
#define GEN_PASS_DEF_KEEPOVERWRITTENPASS
#include "tilewright/Target/Host/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

Value tilewright::createCopy(OpBuilder &builder, Location loc, Value value) {
  return bufferization::AllocTensorOp::create(
      builder, loc, cast<RankedTensorType>(value.getType()),
      /*dynamicSizes=*/ValueRange(), value);
}

/// True if the buffer of `value` may be that of `memref`. Memrefs of a function
/// do not overlap, so only values that come from its tensor qualify.
static bool mayShareBuffer(Value value, Value memref, bool insertsInPlace,
                           DenseSet<Value> &seen) {
  if (!isa<TensorType>(value.getType()) || !seen.insert(value).second)
    return false;
  auto any = [&](ValueRange values) {
    return llvm::any_of(values, [&](Value other) {
      return mayShareBuffer(other, memref, insertsInPlace, seen);
    });
  };
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (isa<func::FuncOp>(parent))
      return false;
    auto loop = dyn_cast<scf::ForOp>(parent);
    if (!loop)
      return true;
    return any({loop.getTiedLoopInit(argument)->get(),
                loop.getTiedLoopYieldedValue(argument)->get()});
  }
  Operation *op = value.getDefiningOp();
  unsigned number = cast<OpResult>(value).getResultNumber();
  if (auto toTensor = dyn_cast<bufferization::ToTensorOp>(op))
    return toTensor.getBuffer() == memref;
  if (isa<tensor::EmptyOp, bufferization::AllocTensorOp, tensor::FromElementsOp>(op) ||
      (isa<tensor::InsertOp>(op) && !insertsInPlace))
    return false; // new, or a copy
  if (auto dispatch = dyn_cast<DispatchOp>(op))
    return any(dispatch.getOuts()[number]);
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return any(insert.getDest());
  if (auto writer = dyn_cast<DestinationStyleOpInterface>(op))
    return any(writer.getDpsInits()[number]);
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return any({loop.getInitArgs()[number], loop.getYieldedValues()[number]});
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return any({branch.thenYield()->getOperand(number),
                branch.elseYield()->getOperand(number)});
  return op->getNumRegions() || any(op->getOperands());
}

void tilewright::keepOverwritten(Block &block, bool insertsInPlace) {
  SmallVector<bufferization::MaterializeInDestinationOp> stores =
      llvm::to_vector(block.getOps<bufferization::MaterializeInDestinationOp>());
  for (size_t number = 0; number < stores.size(); ++number) {
    bufferization::MaterializeInDestinationOp store = stores[number];
    DenseMap<Value, Value> copies;
    auto keep = [&](OpOperand &use) {
      DenseSet<Value> seen;
      if (!mayShareBuffer(use.get(), store.getDest(), insertsInPlace, seen))
        return;
      Value &copy = copies[use.get()];
      if (!copy) {
        OpBuilder builder(store);
        copy = createCopy(builder, use.getOwner()->getLoc(), use.get());
      }
      use.set(copy);
    };
    for (auto later : ArrayRef(stores).drop_front(number + 1))
      keep(later.getSourceMutable());
    for (OpOperand &use : block.getTerminator()->getOpOperands())
      keep(use);
  }
}

/// Buffers without a store keep their elements.
static void protectUnwritten(Block &block) {
  for (auto toTensor : block.getOps<bufferization::ToTensorOp>())
    if (llvm::none_of(toTensor.getBuffer().getUsers(),
                      llvm::IsaPred<bufferization::MaterializeInDestinationOp>))
      toTensor.setWritable(false);
}

namespace {
struct KeepOverwrittenPass : tilewright::impl::KeepOverwrittenPassBase<KeepOverwrittenPass> {
  void runOnOperation() override {
    if (getOperation().isExternal() || !getOperation().getBody().hasOneBlock())
      return;
    protectUnwritten(getOperation().getBody().front());
    keepOverwritten(getOperation().getBody().front(), /*insertsInPlace=*/true);
  }
};
} // namespace
