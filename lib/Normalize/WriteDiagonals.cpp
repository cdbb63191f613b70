// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A result that is written on a diagonal is written everywhere, elsewhere with what was there:
//
//   linalg.generic <(i) -> (i), (i) -> (i, i)> ins(%x) outs(%o) { yield f(%a) }
// becomes
//   linalg.generic <(i, j) -> (i), (i, j) -> (i, j)> ins(%x) outs(%o) {
//     %on = cmpi eq, (linalg.index 0), (linalg.index 1)
//     yield select %on, f(%a), %out
//   }

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_WRITEDIAGONALSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The map of all results, if loops alone index them, one of them twice or more.
static std::optional<AffineMap> diagonalOf(linalg::GenericOp op) {
  if (op.getNumReductionLoops() || op.getNumDpsInits() == 0 || !op.hasPureTensorSemantics() ||
      op->hasAttr(kConfigAttr))
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  llvm::SmallDenseSet<AffineExpr> loops(map.getResults().begin(), map.getResults().end());
  if (!llvm::all_of(map.getResults(), llvm::IsaPred<AffineDimExpr>) ||
      loops.size() == map.getNumResults() || loops.size() != op.getNumLoops() ||
      !llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
        return op.getMatchingIndexingMap(&init) == map;
      }))
    return std::nullopt;
  return map;
}

/// Ends calls where dims of `tensor` that one loop indexes are not equal.
static void assertSquare(OpBuilder &b, Location loc, Value tensor, int64_t dim, int64_t other) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (!type.isDynamicDim(dim) && !type.isDynamicDim(other))
    return;
  Value left = tensor::DimOp::create(b, loc, tensor, dim);
  Value right = tensor::DimOp::create(b, loc, tensor, other);
  cf::AssertOp::create(
      b, loc, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, left, right),
      "dims " + std::to_string(dim) + " and " + std::to_string(other) +
          " of a result that is written on its diagonal are not equal");
}

static void writeEverywhere(RewriterBase &b, linalg::GenericOp op, AffineMap diagonal) {
  Location loc = op.getLoc();
  b.setInsertionPoint(op);
  // A loop of its own for each dim that repeats one, and the loop that it equals there.
  unsigned numLoops = op.getNumLoops();
  SmallVector<std::pair<unsigned, unsigned>> equal;
  SmallVector<AffineExpr> results;
  DenseMap<AffineExpr, int64_t> first;
  for (auto [dim, loop] : llvm::enumerate(diagonal.getResults())) {
    auto [at, isNew] = first.try_emplace(loop, dim);
    if (isNew) {
      results.push_back(loop);
      continue;
    }
    for (Value init : op.getDpsInits())
      assertSquare(b, loc, init, at->second, dim);
    unsigned own = numLoops + equal.size();
    equal.emplace_back(cast<AffineDimExpr>(loop).getPosition(), own);
    results.push_back(b.getAffineDimExpr(own));
  }
  unsigned all = numLoops + equal.size();
  SmallVector<AffineMap> maps;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    maps.push_back(AffineMap::get(
        all, 0, op.isDpsInit(&operand) ? ArrayRef<AffineExpr>(results) : map.getResults(),
        b.getContext()));
  }
  auto made = linalg::GenericOp::create(
      b, loc, op.getResultTypes(), op.getDpsInputs(), op.getDpsInits(), maps,
      SmallVector<utils::IteratorType>(all, utils::IteratorType::parallel));
  made->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  made.getRegion().takeBody(op.getRegion());
  auto yield = cast<linalg::YieldOp>(made.getBody()->getTerminator());
  b.setInsertionPoint(yield);
  Value isOn;
  for (auto [loop, own] : equal) {
    Value same = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq,
                                       linalg::IndexOp::create(b, loc, loop),
                                       linalg::IndexOp::create(b, loc, own));
    isOn = isOn ? arith::AndIOp::create(b, loc, isOn, same).getResult() : same;
  }
  for (auto [value, before] : llvm::zip_equal(yield->getOpOperands(), made.getRegionOutputArgs()))
    value.set(arith::SelectOp::create(b, loc, isOn, value.get(), before));
  b.replaceOp(op, made);
}

namespace {
struct WriteDiagonalsPass : tilewright::impl::WriteDiagonalsPassBase<WriteDiagonalsPass> {
  void runOnOperation() override {
    SmallVector<std::pair<linalg::GenericOp, AffineMap>> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (std::optional<AffineMap> map = diagonalOf(op))
        ops.emplace_back(op, *map);
    });
    IRRewriter rewriter(&getContext());
    for (auto [op, map] : ops)
      writeEverywhere(rewriter, op, map);
  }
};
} // namespace
