// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The whole way of the host program, and what surrounds its functions: for
// each public `f` an entry that takes 64-bit slots, and the tables that the
// query function hands out.
//
//   llvm.func internal @f.entry(%context, %args: !llvm.ptr, %results: !llvm.ptr)
//   llvm.mlir.global @twh_exports : {version, 1, 0, 0, functions, kernels}

#include "tilewright/Target/Host/Host.h"
#include "tilewright/Dialect/GreedyRewrite.h"

#include "tilewright/Target/Host/EmitHost.h"
#include "tilewright/Target/Host/HostCalls.h"
#include "tilewright/Target/Host/ConvertHost.h"

#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Tilewright.h"
#include "tilewright/Target/Host/Passes.h"
#include "tilewright/Target/LLVMEmit.h"
#include "tilewright/Target/Observer.h"
#include "tilewright/Target/Passes.h"
#include "tilewright/program_abi.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::host;

std::string host::getInternalName(StringRef name) {
  return ("tw." + name).str();
}

//===----------------------------------------------------------------------===//
// Entries and tables
//===----------------------------------------------------------------------===//

LogicalResult host::checkSignature(func::FuncOp func) {
  for (Type type : llvm::concat<const Type>(func.getArgumentTypes(),
                                            func.getResultTypes())) {
    auto shaped = dyn_cast<ShapedType>(type);
    bool known = shaped ? shaped.hasRank() && !isa<VectorType>(type) &&
                              getDTypeNumber(shaped.getElementType())
                        : getDTypeNumber(type) != 0;
    if (!known)
      return func.emitOpError() << "has " << type
                                << " in its signature; a public function takes "
                                   "and returns ranked tensors, memrefs and "
                                   "scalars of the runtime's types";
  }
  if (llvm::any_of(func.getResultTypes(), llvm::IsaPred<BaseMemRefType>))
    return func.emitOpError("returns a memref; return a tensor, or take the "
                            "memref as an argument and write it");
  return success();
}

/// An entry of `name`, whose original type is `type`, that unpacks slots.
static void createEntry(OpBuilder &builder, Location loc, StringRef name,
                        FunctionType type) {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = builder.getI64Type();
  auto lower = [&](Type t) -> Type {
    return isa<ShapedType>(t) ? Type(pointer) : t;
  };
  SmallVector<Type> inputs = {pointer}, results;
  for (Type t : type.getInputs())
    inputs.push_back(lower(t));
  for (Type t : type.getResults())
    results.push_back(lower(t));

  auto entry = func::FuncOp::create(
      loc, getInternalName(name) + ".entry",
      builder.getFunctionType({pointer, pointer, pointer}, {}));
  entry.setPrivate();
  builder.insert(entry);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(entry.addEntryBlock());
  SmallVector<Value> arguments = {entry.getArgument(0)};
  auto slotAddress = [&](Value base, int32_t number) -> Value {
    return LLVM::GEPOp::create(builder, loc, pointer, i64, base,
                               ArrayRef<LLVM::GEPArg>{number});
  };
  for (auto [number, t] : llvm::enumerate(ArrayRef(inputs).drop_front())) {
    Value address = slotAddress(entry.getArgument(1), number);
    if (t == pointer) {
      arguments.push_back(LLVM::LoadOp::create(builder, loc, pointer, address));
      continue;
    }
    Value slot = LLVM::LoadOp::create(builder, loc, i64, address);
    arguments.push_back(fromSlot(builder, loc, slot, t));
  }
  auto call = func::CallOp::create(builder, loc, getInternalName(name), results,
                                   arguments);
  for (auto [number, result] : llvm::enumerate(call.getResults())) {
    Value address = slotAddress(entry.getArgument(2), number);
    Value slot = result.getType() == pointer ? result
                                             : toSlot(builder, loc, result);
    LLVM::StoreOp::create(builder, loc, slot, address);
  }
  func::ReturnOp::create(builder, loc);
}

/// Builds `type` out of `values` in the initializer of a global.
static void createAggregate(OpBuilder &builder, Location loc,
                            LLVM::GlobalOp global, Type type,
                            function_ref<void(OpBuilder &, Value &)> fill) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(builder.createBlock(&global.getInitializerRegion()));
  Value value = LLVM::UndefOp::create(builder, loc, type);
  fill(builder, value);
  LLVM::ReturnOp::create(builder, loc, value);
}

/// TilewrightNamed[]: pairs of a name and a symbol.
static void createTable(OpBuilder &builder, Location loc, StringRef tableName,
                        ArrayRef<std::pair<std::string, std::string>> rows) {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  auto rowType = LLVM::LLVMStructType::getLiteral(context, {pointer, pointer});
  auto type = LLVM::LLVMArrayType::get(rowType, rows.size());
  SmallVector<std::string> names;
  for (auto [number, row] : llvm::enumerate(rows)) {
    std::string bytes = row.first + '\0';
    names.push_back((tableName + "_name_" + std::to_string(number)).str());
    LLVM::GlobalOp::create(
        builder, loc, LLVM::LLVMArrayType::get(builder.getI8Type(), bytes.size()),
        true, LLVM::Linkage::Internal, names.back(),
        builder.getStringAttr(bytes));
  }
  auto global = LLVM::GlobalOp::create(builder, loc, type, true,
                                       LLVM::Linkage::Internal, tableName,
                                       Attribute());
  createAggregate(builder, loc, global, type, [&](OpBuilder &b, Value &value) {
    for (auto [number, row] : llvm::enumerate(rows)) {
      Value name = LLVM::AddressOfOp::create(b, loc, pointer, names[number]);
      Value symbol = LLVM::AddressOfOp::create(b, loc, pointer, row.second);
      value = LLVM::InsertValueOp::create(
          b, loc, value, name, ArrayRef<int64_t>{int64_t(number), 0});
      value = LLVM::InsertValueOp::create(
          b, loc, value, symbol, ArrayRef<int64_t>{int64_t(number), 1});
    }
  });
}

/// TilewrightProgramExports twh_exports.
static void createExports(OpBuilder &builder, Location loc, size_t functions,
                          size_t kernels) {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i32 = builder.getI32Type();
  auto type = LLVM::LLVMStructType::getLiteral(
      context, {i32, i32, i32, i32, pointer, pointer});
  auto global = LLVM::GlobalOp::create(builder, loc, type, true,
                                       LLVM::Linkage::External, "twh_exports",
                                       Attribute());
  global.setVisibility_(LLVM::Visibility::Hidden);
  createAggregate(builder, loc, global, type, [&](OpBuilder &b, Value &value) {
    Value fields[] = {
        createI32(b, loc, TW_PROGRAM_ABI_VERSION), createI32(b, loc, functions),
        createI32(b, loc, kernels), createI32(b, loc, 0),
        LLVM::AddressOfOp::create(b, loc, pointer, "twh_functions"),
        LLVM::AddressOfOp::create(b, loc, pointer, "twh_kernels")};
    for (auto [number, field] : llvm::enumerate(fields))
      value = LLVM::InsertValueOp::create(b, loc, value, field,
                                          ArrayRef<int64_t>{int64_t(number)});
  });
}

void host::createTables(
    ModuleOp module, ArrayRef<std::pair<std::string, std::string>> functions,
    const HostOptions &options) {
  auto builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  auto type = LLVM::LLVMFunctionType::get(
      LLVM::LLVMVoidType::get(module.getContext()), {});
  std::vector<std::pair<std::string, std::string>> kernels;
  for (const KernelObject &object : options.objects)
    for (const std::string &kernel : object.kernels) {
      LLVM::LLVMFuncOp::create(builder, loc, kernel, type);
      kernels.emplace_back(kernel, kernel);
    }
  createTable(builder, loc, "twh_functions", functions);
  createTable(builder, loc, "twh_kernels", kernels);
  createExports(builder, loc, functions.size(), kernels.size());
}

//===----------------------------------------------------------------------===//
// The way
//===----------------------------------------------------------------------===//

void tilewright::registerHostDialects(DialectRegistry &registry) {
  registry.insert<LLVM::LLVMDialect, bufferization::BufferizationDialect>();
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
}

void tilewright::host::buildConversionToLLVM(OpPassManager &pm, bool hasMemrefs,
                                             bool debugInfo) {
  pm.addPass(arith::createArithExpandOpsPass());
  pm.addPass(createCountIterationsPass());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertIndexToLLVMPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  if (hasMemrefs)
    pm.addPass(createFinalizeMemRefToLLVMConversionPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createCanonicalizePass("emit"));
  if (debugInfo)
    pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass());
}

void tilewright::buildHostLowering(OpPassManager &pm, bool debugInfo) {
  pm.addPass(createReconcileUnrealizedCastsPass());
  pm.addPass(createExpandMathPass());
  pm.addPass(createExpandFloat8Pass());
  pm.addPass(createLowerAffinePass());
  host::buildConversionToLLVM(pm, /*hasMemrefs=*/false, debugInfo);
}

/// Scalar optimisation; nothing of weight runs on the host.
static constexpr StringLiteral kPipeline =
    "function(simplifycfg,sroa,early-cse,instcombine<no-verify-fixpoint>,"
    "simplifycfg),globaldce";

static LogicalResult lower(ModuleOp module, HostProgram &host,
                           const HostOptions &options,
                           std::vector<std::string> &allowed) {
  MLIRContext *context = module.getContext();
  for (auto func : module.getOps<func::FuncOp>()) {
    if (isKernel(func)) {
      if (auto gemm = dyn_cast_or_null<GemmOp>(findIrregular(func))) {
        allowed.push_back(gemm.getFunction().str());
        host.libraries[gemm.getLibrary().str()].insert(gemm.getFunction().str());
      }
      continue;
    }
    if (func.isExternal()) {
      allowed.push_back(func.getName().str());
      continue;
    }
    if (func.isPublic()) {
      if (failed(checkSignature(func)))
        return failure();
      host.functions.push_back({func.getName().str(), func.getFunctionType()});
    }
    if (func->hasAttr(kAtLoadAttr))
      host.loadFunctions.push_back({func.getName().str(), func.getFunctionType()});
  }

  PassManager tensors(context, ModuleOp::getOperationName());
  tensors.addPass(createPrepareDestinationsPass());
  tensors.addPass(createManageViewsPass());
  if (options.observer)
    options.observer->watch(tensors);
  if (failed(tensors.run(module)))
    return failure();
  numberDispatches(module, host.dispatches);
  host.constants = numberConstants(module);
  PassManager views(context, ModuleOp::getOperationName());
  views.addPass(createConvertHostPass());
  if (options.observer)
    options.observer->watch(views);
  if (failed(views.run(module)))
    return failure();

  SymbolTable symbols(module);
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    if (isKernel(func)) {
      symbols.erase(func);
      continue;
    }
    if (func.isExternal())
      continue;
    std::string name = getInternalName(func.getName());
    if (failed(SymbolTable::replaceAllSymbolUses(
            func, StringAttr::get(context, name), module)))
      return func.emitOpError("cannot be renamed");
    func.setName(name);
    func.setPrivate();
  }

  auto builder = OpBuilder::atBlockEnd(module.getBody());
  Location loc = module.getLoc();
  std::vector<std::pair<std::string, std::string>> functions;
  for (const HostFunction &function :
       llvm::concat<const HostFunction>(host.functions, host.loadFunctions)) {
    createEntry(builder, loc, function.name, function.type);
    functions.emplace_back(function.name,
                           getInternalName(function.name) + ".entry");
  }
  PassManager pm(context, ModuleOp::getOperationName());
  buildHostLowering(pm, options.debugInfo);
  if (failed(runLowering(pm, module, options.observer)))
    return failure();
  for (auto func : module.getOps<LLVM::LLVMFuncOp>())
    if (!func.isExternal())
      func.setLinkage(LLVM::Linkage::Internal);

  createTables(module, functions, options);
  return success();
}

FailureOr<HostProgram> tilewright::compileHost(ModuleOp program,
                                               const HostOptions &options) {
  OwningOpRef<ModuleOp> module(program.clone());
  HostProgram host;
  host.triple = options.triple;
  std::vector<std::string> allowed;
  if (failed(lower(*module, host, options, allowed)))
    return failure();
  return emitHost(*module, options, allowed, std::move(host));
}

FailureOr<HostProgram> tilewright::host::emitHost(ModuleOp module,
                                                  const HostOptions &options,
                                                  ArrayRef<std::string> allowed,
                                                  HostProgram host) {
  ObservedStep step(options.observer, "emit", "generate host code");
  LLVMTargetOptions llvmOptions;
  llvmOptions.triple = options.triple;
  llvmOptions.cpu = options.cpu;
  llvmOptions.features = options.features;
  llvmOptions.positionIndependent = true;
  Location loc = module.getLoc();
  std::unique_ptr<llvm::TargetMachine> machine =
      createTargetMachine(loc, llvmOptions);
  if (!machine)
    return failure();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir =
      translateToLLVM(module, context, *machine, llvmOptions);
  if (!ir || failed(runLLVMPasses(loc, *ir, *machine, kPipeline)))
    return failure();
  if (options.keepText) {
    host.llvm = printLLVM(*ir);
    std::unique_ptr<llvm::Module> copy = llvm::CloneModule(*ir);
    FailureOr<std::string> text = generateCode(
        loc, *copy, *machine, llvm::CodeGenFileType::AssemblyFile);
    if (failed(text))
      return failure();
    host.assembly = std::move(*text);
  }
  FailureOr<std::string> object =
      generateCode(loc, *ir, *machine, llvm::CodeGenFileType::ObjectFile);
  if (failed(object))
    return failure();
  SmallVector<StringRef> objects = {*object};
  for (const KernelObject &kernel : options.objects)
    objects.push_back(kernel.bytes);
  llvm::append_range(objects, getHostSupportObjects(options.triple, options.reference));
  FailureOr<std::string> bytes =
      linkHost(loc, objects, allowed, host.imports, options.debugInfo);
  if (failed(bytes))
    return failure();
  host.bytes = std::move(*bytes);
  if (options.objectPrefix.empty())
    return host;
  std::vector<std::pair<std::string, std::string>> exported = {
      {"tilewright_program_query", options.objectPrefix + "_query"}};
  for (const KernelObject &kernel : options.objects)
    for (const std::string &name : kernel.kernels)
      exported.emplace_back(name, options.objectPrefix + "_" + name);
  FailureOr<std::string> linked = linkRelocatable(loc, objects, exported);
  if (failed(linked))
    return failure();
  host.object = std::move(*linked);
  for (const auto &[symbol, name] : exported)
    host.objectSymbols.push_back(name);
  return host;
}
