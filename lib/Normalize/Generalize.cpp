// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named structured ops become linalg.generic, so that later stages look at
// maps and bodies and never at names.
//
//   %r = linalg.matmul ins(%a, %b) outs(%c)
// becomes
//   %r = linalg.generic {maps = [(m,n,k)->(m,k), (m,n,k)->(k,n),
//                        (m,n,k)->(m,n)]} ins(%a, %b) outs(%c) { mul; add }
//
// linalg.softmax is decomposed (maximum, exp of difference, sum, quotient; of f16, bf16 and 8-bit
// floats in f32),
// tensor.concat puts its operands into windows of a new tensor, tensor.pad with a
// value that is no constant its source into a window of a filled one, and whatever
// has one value everywhere becomes linalg.fill.

#include "tilewright/Dialect/Combiners.h"
#include "tilewright/Dialect/GreedyRewrite.h"
#include "tilewright/Dialect/Padding.h"
#include "tilewright/Normalize/Normalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {
#define GEN_PASS_DEF_GENERALIZEPASS
#include "tilewright/Normalize/Passes.h.inc"
} // namespace tilewright

static Value createFill(OpBuilder &b, Location loc, Value scalar,
                        RankedTensorType type, ValueRange sizes) {
  Value empty = tensor::EmptyOp::create(b, loc, type, sizes);
  return linalg::FillOp::create(b, loc, scalar, empty).getResult(0);
}

/// The scalar that `op` repeats in its only result, or null.
static Value splattedScalar(OpBuilder &b, Operation *op) {
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    return splat.getInput();
  if (auto elements = dyn_cast<tensor::FromElementsOp>(op))
    return elements.getType().getRank() == 0 ? elements.getElements().front()
                                             : Value();
  auto constant = dyn_cast<arith::ConstantOp>(op);
  if (!constant || !isa<RankedTensorType>(constant.getType()))
    return {};
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  auto scalar =
      splat ? dyn_cast<TypedAttr>(splat.getSplatValue<Attribute>()) : nullptr;
  return scalar ? arith::ConstantOp::create(b, op->getLoc(), scalar) : Value();
}

static LogicalResult fillInsteadOfSplat(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  Value scalar = splattedScalar(rewriter, op);
  if (!scalar)
    return failure();
  SmallVector<Value> sizes;
  if (auto splat = dyn_cast<tensor::SplatOp>(op))
    sizes = splat.getDynamicSizes();
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  rewriter.replaceOp(op, createFill(rewriter, op->getLoc(), scalar, type, sizes));
  return success();
}

/// A constant stays: it is read, not written (Padding.h).
static void fillAndInsert(RewriterBase &rewriter, tensor::PadOp pad) {
  Value value = pad.getConstantPaddingValue();
  if (!value || getConstantFill(pad))
    return;
  rewriter.setInsertionPoint(pad);
  ReifiedRankedShapedTypeDims shapes;
  if (failed(reifyResultShapes(rewriter, pad, shapes)))
    return;
  Location loc = pad.getLoc();
  SmallVector<int64_t> shape;
  SmallVector<Value> sizes;
  dispatchIndexOpFoldResults(shapes.front(), sizes, shape);
  RankedTensorType type = pad.getType();
  Value padded =
      createFill(rewriter, loc, value, type.clone(shape), sizes);
  SmallVector<OpFoldResult> ones(type.getRank(), rewriter.getIndexAttr(1));
  Value whole = tensor::InsertSliceOp::create(
      rewriter, loc, pad.getSource(), padded, pad.getMixedLowPad(),
      tensor::getMixedSizes(rewriter, loc, pad.getSource()), ones);
  if (whole.getType() != type)
    whole = tensor::CastOp::create(rewriter, loc, type, whole);
  rewriter.replaceOp(pad, whole);
}

static LogicalResult generalizeOp(RewriterBase &rewriter,
                                  linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics() || isa<linalg::GenericOp, linalg::FillOp>(op))
    return success();
  SmallVector<std::pair<StringRef, Attribute>> decisions{
      {kConfigAttr, op->getAttr(kConfigAttr)}, {kAtLoadAttr, op->getAttr(kAtLoadAttr)},
      {kAssociativeAttr, op->getAttr(kAssociativeAttr)}};
  rewriter.setInsertionPoint(op);
  FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, op);
  if (failed(generic))
    return success(); // reported by check-normalized
  for (auto [name, decision] : decisions)
    if (decision)
      (*generic)->setAttr(name, decision);
  return success();
}

/// The greatest number of a row begins with NaN in the decomposition, which maxnumf ignores. It
/// may as well begin with the least number: where nothing but NaN follows, the softmax is NaN
/// either way. What is never NaN takes fewer instructions on some targets.
static void fillWithLeast(RewriterBase &rewriter, linalg::FillOp fill) {
  FloatAttr number;
  Value filled = fill.getInputs().front();
  if (!matchPattern(filled, m_Constant(&number)) || !number.getValue().isNaN())
    return;
  auto type = cast<FloatType>(filled.getType());
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(fill);
  Value least = arith::ConstantOp::create(
      rewriter, fill.getLoc(),
      rewriter.getFloatAttr(type, APFloat::getInf(type.getFloatSemantics(), /*Negative=*/true)));
  rewriter.modifyOpInPlace(fill, [&] { fill.getInputsMutable().assign(least); });
}

linalg::SoftmaxOp tilewright::widenSoftmax(RewriterBase &rewriter, linalg::SoftmaxOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  if (type.getElementTypeBitWidth() >= 32)
    return {};
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  auto wide = cast<RankedTensorType>(type.clone(rewriter.getF32Type()));
  Value input = arith::ExtFOp::create(rewriter, loc, wide, op.getInput());
  Value init = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, op.getInput()), wide.getElementType());
  auto softmax =
      linalg::SoftmaxOp::create(rewriter, loc, wide, input, init, op.getDimension());
  rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, op.getResult().front().getType(),
                                               softmax.getResult().front());
  return softmax;
}

static LogicalResult decomposeSoftmax(RewriterBase &rewriter,
                                      linalg::SoftmaxOp op) {
  if (!op.hasPureTensorSemantics())
    return success();
  Type element = getElementTypeOrSelf(op.getInput().getType());
  if (!isa<FloatType>(element))
    return op.emitOpError()
           << "has elements of type " << element
           << ", and a softmax is of floats; convert them first "
              "(arith.sitofp)";
  if (linalg::SoftmaxOp wide = widenSoftmax(rewriter, op))
    op = wide;
  rewriter.setInsertionPoint(op);
  Operation *before = op->getPrevNode();
  FailureOr<SmallVector<Value>> parts = op.decomposeOperation(rewriter);
  if (failed(parts))
    return op.emitOpError(
        "cannot be decomposed; write it as linalg.generic ops");
  Operation *first = before ? before->getNextNode() : &op->getBlock()->front();
  for (Operation &part : llvm::make_range(first->getIterator(), op->getIterator()))
    if (auto fill = dyn_cast<linalg::FillOp>(part))
      fillWithLeast(rewriter, fill);
  // The decomposition writes into the init of the op, of which only the shape
  // matters.
  rewriter.replaceOp(op, *parts);
  return success();
}

LogicalResult tilewright::generalizeFunction(func::FuncOp func) {
  IRRewriter rewriter(func.getContext());
  SmallVector<Operation *> splats;
  SmallVector<linalg::SoftmaxOp> softmaxes;
  SmallVector<tensor::PadOp> pads;
  func.walk([&](Operation *op) {
    if (isa<tensor::SplatOp, tensor::FromElementsOp, arith::ConstantOp>(op))
      splats.push_back(op);
    if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op))
      softmaxes.push_back(softmax);
    if (auto pad = dyn_cast<tensor::PadOp>(op))
      pads.push_back(pad);
  });
  for (tensor::PadOp pad : pads)
    fillAndInsert(rewriter, pad);
  for (linalg::SoftmaxOp op : softmaxes)
    if (failed(decomposeSoftmax(rewriter, op)))
      return failure();
  for (Operation *op : splats)
    (void)fillInsteadOfSplat(rewriter, op);

  // Elementwise arith and math ops on tensors; concatenations, which fill the
  // windows of a new tensor.
  RewritePatternSet patterns(func.getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  tensor::populateDecomposeTensorConcatPatterns(patterns);
  if (failed(applyPatternsBounded(func, std::move(patterns), "normalize",
                                  "conversion of elementwise ops on tensors")))
    return failure();

  SmallVector<linalg::LinalgOp> ops;
  func.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  for (linalg::LinalgOp op : ops)
    if (failed(generalizeOp(rewriter, op)))
      return failure();
  return success();
}

namespace {
struct GeneralizePass
    : public tilewright::impl::GeneralizePassBase<GeneralizePass> {
  void runOnOperation() override {
    if (failed(generalizeFunction(getOperation())))
      signalPassFailure();
  }
};
} // namespace
