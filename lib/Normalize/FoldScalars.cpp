// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Front ends compute numbers as tensors, which would be kernels:
//
//   %n = linalg.fill ins(128.0) outs(%e : tensor<f32>)
//   %c = linalg.generic <()->(), ()->()> ins(%n) outs(%e) { subf %in, %ddof }
//   %s = tensor.extract %c[]
// becomes
//   %s = arith.subf 128.0, %ddof
//
// What has the same value everywhere is computed once, outside, and fills a tensor where
// one is asked for. An element at a known place of what was put together of pieces, a shape
// say, is that of its piece:
//
//   %s = tensor.insert_slice %heads into %shape[2] [1] [1]
//   %n = tensor.extract %s[%c2]                              // of %heads
//
// So is one such element that is read everywhere:
//
//   %s = tensor.extract_slice %shape[2] [1] [1]              // %shape: tensor.from_elements
//   linalg.generic <(i) -> (i), (i) -> (), …> ins(%x, %s)    // reads the third of its scalars
//
// A constant of f32 that is rounded to f16, a scale say, is a constant: MLIR folds it only
// where it loses nothing.

#include "Capture.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_FOLDSCALARSPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

/// The body computes with scalars from outside alone, in what the host has, too, and writes all
/// elements of the inits.
static bool isSameEverywhere(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr) || !op.getNumResults() ||
      op.getNumReductionLoops() != 0 ||
      llvm::any_of(op.getDpsInitsMutable(),
                   [&](OpOperand &init) {
                     return !op.getMatchingIndexingMap(&init).isPermutation();
                   }) ||
      llvm::any_of(op.getBody()->getArguments(), [](BlockArgument a) { return !a.use_empty(); }))
    return false;
  return llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
    return isa<arith::ArithDialect, math::MathDialect>(inner.getDialect());
  });
}

/// The one element of a tensor that was made of scalars, or is one of several of these; or null.
static Value onlyElementOf(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1)
    return {};
  int64_t number = 0;
  if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
    if (!slice.getSourceType().hasStaticShape())
      return {};
    for (auto [offset, size] :
         llvm::zip_equal(slice.getStaticOffsets(), slice.getSourceType().getShape())) {
      if (ShapedType::isDynamic(offset))
        return {};
      number = number * size + offset;
    }
    tensor = slice.getSource();
  }
  auto made = tensor.getDefiningOp<tensor::FromElementsOp>();
  return made ? made.getElements()[number] : Value();
}

/// The one value that `operand` of a structured op has everywhere, or null.
static Value scalarOf(OpOperand *operand) {
  if (!isa<ShapedType>(operand->get().getType()))
    return operand->get();
  if (auto fill = operand->get().getDefiningOp<linalg::FillOp>())
    return fill.hasPureTensorSemantics() ? fill.getInputs()[0] : Value();
  return onlyElementOf(operand->get());
}

/// The body reads as an input what a result begins with, in an op that reduces: the init's number
/// is that only in the first iteration.
static bool readsStart(linalg::GenericOp op) {
  return op.getNumReductionLoops() != 0 &&
         llvm::any_of(op.getDpsInputOperands(), [&](OpOperand *input) {
           return llvm::is_contained(op.getDpsInits(), input->get()) &&
                  !op.getMatchingBlockArgument(input).use_empty();
         });
}

namespace {
/// A body uses the value with which an input is filled; nothing reads the input then.
struct ReadFilled : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op->hasAttr(kConfigAttr))
      return failure();
    return captureInputs(rewriter, op, scalarOf);
  }
};

/// An element at a known place is read where it comes from.
struct ReadPiece : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<int64_t> place;
    for (Value index : op.getIndices()) {
      std::optional<int64_t> constant = getConstantIntValue(index);
      if (!constant || *constant < 0)
        return failure();
      place.push_back(*constant);
    }
    Value source = op.getTensor();
    while (Value piece = pieceOf(source, place))
      source = piece;
    if (auto fill = source.getDefiningOp<linalg::FillOp>();
        fill && fill.hasPureTensorSemantics()) {
      rewriter.replaceOp(op, fill.getInputs()[0]);
      return success();
    }
    if (source == op.getTensor())
      return failure();
    SmallVector<Value> indices;
    for (int64_t index : place)
      indices.push_back(arith::ConstantIndexOp::create(rewriter, op.getLoc(), index));
    rewriter.replaceOpWithNewOp<tensor::ExtractOp>(op, source, indices);
    return success();
  }

private:
  /// What the element of `tensor` at `place`, which moves along, is an element of; null where
  /// `tensor` is no window and not put together, or nobody knows which piece it is.
  static Value pieceOf(Value tensor, SmallVectorImpl<int64_t> &place) {
    auto isKnown = [&](OffsetSizeAndStrideOpInterface window) {
      return window.getStaticOffsets().size() == place.size() &&
             llvm::none_of(llvm::concat<const int64_t>(window.getStaticOffsets(),
                                                       window.getStaticSizes()),
                           ShapedType::isDynamic) &&
             llvm::all_of(window.getStaticStrides(), [](int64_t s) { return s == 1; });
    };
    if (auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>()) {
      if (!isKnown(slice) || slice.getType().getRank() != int64_t(place.size()))
        return {};
      for (auto [index, offset] : llvm::zip_equal(place, slice.getStaticOffsets()))
        index += offset;
      return slice.getSource();
    }
    auto insert = tensor.getDefiningOp<tensor::InsertSliceOp>();
    if (!insert || !isKnown(insert) ||
        insert.getSourceType().getRank() != int64_t(place.size()))
      return {};
    SmallVector<int64_t> inside;
    for (auto [index, offset, size] :
         llvm::zip_equal(place, insert.getStaticOffsets(), insert.getStaticSizes())) {
      if (index < offset || index >= offset + size)
        return insert.getDest();
      inside.push_back(index - offset);
    }
    place.assign(inside);
    return insert.getSource();
  }
};

/// A number that the host reads of what is computed from numbers alone is computed by the host of
/// those:
///
///   %n = linalg.generic <() -> (), () -> ()> ins(%position : tensor<i32>) { addi %in, 1 }
///   %i = tensor.extract %n[]
/// becomes
///   %p = tensor.extract %position[];  %i = addi %p, 1
struct ReadComputedNumber : OpRewritePattern<tensor::ExtractOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractOp extract,
                                PatternRewriter &rewriter) const override {
    auto op = extract.getTensor().getDefiningOp<linalg::GenericOp>();
    if (!op || op.getNumLoops() != 0 || !op.hasPureTensorSemantics() ||
        op->hasAttr(kConfigAttr) || op->getBlock() != extract->getBlock() ||
        !llvm::all_of(op.getBody()->without_terminator(), [](Operation &inner) {
          return isa<arith::ArithDialect, math::MathDialect>(inner.getDialect()) &&
                 isSpeculatable(&inner);
        }))
      return failure();
    auto isRead = [&](OpOperand &operand) {
      return !op.getMatchingBlockArgument(&operand).use_empty();
    };
    // What has known scalars becomes a fill with what is computed of them.
    bool hasTensors = false;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (isRead(operand) && type && (type.getRank() || scalarOf(&operand)))
        return failure();
      hasTensors |= isRead(operand) && type;
    }
    if (!hasTensors)
      return failure();
    IRMapping mapping;
    for (OpOperand &operand : op->getOpOperands()) {
      Value number = operand.get();
      if (!isRead(operand))
        continue;
      if (isa<RankedTensorType>(number.getType()))
        number = tensor::ExtractOp::create(rewriter, extract.getLoc(), number, ValueRange());
      mapping.map(op.getMatchingBlockArgument(&operand), number);
    }
    for (Operation &inner : op.getBody()->without_terminator())
      rewriter.clone(inner, mapping);
    unsigned result = cast<OpResult>(extract.getTensor()).getResultNumber();
    rewriter.replaceOp(extract, mapping.lookupOrDefault(
                                    op.getBody()->getTerminator()->getOperand(result)));
    return success();
  }
};

/// A constant is rounded here as it would be where the program runs.
struct RoundConstant : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    FloatAttr number;
    if (op.getRoundingmode() || !isa<Float16Type, BFloat16Type, Float32Type>(op.getType()) ||
        !matchPattern(op.getIn(), m_Constant(&number)))
      return failure();
    APFloat value = number.getValue();
    bool loses;
    value.convert(cast<FloatType>(op.getType()).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &loses);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op,
                                                   rewriter.getFloatAttr(op.getType(), value));
    return success();
  }
};

struct FillInsteadOfGeneric : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp op,
                                PatternRewriter &rewriter) const override {
    if (!isSameEverywhere(op))
      return failure();
    // Where there may be no element, nothing is divided by 0.
    bool hasElements = llvm::all_of(op.getStaticLoopRanges(), [](int64_t extent) {
      return !ShapedType::isDynamic(extent) && extent > 0;
    });
    if (!hasElements && !llvm::all_of(op.getBody()->without_terminator(),
                                       [](Operation &inner) { return isSpeculatable(&inner); }))
      return rewriter.notifyMatchFailure(op, "has ops that only elements may carry out");
    IRMapping mapping;
    for (Operation &inner : op.getBody()->without_terminator())
      rewriter.clone(inner, mapping);
    SmallVector<Value> filled;
    for (auto [scalar, init] : llvm::zip_equal(
             op.getBody()->getTerminator()->getOperands(), op.getDpsInits()))
      filled.push_back(linalg::FillOp::create(rewriter, op.getLoc(),
                                              mapping.lookupOrDefault(scalar), init)
                           .getResult(0));
    rewriter.replaceOp(op, filled);
    return success();
  }
};

/// A pattern of MLIR that takes inputs which are an init for the same number as the init.
struct UnlessStartIsRead : RewritePattern {
  UnlessStartIsRead(std::unique_ptr<RewritePattern> pattern)
      : RewritePattern(linalg::GenericOp::getOperationName(), pattern->getBenefit(),
                       pattern->getContext()),
        pattern(std::move(pattern)) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (readsStart(cast<linalg::GenericOp>(op)))
      return rewriter.notifyMatchFailure(op, "reads what it begins with");
    return pattern->matchAndRewrite(op, rewriter);
  }

private:
  std::unique_ptr<RewritePattern> pattern;
};
} // namespace

LogicalResult tilewright::foldScalars(func::FuncOp func) {
  MLIRContext *context = func.getContext();
  RewritePatternSet patterns(context);
  linalg::FillOp::getCanonicalizationPatterns(patterns, context);
  RewritePatternSet erasing(context);
  linalg::populateEraseUnnecessaryInputsPatterns(erasing);
  for (std::unique_ptr<RewritePattern> &pattern : erasing.getNativePatterns())
    patterns.add(std::make_unique<UnlessStartIsRead>(std::move(pattern)));
  patterns.add<FillInsteadOfGeneric, ReadFilled, ReadPiece, ReadComputedNumber, RoundConstant>(
      context);
  return applyPatternsBounded(func, std::move(patterns), "normalize",
                              "folding of scalars");
}

namespace {
struct FoldScalarsPass : public tilewright::impl::FoldScalarsPassBase<FoldScalarsPass> {
  void runOnOperation() override {
    if (failed(foldScalars(getOperation())))
      signalPassFailure();
  }
};
} // namespace
