// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Long reductions with few results, in two steps, so that many blocks share
// the work:
//
//   %r = linalg.generic {(i) -> (i), (i) -> (); reduction i}
//          ins(%x : tensor<?xf32>) outs(%init : tensor<f32>) { add }
// becomes
//   %z = linalg.fill ins(0.0) outs(tensor.empty() : tensor<256xf32>)
//   %p = linalg.generic {(i, p) -> (i), (i, p) -> (p); reduction i, parallel p,
//          tilewright.split = array<i64: 0, 4096>} ins(%x) outs(%z) { add }
//   %r = linalg.generic {(p) -> (p), (p) -> (); reduction p}
//          ins(%p : tensor<256xf32>) outs(%init) { add }
//
// Where only the sizes of dynamic dims can tell whether it pays, the host looks:
//
//   %r = scf.if %few_and_long -> (tensor<?xf32>) { parts, combine } else { whole }
//
// Products of few results stay whole on targets whose clusters add up parts of a sum in
// one kernel (`tilewright.cluster_sum`), and where tiles that copy engines fill are one for
// every second multiprocessor, or are predicted to take no longer than parts and their sum.
//
// Splits.h says what the attribute means and which reductions are worth it. The
// order of additions is fixed: the same program gives the same bits every time.

#include "SplitReductions.h"
#include "CombineParts.h"
#include "tilewright/Analysis/Contractions.h"
#include "tilewright/Configure/PredictTime.h"
#include "tilewright/Configure/Splits.h"
#include "tilewright/Configure/TransposedOperands.h"
#include "tilewright/Dispatch/Dispatch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_SPLITREDUCTIONSPASS
#include "tilewright/Dispatch/Passes.h.inc"
} // namespace tilewright

/// Puts what belongs to the dim of parts where that dim is.
template <typename T>
static void insertPart(SmallVectorImpl<T> &dims, T part, const Split &split) {
  dims.insert(split.partsFirst ? dims.begin() : dims.end(), part);
}

/// Neutral partial results: the shape of `init`, and one dim more for parts.
static Value createParts(OpBuilder &b, Location loc, Value init,
                         Operation *combiner, const Split &split) {
  auto type = cast<RankedTensorType>(init.getType());
  // A fill is repeated in the kernel that starts from it as long as nobody else
  // looks at it.
  Value shape = init;
  while (auto fill = shape.getDefiningOp<linalg::FillOp>())
    shape = fill.getOutputs()[0];
  auto known = shape.getDefiningOp<tensor::EmptyOp>();
  SmallVector<OpFoldResult> sizes =
      known ? known.getMixedSizes() : tensor::getMixedSizes(b, loc, shape);
  insertPart<OpFoldResult>(sizes, b.getIndexAttr(split.parts), split);
  Value empty = tensor::EmptyOp::create(b, loc, sizes, type.getElementType());
  Value neutral =
      arith::ConstantOp::create(b, loc, *arith::getNeutralElement(combiner));
  return linalg::FillOp::create(b, loc, neutral, empty).getResult(0);
}

/// Replaces `op` by one that computes partial results and one that combines
/// them, as `split` says; returns the former. `matchCombiners(op)` is not empty.
static linalg::GenericOp splitReduction(RewriterBase &rewriter, linalg::GenericOp op,
                                        const Split &split) {
  Location loc = op.getLoc();
  MLIRContext *context = op.getContext();
  auto linalgOp = cast<linalg::LinalgOp>(op.getOperation());
  SmallVector<Operation *> combiners = matchCombiners(linalgOp);
  unsigned numLoops = op.getNumLoops();

  // 1. The parts: the op itself with one more loop, which only results have.
  SmallVector<AffineMap> maps;
  SmallVector<Value> starts;
  SmallVector<Type> types;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    maps.push_back(AffineMap::get(numLoops + 1, 0, map.getResults(), context));
  }
  for (auto [init, combiner] :
       llvm::zip_equal(op.getDpsInitsMutable(), combiners)) {
    SmallVector<AffineExpr> results(
        op.getMatchingIndexingMap(&init).getResults());
    insertPart(results, getAffineDimExpr(numLoops, context), split);
    maps.push_back(AffineMap::get(numLoops + 1, 0, results, context));
    starts.push_back(
        createParts(rewriter, loc, init.get(), combiner, split));
    types.push_back(starts.back().getType());
  }
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  iterators.push_back(utils::IteratorType::parallel);
  auto partial = linalg::GenericOp::create(rewriter, loc, types, op.getInputs(),
                                           starts, maps, iterators);
  rewriter.cloneRegionBefore(op.getRegion(), partial.getRegion(),
                             partial.getRegion().end());
  partial->setAttr(kSplitAttr,
                   rewriter.getDenseI64ArrayAttr({split.loop, split.unit}));
  if (Attribute config = op->getAttr(kConfigAttr))
    partial->setAttr(kConfigAttr, config);

  // 2. Their combination, over the parallel loops and the parts.
  PartsCombination combination = combineParts(op, split.partsFirst);
  auto combined = linalg::GenericOp::create(
      rewriter, loc, op.getResultTypes(), partial.getResults(), op.getOutputs(),
      combination.maps, combination.loops,
      [&](OpBuilder &b, Location loc, ValueRange arguments) {
        SmallVector<Value> results;
        unsigned count = combiners.size();
        for (auto [number, combiner] : llvm::enumerate(combiners)) {
          OperationState state(loc, combiner->getName());
          state.addOperands({arguments[number], arguments[count + number]});
          state.addTypes(combiner->getResultTypes());
          // Another order of additions may wrap where this one does not.
          for (NamedAttribute attr : combiner->getAttrs())
            if (attr.getName() != "overflowFlags")
              state.addAttribute(attr.getName(), attr.getValue());
          results.push_back(b.create(state)->getResult(0));
        }
        linalg::YieldOp::create(b, loc, results);
      });
  rewriter.replaceOp(op, combined);
  return partial;
}

/// Fusing the reduction with others is worth more than splitting it: true where
/// there is nobody to fuse with.
static bool standsAlone(linalg::GenericOp op) {
  auto isStructured = [](Operation *other) {
    return other && isa<linalg::LinalgOp>(other) && !isa<linalg::FillOp>(other);
  };
  return llvm::none_of(op.getInputs(), [&](Value input) {
           return isStructured(input.getDefiningOp()) ||
                  llvm::count_if(input.getUsers(), isStructured) > 1;
         }) &&
         llvm::none_of(op->getUsers(), isStructured);
}

/// The extent of `loop`, on the host.
static Value extentOf(OpBuilder &b, linalg::GenericOp op, unsigned loop) {
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (auto dim = map.getResultPosition(b.getAffineDimExpr(loop)))
      return b.createOrFold<tensor::DimOp>(op.getLoc(), operand.get(), *dim);
  }
  return {};
}

/// (extent + tile - 1) / tile, of extents that are not negative.
static Value tilesOf(OpBuilder &b, Location loc, Value extent, int64_t tile) {
  Value most = arith::ConstantIndexOp::create(b, loc, tile - 1);
  Value size = arith::ConstantIndexOp::create(b, loc, tile);
  Value up = b.createOrFold<arith::AddIOp>(loc, extent, most);
  return b.createOrFold<arith::DivUIOp>(loc, up, size);
}

/// Replaces `op` by a choice at run time between the split op and the whole one.
static void splitReductionGuarded(RewriterBase &rewriter, linalg::GenericOp op,
                                  const GuardedSplit &guarded) {
  Location loc = op.getLoc();
  Value results = arith::ConstantIndexOp::create(rewriter, loc, 1);
  for (auto [loop, type] : llvm::enumerate(op.getIteratorTypesArray()))
    if (type == utils::IteratorType::parallel) {
      Value extent = extentOf(rewriter, op, loop);
      if (!guarded.tile.empty() && guarded.tile[loop] != 1)
        extent = tilesOf(rewriter, loc, extent, guarded.tile[loop]);
      results = rewriter.createOrFold<arith::MulIOp>(loc, results, extent);
    }
  Value elements = extentOf(rewriter, op, guarded.split.loop);
  auto constant = [&](int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  };
  Value few = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sle,
                                    results, constant(guarded.mostResults));
  Value isLong =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::sge, elements,
                            constant(guarded.fewestElements));
  auto branch = scf::IfOp::create(
      rewriter, loc, op.getResultTypes(),
      arith::AndIOp::create(rewriter, loc, few, isLong),
      /*addThenBlock=*/true, /*addElseBlock=*/true);
  for (Block *block : {branch.thenBlock(), branch.elseBlock()}) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(block);
    // Fills that only initialise are repeated in kernels, from their own block.
    IRMapping mapping;
    for (Value init : op.getOutputs())
      if (auto fill = init.getDefiningOp<linalg::FillOp>();
          fill && fill.getOutputs()[0].getDefiningOp<tensor::EmptyOp>()) {
        Operation *empty = rewriter.clone(
            *fill.getOutputs()[0].getDefiningOp(), mapping);
        mapping.map(fill.getOutputs()[0], empty->getResult(0));
        mapping.map(init, rewriter.clone(*fill, mapping)->getResult(0));
      }
    auto copy = cast<linalg::GenericOp>(rewriter.clone(*op, mapping));
    scf::YieldOp::create(rewriter, loc, copy.getResults());
    if (block == branch.thenBlock()) {
      rewriter.setInsertionPoint(copy);
      (void)splitReduction(rewriter, copy, guarded.split);
    }
  }
  rewriter.replaceOp(op, branch);
}

/// Whether `input` is computed element by element from what no other op of the program
/// computes, for `op` alone: a weight that is dequantised, say, in the product's kernel.
static bool isComputedForOp(Value input, linalg::LinalgOp op) {
  auto producer = input.getDefiningOp<linalg::LinalgOp>();
  return producer && !isa<linalg::FillOp>(producer.getOperation()) &&
         producer.getNumReductionLoops() == 0 && input.hasOneUse() && !isAddedCopy(producer) &&
         llvm::none_of(producer.getDpsInputs(),
                       [](Value value) { return value.getDefiningOp<linalg::LinalgOp>(); });
}

/// Microseconds of `ops`, the last of which is cut, and of the kernel that adds up the parts, with
/// the config of the first kernel.
static std::optional<PredictedKernel>
predictParts(ArrayRef<linalg::LinalgOp> ops, const Split &split, TargetAttr target) {
  linalg::LinalgOp last = ops.back();
  IRRewriter rewriter(last->getContext());
  rewriter.setInsertionPoint(last);
  IRMapping mapping;
  SmallVector<linalg::LinalgOp> sketch;
  for (linalg::LinalgOp op : ops)
    sketch.push_back(cast<linalg::LinalgOp>(rewriter.clone(*op, mapping)));
  auto partial =
      splitReduction(rewriter, cast<linalg::GenericOp>(sketch.back().getOperation()), split);
  auto sum = cast<linalg::LinalgOp>(*partial->user_begin());
  sketch.back() = cast<linalg::LinalgOp>(partial.getOperation());
  std::optional<PredictedKernel> found = predictKernel(sketch, target);
  std::optional<double> ofSum = predictTime(sum, target);
  SmallVector<Operation *> dead{sum};
  for (linalg::LinalgOp op : llvm::reverse(sketch))
    dead.push_back(op);
  for (Value start : partial.getOutputs()) {
    auto fill = start.getDefiningOp<linalg::FillOp>();
    dead.append({fill, fill.getInputs()[0].getDefiningOp(), fill.getOutputs()[0].getDefiningOp()});
  }
  for (Operation *op : dead)
    op->erase();
  if (!found || !ofSum)
    return std::nullopt;
  found->time += *ofSum + launchTime(target);
  return found;
}

/// Whether the parts of a sum are for the blocks of a cluster, which add them up in one
/// kernel: as its pinned config says, or where that is what ranks first for such a kernel.
/// Then `op` is marked kClusterSumAttr.
static bool markClusterSum(linalg::LinalgOp op, TargetAttr target) {
  auto mark = UnitAttr::get(op->getContext());
  if (auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr)) {
    bool asks = config.isWarpSpecialized() && clusterSumLoop(op, config);
    if (asks)
      op->setAttr(kClusterSumAttr, mark);
    return asks;
  }
  if (!target.has("warpgroup_mma") || !target.has("multicast") || !matchContraction(op) ||
      llvm::any_of(op.getDpsInputs(), [&](Value input) { return isComputedForOp(input, op); }))
    return false;
  OrRefusal<Split> split = chooseSplit(op, target);
  if (!split)
    return false;
  op->setAttr(kClusterSumAttr, mark);
  std::optional<PredictedKernel> best = predictKernel(op, target);
  bool inRing = best && best->config.isWarpSpecialized();
  if (inRing && clusterSumLoop(op, best->config))
    return true;
  op->removeAttr(kClusterSumAttr);
  if (!inRing)
    return false;
  // A second kernel costs more than multiprocessors that have no tile.
  if (fillsHalf(op, best->config, target))
    return true;
  std::optional<PredictedKernel> parts = predictParts(op, *split, target);
  return parts && best->time <= parts->time;
}

std::optional<PredictedKernel>
tilewright::predictWithParts(ArrayRef<linalg::LinalgOp> ops, TargetAttr target) {
  linalg::LinalgOp last = ops.back();
  if (markClusterSum(last, target))
    return predictKernel(ops, target);
  OrRefusal<Split> split = chooseSplit(last, target);
  return split ? predictParts(ops, *split, target) : predictKernel(ops, target);
}

namespace {
struct SplitReductionsPass
    : public tilewright::impl::SplitReductionsPassBase<SplitReductionsPass> {
  void runOnOperation() override {
    TargetAttr target = getTarget(getOperation());
    if (isKernel(getOperation()) || !target)
      return;
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && !op->hasAttr(kSplitAttr))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops) {
      if (markClusterSum(cast<linalg::LinalgOp>(op.getOperation()), target))
        continue;
      OrRefusal<Split> split = chooseSplit(cast<linalg::LinalgOp>(op.getOperation()), target);
      if (split) {
        rewriter.setInsertionPoint(op);
        (void)splitReduction(rewriter, op, *split);
        continue;
      }
      auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
      if (config && config.getSplits() > 1) {
        op.emitOpError() << "the pinned lowering config asks for " << config.getSplits()
                         << " 'splits' but " << split.why().str();
        signalPassFailure();
        continue;
      }
      if (!standsAlone(op))
        continue;
      if (auto guarded = chooseGuardedSplit(
              cast<linalg::LinalgOp>(op.getOperation()), target)) {
        rewriter.setInsertionPoint(op);
        splitReductionGuarded(rewriter, op, *guarded);
      }
    }
  }
};
} // namespace
