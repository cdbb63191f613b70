// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One order of loops for equal computations: parallel loops as the first
// result has its dims, then reduction loops as the operands have them.
//
//   maps = [(i,j,k)->(j,i), (i,j,k)->(i,k), (i,j,k)->(k,j)]  // k, j -> result
// becomes
//   maps = [(m,n,k)->(k,n), (m,n,k)->(n,m), (m,n,k)->(m,k)] …

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
  for (OpOperand *input : op.getDpsInputOperands())
    addLoopsOf(*input, utils::IteratorType::reduction);
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    order.insert(loop);
  return order.takeVector();
}

static SmallVector<int64_t> permute(ArrayRef<int64_t> values,
                                    ArrayRef<unsigned> order) {
  SmallVector<int64_t> result;
  if (values.size() != order.size())
    return SmallVector<int64_t>(values);
  for (unsigned loop : order)
    result.push_back(values[loop]);
  return result;
}

static LoweringConfigAttr permute(LoweringConfigAttr config,
                                  ArrayRef<unsigned> order) {
  return config.withLoops(
      [&](ArrayRef<int64_t> values) { return permute(values, order); });
}

bool tilewright::orderLoops(RewriterBase &rewriter, linalg::GenericOp op) {
  SmallVector<unsigned> order = canonicalOrder(op);
  if (llvm::is_sorted(order))
    return false;
  Attribute config = op->getAttr(kConfigAttr);
  FailureOr<linalg::GenericOp> ordered =
      linalg::interchangeGenericOp(rewriter, op, order);
  if (failed(ordered))
    return false;
  if (auto one = dyn_cast_or_null<LoweringConfigAttr>(config))
    config = permute(one, order);
  if (auto byTarget = dyn_cast_or_null<DictionaryAttr>(config)) {
    SmallVector<NamedAttribute> entries;
    for (NamedAttribute entry : byTarget)
      entries.push_back({entry.getName(),
                         permute(cast<LoweringConfigAttr>(entry.getValue()), order)});
    config = DictionaryAttr::get(op.getContext(), entries);
  }
  if (config)
    (*ordered)->setAttr(kConfigAttr, config);
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
