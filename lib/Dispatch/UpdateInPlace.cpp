// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An elementwise op whose result replaces one of its inputs in memory writes over
// it. `normalize` gives every op a new tensor to write, so that maps tell what is
// read; here the input becomes the destination again:
//
//   %r = linalg.generic ins(%x, %t) outs(%empty) { yield x + t }
//   bufferization.materialize_in_destination %r in writable %m   // %t is its
// becomes
//   %r = linalg.generic ins(%x) outs(%t) { yield x + t }
//
// and likewise for a window that is read by tensor.extract_slice and put back by
// tensor.insert_slice. Each element is read where it is written, so the maps
// must be equal; otherwise the op keeps a tensor of its own.

#include "tilewright/Dialect/Windows.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_UPDATEINPLACEPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// True if `result`, with one use, ends up in the memory that holds `input`.
static bool replaces(OpResult result, Value input) {
  if (!result.hasOneUse())
    return false;
  Operation *user = *result.getUsers().begin();
  if (auto store = dyn_cast<bufferization::MaterializeInDestinationOp>(user)) {
    auto tensor = input.getDefiningOp<bufferization::ToTensorOp>();
    return tensor && tensor.getBuffer() == store.getDest();
  }
  auto insert = dyn_cast<tensor::InsertSliceOp>(user);
  auto slice = input.getDefiningOp<tensor::ExtractSliceOp>();
  return insert && slice && insert.getSource() == result &&
         isSameWindow(slice, insert);
}

/// The input of `op` that its result may write over, or null.
static OpOperand *findUpdated(linalg::GenericOp op) {
  if (op.getNumReductionLoops() || op.getNumResults() != 1 ||
      !op.hasPureTensorSemantics() || gathers(op) || readsInit(op, op.getDpsInitsMutable()[0]))
    return nullptr;
  OpOperand &init = op.getDpsInitsMutable()[0];
  AffineMap written = op.getMatchingIndexingMap(&init);
  OpOperand *found = nullptr;
  for (OpOperand *input : op.getDpsInputOperands()) {
    if (input->get().getType() != init.get().getType() ||
        !replaces(op->getResult(0), input->get()))
      continue;
    if (found || op.getMatchingIndexingMap(input) != written)
      return nullptr; // read elsewhere, too
    found = input;
  }
  return found;
}

/// Makes the input that the result of an elementwise op replaces in memory its
/// destination, if there is one.
static void updateInPlace(RewriterBase &rewriter, linalg::GenericOp op) {
  OpOperand *updated = findUpdated(op);
  if (!updated)
    return;
  unsigned number = updated->getOperandNumber();
  Block *body = op.getBody();
  rewriter.modifyOpInPlace(op, [&] {
    op.getDpsInitsMutable()[0].set(updated->get());
    body->getArgument(number).replaceAllUsesWith(
        op.getMatchingBlockArgument(&op.getDpsInitsMutable()[0]));
    body->eraseArgument(number);
    SmallVector<Attribute> maps(op.getIndexingMaps().getValue());
    maps.erase(maps.begin() + number);
    op.setIndexingMapsAttr(rewriter.getArrayAttr(maps));
    op.getInputsMutable().erase(number);
  });
}

namespace {
struct UpdateInPlacePass
    : public tilewright::impl::UpdateInPlacePassBase<UpdateInPlacePass> {
  void runOnOperation() override {
    if (isKernel(getOperation()))
      return;
    IRRewriter rewriter(&getContext());
    getOperation().walk(
        [&](linalg::GenericOp op) { updateInPlace(rewriter, op); });
  }
};
} // namespace
