// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise arithmetic on integer tensors of unknown sizes becomes linalg.generic before
// anything folds it:
//
//   %r = arith.xori %x, %y : tensor<?xi32>
// becomes
//   %r = linalg.generic ins(%x, %y) outs(%x) { %0 = arith.xori %a, %b; linalg.yield %0 }
//
// Where both operands are one, xori and cmpi fold into a constant, which has no operand that its
// sizes could come from. In a body they fold into a scalar. Shifts are defined by scalars there,
// too (DefineShifts.cpp).

#include "tilewright/Input/Input.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Rewrite/PatternApplicator.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_GENERALIZEINTEGERSPASS
#include "tilewright/Input/Passes.h.inc"
} // namespace tilewright

static bool combinesDynamicIntegers(Operation *op) {
  if (!isa<arith::ArithDialect>(op->getDialect()) || op->getNumOperands() < 2 ||
      !OpTrait::hasElementwiseMappableTraits(op))
    return false;
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  return type && !type.hasStaticShape() &&
         getElementTypeOrSelf(op->getOperand(0)).isIntOrIndex();
}

namespace {
struct GeneralizeIntegersPass
    : public tilewright::impl::GeneralizeIntegersPassBase<GeneralizeIntegersPass> {
  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (combinesDynamicIntegers(op))
        ops.push_back(op);
    });
    if (ops.empty())
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    FrozenRewritePatternSet frozen(std::move(patterns));
    // No driver of greedy rewriting, which folds.
    PatternApplicator applicator(frozen);
    applicator.applyDefaultCostModel();
    PatternRewriter rewriter(&getContext());
    for (Operation *op : ops) {
      rewriter.setInsertionPoint(op);
      (void)applicator.matchAndRewrite(op, rewriter);
    }
  }
};
} // namespace
