// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads through ops that only move elements, and cleans what a body captures.
//
//   %t = linalg.generic <(i,j)->(j,i), (i,j)->(i,j)> ins(%b) { yield %in }
//   %r = linalg.generic <matmul> ins(%a, %t) outs(%z)
// becomes
//   %r = linalg.generic <matmul, map of b transposed> ins(%a, %b) outs(%z)
//
// Dims of size one are dropped with reshapes at the edge of the program; between
// ops the reshapes cancel.

#include "Capture.h"
#include "tilewright/Dialect/FoldCasts.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/MergeEqualValues.h"
#include "tilewright/Dialect/Windows.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_FOLDRELAYOUTSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

bool tilewright::isRelayout(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops())
    return false;
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  return yield.getValues().front() == op.getBody()->getArgument(0);
}

/// Elements that move through `operand` need not be materialised: its producer
/// is a relayout of a tensor. Of one that is filled, FillRelaidOut takes care.
static bool readsThroughRelayout(OpOperand *operand) {
  auto producer = operand->get().getDefiningOp<linalg::GenericOp>();
  if (!producer || producer->hasAttr(kConfigAttr))
    return false;
  // Tensors of indices are in no memory: whoever reads them converts by itself.
  if (getElementTypeOrSelf(operand->get().getType()).isIndex())
    return producer.getNumReductionLoops() == 0;
  Value source = isRelayout(producer) ? producer.getDpsInputOperand(0)->get() : Value();
  return source && isa<RankedTensorType>(source.getType()) &&
         !source.getDefiningOp<linalg::FillOp>();
}

namespace {
/// Elements that are all the same need not move. As an operand of windows, whose sizes it
/// gives to a convolution, the relayout would stay as a result of its own that nobody reads.
struct FillRelaidOut : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isRelayout(op) || op->hasAttr(kConfigAttr))
      return failure();
    auto fill = op.getDpsInputOperand(0)->get().getDefiningOp<linalg::FillOp>();
    if (!fill)
      return failure();
    rewriter.replaceOpWithNewOp<linalg::FillOp>(op, fill.value(), op.getOutputs()[0]);
    return success();
  }
};

/// Whether `op` widens its elements, each for itself, and nothing but slices of them is read.
bool isWidenedForSlices(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 1 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() || op.getBody()->getOperations().size() != 2 ||
      !llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::ExtractSliceOp>))
    return false;
  auto product = op.getDpsInputOperand(0)->get().getDefiningOp<linalg::LinalgOp>();
  Operation &widened = op.getBody()->front();
  return isa<arith::ExtFOp, arith::ExtSIOp, arith::ExtUIOp>(widened) &&
         widened.getOperand(0) == op.getBody()->getArgument(0) &&
         op.getBody()->getTerminator()->getOperand(0) == widened.getResult(0) &&
         !(product && product.getNumReductionLoops());
}

/// A slice of moved (or widened) elements is moved elements of a slice, where nobody needs all of
/// them: who reads the slice reads through, too.
struct SliceBeforeRelayout : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice,
                                PatternRewriter &rewriter) const override {
    auto op = slice.getSource().getDefiningOp<linalg::GenericOp>();
    if (!op || !(isRelayout(op) || isWidenedForSlices(op)) || op->hasAttr(kConfigAttr) ||
        !llvm::all_of(op->getUsers(), llvm::IsaPred<tensor::ExtractSliceOp, linalg::GenericOp>))
      return failure();
    OpOperand *input = op.getDpsInputOperand(0), *init = op.getDpsInitOperand(0);
    AffineMap read = op.getMatchingIndexingMap(input), written = op.getMatchingIndexingMap(init);
    auto source = dyn_cast<RankedTensorType>(input->get().getType());
    if (!source || !read.isProjectedPermutation() || !written.isPermutation() ||
        input->get().getDefiningOp<linalg::FillOp>())
      return failure();
    SmallVector<OpFoldResult> offsets, sizes, strides, all = slice.getMixedSizes();
    for (AffineExpr loop : read.getResults()) {
      unsigned dim = *written.getResultPosition(loop);
      offsets.push_back(slice.getMixedOffsets()[dim]);
      sizes.push_back(all[dim]);
      strides.push_back(slice.getMixedStrides()[dim]);
    }
    Location loc = slice.getLoc();
    Value part =
        tensor::ExtractSliceOp::create(rewriter, loc, input->get(), offsets, sizes, strides);
    Value empty = tensor::EmptyOp::create(rewriter, loc, all,
                                          getElementTypeOrSelf(op.getResult(0).getType()));
    auto moved = linalg::GenericOp::create(rewriter, loc, empty.getType(), part, empty,
                                           ArrayRef<AffineMap>{read, written},
                                           op.getIteratorTypesArray());
    rewriter.cloneRegionBefore(op.getRegion(), moved.getRegion(), moved.getRegion().begin());
    Value result = moved.getResult(0);
    if (llvm::SmallBitVector dropped = slice.getDroppedDims(); dropped.any())
      result = tensor::CollapseShapeOp::create(rewriter, loc, result, withoutDims(dropped));
    if (result.getType() != slice.getType())
      result = tensor::CastOp::create(rewriter, loc, slice.getType(), result);
    rewriter.replaceOp(slice, result);
    return success();
  }

  /// The dims that stay, each with the dims of one element next to it that do not.
  static SmallVector<ReassociationIndices> withoutDims(const llvm::SmallBitVector &dropped) {
    SmallVector<ReassociationIndices> groups;
    ReassociationIndices inFront;
    for (unsigned dim = 0; dim < dropped.size(); ++dim) {
      if (dropped.test(dim) && groups.empty()) {
        inFront.push_back(dim);
      } else if (dropped.test(dim)) {
        groups.back().push_back(dim);
      } else {
        groups.push_back(std::exchange(inFront, {}));
        groups.back().push_back(dim);
      }
    }
    return groups;
  }
};

/// A slice without the dims of one element that its source has only because it is expanded: a slice
/// of it without them, as others read it.
struct SliceWithoutUnits : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp slice,
                                PatternRewriter &rewriter) const override {
    auto expand = slice.getSource().getDefiningOp<tensor::ExpandShapeOp>();
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    if (!expand || dropped.none())
      return failure();
    SmallVector<int64_t> shape;
    SmallVector<ReassociationIndices> groups;
    SmallVector<OpFoldResult> sizes, offsets, taken, strides, all = expand.getMixedOutputShape();
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      groups.emplace_back();
      for (int64_t dim : group) {
        if (dropped.test(dim) && expand.getResultType().getDimSize(dim) == 1)
          continue;
        groups.back().push_back(shape.size());
        shape.push_back(expand.getResultType().getDimSize(dim));
        sizes.push_back(all[dim]);
        offsets.push_back(slice.getMixedOffsets()[dim]);
        taken.push_back(slice.getMixedSizes()[dim]);
        strides.push_back(slice.getMixedStrides()[dim]);
      }
    }
    if (shape.size() == size_t(expand.getResultType().getRank()) ||
        llvm::any_of(groups, [](const ReassociationIndices &group) { return group.empty(); }))
      return failure();
    Value source = expand.getSrc();
    if (groups.size() != shape.size())
      source = tensor::ExpandShapeOp::create(rewriter, expand.getLoc(),
                                             expand.getResultType().clone(shape), source, groups,
                                             sizes);
    rewriter.replaceOpWithNewOp<tensor::ExtractSliceOp>(slice, slice.getType(), source, offsets,
                                                        taken, strides);
    return success();
  }
};

/// A reshape that takes away the dims of one element that another one added, wherever it counts
/// them to:  collapse (expand %x : a x b into a x 1 x b) [[0, 1], [2]] is %x. Upstream's folding
/// knows it of dims of static size.
struct UnitsAddedAndTaken : OpRewritePattern<tensor::CollapseShapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::CollapseShapeOp collapse,
                                PatternRewriter &rewriter) const override {
    auto expand = collapse.getSrc().getDefiningOp<tensor::ExpandShapeOp>();
    if (!expand || expand.getSrcType() != collapse.getResultType())
      return failure();
    auto onlyUnits = [&](ArrayRef<ReassociationIndices> groups) {
      return llvm::all_of(groups, [&](const ReassociationIndices &group) {
        return llvm::count_if(group, [&](int64_t dim) {
                 return expand.getResultType().getDimSize(dim) != 1;
               }) <= 1;
      });
    };
    if (!onlyUnits(expand.getReassociationIndices()) ||
        !onlyUnits(collapse.getReassociationIndices()))
      return failure();
    rewriter.replaceOp(collapse, expand.getSrc());
    return success();
  }
};

/// An input that is a scalar (not a tensor) is used by the body directly; the
/// operand then is unused.
struct CaptureScalarInputs : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    return captureInputs(rewriter, op, [](OpOperand *input) {
      return isa<ShapedType>(input->get().getType()) ? Value() : input->get();
    });
  }
};

/// Upstream infers sizes of ops whose maps are permutations; this does it for those
/// with windows: where a loop runs over a dim of known size, the others that it runs
/// over by itself have that size, too.
struct InferWindowedSizes : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() ||
        llvm::all_of(op.getIndexingMapsArray(),
                     [](AffineMap map) { return map.isProjectedPermutation(); }))
      return failure();
    SmallVector<int64_t> extents(op.getNumLoops(), ShapedType::kDynamic);
    forEachPlainDim(op, [&](OpOperand &, RankedTensorType type, int64_t dim, unsigned loop) {
      if (!type.isDynamicDim(dim))
        extents[loop] = type.getDimSize(dim);
    });
    DenseMap<OpOperand *, SmallVector<int64_t>> known;
    forEachPlainDim(op, [&](OpOperand &operand, RankedTensorType type, int64_t dim,
                            unsigned loop) {
      if (!type.isDynamicDim(dim) || ShapedType::isDynamic(extents[loop]))
        return;
      known.try_emplace(&operand, type.getShape()).first->second[dim] = extents[loop];
    });
    if (known.empty())
      return failure();
    for (OpOperand &operand : op->getOpOperands())
      if (auto shape = known.find(&operand); shape != known.end())
        setShape(op, operand, shape->second, rewriter);
    return success();
  }

private:
  /// Calls `visit` for each dim that is indexed by a loop alone.
  static void forEachPlainDim(
      linalg::GenericOp op,
      llvm::function_ref<void(OpOperand &, RankedTensorType, int64_t, unsigned)> visit) {
    for (OpOperand &operand : op->getOpOperands())
      if (auto type = dyn_cast<RankedTensorType>(operand.get().getType()))
        for (auto [dim, expr] :
             llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
          if (auto loop = dyn_cast<AffineDimExpr>(expr))
            visit(operand, type, dim, loop.getPosition());
  }

  static void setShape(linalg::GenericOp op, OpOperand &operand, ArrayRef<int64_t> shape,
                       PatternRewriter &rewriter) {
    auto type = cast<RankedTensorType>(operand.get().getType());
    rewriter.setInsertionPoint(op);
    Value known = tensor::CastOp::create(rewriter, op.getLoc(), type.clone(shape), operand.get());
    rewriter.modifyOpInPlace(op, [&] { operand.set(known); });
    if (!op.isDpsInit(&operand))
      return;
    OpResult result = op.getTiedOpResult(&operand);
    rewriter.modifyOpInPlace(op, [&] { result.setType(type.clone(shape)); });
    rewriter.setInsertionPointAfter(op);
    auto back = tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    rewriter.replaceAllUsesExcept(result, back, back);
  }
};
} // namespace

/// What types know of sizes (`tensor.empty` of a constant, the other operand of
/// a matmul) is written into the types of everything that has that size, so
/// that dims of size one are seen as such below.
static LogicalResult inferStaticSizes(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  for (StringRef name : {linalg::LinalgDialect::getDialectNamespace(),
                         tensor::TensorDialect::getDialectNamespace()})
    context->getLoadedDialect(name)->getCanonicalizationPatterns(patterns);
  populateFoldCastsWithoutRegionPatterns(patterns);
  tensor::CastOp::getCanonicalizationPatterns(patterns, context);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, context);
  tensor::ExtractSliceOp::getCanonicalizationPatterns(patterns, context);
  tensor::InsertSliceOp::getCanonicalizationPatterns(patterns, context);
  patterns.add<InferWindowedSizes>(context);
  return applyPatternsBounded(func, std::move(patterns), "normalize",
                              "inference of static sizes");
}

/// Reads through relayouts. Has no canonicalization of tensor.empty: a size
/// that folds to a constant makes it a cast of a static tensor.empty, and a
/// cast is replaced by a tensor.empty of its type where it is the init of an
/// op.
static LogicalResult foldIntoReaders(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  linalg::populateElementwiseOpsFusionPatterns(patterns, readsThroughRelayout);
  populateMergeEqualValuesPatterns(patterns);
  linalg::populateMoveInitOperandsToInputPattern(patterns);
  patterns.add<CaptureScalarInputs, SliceBeforeRelayout>(context);
  patterns.add<FillRelaidOut>(context, /*benefit=*/2); // before upstream captures the number
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  tensor::DimOp::getCanonicalizationPatterns(patterns, context);
  return applyPatternsBounded(func, std::move(patterns), "normalize",
                              "folding of transposes and broadcasts");
}

/// Loops of size one that stay, because without them an input would be indexed
/// by one loop (or none) that does not run over all of its dim:
///   (oh, kh) -> (oh * 8 + kh), oh of 1, kh of 3, on a dim of 8.
static llvm::SmallBitVector loopsOfWideInputs(linalg::GenericOp op) {
  llvm::SmallBitVector kept(op.getNumLoops());
  SmallVector<int64_t> extents = op.getStaticLoopRanges();
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
      auto steps = getWindowSteps(expr, map.getNumDims());
      if (!type || !steps || isa<AffineDimExpr>(expr))
        continue;
      int64_t unit = -1, numOthers = 0, extent = 1;
      bool isPlain = true;
      for (auto [loop, step] : llvm::enumerate(*steps)) {
        if (!step)
          continue;
        if (extents[loop] == 1) {
          unit = unit < 0 ? loop : unit;
          continue;
        }
        ++numOthers;
        extent = extents[loop];
        isPlain &= step == 1;
      }
      if (unit >= 0 && numOthers < 2 && isPlain &&
          type.getDimSize(dim) != extent)
        kept.set(unit);
    }
  }
  return kept;
}

static LogicalResult dropUnitDims(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  linalg::ControlDropUnitDims control;
  auto everyDim = control.controlFn;
  control.controlFn = [everyDim](Operation *op) {
    SmallVector<unsigned> dims;
    if (op->hasAttr(kConfigAttr))
      return dims;
    dims = everyDim(op);
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      llvm::SmallBitVector kept = loopsOfWideInputs(generic);
      llvm::erase_if(dims, [&](unsigned dim) { return kept.test(dim); });
    }
    return dims;
  };
  RewritePatternSet unitDims(context);
  linalg::populateFoldUnitExtentDimsPatterns(unitDims, control);
  walkAndApplyPatterns(func, std::move(unitDims));

  // A slice loses its unit dims by a reshape, which cancels with that of what
  // reads it.
  RewritePatternSet slices(context);
  linalg::populateFoldUnitExtentDimsCanonicalizationPatterns(slices, control);
  linalg::populateMoveInitOperandsToInputPattern(slices);
  if (failed(applyPatternsBounded(func, std::move(slices), "normalize",
                                  "dropping of unit dims")))
    return failure();

  // A reshape that is left is folded into its slice again, which undoes the
  // patterns above: so they must not run together.
  RewritePatternSet reshapes(context);
  tensor::populateReassociativeReshapeFoldingPatterns(reshapes);
  reshapes.add<SliceWithoutUnits, UnitsAddedAndTaken>(context);
  tensor::CollapseShapeOp::getCanonicalizationPatterns(reshapes, context);
  tensor::ExpandShapeOp::getCanonicalizationPatterns(reshapes, context);
  return applyPatternsBounded(func, std::move(reshapes), "normalize",
                              "folding of reshapes into slices");
}

LogicalResult tilewright::foldRelayouts(func::FuncOp func) {
  if (failed(inferStaticSizes(func)) || failed(foldIntoReaders(func)) ||
      failed(dropUnitDims(func)))
    return failure();
  // A reduction over a dim of size one is an elementwise op now, and reads the
  // fill that it began with. Slices in front of what is moved may have dims of one again.
  if (failed(foldIntoReaders(func)) || failed(dropUnitDims(func)))
    return failure();
  return foldIntoReaders(func);
}

namespace {
struct FoldRelayoutsPass
    : public tilewright::impl::FoldRelayoutsPassBase<FoldRelayoutsPass> {
  void runOnOperation() override {
    if (failed(foldRelayouts(getOperation())))
      signalPassFailure();
  }
};
} // namespace
