// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products read matrices that a table names where they lie:
//
//   %we = linalg.generic <(b,k,n)->(b), (b,k,n)> ins(%e) {
//     %i = arith.index_cast %in
//     %v = tensor.extract %w[%i, %k, %n] }       // %k = linalg.index 1, …
//   %p = linalg.generic <(b,m,n,k)->(b,m,k), (b,k,n), (b,m,n)> ins(%x, %we)
// becomes
//   %we = tilewright.pick %w[%e]
//   %p = linalg.generic <product> ins(%x, %we)
//
// A copy would write and read each matrix once more than the product does, for each entry.

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_PICKMATRICESPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// The one input of `op`, if the body is its number of a matrix in `source`, whose other
/// coordinates are those of the result.
static Value matchTable(linalg::GenericOp op, Value &source) {
  MLIRContext *context = op.getContext();
  if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 1 || op.getNumResults() != 1 ||
      op.getNumReductionLoops() || op->hasAttr(kConfigAttr) || op->hasAttr(kAtLoadAttr))
    return {};
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  if (maps[0] != AffineMap::get(op.getNumLoops(), 0, getAffineDimExpr(0, context)) ||
      !maps[1].isIdentity())
    return {};
  auto extract =
      op.getBody()->getTerminator()->getOperand(0).getDefiningOp<tensor::ExtractOp>();
  if (!extract || extract.getIndices().size() != op.getNumLoops() ||
      !op.getBody()->getArgument(1).use_empty())
    return {};
  auto cast = extract.getIndices()[0].getDefiningOp<arith::IndexCastOp>();
  if (!cast || cast.getIn() != op.getBody()->getArgument(0))
    return {};
  for (auto [dim, index] : llvm::enumerate(extract.getIndices().drop_front())) {
    auto coordinate = index.getDefiningOp<linalg::IndexOp>();
    if (!coordinate || coordinate.getDim() != dim + 1)
      return {};
  }
  source = extract.getTensor();
  return op.getDpsInputs()[0];
}

/// Whether `use` is an operand of a product that has the matrices' number as a loop of all, and
/// rows or columns of the matrices as its own. A config that is pinned to it has tiles of one.
static bool isOfBatch(OpOperand &use) {
  auto op = dyn_cast<linalg::GenericOp>(use.getOwner());
  if (!op || !op.isDpsInput(&use))
    return false;
  std::optional<Contraction> product = matchProduct(op);
  AffineMap map = op.getMatchingIndexingMap(&use);
  if (!product || product->perElement != 1 || !map.isProjectedPermutation() || !map.getNumResults())
    return false;
  unsigned loop = map.getDimPosition(0);
  auto pinned = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  if (pinned && loop < pinned.getBlock().size() && pinned.getBlock()[loop] > 1)
    return false;
  bool isLeft = use.getOperandNumber() == product->a;
  return llvm::is_contained(product->batch, loop) &&
         !(isLeft ? product->m : product->n).empty();
}

namespace {
struct PickMatricesPass : tilewright::impl::PickMatricesPassBase<PickMatricesPass> {
  void runOnOperation() override {
    func::FuncOp func = getOperation();
    if (func.isExternal() || isKernel(func))
      return;
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    func.walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      Value source, table = matchTable(op, source);
      if (!table)
        continue;
      auto from = cast<RankedTensorType>(source.getType());
      auto type = cast<RankedTensorType>(op.getResult(0).getType());
      if (type.getRank() < 3 || !from.hasStaticShape() || from.getNumElements() == 0 ||
          from.getShape().drop_front() != type.getShape().drop_front() || op->use_empty() ||
          !llvm::all_of(op->getUses(), isOfBatch))
        continue;
      rewriter.setInsertionPoint(op);
      rewriter.replaceOpWithNewOp<PickOp>(op, type, source, table);
    }
  }
};
} // namespace
