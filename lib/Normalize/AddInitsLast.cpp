// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Front ends let the sums of a product begin with a bias, which they broadcast first:
//
//   %i = linalg.generic <(f,y,x)->(f), (f,y,x)> ins(%bias) outs(%e) { yield %in }
//   %r = linalg.generic <convolution> ins(%x, %w) outs(%i)
// becomes
//   %z = linalg.fill ins(0) outs(%e)
//   %s = linalg.generic <convolution> ins(%x, %w) outs(%z)
//   %r = linalg.generic <(f,y,x)->(f,y,x), (f), (f,y,x)> ins(%s, %bias) outs(%e) { addf }
//
// A tensor of the result's size is neither written nor read for it, and the bias joins
// what is done with the result on its way out. A term of a sum comes last instead of
// first, as reassociation allows.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_ADDINITSLASTPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The addition that ends the body of a product, `init + a * b`, or null.
static Operation *getSum(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumResults() != 1 || !op.getNumReductionLoops())
    return nullptr;
  Operation *add = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument init = op.getRegionOutputArgs()[0];
  if (!isa_and_nonnull<arith::AddFOp, arith::AddIOp>(add) || !init.hasOneUse() ||
      *init.user_begin() != add)
    return nullptr;
  Value term = add->getOperand(add->getOperand(0) == init ? 1 : 0);
  return isa_and_nonnull<arith::MulFOp, arith::MulIOp>(term.getDefiningOp()) ? add : nullptr;
}

/// What makes `value` by broadcasting a tensor of fewer dims, or null.
static linalg::GenericOp getBroadcast(Value value) {
  auto op = value.getDefiningOp<linalg::GenericOp>();
  if (!op || op->hasAttr(kConfigAttr) || !isRelayout(op) || !op.hasPureTensorSemantics() ||
      !isa<RankedTensorType>(op.getDpsInputs()[0].getType()))
    return {};
  AffineMap from = op.getMatchingIndexingMap(op.getDpsInputOperand(0)),
            to = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  return from.isProjectedPermutation(/*allowZeroInResults=*/true) && to.isPermutation() &&
                 llvm::count_if(from.getResults(), llvm::IsaPred<AffineDimExpr>) < to.getNumDims()
             ? op
             : linalg::GenericOp();
}

bool tilewright::addInitLast(RewriterBase &rewriter, linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr) || !op.getNumDpsInits())
    return false;
  Operation *sum = getSum(op);
  linalg::GenericOp broadcast =
      sum ? getBroadcast(op.getDpsInitOperand(0)->get()) : linalg::GenericOp();
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  if (!broadcast || !result.isProjectedPermutation())
    return false;
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value destination = broadcast.getDpsInitOperand(0)->get();
  auto type = cast<RankedTensorType>(op.getResult(0).getType());
  if (destination.getType() != type)
    return false;
  Value zero = arith::ConstantOp::create(rewriter, loc,
                                         rewriter.getZeroAttr(type.getElementType()));
  Value begin = linalg::FillOp::create(rewriter, loc, zero, destination).getResult(0);
  rewriter.modifyOpInPlace(op, [&] { op.getDpsInitOperand(0)->set(begin); });

  // The broadcast's loops are dims of the result, in the order that `to` gives them.
  AffineMap from = broadcast.getMatchingIndexingMap(broadcast.getDpsInputOperand(0)),
            to = broadcast.getMatchingIndexingMap(broadcast.getDpsInitOperand(0));
  AffineMap bias = from.compose(inversePermutation(to));
  AffineMap whole = rewriter.getMultiDimIdentityMap(type.getRank());
  rewriter.setInsertionPointAfter(op);
  auto added = linalg::GenericOp::create(
      rewriter, loc, type, ValueRange{op.getResult(0), broadcast.getDpsInputs()[0]},
      destination, ArrayRef<AffineMap>{whole, bias, whole},
      SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
      [&](OpBuilder &inside, Location at, ValueRange arguments) {
        IRMapping mapping;
        mapping.map(sum->getOperand(0), arguments[0]);
        mapping.map(sum->getOperand(1), arguments[1]);
        linalg::YieldOp::create(inside, at, inside.clone(*sum, mapping)->getResult(0));
      });
  rewriter.replaceAllUsesExcept(op.getResult(0), added.getResult(0), added);
  return true;
}

namespace {
struct AddInitsLastPass : tilewright::impl::AddInitsLastPassBase<AddInitsLastPass> {
  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops)
      (void)addInitLast(rewriter, op);
  }
};
} // namespace
