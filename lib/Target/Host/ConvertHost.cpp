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

#include "tilewright/Target/Host/ConvertHost.h"
#include "tilewright/Target/Host/HostCalls.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/Host/Host.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Transforms/DialectConversion.h"

namespace tilewright {
#define GEN_PASS_DEF_CONVERTHOSTPASS
#include "tilewright/Target/Host/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

namespace {
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

struct CheckLowering : OpConversionPattern<CheckOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(CheckOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Location loc = op.getLoc();
    SmallVector<Value> messages;
    for (auto message : op.getMessages().getAsRange<StringAttr>())
      messages.push_back(createString(rewriter, loc, message.getValue()));
    callSupport(rewriter, loc, "twh_check_later", Type(),
                {getCallContext(op), adaptor.getNumber(),
                 createI32(rewriter, loc, messages.size()),
                 createArray(rewriter, loc, getPointer(rewriter), messages)});
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

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

HostConstants tilewright::host::numberConstants(ModuleOp module) {
  HostConstants constants;
  DenseMap<Attribute, int64_t> ids;
  DenseMap<std::pair<StringRef, int64_t>, int64_t> loadedIds;
  llvm::StringMap<size_t> loadFunctions;
  Builder builder(module.getContext());
  auto hosts = llvm::make_filter_range(module.getOps<func::FuncOp>(),
                                       [](func::FuncOp func) { return !isKernel(func); });
  for (func::FuncOp func : hosts) {
    bool runsAtLoad = func->hasAttr(kAtLoadAttr);
    if (runsAtLoad)
      loadFunctions.try_emplace(func.getName(), loadFunctions.size());
    func.walk([&](arith::ConstantOp op) {
      auto elements = dyn_cast<ElementsAttr>(op.getValue());
      if (!elements || !isa<TensorType>(op.getType()))
        return;
      auto [entry, isNew] = ids.try_emplace(elements, constants.data.size());
      if (isNew) {
        constants.data.push_back(elements);
        constants.onlyAtLoad.push_back(true);
      }
      constants.onlyAtLoad[entry->second] =
          constants.onlyAtLoad[entry->second] && runsAtLoad;
      op->setAttr(kConstantIdAttr, builder.getI64IntegerAttr(entry->second));
    });
  }
  SymbolTable symbols(module);
  for (func::FuncOp func : hosts)
    func.walk([&](LoadedOp op) {
      int64_t next = constants.data.size() + constants.loaded.size(),
              number = op.getNumber();
      auto [entry, isNew] = loadedIds.try_emplace({op.getFunction(), number}, next);
      if (isNew) {
        auto identity = symbols.lookup<func::FuncOp>(op.getFunction())
                            .getResultAttrOfType<StringAttr>(number, kIdentityAttr);
        constants.loaded.push_back({loadFunctions.lookup(op.getFunction()), number,
                                    cast<ShapedType>(op.getType()),
                                    identity ? identity.str() : std::string()});
      }
      op->setAttr(kConstantIdAttr, builder.getI64IntegerAttr(entry->second));
    });
  // Code has no use for it.
  for (func::FuncOp func : hosts)
    for (unsigned number = 0; number < func.getNumResults(); ++number)
      func.removeResultAttr(number, builder.getStringAttr(kIdentityAttr));
  return constants;
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
    numberDispatches(module, dispatches);
    (void)numberConstants(module);

    SmallVector<Operation *> hosts;
    for (auto func : module.getOps<func::FuncOp>()) {
      if (isKernel(func))
        continue;
      hosts.push_back(func);
      guardTraps(func);
      if (!func.isExternal())
        continue;
      if (failed(checkExternal(func)))
        return signalPassFailure();
      extendArguments(func);
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
    populateTensorPatterns(converter, patterns);
    populateWindowPatterns(converter, patterns);
    patterns.add<DispatchLowering, AssertLowering, CheckLowering>(converter,
                                                                  context);
    target.addIllegalOp<DispatchOp, cf::AssertOp, CheckOp, vector::PrintOp>();
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

  /// Compilers of C take for granted that a narrow argument fills 32 bits of its register, on
  /// x86-64. What a narrow result leaves in the others is open, there and on AArch64.
  static void extendArguments(func::FuncOp func) {
    for (auto [number, type] : llvm::enumerate(func.getArgumentTypes()))
      if (auto integer = dyn_cast<IntegerType>(type); integer && integer.getWidth() < 32)
        func.setArgAttr(number,
                        integer.getWidth() == 1 ? LLVM::LLVMDialect::getZExtAttrName()
                                                : LLVM::LLVMDialect::getSExtAttrName(),
                        UnitAttr::get(func.getContext()));
  }
};
} // namespace

void tilewright::registerTargetHostPasses() {
  registerTilewrightTargetHostPasses();
}
