// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The oracle's way: upstream's passes in upstream's order, with run-time
// verification of shapes and bounds, and around each public function code that
// finds its arguments in host memory and hands its results over:
//
//   func.func @tw.f.body(%context, %arguments: !llvm.ptr, %results: !llvm.ptr)

#include "tilewright/Target/Reference/Reference.h"
#include "tilewright/Dialect/GreedyRewrite.h"

#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Normalize/Normalize.h"
#include "tilewright/Target/Buffers.h"
#include "tilewright/Target/Host/EmitHost.h"
#include "tilewright/Target/Host/HostCalls.h"
#include "tilewright/Target/Host/Passes.h"
#include "tilewright/Target/Observer.h"
#include "tilewright/Target/Passes.h"
#include "tilewright/Target/Reference/BoundErrors.h"
#include "tilewright/Target/Reference/Loops.h"
#include "tilewright/Target/Reference/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/AllInterfaces.h"
#include "mlir/Dialect/Linalg/Transforms/RuntimeOpVerification.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/RuntimeOpVerification.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

void tilewright::registerReferenceDialects(DialectRegistry &registry) {
  registerHostDialects(registry);
  linalg::registerAllDialectInterfaceImplementations(registry);
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  cf::registerBufferizableOpInterfaceExternalModels(registry);
  linalg::registerRuntimeVerifiableOpInterfaceExternalModels(registry);
  memref::registerRuntimeVerifiableOpInterfaceExternalModels(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

/// Everything up to loops over memrefs.
static void buildLoops(OpPassManager &pm, bool bounds) {
  // Of ops that become loops now, and of what becomes an op below.
  pm.addNestedPass<func::FuncOp>(createGuardDivisionsPass());
  pm.addPass(createDecomposeOpsPass());
  // arith and math on tensors.
  pm.addNestedPass<func::FuncOp>(createConvertElementwiseToLinalgPass());
  pm.addNestedPass<func::FuncOp>(createLinalgGeneralizeNamedOpsPass());
  pm.addNestedPass<func::FuncOp>(createGuardDivisionsPass());
  pm.addPass(createWidenAccumulatorsPass());
  buildBufferization(pm);
  pm.addPass(createGenerateRuntimeVerificationPass());
  pm.addPass(createCountIterationsPass());
  if (bounds)
    pm.addPass(createBoundErrorsPass());
  pm.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
}

/// Arithmetic on floats of 8 bits in f32, rounded after each op.
static void buildFloat8(OpPassManager &pm) {
  math::MathExtendToSupportedTypesOptions extend;
  extend.extraTypeStrs = {"f16", "bf16"};
  pm.addPass(math::createMathExtendToSupportedTypes(extend));
  arith::ArithEmulateUnsupportedFloatsOptions emulate;
  emulate.sourceTypeStrs = {"f8E4M3FN", "f8E5M2", "f8E4M3FNUZ", "f8E5M2FNUZ"};
  emulate.targetTypeStr = "f32";
  pm.addPass(arith::createArithEmulateUnsupportedFloats(emulate));
}

static void buildLLVM(OpPassManager &pm, bool debugInfo) {
  buildFloat8(pm);
  ExpandMathPassOptions math;
  math.wide = true;
  pm.addPass(createExpandMathPass(math));
  pm.addPass(createExpandFloat8Pass());
  pm.addPass(memref::createExpandOpsPass());
  pm.addPass(createExpandDynamicShapesPass());
  pm.addPass(memref::createExpandStridedMetadataPass());
  pm.addPass(createLowerAffinePass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(createCSEPass());
  pm.addPass(createConvertVectorToSCFPass());
  host::buildConversionToLLVM(pm, /*hasMemrefs=*/true, debugInfo);
}

//===----------------------------------------------------------------------===//
// Around a function
//===----------------------------------------------------------------------===//

/// The memref that a view argument is, on the host.
static Value createArgument(OpBuilder &builder, Location loc, Value context,
                            Value view, MemRefType type, bool written) {
  Type i64 = builder.getI64Type();
  Value data = callSupport(builder, loc, "twr_map", view.getType(),
                           {context, view, createI32(builder, loc, written)});
  SmallVector<Value> sizes, dynamicStrides;
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  Value bytes =
      createI64(builder, loc,
                type.getElementType().isIndex()
                    ? 8
                    : llvm::divideCeil(type.getElementTypeBitWidth(), 8));
  Value rank = createI64(builder, loc, type.getRank());
  for (int64_t d = 0; d < type.getRank(); ++d) {
    Value size = callSupport(builder, loc, "twh_dim", i64,
                             {context, view, createI64(builder, loc, d), rank});
    bytes = arith::MulIOp::create(builder, loc, bytes, size);
    if (type.isDynamicDim(d))
      sizes.push_back(arith::IndexCastOp::create(builder, loc,
                                                 builder.getIndexType(), size));
    if (type.getLayout().isIdentity() || !ShapedType::isDynamic(strides[d]))
      continue;
    Value stride = callSupport(builder, loc, "twh_stride", i64,
                               {context, view, createI32(builder, loc, d)});
    dynamicStrides.push_back(arith::IndexCastOp::create(
        builder, loc, builder.getIndexType(), stride));
  }
  if (!type.getLayout().isIdentity())
    return createStridedBuffer(builder, loc, data, createI64(builder, loc, 0),
                               type, sizes, dynamicStrides);
  return createBuffer(builder, loc, data, bytes, type, sizes);
}

/// A new view with the elements of a memref.
static Value createResult(OpBuilder &builder, Location loc, Value context,
                          Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Type i64 = builder.getI64Type();
  SmallVector<Value> dims;
  for (int64_t d = 0; d < type.getRank(); ++d)
    dims.push_back(arith::IndexCastOp::create(
        builder, loc, i64, memref::DimOp::create(builder, loc, memref, d)));
  Value address =
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, memref);
  address = arith::IndexCastOp::create(builder, loc, i64, address);
  Value pointer =
      LLVM::IntToPtrOp::create(builder, loc, context.getType(), address);
  Type element = type.getElementType();
  int64_t bytes = element.isIndex()
                      ? 8
                      : llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
  return callSupport(builder, loc, "twr_result", context.getType(),
                     {context, createI32(builder, loc, getDTypeNumber(element)),
                      createI32(builder, loc, type.getRank()),
                      createArray(builder, loc, i64, dims), pointer,
                      createI64(builder, loc, bytes)});
}

/// `@tw.f.body` of a bufferized function.
static LogicalResult createBody(func::FuncOp func,
                                const HostFunction &function) {
  Location loc = func.getLoc();
  auto builder = OpBuilder(func);
  builder.setInsertionPointAfter(func);
  auto pointer = LLVM::LLVMPointerType::get(func.getContext());
  Type i64 = builder.getI64Type();
  auto body = func::FuncOp::create(
      loc, func.getName().str() + ".body",
      builder.getFunctionType({pointer, pointer, pointer}, {}));
  body.setPrivate();
  builder.insert(body);
  builder.setInsertionPointToStart(body.addEntryBlock());
  Value context = body.getArgument(0);
  auto slotAddress = [&](unsigned base, int32_t number) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, i64,
                               body.getArgument(base),
                               ArrayRef<LLVM::GEPArg>{number});
  };
  SmallVector<Value> arguments = {context};
  ArrayRef<Type> types = func.getArgumentTypes().drop_front();
  for (auto [number, type] : llvm::enumerate(types)) {
    Value address = slotAddress(1, number);
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref) {
      Value slot = LLVM::LoadOp::create(builder, loc, i64, address);
      arguments.push_back(fromSlot(builder, loc, slot, type));
      continue;
    }
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(memref.getStridesAndOffset(strides, offset)))
      return func.emitOpError()
             << "takes " << memref << "; the reference takes strided memrefs";
    Value view = LLVM::LoadOp::create(builder, loc, pointer, address);
    bool written = isa<BaseMemRefType>(function.type.getInput(number));
    arguments.push_back(
        createArgument(builder, loc, context, view, memref, written));
  }
  auto call = func::CallOp::create(builder, loc, func, arguments);
  for (auto [number, result] : llvm::enumerate(call.getResults())) {
    Value slot;
    if (auto type = dyn_cast<MemRefType>(result.getType())) {
      if (!type.getLayout().isIdentity())
        return func.emitOpError()
               << "returns " << type << ", which is not dense";
      slot = createResult(builder, loc, context, result);
    } else {
      slot = toSlot(builder, loc, result);
    }
    LLVM::StoreOp::create(builder, loc, slot, slotAddress(2, number));
  }
  func::ReturnOp::create(builder, loc);
  return success();
}

/// `@tw.f.entry`, a tw_function that runs the body.
static void createEntry(ModuleOp module, StringRef name) {
  MLIRContext *context = module.getContext();
  auto builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto entry = LLVM::LLVMFuncOp::create(
      builder, loc, getInternalName(name) + ".entry",
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, pointer, pointer}),
      LLVM::Linkage::Internal);
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  Value body = LLVM::AddressOfOp::create(builder, loc, pointer,
                                         getInternalName(name) + ".body");
  callSupport(builder, loc, "twr_run", Type(),
              {block->getArgument(0), body, block->getArgument(1),
               block->getArgument(2)});
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

/// What the program says of its error bounds: F's results, then a bound of each
/// and of each argument that is written.
static HostFunction describeBounds(const HostFunction &function) {
  MLIRContext *context = function.type.getContext();
  SmallVector<Type> results(function.type.getResults());
  Type f64 = Float64Type::get(context);
  auto add = [&](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    results.push_back(shaped ? RankedTensorType::get(shaped.getShape(), f64)
                             : f64);
  };
  for (Type type : function.type.getResults())
    add(type);
  for (Type type : function.type.getInputs())
    if (isa<BaseMemRefType>(type))
      add(type);
  return {function.name + kBoundsSuffix.str(),
          FunctionType::get(context, function.type.getInputs(), results)};
}

//===----------------------------------------------------------------------===//
// The way
//===----------------------------------------------------------------------===//

/// Gives globals that are parameters their number in the manifest.
static void numberParameters(ModuleOp module,
                             std::vector<ElementsAttr> &constants) {
  Builder builder(module.getContext());
  for (auto global : module.getOps<memref::GlobalOp>()) {
    if (!isParameter(global.getInitialValueAttr()))
      continue;
    global->setAttr(kConstantIdAttr, builder.getI64IntegerAttr(constants.size()));
    constants.push_back(cast<ElementsAttr>(global.getInitialValueAttr()));
  }
}

static LogicalResult lower(ModuleOp module, HostProgram &host,
                           const HostOptions &options,
                           std::vector<std::string> &allowed) {
  MLIRContext *context = module.getContext();
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isExternal()) {
      allowed.push_back(func.getName().str());
      continue;
    }
    if (func.isPublic()) {
      if (failed(checkSignature(func)))
        return failure();
      host.functions.push_back({func.getName().str(), func.getFunctionType()});
      for (auto [number, type] : llvm::enumerate(func.getArgumentTypes()))
        if (isa<BaseMemRefType>(type))
          func.setArgAttr(number, kBufferAttr, UnitAttr::get(context));
    }
  }
  if (options.bounds)
    for (size_t i = 0, count = host.functions.size(); i < count; ++i)
      host.functions.push_back(describeBounds(host.functions[i]));
  protectArguments(module);

  PassManager loops(context, ModuleOp::getOperationName());
  buildLoops(loops, options.bounds);
  if (options.observer)
    options.observer->watch(loops);
  if (failed(loops.run(module)))
    return failure();
  numberParameters(module, host.constants.data);
  generalizeCopies(module);
  PassManager memory(context, ModuleOp::getOperationName());
  memory.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  memory.addPass(createConvertReferenceMemoryPass());
  if (options.observer)
    options.observer->watch(memory);
  if (failed(memory.run(module)))
    return failure();

  llvm::StringMap<const HostFunction *> publicFunctions;
  for (const HostFunction &function : host.functions)
    publicFunctions[function.name] = &function;
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (func.isExternal())
      continue;
    const HostFunction *function = publicFunctions.lookup(func.getName());
    std::string name = getInternalName(func.getName());
    if (failed(SymbolTable::replaceAllSymbolUses(
            func, StringAttr::get(context, name), module)))
      return func.emitOpError("cannot be renamed");
    func.setName(name);
    func.setPrivate();
    if (function && failed(createBody(func, *function)))
      return failure();
  }

  PassManager pm(context, ModuleOp::getOperationName());
  buildLLVM(pm, options.debugInfo);
  if (failed(runLowering(pm, module, options.observer)))
    return failure();
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (!func.isExternal())
      func.setLinkage(LLVM::Linkage::Internal);
  std::vector<std::pair<std::string, std::string>> entries;
  for (const HostFunction &function : host.functions) {
    createEntry(module, function.name);
    entries.emplace_back(function.name,
                         getInternalName(function.name) + ".entry");
  }
  createTables(module, entries, options);
  return success();
}

FailureOr<HostProgram> tilewright::compileReference(ModuleOp input,
                                                    HostOptions options) {
  OwningOpRef<ModuleOp> module(input.clone());
  options.reference = true;
  options.cpu = StringRef(options.triple).starts_with("x86_64") ? "x86-64-v3" : "generic";
  options.features.clear();
  HostProgram host;
  host.triple = options.triple;
  std::vector<std::string> allowed;
  if (failed(lower(*module, host, options, allowed)))
    return failure();
  return emitHost(*module, options, allowed, std::move(host));
}
