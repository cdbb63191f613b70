// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Saves the copy from a kernel's new tensor to the caller's buffer.
//
//   %e = tensor.empty(%n)
//   %r = tilewright.dispatch @k(%x) outs(%e)
//   bufferization.materialize_in_destination %r in writable %m
// becomes
//   %t = bufferization.to_tensor %m restrict writable
//   %r = tilewright.dispatch @k(%x) outs(%t)
//   bufferization.materialize_in_destination %r in writable %m

#include "tilewright/Place/Place.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_WRITEINPLACEPASS
#include "tilewright/Place/Passes.h.inc"
} // namespace tilewright

/// True if the kernel only writes its destination number `number`.
static bool onlyWrites(DispatchOp dispatch, unsigned number) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      dispatch, dispatch.getCalleeAttr());
  auto access = kernel ? kernel->getAttrOfType<ArrayAttr>(kAccessAttr)
                       : ArrayAttr();
  size_t outs = dispatch.getOuts().size();
  if (!access || access.size() < outs)
    return false;
  auto text = dyn_cast<StringAttr>(access[access.size() - outs + number]);
  return text && text.getValue() == "write";
}

/// The tensor of `memref` if nobody reads it from `dispatch` on; made where
/// there is none. Null if somebody does.
static Value unreadTensor(OpBuilder &b, Value memref, DispatchOp dispatch) {
  Value tensor;
  for (Operation *user : memref.getUsers()) {
    auto toTensor = dyn_cast<bufferization::ToTensorOp>(user);
    if (!toTensor) {
      if (isa<bufferization::MaterializeInDestinationOp, memref::DimOp>(user))
        continue;
      return {};
    }
    if (tensor)
      return {};
    tensor = toTensor.getResult();
    for (Operation *reader : tensor.getUsers()) {
      Operation *ancestor =
          dispatch->getBlock()->findAncestorOpInBlock(*reader);
      bool isBefore = ancestor && ancestor != dispatch &&
                      ancestor->isBeforeInBlock(dispatch);
      if (!isBefore && !isa<tensor::DimOp>(reader))
        return {};
    }
  }
  if (tensor)
    return tensor;
  auto type = cast<MemRefType>(memref.getType());
  b.setInsertionPoint(dispatch);
  return bufferization::ToTensorOp::create(
      b, dispatch.getLoc(),
      RankedTensorType::get(type.getShape(), type.getElementType()), memref,
      /*restrict=*/true, /*writable=*/true);
}

static void writeInPlace(OpBuilder &b,
                         bufferization::MaterializeInDestinationOp store) {
  auto dispatch = store.getSource().getDefiningOp<DispatchOp>();
  Value memref = store.getDest();
  if (!dispatch || !isa<MemRefType>(memref.getType()) ||
      dispatch->getBlock() != store->getBlock())
    return;
  unsigned number = cast<OpResult>(store.getSource()).getResultNumber();
  OpOperand &out = dispatch.getOutsMutable()[number];
  auto type = cast<MemRefType>(memref.getType());
  if (!out.get().getDefiningOp<tensor::EmptyOp>() ||
      out.get().getType() !=
          RankedTensorType::get(type.getShape(), type.getElementType()) ||
      !onlyWrites(dispatch, number))
    return;
  // Defined before the dispatch, or it could not be an argument there.
  if (!isa<BlockArgument>(memref))
    return;
  if (Value tensor = unreadTensor(b, memref, dispatch))
    out.set(tensor);
}

namespace {
struct WriteInPlacePass
    : public tilewright::impl::WriteInPlacePassBase<WriteInPlacePass> {
  void runOnOperation() override {
    OpBuilder b(&getContext());
    SmallVector<bufferization::MaterializeInDestinationOp> stores;
    getOperation().walk([&](bufferization::MaterializeInDestinationOp op) {
      stores.push_back(op);
    });
    for (bufferization::MaterializeInDestinationOp store : stores)
      writeInPlace(b, store);
  }
};
} // namespace
