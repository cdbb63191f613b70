// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host code without tensors: each is a pointer to one of the runtime's views.
//
//   %r = tilewright.dispatch @k(%x, %n : tensor<?xf32>, i32)
//          outs(%e : tensor<?xf32>) -> tensor<?xf32>
//
//   // views = [%x, %e], scalars = [%n] on the stack
//   llvm.call @twh_dispatch(%context, 0, 2, %views, 1, %scalars)
//   llvm.call @twh_retain(%context, %e)           // as %r
//
// Runtime functions are no-ops once an error is recorded, so this code checks
// nothing itself, except where the machine would trap or loop forever: integer
// division, and loops that data ends.

#include "tilewright/Target/Host/Passes.h"

#include "tilewright/Target/Host/HostCalls.h"
#include "tilewright/Target/Host/PrintOps.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/Host/Host.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilewright {
#define GEN_PASS_DEF_CONVERTHOSTPASS
#include "tilewright/Target/Host/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

static constexpr StringLiteral kConstantIdAttr = "tilewright.constant_id";

static Type getPointer(OpBuilder &builder) {
  return LLVM::LLVMPointerType::get(builder.getContext());
}

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
  return type.isIndex() ? 8
                        : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// Sizes of a shape as i64; `dynamic` gives those that are not static.
static Value createDims(OpBuilder &builder, Location loc,
                        ArrayRef<int64_t> shape, ValueRange dynamic) {
  SmallVector<Value> dims;
  for (int64_t size : shape) {
    if (!ShapedType::isDynamic(size)) {
      dims.push_back(createI64(builder, loc, size));
      continue;
    }
    dims.push_back(arith::IndexCastOp::create(builder, loc, builder.getI64Type(),
                                              dynamic.front()));
    dynamic = dynamic.drop_front();
  }
  return createArray(builder, loc, builder.getI64Type(), dims);
}

static Value createIndices(OpBuilder &builder, Location loc, ValueRange indices) {
  SmallVector<Value> values;
  for (Value index : indices)
    values.push_back(arith::IndexCastOp::create(builder, loc,
                                                builder.getI64Type(), index));
  return createArray(builder, loc, builder.getI64Type(), values);
}

/// Another reference to `view`.
static Value share(OpBuilder &builder, Location loc, Value context, Value view) {
  callSupport(builder, loc, "twh_retain", Type(), {context, view});
  return view;
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
        op, callSupport(rewriter, loc, "twh_alloc", getPointer(rewriter),
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
    rewriter.replaceOp(op, callSupport(rewriter, op.getLoc(), "twh_clone",
                                       getPointer(rewriter),
                                       {getCallContext(op), adaptor.getCopy()}));
    return success();
  }
};

struct ConstantLowering : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    auto id = op->getAttrOfType<IntegerAttr>(kConstantIdAttr);
    if (!id)
      return rewriter.notifyMatchFailure(op, "not a tensor constant");
    rewriter.replaceOp(
        op, callSupport(rewriter, op.getLoc(), "twh_constant",
                        getPointer(rewriter),
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
    Value view = callSupport(
        rewriter, loc, "twh_alloc", getPointer(rewriter),
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
      Value message = createString(
          rewriter, loc,
          "tensor.cast: dim " + std::to_string(d) + " is not what was promised");
      callSupport(rewriter, loc, "twh_check_equal", Type(),
                  {context, size, createI64(rewriter, loc, to.getDimSize(d)),
                   message});
    }
    rewriter.replaceOp(op, share(rewriter, loc, context, adaptor.getSource()));
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
        dims.push_back(arith::IndexCastOp::create(rewriter, loc, i64,
                                                  dynamic.front()));
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
      rewriter.replaceOp(op, share(rewriter, op.getLoc(), context,
                                   adaptor.getDest()));
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
    Value slot = callSupport(
        rewriter, loc, "twh_extract", rewriter.getI64Type(),
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

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

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
    std::string what = "op with windows";
    if (auto line = loc->findInstanceOf<FileLineColLoc>())
      what += " (line " + std::to_string(line.getLine()) + ")";
    rewriter.replaceOp(
        op, callSupport(rewriter, loc, "twh_im2col", getPointer(rewriter),
                        {getCallContext(op), adaptor.getSource(),
                         createI32(rewriter, loc, op.getType().getRank()),
                         createDims(rewriter, loc, op.getType().getShape(),
                                    adaptor.getSizes()),
                         createI32(rewriter, loc, op.getSourceType().getRank()),
                         createDims(rewriter, loc, steps, {}),
                         createString(rewriter, loc, what)}));
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
    std::string what = "tensor.pad";
    if (auto line = loc->findInstanceOf<FileLineColLoc>())
      what += " (line " + std::to_string(line.getLine()) + ")";
    rewriter.replaceOp(
        op, callSupport(rewriter, loc, "twh_pad", getPointer(rewriter),
                        {getCallContext(op), adaptor.getSource(),
                         createI32(rewriter, loc, op.getType().getRank()),
                         createDims(rewriter, loc, op.getStaticLow(),
                                    adaptor.getLow()),
                         createDims(rewriter, loc, op.getStaticHigh(),
                                    adaptor.getHigh()),
                         createString(rewriter, loc, what)}));
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

//===----------------------------------------------------------------------===//
// Dispatches and checks
//===----------------------------------------------------------------------===//

struct DispatchLowering : OpConversionPattern<DispatchOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(DispatchOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    auto id = op->getAttrOfType<IntegerAttr>(kDispatchIdAttr);
    if (!id)
      return op.emitOpError("has no number");
    SmallVector<Value> views, scalars;
    for (auto [original, value] :
         llvm::zip_equal(op->getOperands(), adaptor.getOperands())) {
      if (isa<ShapedType>(original.getType()))
        views.push_back(value);
      else
        scalars.push_back(toSlot(rewriter, loc, value));
    }
    Value context = getCallContext(op);
    callSupport(
        rewriter, loc, "twh_dispatch", Type(),
        {context, createI32(rewriter, loc, id.getInt()),
         createI32(rewriter, loc, views.size()),
         createArray(rewriter, loc, getPointer(rewriter), views),
         createI32(rewriter, loc, scalars.size()),
         createArray(rewriter, loc, rewriter.getI64Type(), scalars)});
    SmallVector<Value> results;
    for (Value out : adaptor.getOuts())
      results.push_back(share(rewriter, loc, context, out));
    rewriter.replaceOp(op, results);
    return success();
  }
};

struct AssertLowering : OpConversionPattern<cf::AssertOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(cf::AssertOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Value condition = arith::ExtUIOp::create(
        rewriter, loc, rewriter.getI32Type(), adaptor.getArg());
    callSupport(rewriter, loc, "twh_check", Type(),
                {getCallContext(op), condition,
                 createString(rewriter, loc, op.getMsg())});
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// What would trap or never end
//===----------------------------------------------------------------------===//

/// Records an error instead of dividing by zero, or the least integer by -1.
static void guardDivision(Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  Type type = right.getType();
  bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                      arith::FloorDivSIOp>(op);
  APInt divisor;
  if (!type.isIntOrIndex() ||
      (matchPattern(right, m_ConstantInt(&divisor)) && !divisor.isZero() &&
       !(isSigned && divisor.isAllOnes())))
    return;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  auto constant = [&](const APInt &value) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getIntegerAttr(type, value));
  };
  unsigned bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  auto equal = [&](Value a, const APInt &b) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, a,
                                 constant(b));
  };
  Value bad = equal(right, APInt::getZero(bits));
  if (isSigned) {
    Value overflow = arith::AndIOp::create(
        builder, loc, equal(left, APInt::getSignedMinValue(bits)),
        equal(right, APInt::getAllOnes(bits)));
    bad = arith::OrIOp::create(builder, loc, bad, overflow);
  }
  Value one = constant(APInt(bits, 1));
  Value zero32 = createI32(builder, loc, 0), one32 = createI32(builder, loc, 1);
  Value good = arith::SelectOp::create(builder, loc, bad, zero32, one32);
  callSupport(builder, loc, "twh_check", Type(),
              {getCallContext(op), good,
               createString(builder, loc,
                            (op->getName().getStringRef() +
                             ": the result does not exist (division by zero, or "
                             "overflow)")
                                .str())});
  op->setOperand(1, arith::SelectOp::create(builder, loc, bad, one, right));
}

/// Ends a loop whose condition is data when an error is recorded.
static void guardLoop(scf::ConditionOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value ok = callSupport(builder, loc, "twh_ok", builder.getI32Type(),
                         {getCallContext(op)});
  Value isOk = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, ok,
                                     createI32(builder, loc, 0));
  op.getConditionMutable().assign(
      arith::AndIOp::create(builder, loc, op.getCondition(), isOk));
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

void tilewright::host::numberDispatches(ModuleOp module,
                                        std::vector<std::string> &names) {
  SmallVector<std::pair<int64_t, std::string>> kernels;
  int64_t next = 0;
  for (auto func : module.getOps<FunctionOpInterface>()) {
    if (!isKernel(func))
      continue;
    if (auto id = func->getAttrOfType<IntegerAttr>(kDispatchIdAttr))
      next = id.getInt();
    kernels.emplace_back(next++, func.getName().str());
  }
  llvm::sort(kernels);
  for (auto &[id, name] : kernels) {
    if (id >= 0 && size_t(id) >= names.size())
      names.resize(id + 1);
    if (id >= 0)
      names[id] = name;
  }
  Builder builder(module.getContext());
  llvm::StringMap<int64_t> ids;
  for (auto &[id, name] : kernels)
    ids[name] = id;
  module.walk([&](DispatchOp op) {
    auto found = ids.find(op.getCallee());
    if (found != ids.end())
      op->setAttr(kDispatchIdAttr, builder.getI64IntegerAttr(found->second));
  });
}

void tilewright::host::numberConstants(ModuleOp module,
                                       std::vector<ElementsAttr> &constants) {
  DenseMap<Attribute, int64_t> ids;
  Builder builder(module.getContext());
  for (auto func : module.getOps<func::FuncOp>()) {
    if (isKernel(func))
      continue;
    func.walk([&](arith::ConstantOp op) {
      auto elements = dyn_cast<ElementsAttr>(op.getValue());
      if (!elements || !isa<TensorType>(op.getType()))
        return;
      auto [entry, isNew] = ids.try_emplace(elements, constants.size());
      if (isNew)
        constants.push_back(elements);
      op->setAttr(kConstantIdAttr, builder.getI64IntegerAttr(entry->second));
    });
  }
}

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

namespace {
struct ConvertHostPass
    : tilewright::impl::ConvertHostPassBase<ConvertHostPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    std::vector<std::string> dispatches;
    std::vector<ElementsAttr> constants;
    numberDispatches(module, dispatches);
    numberConstants(module, constants);

    SmallVector<Operation *> hosts;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (isKernel(func))
        continue;
      hosts.push_back(func);
      func.walk([](Operation *op) {
        if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
                arith::CeilDivSIOp, arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
          guardDivision(op);
        if (auto condition = dyn_cast<scf::ConditionOp>(op))
          guardLoop(condition);
      });
      if (func.isExternal() && failed(checkExternal(func)))
        return signalPassFailure();
    }

    auto pointer = LLVM::LLVMPointerType::get(context);
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([&](TensorType) -> Type { return pointer; });
    converter.addConversion([&](BaseMemRefType) -> Type { return pointer; });
    auto materialize = [](OpBuilder &builder, Type type, ValueRange inputs,
                          Location loc) -> Value {
      return UnrealizedConversionCastOp::create(builder, loc, type, inputs)
          .getResult(0);
    };
    converter.addSourceMaterialization(materialize);
    converter.addTargetMaterialization(materialize);

    RewritePatternSet patterns(context);
    ConversionTarget target(*context);
    target.addLegalDialect<LLVM::LLVMDialect>();
    target.addLegalOp<UnrealizedConversionCastOp>();
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   converter);
    populateCallOpTypeConversionPattern(patterns, converter);
    populateReturnOpTypeConversionPattern(patterns, converter);
    populatePrintPatterns(converter, patterns);
    patterns.add<EmptyLowering, AllocTensorLowering, ConstantLowering,
                 FromElementsLowering, CastLowering,
                 ReshapeLowering<tensor::ExpandShapeOp>,
                 ReshapeLowering<tensor::CollapseShapeOp>, ToTensorLowering,
                 MaterializeLowering, DimLowering<tensor::DimOp>,
                 DimLowering<memref::DimOp>, ExtractLowering, InsertLowering,
                 ExtractSliceLowering, Im2colLowering, PadLowering,
                 InsertSliceLowering, DispatchLowering, AssertLowering>(converter, context);
    target.addIllegalOp<DispatchOp, cf::AssertOp, vector::PrintOp>();
    target.addDynamicallyLegalOp<func::FuncOp>([&](func::FuncOp op) {
      return isKernel(op) || converter.isSignatureLegal(op.getFunctionType());
    });
    target.markUnknownOpDynamicallyLegal(
        [&](Operation *op) { return converter.isLegal(op); });
    // Folding would give two values one reference.
    ConversionConfig config;
    config.foldingMode = DialectConversionFoldingMode::Never;
    if (failed(applyFullConversion(hosts, target, std::move(patterns), config)))
      return signalPassFailure();
  }

  static LogicalResult checkExternal(func::FuncOp func) {
    for (Type type : llvm::concat<const Type>(func.getArgumentTypes(),
                                              func.getResultTypes()))
      if (!type.isIntOrIndexOrFloat())
        return func.emitOpError()
               << "is external and has " << type
               << " in its signature; external functions take scalars";
    if (func.getNumResults() > 1)
      return func.emitOpError("is external and has more than one result");
    return success();
  }
};
} // namespace

void tilewright::registerTargetHostPasses() {
  registerTilewrightTargetHostPasses();
}
