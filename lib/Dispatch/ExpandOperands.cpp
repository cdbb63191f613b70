// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Weights with a scale for each group of rows are dequantised in three dims and
// multiplied in two. A product that sums over groups and their rows instead can compute
// them on their way:
//
//   %d = linalg.generic ins(%w, %s) { (g, k, n) }       : tensor<128x32x4096xf16>
//   %f = tensor.collapse_shape %d [[0, 1], [2]]         : tensor<4096x4096xf16>
//   %r = linalg.generic <matmul> ins(%x, %f)
// becomes
//   %y = tensor.expand_shape %x [[0], [1, 2]]           : tensor<?x128x32xf16>
//   %r = linalg.generic {(m, n, g, k)} ins(%y, %d)

#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Configure/TileFusion.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Nibbles.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Dispatch/Groups.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_EXPANDOPERANDSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Whether the reshape in front of `operand` of a product joins dims of sums only.
static bool joinsSums(OpOperand *operand, tensor::CollapseShapeOp reshape,
                      linalg::GenericOp product) {
  std::optional<Contraction> contraction = matchProduct(product);
  if (!contraction || !product.isDpsInput(operand))
    return false;
  AffineMap map = product.getMatchingIndexingMap(operand);
  for (auto [dim, group] : llvm::enumerate(reshape.getReassociationIndices()))
    if (group.size() > 1 &&
        !llvm::is_contained(contraction->k, map.getDimPosition(dim)))
      return false;
  return true;
}

static bool shouldExpand(OpOperand *operand, TargetAttr target) {
  auto product = dyn_cast<linalg::GenericOp>(operand->getOwner());
  auto reshape = operand->get().getDefiningOp<tensor::CollapseShapeOp>();
  if (!product || !reshape || !reshape->hasOneUse() ||
      !joinsSums(operand, reshape, product))
    return false;
  auto producer = reshape.getSrc().getDefiningOp<linalg::GenericOp>();
  return producer && producer->hasOneUse() && producer->getBlock() == product->getBlock() &&
         classify(producer) == GroupKind::Elementwise &&
         mayFuseProducers(cast<linalg::LinalgOp>(producer.getOperation()), product,
                          operand->getOperandNumber(), /*products=*/1, target);
}

namespace {
/// What is known of a product stays with it.
struct KeepReasons : RewriterBase::Listener {
  void notifyOperationReplaced(Operation *op, ValueRange values) override {
    Attribute reason = op->getAttr(kUnpackedAttr);
    for (Value value : values) {
      if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>())
        value = collapse.getSrc();
      if (auto product = value.getDefiningOp<linalg::GenericOp>(); product && reason)
        product->setAttr(kUnpackedAttr, reason);
    }
  }
};

struct ExpandOperandsPass
    : public tilewright::impl::ExpandOperandsPassBase<ExpandOperandsPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(
        patterns,
        [target](OpOperand *operand) { return shouldExpand(operand, target); });
    KeepReasons listener;
    if (failed(applyPatternsBounded(
            getOperation(), std::move(patterns), "dispatch",
            "reading of products' operands under other dims",
            GreedyRewriteConfig().setListener(&listener))))
      signalPassFailure();
  }
};
} // namespace
