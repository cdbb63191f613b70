// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each target's programs to code: its kernels in parallel, each in a module of its own, and
// the host program beside them; or the reference, which has no kernels.

#include "Compilation.h"
#include "Embed.h"
#include "Explain.h"
#include "tilewright/Artifact/Manifest.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dispatch/Dispatch.h"
#include "tilewright/Input/Input.h"
#include "tilewright/Target/Reference/BoundErrors.h"
#include "tilewright/Target/Reference/Reference.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace tilewright;

BackendOptions Compilation::backendOptions() const {
  BackendOptions result;
  result.debugInfo = options.debugInfo;
  result.observer = &watcher;
  result.keepText = options.emit == EmitKind::LLVM ||
                    options.emit == EmitKind::Assembly ||
                    options.emit == EmitKind::SPIRVAssembly;
  return result;
}

/// A kernel with what it needs around it, for tilewright-opt.
static std::string toProgramText(func::FuncOp kernel) {
  OwningOpRef<ModuleOp> program(ModuleOp::create(kernel.getLoc()));
  if (auto parent = kernel->getParentOfType<ModuleOp>())
    program.get()->setAttrs(parent->getAttrs());
  program->push_back(kernel->clone());
  return toText(*program, /*debugInfo=*/true);
}

FailureOr<KernelCode> Compilation::compileGuarded(func::FuncOp kernel) {
  ObservedStep step(&watcher, "kernel", "kernel " + kernel.getName());
  FailureOr<KernelCode> code = failure();
  LogicalResult guarded = watcher.guard(
      kernel.getLoc(), "tilewright-opt -tilewright-print-code -o /dev/null",
      [&] { return toProgramText(kernel); },
      [&] {
        code = compileKernel(registry, kernel, backendOptions());
        return success(succeeded(code));
      });
  return succeeded(guarded) ? std::move(code) : FailureOr<KernelCode>(failure());
}

FailureOr<KernelCode> Compilation::compileCached(func::FuncOp kernel) {
  if (!options.cache)
    return compileGuarded(kernel);
  std::string text = toText(kernel, options.debugInfo);
  llvm::raw_string_ostream os(text);
  os << getTarget(kernel) << options.debugInfo << int(options.emit);
  if (auto fp = kernel->getParentOfType<ModuleOp>()->getAttr(kFpAttr))
    os << fp;
  auto hash = llvm::SHA256::hash(llvm::arrayRefFromStringRef(text));
  StringRef key(reinterpret_cast<const char *>(hash.data()), hash.size());
  if (std::optional<KernelCode> known = options.cache->lookup(key))
    return *known;
  FailureOr<KernelCode> code = compileGuarded(kernel);
  if (succeeded(code))
    options.cache->insert(key, *code);
  return code;
}

LogicalResult Compilation::compileKernels(Job &job, CompiledProgram &program) {
  struct Item {
    func::FuncOp kernel;
    const TargetVariant *variant;
    CompiledKernel *into;
  };
  std::vector<Item> items;
  for (auto [module, variant] :
       llvm::zip_equal(job.programs, job.target->variants))
    for (auto kernel : module.getOps<func::FuncOp>())
      if (isKernel(kernel) && !kernel.isExternal())
        items.push_back({kernel, &variant, nullptr});
  program.kernels.resize(items.size());
  for (auto [item, compiled] : llvm::zip_equal(items, program.kernels)) {
    item.into = &compiled;
    auto original = item.kernel->getAttrOfType<StringAttr>(kVariantOfAttr);
    compiled.dispatch = (original ? original.getValue() : item.kernel.getName()).str();
    compiled.program = programName(*job.target, *item.variant);
    compiled.kernel = item.kernel.getName().str();
    item.kernel.setName((item.kernel.getName() + item.variant->tag).str());
  }
  PassManager pm(context, ModuleOp::getOperationName());
  job.backend->buildLowering(pm, job.target->variants.front().target,
                             backendOptions());
  loadDialectsOf(pm);
  return failableParallelForEach(context, items, [&](Item &item) -> LogicalResult {
    FailureOr<KernelCode> code = compileCached(item.kernel);
    if (failed(code))
      return failure();
    FailureOr<llvm::json::Object> description =
        describeVariant(item.kernel, code->entry, item.variant->guard);
    if (failed(description))
      return failure();
    item.into->description = std::move(*description);
    item.into->code = std::move(*code);
    item.into->sharedBytes = getSharedBytes(item.kernel);
    item.into->planned = getPlanned(item.kernel);
    return success();
  });
}

/// The program as it was written, op by op, without kernels.
LogicalResult Compilation::compileOracle(Job &job, const HostOptions &host,
                                         CompiledProgram &program) {
  PassManager input(context, ModuleOp::getOperationName());
  input.addPass(createResolveCalleesPass());
  DefineMemrefsPassOptions copied;
  copied.copyTensors = true;
  input.addPass(createDefineMemrefsPass(copied));
  input.addPass(createPassIndicesPass());
  input.addNestedPass<func::FuncOp>(createGeneralizeIntegersPass());
  input.addNestedPass<func::FuncOp>(createDropAssertsPass());
  input.addNestedPass<func::FuncOp>(createSequenceParallelLoopsPass());
  input.addNestedPass<func::FuncOp>(createDefineFoldsPass());
  input.addNestedPass<func::FuncOp>(createDefineShiftsPass());
  input.addNestedPass<func::FuncOp>(createConvertTosaPass());
  input.addNestedPass<func::FuncOp>(createCropPadsPass());
  input.addNestedPass<func::FuncOp>(createDecomposeGathersPass());
  input.addNestedPass<func::FuncOp>(createDecomposeWinogradPass());
  input.addPass(createAliasArgumentsPass());
  PrepareIrregularPassOptions whole;
  whole.keepSorts = true;
  input.addNestedPass<func::FuncOp>(createPrepareIrregularPass(whole));
  input.addNestedPass<func::FuncOp>(createSplitScansPass());
  if (failed(input.run(*job.hostForm)))
    return failure();
  for (auto func : job.hostForm->getOps<func::FuncOp>())
    if (failed(unpackSubBytes(func)))
      return failure();
  HostOptions withBounds = host;
  withBounds.bounds = options.emit == EmitKind::Artifact ||
                      options.emit == EmitKind::Manifest ||
                      options.emit == EmitKind::Object;
  FailureOr<HostProgram> oracle = compileReference(*job.hostForm, withBounds);
  if (failed(oracle))
    return failure();
  program.host = std::move(*oracle);
  declareSubBytes(program.host);
  return success();
}

/// What the code of kernels is and users may not expect, once for all that it is true of.
void Compilation::reportNotes(const Job &job, const CompiledProgram &program) {
  llvm::MapVector<StringRef, int64_t> notes;
  for (const CompiledKernel &kernel : program.kernels)
    if (!kernel.code.note.empty())
      ++notes[kernel.code.note];
  for (auto [note, count] : notes)
    result.diagnostics += ("remark: " + job.target->name + ": " + Twine(count) +
                           (count == 1 ? " kernel is " : " kernels are ") +
                           note + "\n")
                              .str();
}

LogicalResult Compilation::compileProgram(Job &job, CompiledProgram &program) {
  ObservedStep step(&watcher, kSharedStep, "program " + job.target->name);
  program.target = job.target;
  program.names = &names;
  HostOptions host;
  host.observer = &watcher;
  StringRef triple = job.target->variants.front().target.getText("triple");
  if (!triple.empty()) {
    host.triple = triple.str();
    host.cpu = "generic";
  }
  host.debugInfo = options.debugInfo;
  host.keepText = backendOptions().keepText;
  if (options.emit == EmitKind::Object)
    host.objectPrefix = prefix + "_" + asCName(targetFolder(*job.target));
  if (job.backend->getKernelForm() == KernelForm::None)
    return compileOracle(job, host, program);
  if (failed(compileKernels(job, program)))
    return failure();
  reportNotes(job, program);
  for (const CompiledKernel &kernel : program.kernels)
    if (kernel.code.kind == CodeKind::Object)
      host.objects.push_back({{kernel.code.entry}, kernel.code.bytes});
  FailureOr<HostProgram> compiled = compileHost(*job.hostForm, host);
  if (failed(compiled))
    return failure();
  program.host = std::move(*compiled);
  for (const HostFunction &function : program.host.functions)
    if (auto func = job.hostForm->lookupSymbol<func::FuncOp>(function.name))
      program.work.push_back(describeWork(func));
  for (const std::string &name : program.host.dispatches) {
    auto kernel = job.hostForm->lookupSymbol<func::FuncOp>(name);
    if (!kernel)
      return job.hostForm->emitError() << "dispatch of unknown kernel " << name;
    FailureOr<llvm::json::Object> dispatch = describeDispatch(kernel);
    if (failed(dispatch))
      return failure();
    program.dispatches.push_back(std::move(*dispatch));
  }
  declareSubBytes(program.host);
  return success();
}

/// Callers have tensors of i4 and i2, of which the compiled functions get the bytes.
void Compilation::declareSubBytes(HostProgram &host) {
  for (HostFunction &function : host.functions) {
    StringRef name = function.name;
    name.consume_back(kBoundsSuffix);
    if (FunctionType type = subByteSignatures.lookup(name))
      function.type = FunctionType::get(context, type.getInputs(),
                                        function.type.getResults());
  }
}
