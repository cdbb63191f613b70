// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The largest and the smallest of floats of 8 bits are found among f32, which holds them all:
//
//   %r = linalg.generic ins(%x : f8) outs(%m : f8) { maximumf %a, %acc : f8 }
// becomes
//   %i = linalg.generic ins(%m : f8) { extf : f32 }
//   %w = linalg.generic ins(%x : f8) outs(%i : f32) { maximumf (extf %a), %acc : f32 }
//   %r = linalg.generic ins(%w : f32) { truncf : f8 }
//
// Sums would be rounded in each step, and stay as they are: check-normalized refuses them.

#include "tilewright/Dialect/Float8.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_WIDENEXTREMAPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

static bool isExtremum(Operation *op) {
  return isa_and_present<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                         arith::MinNumFOp>(op);
}

/// Whether all that `op` computes of floats of 8 bits are extrema of inputs and of its results so
/// far, and each result is one.
static bool findsExtrema(linalg::GenericOp op) {
  if (op.getNumReductionLoops() == 0 || !op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr))
    return false;
  bool hasAny = false;
  for (Operation &inner : op.getBody()->without_terminator()) {
    if (!isFloat8Arithmetic(&inner))
      continue;
    if (!isExtremum(&inner))
      return false;
    hasAny = true;
  }
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  return hasAny && llvm::all_of(llvm::zip_equal(op.getRegionOutputArgs(), yield.getValues()),
                                [](auto pair) {
                                  auto [before, after] = pair;
                                  return isFloat8(before.getType()) &&
                                         isExtremum(after.getDefiningOp()) &&
                                         llvm::all_of(before.getUsers(), isExtremum);
                                });
}

/// `tensor` with elements of `type`.
static Value convert(OpBuilder &b, Location loc, Value tensor, Type type) {
  auto source = cast<RankedTensorType>(tensor.getType());
  AffineMap same = b.getMultiDimIdentityMap(source.getRank());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, tensor), type);
  return linalg::GenericOp::create(
             b, loc, empty.getType(), tensor, empty, ArrayRef<AffineMap>{same, same},
             SmallVector<utils::IteratorType>(source.getRank(), utils::IteratorType::parallel),
             [&](OpBuilder &inside, Location at, ValueRange arguments) {
               Value element = arguments[0];
               Value made = isFloat8(type)
                                ? arith::TruncFOp::create(inside, at, type, element).getResult()
                                : arith::ExtFOp::create(inside, at, type, element).getResult();
               linalg::YieldOp::create(inside, at, made);
             })
      .getResult(0);
}

static void widen(RewriterBase &b, linalg::GenericOp op) {
  Location loc = op.getLoc();
  Type f32 = b.getF32Type();
  b.setInsertionPoint(op);
  SmallVector<Value> inits;
  for (Value init : op.getDpsInits())
    inits.push_back(convert(b, loc, init, f32));
  auto made = linalg::GenericOp::create(b, loc, TypeRange(ValueRange(inits)), op.getDpsInputs(),
                                        inits, op.getIndexingMapsArray(),
                                        op.getIteratorTypesArray());
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  made.getRegion().takeBody(op.getRegion());
  for (BlockArgument argument : made.getRegionOutputArgs())
    argument.setType(f32);
  for (Operation &inner : made.getBody()->without_terminator()) {
    if (!isExtremum(&inner) || !llvm::any_of(inner.getOperandTypes(), isFloat8))
      continue;
    b.setInsertionPoint(&inner);
    for (OpOperand &operand : inner.getOpOperands())
      if (isFloat8(operand.get().getType()))
        operand.set(arith::ExtFOp::create(b, loc, f32, operand.get()));
    Value result = inner.getResult(0);
    Type narrow = result.getType();
    result.setType(f32);
    // Those that find the next one of it, and the results, take it as it is.
    SmallVector<OpOperand *> others;
    for (OpOperand &use : result.getUses())
      if (!isExtremum(use.getOwner()) && !isa<linalg::YieldOp>(use.getOwner()))
        others.push_back(&use);
    b.setInsertionPointAfter(&inner);
    for (OpOperand *use : others)
      use->set(arith::TruncFOp::create(b, loc, narrow, result));
  }
  b.setInsertionPointAfter(made);
  SmallVector<Value> results;
  for (auto [result, before] : llvm::zip_equal(made.getResults(), op.getResultTypes()))
    results.push_back(convert(b, loc, result, getElementTypeOrSelf(before)));
  b.replaceOp(op, results);
}

namespace {
struct WidenExtremaPass : tilewright::impl::WidenExtremaPassBase<WidenExtremaPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (findsExtrema(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      widen(rewriter, op);
  }
};
} // namespace
