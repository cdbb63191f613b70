// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One order of loops for equal computations: parallel loops as the first
// result has its dims, then reduction loops as the operands have them. Where
// the order of terms may matter, reduction loops stay in theirs.
//
//   maps = [(i,j,k)->(j,i), (i,j,k)->(i,k), (i,j,k)->(k,j)]  // k, j -> result
// becomes
//   maps = [(m,n,k)->(k,n), (m,n,k)->(n,m), (m,n,k)->(m,k)] …

#include "tilewright/Analysis/Reductions.h"
#include "tilewright/Dialect/Combiners.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_ORDERLOOPSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The permutation "new position -> old loop".
static SmallVector<unsigned> canonicalOrder(linalg::GenericOp op) {
  llvm::SetVector<unsigned> order;
  SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  auto addLoopsOf = [&](OpOperand &operand, utils::IteratorType wanted) {
    for (AffineExpr result : op.getMatchingIndexingMap(&operand).getResults())
      if (auto dim = dyn_cast<AffineDimExpr>(result))
        if (types[dim.getPosition()] == wanted)
          order.insert(dim.getPosition());
  };
  for (OpOperand &init : op.getDpsInitsMutable())
    addLoopsOf(init, utils::IteratorType::parallel);
  for (OpOperand *input : op.getDpsInputOperands())
    addLoopsOf(*input, utils::IteratorType::parallel);
  if (op->hasAttr(kAssociativeAttr) ||
      !isSequentialReduction(cast<linalg::LinalgOp>(op.getOperation())))
    for (OpOperand *input : op.getDpsInputOperands())
      addLoopsOf(*input, utils::IteratorType::reduction);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    order.insert(loop);
  return order.takeVector();
}

bool tilewright::orderLoops(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<unsigned> order = canonicalOrder(op);
  if (llvm::is_sorted(order))
    return false;
  Attribute config = op->getAttr(kConfigAttr), mark = op->getAttr(kAssociativeAttr);
  FailureOr<linalg::GenericOp> ordered =
      linalg::interchangeGenericOp(rewriter, op, order);
  if (failed(ordered))
    return false;
  // It speaks of the loops as they are listed: in this order.
  if (config)
    (*ordered)->setAttr(kConfigAttr, config);
  if (mark)
    (*ordered)->setAttr(kAssociativeAttr, mark);
  return true;
}

namespace {
struct OrderLoopsPass
    : public tilewright::impl::OrderLoopsPassBase<OrderLoopsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics())
        orderLoops(rewriter, op);
    });
  }
};
} // namespace
