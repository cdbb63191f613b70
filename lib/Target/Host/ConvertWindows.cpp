// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices, pads and windows of convolutions on the host: views that the runtime
// makes of other views.

#include "tilewright/Target/Host/ConvertHost.h"
#include "tilewright/Target/Host/Host.h"
#include "tilewright/Target/Host/HostCalls.h"

#include "tilewright/Dialect/Picks.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dialect/UserNames.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

/// The window of `source` that a slice op names.
static Value createWindow(OpBuilder &builder, Location loc, Value context,
                          Value source, ArrayRef<int64_t> staticOffsets,
                          ValueRange offsets, ArrayRef<int64_t> staticSizes,
                          ValueRange sizes, ArrayRef<int64_t> staticStrides,
                          ValueRange strides,
                          const llvm::SmallBitVector &dropped) {
  int64_t mask = 0;
  for (unsigned dim : dropped.set_bits())
    mask |= int64_t(1) << dim;
  return callSupport(
      builder, loc, "twh_window", getPointer(builder),
      {context, source, createI32(builder, loc, staticSizes.size()),
       createDims(builder, loc, staticOffsets, offsets),
       createDims(builder, loc, staticSizes, sizes),
       createDims(builder, loc, staticStrides, strides),
       createI64(builder, loc, mask)});
}

namespace {
struct ExtractSliceLowering : OpConversionPattern<tensor::ExtractSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::ExtractSliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(
        op, createWindow(rewriter, op.getLoc(), getCallContext(op),
                         adaptor.getSource(), op.getStaticOffsets(),
                         adaptor.getOffsets(), op.getStaticSizes(),
                         adaptor.getSizes(), op.getStaticStrides(),
                         adaptor.getStrides(), op.getDroppedDims()));
    return success();
  }
};

struct Im2colLowering : OpConversionPattern<Im2colOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Im2colOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<int64_t> steps;
    for (int64_t dim = 0; dim < op.getSourceType().getRank(); ++dim)
      llvm::append_range(steps, op.getSteps(dim));
    rewriter.replaceOp(
        op, callSupport(rewriter, loc, "twh_im2col", getPointer(rewriter),
                        {getCallContext(op), adaptor.getSource(),
                         createI32(rewriter, loc, op.getType().getRank()),
                         createDims(rewriter, loc, op.getType().getShape(),
                                    adaptor.getSizes()),
                         createI32(rewriter, loc, op.getSourceType().getRank()),
                         createDims(rewriter, loc, steps, {}),
                         createString(rewriter, loc, addLine("op with windows", op))}));
    return success();
  }
};

/// Kernels know which matrices the table names.
struct PickLowering : OpConversionPattern<PickOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(PickOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, share(rewriter, op.getLoc(), getCallContext(op), adaptor.getSource()));
    return success();
  }
};

/// What is outside of the source is the kernels' business: they know the value.
struct PadLowering : OpConversionPattern<tensor::PadOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::PadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    rewriter.replaceOp(
        op, callSupport(rewriter, loc, "twh_pad", getPointer(rewriter),
                        {getCallContext(op), adaptor.getSource(),
                         createI32(rewriter, loc, op.getType().getRank()),
                         createDims(rewriter, loc, op.getStaticLow(),
                                    adaptor.getLow()),
                         createDims(rewriter, loc, op.getStaticHigh(),
                                    adaptor.getHigh()),
                         createString(rewriter, loc, addLine("tensor.pad", op))}));
    return success();
  }
};

/// prepare-destinations made the destination one that may be overwritten, and
/// marked insertions whose source is in place.
struct InsertSliceLowering : OpConversionPattern<tensor::InsertSliceOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::InsertSliceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value context = getCallContext(op);
    if (!op->hasAttr(kInPlaceAttr)) {
      Value window = createWindow(
          rewriter, loc, context, adaptor.getDest(), op.getStaticOffsets(),
          adaptor.getOffsets(), op.getStaticSizes(), adaptor.getSizes(),
          op.getStaticStrides(), adaptor.getStrides(), op.getDroppedDims());
      callSupport(rewriter, loc, "twh_copy", Type(),
                  {context, window, adaptor.getSource()});
      callSupport(rewriter, loc, "twh_release", Type(), {context, window});
    }
    rewriter.replaceOp(op, share(rewriter, loc, context, adaptor.getDest()));
    return success();
  }
};
} // namespace

void host::populateWindowPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<ExtractSliceLowering, Im2colLowering, PadLowering, PickLowering,
               InsertSliceLowering>(converter, patterns.getContext());
}
