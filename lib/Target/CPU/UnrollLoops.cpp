// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps 2 and 3 of tilewright-unroll-vectors: loops whose tiles may cross an edge
// get a twin for those that do not; loops and branches that carry tiles carry rows.

#include "Unroll.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;

//===----------------------------------------------------------------------===//
// Twins
//===----------------------------------------------------------------------===//

/// Whether `index + extent <= size of dim` is known before `loop`.
static bool isInvariant(scf::ForOp loop, vector::TransferReadOp read, int64_t d) {
  auto expr = dyn_cast<AffineDimExpr>(read.getPermutationMap().getResult(d));
  return expr && !read.isDimInBounds(d) && !read.getMask() &&
         loop.isDefinedOutsideOfLoop(read.getBase()) &&
         loop.isDefinedOutsideOfLoop(read.getIndices()[expr.getPosition()]);
}

/// Gives an innermost loop a twin for tiles that lie inside, without masks:
///
///   scf.if (%i + 4 <= %m) { scf.for … in_bounds = [true, true] }
///   else                  { scf.for … in_bounds = [false, true] }
void cpu::splitEdges(scf::ForOp loop) {
  SmallVector<std::pair<vector::TransferReadOp, int64_t>> dims;
  for (auto read : loop.getOps<vector::TransferReadOp>())
    for (int64_t d = 0; d < read.getVectorType().getRank(); ++d)
      if (isInvariant(loop, read, d))
        dims.emplace_back(read, d);
  if (dims.empty())
    return;
  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  Value inside;
  for (auto [read, d] : dims) {
    int64_t position =
        cast<AffineDimExpr>(read.getPermutationMap().getResult(d)).getPosition();
    Value end = arith::AddIOp::create(
        builder, loc, read.getIndices()[position],
        arith::ConstantIndexOp::create(builder, loc,
                                       read.getVectorType().getDimSize(d)));
    Value size = memref::DimOp::create(builder, loc, read.getBase(), position);
    Value fits = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sle,
                                       end, size);
    inside = inside ? arith::AndIOp::create(builder, loc, inside, fits) : fits;
  }
  auto branch = scf::IfOp::create(builder, loc, loop.getResultTypes(), inside,
                                  /*withElseRegion=*/true);
  loop.replaceAllUsesWith(branch.getResults());
  auto yield = [&](Block *block, scf::ForOp twin) {
    if (twin.getNumResults() == 0)
      return;
    OpBuilder b = OpBuilder::atBlockEnd(block);
    scf::YieldOp::create(b, loc, twin.getResults());
  };
  auto end = [&](Block *block) {
    return loop.getNumResults() ? block->end()
                                : block->getTerminator()->getIterator();
  };
  loop->moveBefore(branch.elseBlock(), end(branch.elseBlock()));
  yield(branch.elseBlock(), loop);
  IRMapping mapping;
  OpBuilder b(branch.thenBlock(), end(branch.thenBlock()));
  auto fast = cast<scf::ForOp>(b.clone(*loop, mapping));
  yield(branch.thenBlock(), fast);
  for (auto [read, d] : dims) {
    auto twin = cast<vector::TransferReadOp>(mapping.lookup(read.getResult())
                                                 .getDefiningOp());
    SmallVector<bool> inBounds = twin.getInBoundsValues();
    inBounds[d] = true;
    twin.setInBoundsAttr(b.getBoolArrayAttr(inBounds));
  }
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// All values, tiles replaced by their rows.
static SmallVector<Value> flatten(OpBuilder &builder, Location loc,
                                  ValueRange values) {
  SmallVector<Value> flat;
  for (Value value : values)
    if (isTile(value.getType()))
      llvm::append_range(flat, getRows(builder, loc, value));
    else
      flat.push_back(value);
  return flat;
}

/// Values of `types` out of a flat list.
static SmallVector<Value> unflatten(OpBuilder &builder, Location loc,
                                    TypeRange types, ValueRange flat) {
  SmallVector<Value> values;
  for (Type type : types) {
    size_t count = isTile(type)
                       ? getRowPositions(cast<VectorType>(type)).size()
                       : 1;
    values.push_back(isTile(type) ? fromRows(builder, loc, cast<VectorType>(type),
                                             flat.take_front(count))
                                  : flat.front());
    flat = flat.drop_front(count);
  }
  return values;
}

namespace {
struct SplitFor : OpRewritePattern<scf::ForOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::ForOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getResultTypes(), isTile))
      return rewriter.notifyMatchFailure(op, "carries no tile");
    Location loc = op.getLoc();
    SmallVector<Value> inits = flatten(rewriter, loc, op.getInitArgs());
    auto loop = scf::ForOp::create(rewriter, loc, op.getLowerBound(),
                                   op.getUpperBound(), op.getStep(), inits);
    rewriter.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> arguments = {loop.getInductionVar()};
    llvm::append_range(arguments, unflatten(rewriter, loc, op.getResultTypes(),
                                            loop.getRegionIterArgs()));
    rewriter.mergeBlocks(op.getBody(), loop.getBody(), arguments);
    auto yield = cast<scf::YieldOp>(loop.getBody()->getTerminator());
    rewriter.setInsertionPoint(yield);
    rewriter.replaceOpWithNewOp<scf::YieldOp>(
        yield, flatten(rewriter, loc, yield.getOperands()));
    rewriter.setInsertionPointAfter(loop);
    rewriter.replaceOp(op, unflatten(rewriter, loc, op.getResultTypes(),
                                     loop.getResults()));
    return success();
  }
};

struct SplitIf : OpRewritePattern<scf::IfOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(scf::IfOp op,
                                PatternRewriter &rewriter) const override {
    if (llvm::none_of(op.getResultTypes(), isTile))
      return rewriter.notifyMatchFailure(op, "yields no tile");
    Location loc = op.getLoc();
    for (scf::YieldOp yield : {op.thenYield(), op.elseYield()}) {
      rewriter.setInsertionPoint(yield);
      rewriter.replaceOpWithNewOp<scf::YieldOp>(
          yield, flatten(rewriter, loc, yield.getOperands()));
    }
    rewriter.setInsertionPoint(op);
    auto branch = scf::IfOp::create(rewriter, loc,
                                    op.thenYield().getOperandTypes(),
                                    op.getCondition(), /*withElse=*/true);
    for (auto [from, to] :
         {std::pair(&op.getThenRegion(), &branch.getThenRegion()),
          std::pair(&op.getElseRegion(), &branch.getElseRegion())}) {
      while (!to->empty())
        rewriter.eraseBlock(&to->front());
      rewriter.inlineRegionBefore(*from, *to, to->end());
    }
    rewriter.setInsertionPointAfter(branch);
    rewriter.replaceOp(op, unflatten(rewriter, loc, op.getResultTypes(),
                                     branch.getResults()));
    return success();
  }
};
} // namespace

void cpu::populateSplitTilePatterns(RewritePatternSet &patterns) {
  patterns.add<SplitFor, SplitIf>(patterns.getContext());
}
