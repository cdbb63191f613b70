// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors on the host: how they are made, named again and looked at, as calls
// of the runtime's functions on views.

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Dialect/UserNames.h"
#include "tilewright/Target/Host/ConvertHost.h"
#include "tilewright/Target/Host/Host.h"
#include "tilewright/Target/Host/HostCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

/// The runtime's number for the elements of `type`, or 0 with an error.
static int32_t getDType(Operation *op, Type type) {
  int32_t number = getDTypeNumber(getElementTypeOrSelf(type));
  if (!number)
    op->emitOpError() << "has elements of type " << getElementTypeOrSelf(type)
                      << ", which the runtime does not have";
  return number;
}

/// Bytes of one element in memory.
static int64_t getElementBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

static Value createIndices(OpBuilder &builder, Location loc,
                           ValueRange indices) {
  SmallVector<Value> values;
  for (Value index : indices)
    values.push_back(
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), index));
  return createArray(builder, loc, builder.getI64Type(), values);
}

static Value createDim(OpBuilder &builder, Location loc, Value context,
                       Value view, int64_t dim, int64_t rank) {
  return callSupport(builder, loc, "twh_dim", builder.getI64Type(),
                     {context, view, createI64(builder, loc, dim),
                      createI64(builder, loc, rank)});
}

namespace {
//===----------------------------------------------------------------------===//
// New tensors
//===----------------------------------------------------------------------===//

struct EmptyLowering : OpConversionPattern<tensor::EmptyOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::EmptyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int32_t dtype = getDType(op, op.getType());
    if (!dtype)
      return failure();
    Location loc = op.getLoc();
    Value dims = createDims(rewriter, loc, op.getType().getShape(),
                            adaptor.getDynamicSizes());
    rewriter.replaceOp(
        op,
        callSupport(rewriter, loc, "twh_alloc", getPointer(rewriter),
                    {getCallContext(op), createI32(rewriter, loc, dtype),
                     createI32(rewriter, loc, op.getType().getRank()), dims}));
    return success();
  }
};

struct AllocTensorLowering : OpConversionPattern<bufferization::AllocTensorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(bufferization::AllocTensorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!op.getCopy()) {
      rewriter.replaceOpWithNewOp<tensor::EmptyOp>(op, op.getType(),
                                                   op.getDynamicSizes());
      return success();
    }
    rewriter.replaceOp(op,
                       callSupport(rewriter, op.getLoc(), "twh_clone",
                                   getPointer(rewriter),
                                   {getCallContext(op), adaptor.getCopy()}));
    return success();
  }
};

/// A constant of the runtime, with data of its own or computed at load.
template <typename Op> struct ConstantLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto id = op->template getAttrOfType<IntegerAttr>(kConstantIdAttr);
    if (!id)
      return rewriter.notifyMatchFailure(op, "not a tensor constant");
    rewriter.replaceOp(
        op,
        callSupport(rewriter, op.getLoc(), "twh_constant", getPointer(rewriter),
                    {getCallContext(op),
                     createI32(rewriter, op.getLoc(), id.getInt())}));
    return success();
  }
};

struct FromElementsLowering : OpConversionPattern<tensor::FromElementsOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::FromElementsOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    int32_t dtype = getDType(op, op.getType());
    if (!dtype)
      return failure();
    Location loc = op.getLoc();
    Value context = getCallContext(op);
    auto type = cast<RankedTensorType>(op.getType());
    Value view = callSupport(rewriter, loc, "twh_alloc", getPointer(rewriter),
                             {context, createI32(rewriter, loc, dtype),
                              createI32(rewriter, loc, type.getRank()),
                              createDims(rewriter, loc, type.getShape(), {})});
    SmallVector<Value> slots;
    for (Value element : adaptor.getElements())
      slots.push_back(toSlot(rewriter, loc, element));
    callSupport(
        rewriter, loc, "twh_fill", Type(),
        {context, view,
         createI32(rewriter, loc, getElementBytes(type.getElementType())),
         createI64(rewriter, loc, slots.size()),
         createArray(rewriter, loc, rewriter.getI64Type(), slots)});
    rewriter.replaceOp(op, view);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The same tensor again
//===----------------------------------------------------------------------===//

/// "tensor.cast: dim 0 is not what was promised", or, of a cast that another op needs,
/// "linalg.matmul (line 4): dim 0 of %c is not what was promised".
static std::string nameCast(tensor::CastOp op, int64_t dim) {
  bool isWritten = nameOp(op) == tensor::CastOp::getOperationName();
  std::string text = isWritten ? nameOp(op).str() : nameOpAndLine(op);
  text += ": dim " + std::to_string(dim);
  if (StringRef name = getWrittenName(op.getSource()); !isWritten && !name.empty())
    text += " of " + name.str();
  return text + " is not what was promised";
}

struct CastLowering : OpConversionPattern<tensor::CastOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::CastOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto from = dyn_cast<RankedTensorType>(op.getSource().getType());
    auto to = dyn_cast<RankedTensorType>(op.getType());
    if (!from || !to)
      return op.emitOpError("of an unranked tensor cannot run on the host");
    Value context = getCallContext(op);
    for (int64_t d = 0; d < to.getRank(); ++d) {
      if (to.isDynamicDim(d) || !from.isDynamicDim(d))
        continue;
      Value size = createDim(rewriter, loc, context, adaptor.getSource(), d,
                             from.getRank());
      Value message = createString(rewriter, loc, nameCast(op, d));
      callSupport(
          rewriter, loc, "twh_check_equal", Type(),
          {context, size, createI64(rewriter, loc, to.getDimSize(d)), message});
    }
    rewriter.replaceOp(op, share(rewriter, loc, context, adaptor.getSource()));
    return success();
  }
};

/// One of two tensors, which branches without other work become.
struct SelectLowering : OpConversionPattern<arith::SelectOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::SelectOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isa<TensorType>(op.getType()))
      return rewriter.notifyMatchFailure(op, "not of tensors");
    if (!op.getCondition().getType().isInteger(1))
      return op.emitOpError("selects elements; write it as linalg.generic");
    Location loc = op.getLoc();
    Value chosen = arith::SelectOp::create(
        rewriter, loc, adaptor.getCondition(), adaptor.getTrueValue(),
        adaptor.getFalseValue());
    rewriter.replaceOp(op, share(rewriter, loc, getCallContext(op), chosen));
    return success();
  }
};

template <typename Op> struct ReshapeLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value context = getCallContext(op);
    Type i64 = rewriter.getI64Type();
    RankedTensorType to = op.getResultType();
    SmallVector<Value> dims;
    if constexpr (std::is_same_v<Op, tensor::ExpandShapeOp>) {
      ValueRange dynamic = adaptor.getOutputShape();
      for (int64_t size : op.getStaticOutputShape()) {
        if (!ShapedType::isDynamic(size)) {
          dims.push_back(createI64(rewriter, loc, size));
          continue;
        }
        dims.push_back(
            arith::IndexCastOp::create(rewriter, loc, i64, dynamic.front()));
        dynamic = dynamic.drop_front();
      }
    } else {
      RankedTensorType from = op.getSrcType();
      for (const ReassociationIndices &group : op.getReassociationIndices()) {
        Value size = createI64(rewriter, loc, 1);
        for (int64_t d : group) {
          Value factor = from.isDynamicDim(d)
                             ? createDim(rewriter, loc, context,
                                         adaptor.getSrc(), d, from.getRank())
                             : createI64(rewriter, loc, from.getDimSize(d));
          size = arith::MulIOp::create(rewriter, loc, size, factor);
        }
        dims.push_back(size);
      }
    }
    rewriter.replaceOp(
        op, callSupport(rewriter, loc, "twh_reshape", getPointer(rewriter),
                        {context, adaptor.getSrc(),
                         createI32(rewriter, loc, to.getRank()),
                         createArray(rewriter, loc, i64, dims)}));
    return success();
  }
};

struct ToTensorLowering : OpConversionPattern<bufferization::ToTensorOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(bufferization::ToTensorOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, share(rewriter, op.getLoc(), getCallContext(op),
                                 adaptor.getBuffer()));
    return success();
  }
};

struct MaterializeLowering
    : OpConversionPattern<bufferization::MaterializeInDestinationOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(bufferization::MaterializeInDestinationOp op,
                  OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Value context = getCallContext(op);
    callSupport(rewriter, op.getLoc(), "twh_copy", Type(),
                {context, adaptor.getDest(), adaptor.getSource()});
    if (op.getNumResults())
      rewriter.replaceOp(
          op, share(rewriter, op.getLoc(), context, adaptor.getDest()));
    else
      rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Looking at tensors
//===----------------------------------------------------------------------===//

template <typename Op> struct DimLowering : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto type = dyn_cast<ShapedType>(op.getSource().getType());
    if (!type || !type.hasRank())
      return op.emitOpError("of an unranked tensor cannot run on the host");
    Value dim = arith::IndexCastOp::create(rewriter, loc, rewriter.getI64Type(),
                                           adaptor.getIndex());
    Value size = callSupport(rewriter, loc, "twh_dim", rewriter.getI64Type(),
                             {getCallContext(op), adaptor.getSource(), dim,
                              createI64(rewriter, loc, type.getRank())});
    rewriter.replaceOpWithNewOp<arith::IndexCastOp>(op, rewriter.getIndexType(),
                                                    size);
    return success();
  }
};

struct ExtractLowering : OpConversionPattern<tensor::ExtractOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::ExtractOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    if (!getDType(op, op.getType()))
      return failure();
    Value slot =
        callSupport(rewriter, loc, "twh_extract", rewriter.getI64Type(),
                    {getCallContext(op), adaptor.getTensor(),
                     createI32(rewriter, loc, getElementBytes(op.getType())),
                     createI32(rewriter, loc, adaptor.getIndices().size()),
                     createIndices(rewriter, loc, adaptor.getIndices())});
    rewriter.replaceOp(op, fromSlot(rewriter, loc, slot, op.getType()));
    return success();
  }
};

struct InsertLowering : OpConversionPattern<tensor::InsertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(tensor::InsertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type element = op.getScalar().getType();
    if (!getDType(op, element))
      return failure();
    Value context = getCallContext(op);
    Value view = callSupport(rewriter, loc, "twh_clone", getPointer(rewriter),
                             {context, adaptor.getDest()});
    callSupport(rewriter, loc, "twh_insert", Type(),
                {context, view,
                 createI32(rewriter, loc, getElementBytes(element)),
                 createI32(rewriter, loc, adaptor.getIndices().size()),
                 createIndices(rewriter, loc, adaptor.getIndices()),
                 toSlot(rewriter, loc, adaptor.getScalar())});
    rewriter.replaceOp(op, view);
    return success();
  }
};
} // namespace

void host::populateTensorPatterns(const TypeConverter &converter,
                                  RewritePatternSet &patterns) {
  patterns.add<EmptyLowering, AllocTensorLowering,
               ConstantLowering<arith::ConstantOp>, ConstantLowering<LoadedOp>,
               FromElementsLowering, CastLowering, SelectLowering,
               ReshapeLowering<tensor::ExpandShapeOp>,
               ReshapeLowering<tensor::CollapseShapeOp>, ToTensorLowering,
               MaterializeLowering, DimLowering<tensor::DimOp>,
               DimLowering<memref::DimOp>, ExtractLowering, InsertLowering>(
      converter, patterns.getContext());
}
