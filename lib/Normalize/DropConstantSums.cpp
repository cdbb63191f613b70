// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions whose result is a number, whatever they read: what they reduce has that number
// of every element, and what they start from only where there is none.
//
//   %r = linalg.generic {[(i, k) -> (i, k), (i, k) -> (i)], ["parallel", "reduction"]}
//       ins(%x) outs(%init) { yield %c }
// becomes
//   %none = arith.cmpi eq, %size_of_k, %c0
//   %r = linalg.generic {[(i) -> (i), (i) -> (i)], ["parallel"]}
//       ins(%init) outs(%empty) { yield arith.select %none, %a, %c }
//
// Otherwise kernels would go over all that is reduced for nothing, from sums on that nobody
// has set. A reduction of no elements by its type is what it starts from: its loop would be
// gone in the kernel, and with it what writes the sum.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_DROPCONSTANTSUMSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// Whether all results are values from outside of the body, or constants in it.
static bool yieldsConstants(linalg::GenericOp op) {
  return op.getNumReductionLoops() && op.hasPureTensorSemantics() &&
         llvm::all_of(op.getBody()->getTerminator()->getOperands(), [&](Value value) {
           return value.getParentRegion() != &op.getRegion() ||
                  matchPattern(value, m_Constant());
         });
}

/// Whether a dim that is reduced has no elements by its type.
static bool surelyReducesNothing(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr))
    return false;
  return llvm::any_of(llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray()),
                      [](auto loop) {
                        return std::get<0>(loop) == 0 &&
                               std::get<1>(loop) == utils::IteratorType::reduction;
                      });
}

/// i1: whether a dim that is reduced has no elements.
static Value reducesNothing(RewriterBase &b, linalg::GenericOp op) {
  Location loc = op.getLoc();
  Value none = arith::ConstantIntOp::create(b, loc, b.getI1Type(), 0);
  SmallVector<Range> ranges =
      cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(b, loc);
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  for (auto [range, type] : llvm::zip_equal(ranges, op.getIteratorTypesArray())) {
    if (type != utils::IteratorType::reduction)
      continue;
    Value size = getValueOrCreateConstantIndexOp(b, loc, range.size);
    Value isEmpty =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, size, zero);
    none = b.createOrFold<arith::OrIOp>(loc, none, isEmpty);
  }
  return none;
}

/// One result's own elementwise op.
static Value selectInit(RewriterBase &b, Location loc, Value init, Value constant,
                        Value none) {
  auto type = cast<RankedTensorType>(init.getType());
  AffineMap map = b.getMultiDimIdentityMap(type.getRank());
  Value empty = tensor::EmptyOp::create(b, loc, tensor::getMixedSizes(b, loc, init),
                                        type.getElementType());
  return linalg::GenericOp::create(
             b, loc, type, ValueRange(init), ValueRange(empty), {map, map},
             SmallVector<utils::IteratorType>(type.getRank(), utils::IteratorType::parallel),
             [&](OpBuilder &body, Location loc, ValueRange arguments) {
               Value result = arith::SelectOp::create(body, loc, none, arguments[0], constant);
               linalg::YieldOp::create(body, loc, result);
             })
      .getResult(0);
}

static void dropSums(RewriterBase &b, linalg::GenericOp op) {
  b.setInsertionPoint(op);
  Value none = reducesNothing(b, op);
  SmallVector<Value> results;
  Operation *yield = op.getBody()->getTerminator();
  for (auto [init, value] : llvm::zip_equal(op.getDpsInits(), yield->getOperands())) {
    Value constant = value;
    if (value.getParentRegion() == &op.getRegion())
      constant = b.clone(*value.getDefiningOp())->getResult(0);
    results.push_back(selectInit(b, op.getLoc(), init, constant, none));
  }
  b.replaceOp(op, results);
}

namespace {
struct DropConstantSumsPass
    : public tilewright::impl::DropConstantSumsPassBase<DropConstantSumsPass> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (yieldsConstants(op) || surelyReducesNothing(op))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      if (surelyReducesNothing(op)) {
        rewriter.replaceOp(op, op.getDpsInits());
        continue;
      }
      if (op->hasAttr(kConfigAttr)) {
        op.emitOpError() << "has '" << kConfigAttr
                         << "', but what it yields does not depend on what it reads: nothing is "
                            "reduced, and no loop is left that the config speaks of";
        return signalPassFailure();
      }
      dropSums(rewriter, op);
    }
  }
};
} // namespace
