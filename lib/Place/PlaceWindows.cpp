// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches on windows of tensors (Windows.h): each writes a window that a
// tensor.insert_slice fills where it lies, and each kernel gets to know which of
// its operands are windows.
//
//   %e = tensor.empty() : tensor<8x10xf32>
//   %r = tilewright.dispatch @k(%a) outs(%e)
//   %n = tensor.insert_slice %r into %d[2, 5] [8, 10] [1, 1]
// becomes
//   %w = tensor.extract_slice %d[2, 5] [8, 10] [1, 1]
//   %r = tilewright.dispatch @k(%a) outs(%w)
//   %n = tensor.insert_slice %r into %d[2, 5] [8, 10] [1, 1]
//   func.func private @k(…) attributes {tilewright.views =
//       [unit, strided<[30, 1], offset: ?>]}
//
// The insertion is nothing then but the new value of the whole tensor. Of parts that are put into
// one tensor, one after the other, each is written into the tensor that the first is put into.

#include "tilewright/Dialect/Windows.h"
#include "tilewright/Place/Place.h"

#include "mlir/IR/Dominance.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PLACEWINDOWSPASS
#include "tilewright/Place/Passes.h.inc"
} // namespace tilewright

/// The window that is filled with a result and nothing else, or null.
static tensor::InsertSliceOp fills(OpResult result) {
  if (!result.hasOneUse())
    return {};
  OpOperand &use = *result.getUses().begin();
  auto insert = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
  return insert && &use == &insert.getSourceMutable() ? insert
                                                      : tensor::InsertSliceOp();
}

static DispatchOp dispatchOf(tensor::InsertSliceOp insert) {
  auto dispatch = insert.getSource().getDefiningOp<DispatchOp>();
  return dispatch && dispatch->getBlock() == insert->getBlock() &&
                 fills(cast<OpResult>(insert.getSource())) == insert
             ? dispatch
             : DispatchOp();
}

/// A new tensor that several windows are put into one after the other is made before the first of
/// the kernels that compute them, for them alone.
static void makeBeforeKernels(OpBuilder &b, tensor::InsertSliceOp first) {
  auto empty = first.getDest().getDefiningOp<tensor::EmptyOp>();
  Operation *earliest = empty ? dispatchOf(first) : DispatchOp();
  for (tensor::InsertSliceOp insert = first; earliest && insert->hasOneUse();) {
    insert = dyn_cast<tensor::InsertSliceOp>(*insert->getUsers().begin());
    if (!insert || insert->getBlock() != first->getBlock() ||
        getInsertionRoot(insert) != first.getDest())
      break;
    DispatchOp dispatch = dispatchOf(insert);
    if (dispatch && dispatch->isBeforeInBlock(earliest))
      earliest = dispatch;
  }
  DominanceInfo dominance;
  if (!earliest || llvm::any_of(empty.getDynamicSizes(), [&](Value size) {
        return !dominance.properlyDominates(size, earliest);
      }))
    return;
  b.setInsertionPoint(earliest);
  first.getDestMutable().assign(b.clone(*empty)->getResult(0));
  if (empty->use_empty())
    empty->erase();
}

/// What `dispatch` has to write a window of for `insert`: the tensor that is there already, or
/// that others have not put their windows into yet.
static Value wholeOf(DispatchOp dispatch, tensor::InsertSliceOp insert) {
  DominanceInfo dominance;
  for (Value whole : {Value(insert.getDest()), getInsertionRoot(insert)})
    if (dominance.properlyDominates(whole, dispatch))
      return whole;
  return {};
}

static void writeWindows(OpBuilder &b, DispatchOp dispatch) {
  for (auto [out, result] :
       llvm::zip_equal(dispatch.getOutsMutable(), dispatch.getResults())) {
    tensor::InsertSliceOp insert = fills(result);
    if (!insert)
      continue;
    auto slice = out.get().getDefiningOp<tensor::ExtractSliceOp>();
    if (!out.get().getDefiningOp<tensor::EmptyOp>() &&
        !(slice && isSameWindow(slice, insert)))
      continue;
    Value whole = wholeOf(dispatch, insert);
    if (!whole)
      continue;
    // A slice of its own: others read theirs.
    b.setInsertionPoint(dispatch);
    out.set(tensor::ExtractSliceOp::create(
        b, insert.getLoc(), cast<RankedTensorType>(result.getType()),
        whole, insert.getMixedOffsets(), insert.getMixedSizes(),
        insert.getMixedStrides()));
  }
}

static void describeViews(DispatchOp dispatch) {
  auto kernel = SymbolTable::lookupNearestSymbolFrom<FunctionOpInterface>(
      dispatch, dispatch.getCalleeAttr());
  if (!kernel)
    return;
  Builder b(dispatch.getContext());
  SmallVector<Attribute> views;
  for (Value operand : dispatch->getOperands()) {
    if (!isa<ShapedType>(operand.getType()))
      continue;
    StridedLayoutAttr layout = getWindowLayout(operand);
    views.push_back(layout ? Attribute(layout) : b.getUnitAttr());
  }
  if (llvm::any_of(views, llvm::IsaPred<StridedLayoutAttr>))
    kernel->setAttr(kViewsAttr, b.getArrayAttr(views));
}

namespace {
struct PlaceWindowsPass
    : public tilewright::impl::PlaceWindowsPassBase<PlaceWindowsPass> {
  void runOnOperation() override {
    SmallVector<DispatchOp> dispatches;
    getOperation().walk([&](DispatchOp op) { dispatches.push_back(op); });
    OpBuilder b(&getContext());
    getOperation().walk([&](tensor::InsertSliceOp op) { makeBeforeKernels(b, op); });
    for (DispatchOp dispatch : dispatches) {
      writeWindows(b, dispatch);
      describeViews(dispatch);
    }
  }
};
} // namespace
