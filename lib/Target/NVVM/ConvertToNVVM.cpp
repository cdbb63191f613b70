// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one thread does, as a function that CUDA can launch:
//
//   func.func private @k(%a: memref<?xf32>, %n: index)
//       attributes {tilewright.kernel, tilewright.access = ["read"],
//                   tilewright.launch = #tilewright.launch<threads = 128, …>}
//
//   llvm.func @k(%a: !llvm.ptr<1> {llvm.noalias, llvm.readonly, llvm.align = 16},
//                %n: i32) attributes {nvvm.kernel, nvvm.reqntid = [128, 1, 1]}
//
// Arithmetic is converted by upstream's patterns; memory, matrix instructions,
// ids, barriers and shuffles by ours. Lanes and warps come from the thread
// number, which is right because a block is one-dimensional.

#include "tilewright/Dialect/Strategies.h"
#include "tilewright/Target/NVVM/Passes.h"

#include "Convert.h"

#include "tilewright/Dialect/Clusters.h"
#include "tilewright/Dialect/Rings.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/Target.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/UB/IR/UBOps.h"

namespace tilewright {
#define GEN_PASS_DEF_CONVERTTONVVMPASS
#include "tilewright/Target/NVVM/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::nvvm;

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// Attributes of a buffer parameter. Where threads `exchange` values through it, a barrier
/// makes them visible: to LLVM, calls do not write what is behind a noalias pointer.
static DictionaryAttr getBufferAttrs(Builder &builder, StringRef access, bool exchange) {
  NamedAttrList attrs;
  if (!exchange)
    attrs.set(LLVM::LLVMDialect::getNoAliasAttrName(), builder.getUnitAttr());
  attrs.set(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(16));
  if (access == "read")
    attrs.set(LLVM::LLVMDialect::getReadonlyAttrName(), builder.getUnitAttr());
  return attrs.getDictionary(builder.getContext());
}

/// Attributes of a tensor map: 128 bytes among the parameters, where the copy engine
/// reads them.
static DictionaryAttr getTensorMapAttrs(Builder &builder) {
  NamedAttrList attrs;
  attrs.set(LLVM::LLVMDialect::getByValAttrName(),
            TypeAttr::get(LLVM::LLVMArrayType::get(builder.getI64Type(), 16)));
  attrs.set(LLVM::LLVMDialect::getAlignAttrName(), builder.getI64IntegerAttr(64));
  attrs.set(NVVM::NVVMDialect::getGridConstantAttrName(), builder.getUnitAttr());
  return attrs.getDictionary(builder.getContext());
}

/// A scalar's type among the parameters: CUDA's have at least 32 bits.
static Type getParameterType(Type type) {
  if (type.getIntOrFloatBitWidth() >= 32)
    return type;
  return IntegerType::get(type.getContext(), 32);
}

/// The scalar again, from its parameter.
static Value fromParameter(OpBuilder &builder, Location loc, Value parameter,
                           Type type) {
  if (parameter.getType() == type)
    return parameter;
  unsigned bits = type.getIntOrFloatBitWidth();
  Value narrow = LLVM::TruncOp::create(builder, loc, builder.getIntegerType(bits),
                                       parameter);
  if (isa<FloatType>(type))
    narrow = LLVM::BitcastOp::create(builder, loc, type, narrow);
  return narrow;
}

/// How many blocks of the kernel ptxas is told to make room for on a multiprocessor.
static std::optional<int32_t> residentBlocks(func::FuncOp op) {
  // ptxas would rather spill than have fewer blocks side by side, which pays
  // where latency is hidden by blocks, not where it is by matrix instructions.
  bool pools = false;
  op.walk([&](SetRegistersOp) { pools = true; });
  auto config = op->getAttrOfType<LoweringConfigAttr>(kConfigAttr);
  // Without it ptxas ignores how roles share registers.
  if (pools || (config && config.getMma()))
    return 1;
  if (auto resident = op->getAttrOfType<IntegerAttr>(kResidentBlocksAttr))
    return int32_t(resident.getInt());
  return std::nullopt;
}

namespace {
struct KernelLowering : ConvertOpToLLVMPattern<func::FuncOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(func::FuncOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isKernel(op) || op.isExternal() || op.getNumResults())
      return op.emitOpError("must be a kernel with a body and no results");
    auto access = op->getAttrOfType<ArrayAttr>(kAccessAttr);
    bool exchanges =
        traitsOf(op->getAttrOfType<LoweringConfigAttr>(kConfigAttr)).exchangesInMemory;

    SmallVector<Type> types;
    SmallVector<Attribute> attrs;
    size_t buffers = 0;
    for (auto [number, type] : llvm::enumerate(op.getArgumentTypes())) {
      Type converted = typeConverter->convertType(type);
      if (!converted)
        return op.emitOpError() << "argument " << number << " has type " << type
                                << ", which no kernel parameter can have";
      if (isa<MemRefType>(type)) {
        auto text = access && buffers < access.size()
                        ? dyn_cast<StringAttr>(access[buffers])
                        : StringAttr();
        StringRef how = text ? text.getValue() : StringRef();
        attrs.push_back(getBufferAttrs(rewriter, how, exchanges && how != "read"));
        ++buffers;
      } else if (isa<TensorMapType>(type)) {
        attrs.push_back(getTensorMapAttrs(rewriter));
      } else {
        if (!converted.isIntOrFloat())
          return op.emitOpError() << "argument " << number << " has type "
                                  << type << ", which no kernel parameter "
                                             "can have";
        converted = getParameterType(converted);
        attrs.push_back(rewriter.getDictionaryAttr({}));
      }
      types.push_back(converted);
    }

    auto func = LLVM::LLVMFuncOp::create(
        rewriter, op.getLoc(), op.getName(),
        LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(getContext()), types));
    func->setAttr(kKernelAttr, rewriter.getUnitAttr());
    func->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(),
                  rewriter.getUnitAttr());
    if (auto launch = op->getAttrOfType<LaunchAttr>(kLaunchAttr)) {
      func->setAttr(kLaunchAttr, launch);
      func->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    rewriter.getDenseI32ArrayAttr(
                        {int32_t(launch.getThreads()), 1, 1}));
    }
    if (std::optional<int32_t> blocks = residentBlocks(op))
      func->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                    rewriter.getI32IntegerAttr(*blocks));
    for (StringRef name : {StringRef(kDynamicSharedAttr), StringRef(kLoadedTilesAttr)})
      if (Attribute attr = op->getAttr(name))
        func->setAttr(name, attr);
    func.setArgAttrsAttr(rewriter.getArrayAttr(attrs));

    // The body; a block in front of it makes scalars out of parameters.
    rewriter.inlineRegionBefore(op.getBody(), func.getBody(), func.end());
    if (failed(rewriter.convertRegionTypes(&func.getBody(), *typeConverter)))
      return failure();
    Block *body = &func.getBody().front();
    SmallVector<Location> locs(types.size(), op.getLoc());
    Block *entry = rewriter.createBlock(body, types, locs);
    SmallVector<Value> scalars;
    for (auto [parameter, argument] :
         llvm::zip_equal(entry->getArguments(), body->getArguments()))
      scalars.push_back(
          fromParameter(rewriter, op.getLoc(), parameter, argument.getType()));
    LLVM::BrOp::create(rewriter, op.getLoc(), scalars, body);
    rewriter.eraseOp(op);
    return success();
  }
};

struct ReturnLowering : ConvertOpToLLVMPattern<func::ReturnOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(func::ReturnOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<LLVM::ReturnOp>(op, ValueRange());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Who am I
//===----------------------------------------------------------------------===//

/// An integer of the kernel's index type from an i32 that is not negative.
static Value toIndex(OpBuilder &builder, Location loc, Value value, Type type) {
  if (type == value.getType())
    return value;
  return LLVM::ZExtOp::create(builder, loc, type, value);
}

static LLVM::ConstantRangeAttr getRange(OpBuilder &builder, uint64_t end) {
  return LLVM::ConstantRangeAttr::get(builder.getContext(), APInt(32, 0),
                                      APInt(32, end));
}

/// The thread's number in the block.
static Value getThread(OpBuilder &builder, Operation *op) {
  int64_t threads = 1024;
  if (auto func = op->getParentOfType<FunctionOpInterface>())
    if (auto launch = func->getAttrOfType<LaunchAttr>(kLaunchAttr))
      threads = launch.getThreads();
  return NVVM::ThreadIdXOp::create(builder, op->getLoc(), builder.getI32Type(),
                                   getRange(builder, threads));
}

template <typename Op> struct IdLowering : ConvertOpToLLVMPattern<Op> {
  using ConvertOpToLLVMPattern<Op>::ConvertOpToLLVMPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type i32 = rewriter.getI32Type();
    Value id;
    auto constant = [&](int32_t value) {
      return LLVM::ConstantOp::create(rewriter, loc,
                                      rewriter.getI32IntegerAttr(value));
    };
    if constexpr (std::is_same_v<Op, gpu::LaneIdOp>) {
      id = LLVM::AndOp::create(rewriter, loc, getThread(rewriter, op),
                               constant(31));
    } else if constexpr (std::is_same_v<Op, gpu::SubgroupIdOp>) {
      id = LLVM::LShrOp::create(rewriter, loc, getThread(rewriter, op),
                                constant(5));
    } else if constexpr (std::is_same_v<Op, gpu::BlockIdOp>) {
      if (op.getDimension() == gpu::Dimension::x)
        id = NVVM::BlockIdXOp::create(rewriter, loc, i32);
      else if (op.getDimension() == gpu::Dimension::y)
        id = NVVM::BlockIdYOp::create(rewriter, loc, i32);
      else
        id = NVVM::BlockIdZOp::create(rewriter, loc, i32);
    } else {
      if (op.getDimension() == gpu::Dimension::x)
        id = NVVM::GridDimXOp::create(rewriter, loc, i32);
      else if (op.getDimension() == gpu::Dimension::y)
        id = NVVM::GridDimYOp::create(rewriter, loc, i32);
      else
        id = NVVM::GridDimZOp::create(rewriter, loc, i32);
    }
    Type type = this->getTypeConverter()->convertType(op.getType());
    rewriter.replaceOp(op, toIndex(rewriter, loc, id, type));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Threads together
//===----------------------------------------------------------------------===//

struct BarrierLowering : ConvertOpToLLVMPattern<gpu::BarrierOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(gpu::BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(op);
    return success();
  }
};

struct NamedBarrierLowering : ConvertOpToLLVMPattern<BarrierOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (op.getId() < 0 || op.getId() > 15)
      return op.emitOpError() << "barrier " << op.getId()
                              << " does not exist; a block has 0 to 15";
    if (op.getThreads() < 32 || op.getThreads() % 32 || op.getThreads() > 1024)
      return op.emitOpError() << "counts " << op.getThreads()
                              << " threads; a multiple of 32 up to 1024 is "
                                 "needed";
    StringRef name = op.getArrive() ? "llvm.nvvm.barrier.cta.arrive.aligned.count"
                                    : "llvm.nvvm.barrier.cta.sync.aligned.count";
    Location loc = op.getLoc();
    Value operands[] = {
        LLVM::ConstantOp::create(rewriter, loc,
                                 rewriter.getI32IntegerAttr(op.getId())),
        LLVM::ConstantOp::create(rewriter, loc,
                                 rewriter.getI32IntegerAttr(op.getThreads()))};
    LLVM::CallIntrinsicOp::create(rewriter, loc, rewriter.getStringAttr(name),
                                  ValueRange(operands));
    rewriter.eraseOp(op);
    return success();
  }
};

struct ShuffleLowering : ConvertOpToLLVMPattern<gpu::ShuffleOp> {
  using ConvertOpToLLVMPattern::ConvertOpToLLVMPattern;
  LogicalResult
  matchAndRewrite(gpu::ShuffleOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    Type type = adaptor.getValue().getType();
    if (!type.isInteger(32) && !type.isF32())
      return op.emitOpError() << "of " << op.getValue().getType()
                              << "; the thread form shuffles i32 and f32";
    APInt width;
    if (!matchPattern(op.getWidth(), m_ConstantInt(&width)) || width != 32 ||
        !op.getValid().use_empty())
      return op.emitOpError("must have width 32 and an unused second result");
    auto constant = [&](int32_t value) {
      return LLVM::ConstantOp::create(rewriter, loc,
                                      rewriter.getI32IntegerAttr(value));
    };
    NVVM::ShflKind kind = NVVM::ShflKind::bfly;
    switch (op.getMode()) {
    case gpu::ShuffleMode::XOR:
      kind = NVVM::ShflKind::bfly;
      break;
    case gpu::ShuffleMode::IDX:
      kind = NVVM::ShflKind::idx;
      break;
    case gpu::ShuffleMode::UP:
      kind = NVVM::ShflKind::up;
      break;
    case gpu::ShuffleMode::DOWN:
      kind = NVVM::ShflKind::down;
      break;
    }
    // The clamp is the last lane, or the first one for `up`.
    Value result = NVVM::ShflOp::create(
        rewriter, loc, type, constant(-1), adaptor.getValue(),
        adaptor.getOffset(), constant(kind == NVVM::ShflKind::up ? 0 : 31), kind,
        UnitAttr());
    Value valid = LLVM::ConstantOp::create(rewriter, loc,
                                           rewriter.getBoolAttr(true));
    rewriter.replaceOp(op, {result, valid});
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Pass
//===----------------------------------------------------------------------===//

struct ConvertToNVVMPass
    : tilewright::impl::ConvertToNVVMPassBase<ConvertToNVVMPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto kernel :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!isKernel(kernel))
        continue;
      if (failed(defineSharedMemory(kernel)) || failed(convert(kernel)))
        return signalPassFailure();
    }
  }

  LogicalResult convert(func::FuncOp kernel) {
    MLIRContext *context = &getContext();
    int64_t indexBits = getIndexBits(kernel);
    if (indexBits != 32 && indexBits != 64)
      return kernel.emitOpError()
             << "'" << kIndexBitsAttr << "' must be 32 or 64";
    LowerToLLVMOptions options(context);
    options.overrideIndexBitwidth(indexBits);
    LLVMTypeConverter converter(context, options);
    converter.addConversion([&](MemRefType type) -> std::optional<Type> {
      if (type.getRank() > 1 || !type.getLayout().isIdentity())
        return Type();
      Attribute space = type.getMemorySpace();
      if (!space)
        return LLVM::LLVMPointerType::get(context, kGlobalSpace);
      if (isa<SharedAttr>(space))
        return LLVM::LLVMPointerType::get(context, kSharedSpace);
      return Type();
    });

    RewritePatternSet patterns(context);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    populateMathToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    populateMemoryPatterns(converter, patterns);
    populateMaskedPatterns(converter, patterns);
    populateMatrixPatterns(converter, patterns);
    populateRingPatterns(converter, patterns);
    populateWarpgroupMmaPatterns(converter, patterns);
    converter.addConversion([&](TensorMapType) -> Type {
      return LLVM::LLVMPointerType::get(context);
    });
    patterns.add<KernelLowering, ReturnLowering, IdLowering<gpu::LaneIdOp>,
                 IdLowering<gpu::SubgroupIdOp>, IdLowering<gpu::BlockIdOp>,
                 IdLowering<gpu::GridDimOp>, BarrierLowering,
                 NamedBarrierLowering, ShuffleLowering>(converter);

    LLVMConversionTarget target(*context);
    target.addLegalDialect<NVVM::NVVMDialect>();
    return applyFullConversion(kernel, target, std::move(patterns));
  }
};
} // namespace

void tilewright::registerTargetNVVMPasses() {
  registerTilewrightTargetNVVMPasses();
}
