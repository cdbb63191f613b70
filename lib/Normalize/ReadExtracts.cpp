// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Front ends broadcast dims of dynamic size by a choice for each element:
//
//   linalg.generic outs(%e : tensor<?x64x128xf32>) {      // of %n x 64 x 128
//     %i = arith.select (%n == 1), 0, (linalg.index 0)
//     %v = tensor.extract %t[%i, (linalg.index 1), 0]     // of %n x 64 x 1
//     linalg.yield %v
//   }
// becomes
//   linalg.generic <(i,j,k)->(i,j,0), …> ins(%t) outs(%e) { yield %in }
//
// where sizes are known to be equal: then the op is one like others, and joins kernels.

#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_READEXTRACTSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

using Size = ValueBoundsConstraintSet::Variable;

static bool areEqual(const Size &a, const Size &b) {
  FailureOr<bool> equal = ValueBoundsConstraintSet::areEqual(a, b);
  return succeeded(equal) && *equal;
}

std::optional<std::pair<Value, int64_t>>
tilewright::extentOf(linalg::GenericOp op, unsigned loop, const OpOperand *except) {
  for (OpOperand &operand : llvm::reverse(op->getOpOperands())) {
    if (&operand == except)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults()))
      if (auto found = dyn_cast<AffineDimExpr>(expr); found && found.getPosition() == loop)
        return std::pair(operand.get(), int64_t(dim));
  }
  return std::nullopt;
}

/// `(n == 1) ? 0 : i` is i for a loop over i that ends at n.
static linalg::IndexOp seeThroughBroadcast(linalg::GenericOp op, Value index) {
  auto select = index.getDefiningOp<arith::SelectOp>();
  if (!select)
    return index.getDefiningOp<linalg::IndexOp>();
  auto loop = select.getFalseValue().getDefiningOp<linalg::IndexOp>();
  auto compared = select.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!loop || !compared || compared.getPredicate() != arith::CmpIPredicate::eq ||
      !isConstantIntValue(select.getTrueValue(), 0) || !isConstantIntValue(compared.getRhs(), 1))
    return {};
  auto extent = extentOf(op, loop.getDim());
  bool isExtent = extent && compared.getLhs().getType().isIndex() &&
                  compared.getLhs().getParentRegion() != &op.getRegion() &&
                  areEqual(Size(compared.getLhs()), Size(extent->first, extent->second));
  return isExtent ? loop : linalg::IndexOp();
}

/// The map by which the op's loops index what `extract` reads; null for one that is not
/// indexed by them alone, or is of another size.
static AffineMap indexedBy(linalg::GenericOp op, tensor::ExtractOp extract) {
  Value tensor = extract.getTensor();
  if (tensor.getParentRegion() == &op.getRegion())
    return {};
  SmallVector<AffineExpr> results;
  MLIRContext *context = op.getContext();
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    if (isConstantIntValue(index, 0) && extract.getTensor().getType().getDimSize(dim) == 1) {
      results.push_back(getAffineConstantExpr(0, context));
      continue;
    }
    linalg::IndexOp loop = seeThroughBroadcast(op, index);
    auto extent = loop ? extentOf(op, loop.getDim()) : std::nullopt;
    if (!extent || !areEqual(Size(tensor, dim), Size(extent->first, extent->second)))
      return {};
    results.push_back(getAffineDimExpr(loop.getDim(), context));
  }
  return AffineMap::get(op.getNumLoops(), 0, results, context);
}

/// Sizes of tensors around the op that its body asks for are asked for in front of it.
static void hoistSizes(linalg::GenericOp op) {
  for (auto dim : llvm::make_early_inc_range(op.getBody()->getOps<tensor::DimOp>()))
    if (llvm::all_of(dim->getOperands(), [&](Value operand) {
          return operand.getParentRegion() != &op.getRegion();
        }))
      dim->moveBefore(op);
}

bool tilewright::readExtracts(RewriterBase &rewriter, linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr))
    return false;
  SmallVector<std::pair<tensor::ExtractOp, AffineMap>> found;
  for (auto extract : op.getBody()->getOps<tensor::ExtractOp>())
    if (AffineMap map = indexedBy(op, extract))
      found.push_back({extract, map});
  if (found.empty())
    return false;
  SmallVector<Value> inputs = op.getDpsInputs();
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned numInputs = inputs.size();
  for (auto [number, pair] : llvm::enumerate(found)) {
    inputs.push_back(pair.first.getTensor());
    maps.insert(maps.begin() + numInputs + number, pair.second);
  }
  rewriter.setInsertionPoint(op);
  auto wider = linalg::GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs,
                                         op.getDpsInits(), maps, op.getIteratorTypesArray());
  wider->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  wider.getRegion().takeBody(op.getRegion());
  for (auto [number, pair] : llvm::enumerate(found)) {
    auto extract = pair.first;
    Value element = wider.getBody()->insertArgument(numInputs + number, extract.getType(), extract.getLoc());
    rewriter.replaceOp(extract, element);
  }
  rewriter.replaceOp(op, wider);
  return true;
}

namespace {
struct ReadExtractsPass : public tilewright::impl::ReadExtractsPassBase<ReadExtractsPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      hoistSizes(op);
      (void)readExtracts(rewriter, op);
    }
  }
};
} // namespace
