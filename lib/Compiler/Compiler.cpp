// Part of Tilewright, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The way of one compilation:
//   1. parse; the stages up to normalize, on the whole input;
//   2. one program per target variant; the stages up to place on each;
//      here the host program and the dispatches of each target are read off;
//   3. the stages up to distribute on each program's kernels;
//   4. every kernel of every program to code, in parallel, each in a module of
//      its own; the host programs beside them;
//   5. package.

#include "tilewright/Compiler/Compiler.h"

#include "ConfigFile.h"
#include "Embed.h"
#include "Explain.h"
#include "Package.h"
#include "Parameters.h"
#include "Ptxas.h"
#include "Source.h"
#include "TuningFile.h"
#include "Watcher.h"
#include "tilewright/Artifact/Manifest.h"
#include "tilewright/Configure/Configure.h"
#include "tilewright/Configure/Pins.h"
#include "tilewright/Dialect/Irregular.h"
#include "tilewright/Dialect/Nibbles.h"
#include "tilewright/Input/Input.h"
#include "tilewright/Target/Compile.h"
#include "tilewright/Target/Reference/Loops.h"
#include "tilewright/Target/Reference/BoundErrors.h"
#include "tilewright/Target/Reference/Reference.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Threading.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace tilewright;

std::optional<KernelCode> KernelCache::lookup(StringRef key) {
  std::lock_guard<std::mutex> lock(mutex);
  auto it = codes.find(key);
  return it == codes.end() ? std::nullopt : std::optional(it->second);
}
void KernelCache::insert(StringRef key, const KernelCode &code) {
  std::lock_guard<std::mutex> lock(mutex);
  codes.try_emplace(key, code);
}
size_t KernelCache::size() {
  std::lock_guard<std::mutex> lock(mutex);
  return codes.size();
}

std::string tilewright::getTargetSyntax(StringRef separator) {
  TargetRegistry registry = createTargetRegistry();
  return llvm::join(llvm::map_range(registry.getBackends(),
                                    [](const auto &backend) {
                                      return backend->getSyntax();
                                    }),
                    separator);
}

namespace {

/// One target on its way.
struct Job {
  const ParsedTarget *target = nullptr;
  const TargetBackend *backend = nullptr;
  /// One per variant, nested in the input's module.
  SmallVector<ModuleOp> programs;
  /// The first variant's program after place: host code and kernel signatures.
  /// For the reference, the input.
  OwningOpRef<ModuleOp> hostForm;
};

class Compilation {
public:
  Compilation(const CompileOptions &options, CompileResult &result)
      : options(options), result(result), registry(createTargetRegistry()),
        watcher(options.watch) {}
  LogicalResult run(StringRef source, StringRef name);

private:
  void declareSubBytes(HostProgram &host);
  void buildFor(Stage stage, KernelForm form, OpPassManager &pm);
  LogicalResult runOn(ModuleOp module, Stage stage, KernelForm form);
  /// Loads the dialects that `pm` will ask for. Threads must not: loading
  /// changes the context.
  void loadDialectsOf(PassManager &pm) {
    DialectRegistry needed;
    pm.getDependentDialects(needed);
    context->appendDialectRegistry(needed);
    for (StringRef name : needed.getDialectNames())
      context->getOrLoadDialect(name);
  }
  LogicalResult runStage(Stage stage);
  LogicalResult checkRequirements();
  LogicalResult parse(llvm::SourceMgr &sources);
  void loadStageDialects();
  DenseI64ArrayAttr float8Sums();
  LogicalResult findPrograms();
  LogicalResult compileAll(llvm::SourceMgr &sources);
  FailureOr<KernelCode> compileGuarded(func::FuncOp kernel);
  LogicalResult afterStage(Stage stage, bool &stop);
  LogicalResult checkPins(Stage stage);
  LogicalResult keepHostForms();
  void collectExplanations();
  LogicalResult compileKernels(Job &job, CompiledProgram &program);
  LogicalResult compileProgram(Job &job, CompiledProgram &program);
  LogicalResult emitLoops();
  LogicalResult emitHeader();
  FailureOr<KernelCode> compileCached(func::FuncOp kernel, Job &job);
  BackendOptions backendOptions() const {
    BackendOptions result;
    result.debugInfo = options.debugInfo;
    result.observer = &watcher;
    result.keepText = options.emit == EmitKind::LLVM ||
                      options.emit == EmitKind::Assembly ||
                      options.emit == EmitKind::SPIRVAssembly;
    return result;
  }

  const CompileOptions &options;
  CompileResult &result;
  /// What C names begin with.
  std::string prefix;
  TargetRegistry registry;
  mutable Watcher watcher;
  std::vector<ParsedTarget> targets;
  ArgumentNames names;
  Parameters parameters;
  /// Of functions that take tensors of i4 or i2, as they were written.
  llvm::StringMap<FunctionType> subByteSignatures;
  std::vector<Job> jobs;
  /// Where ops with configs stand: of the input, then of each program.
  std::vector<SmallVector<FileLineColLoc>> pinned;
  OwningOpRef<ModuleOp> module;
  MLIRContext *context = nullptr;
};

} // namespace

static std::string toText(Operation *op, bool debugInfo) {
  std::string text;
  llvm::raw_string_ostream os(text);
  // Stages and pass managers have verified it. The printer's own verifier would keep the
  // diagnostics that other threads give meanwhile to itself.
  OpPrintingFlags flags;
  flags.assumeVerified();
  if (debugInfo)
    flags.enableDebugInfo();
  op->print(os, flags);
  os << "\n";
  return text;
}

void Compilation::buildFor(Stage stage, KernelForm form, OpPassManager &pm) {
  if (stage != Stage::Configure || !options.listConfigs)
    return buildStage(stage, form, pm);
  ConfigureOptions configure;
  configure.listConfigs = true;
  populateConfigurePipeline(pm, configure);
}

LogicalResult Compilation::runOn(ModuleOp module, Stage stage, KernelForm form) {
  ObservedStep step(&watcher, "program",
                    getStageName(stage) + " of " +
                        module.getName().value_or("the input"));
  PassManager pm(context, ModuleOp::getOperationName());
  buildFor(stage, form, pm);
  if (options.watch.extend)
    options.watch.extend(stage, pm);
  watcher.watch(pm);
  return pm.run(module);
}

LogicalResult Compilation::runStage(Stage stage) {
  ObservedStep step(&watcher, kSharedStep, "stage " + getStageName(stage));
  watcher.aroundStage(/*before=*/true, stage, *module);
  if (stage < Stage::Clone)
    return runOn(*module, stage, KernelForm::Thread);
  if (stage == Stage::Clone) {
    std::vector<ParsedTarget> cloned;
    for (const Job &job : jobs)
      if (job.backend->getKernelForm() != KernelForm::None)
        cloned.push_back(*job.target);
    clonePrograms(*module, cloned);
    auto programs = module->getOps<ModuleOp>();
    auto next = programs.begin();
    for (Job &job : jobs)
      if (job.backend->getKernelForm() != KernelForm::None)
        for (size_t i = 0; i < job.target->variants.size(); ++i)
          job.programs.push_back(*next++);
    return success();
  }
  SmallVector<std::pair<ModuleOp, KernelForm>> programs;
  for (Job &job : jobs) {
    KernelForm form = job.backend->getKernelForm();
    for (ModuleOp program : job.programs)
      programs.push_back({program, form});
    PassManager pm(context, ModuleOp::getOperationName());
    buildFor(stage, form, pm);
    loadDialectsOf(pm);
  }
  return failableParallelForEach(context, programs, [&](auto &program) {
    return runOn(program.first, stage, program.second);
  });
}

LogicalResult Compilation::afterStage(Stage stage, bool &stop) {
  watcher.aroundStage(/*before=*/false, stage, *module);
  if (options.onStage)
    options.onStage(stage, toText(*module, options.debugInfo));
  if (failed(checkPins(stage)))
    return failure();
  if (stage == Stage::Place && failed(keepHostForms()))
    return failure();
  // Later stages add to what configure decided.
  if (stage >= Stage::Configure)
    collectExplanations();
  stop = options.stopAfter == stage ||
         (options.listConfigs && stage == Stage::Configure);
  if (options.stopAfter == stage)
    result.outputs.push_back({"", toText(*module, options.debugInfo)});
  return success();
}

/// No config may be lost on its way to configure.
LogicalResult Compilation::checkPins(Stage stage) {
  if (stage == Stage::Input)
    pinned = {findPinned(*module)};
  // A compilation that goes on from a dump has seen no earlier stage.
  if (stage == Stage::Normalize && !pinned.empty())
    return keepsPinned(*module, pinned.front());
  if (stage == Stage::Clone) {
    pinned.clear();
    for (auto program : module->getOps<ModuleOp>())
      pinned.push_back(findPinned(program));
  }
  // A config of the kernel replaces that of an op.
  if (stage == Stage::Configure && !pinned.empty() &&
      !(*module)->hasAttr(kPinsAttr))
    for (auto [program, before] : llvm::zip_equal(module->getOps<ModuleOp>(), pinned))
      if (failed(keepsPinned(program, before)))
        return failure();
  return success();
}

/// That a target's variants call the same kernels in the same way: the host code of the
/// first is that of all.
static LogicalResult checkSameHost(ArrayRef<ModuleOp> programs) {
  auto isSame = [](func::FuncOp first, func::FuncOp other) {
    if (isKernel(first) || isKernel(other))
      return isKernel(first) == isKernel(other) &&
             first.getName() == other.getName() &&
             first.getFunctionType() == other.getFunctionType();
    return OperationEquivalence::isEquivalentTo(first, other,
                                                OperationEquivalence::IgnoreLocations);
  };
  for (ModuleOp program : ArrayRef(programs).drop_front()) {
    ModuleOp front = programs.front();
    auto firsts = llvm::to_vector(front.getOps<func::FuncOp>()),
         others = llvm::to_vector(program.getOps<func::FuncOp>());
    for (auto [first, other] : llvm::zip(firsts, others))
      if (!isSame(first, other))
        return other.emitError() << "its dispatches for " << *program.getSymName()
                                 << " are not those for " << *front.getSymName()
                                 << "; compile for one of the two alone";
    if (firsts.size() != others.size())
      return program.emitError() << "has not as many functions as "
                                 << *front.getSymName();
  }
  return success();
}

LogicalResult Compilation::keepHostForms() {
  for (Job &job : jobs) {
    if (job.programs.empty())
      continue;
    if (failed(checkSameHost(job.programs)))
      return failure();
    job.hostForm = cast<ModuleOp>(job.programs.front()->clone());
  }
  if (options.explain)
    for (Job &job : jobs)
      if (!job.programs.empty())
        result.programs.push_back(explainProgram(*job.hostForm, *job.target));
  // What is said of a function is no part of its code.
  for (Job &job : jobs)
    if (!job.programs.empty())
      for (auto func : job.hostForm->getOps<func::FuncOp>())
        func->removeAttr(kExplainAttr);
  return success();
}

void Compilation::collectExplanations() {
  result.explanation.clear();
  for (Job &job : jobs)
    for (ModuleOp program : job.programs) {
      if (options.explain)
        collectKernelLines(program, result.explanation);
      if (options.listConfigs)
        collectConfigs(program, result.configs);
    }
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

FailureOr<KernelCode> Compilation::compileCached(func::FuncOp kernel, Job &job) {
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
    item.kernel.setName((item.kernel.getName() + item.variant->tag).str());
  }
  PassManager pm(context, ModuleOp::getOperationName());
  job.backend->buildLowering(pm, job.target->variants.front().target,
                             backendOptions());
  loadDialectsOf(pm);
  return failableParallelForEach(context, items, [&](Item &item) -> LogicalResult {
    FailureOr<KernelCode> code = compileCached(item.kernel, job);
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
  if (job.backend->getKernelForm() == KernelForm::None) {
    PassManager input(context, ModuleOp::getOperationName());
    input.addNestedPass<func::FuncOp>(createDropAssertsPass());
    input.addNestedPass<func::FuncOp>(createSequenceParallelLoopsPass());
    input.addNestedPass<func::FuncOp>(createDefineShiftsPass());
    input.addNestedPass<func::FuncOp>(createConvertTosaPass());
    input.addNestedPass<func::FuncOp>(createDecomposeGathersPass());
    input.addNestedPass<func::FuncOp>(createDecomposeWinogradPass());
    PrepareIrregularPassOptions whole;
    whole.keepSorts = true;
    input.addNestedPass<func::FuncOp>(createPrepareIrregularPass(whole));
    if (failed(input.run(*job.hostForm)))
      return failure();
    for (auto func : job.hostForm->getOps<func::FuncOp>())
      if (failed(unpackSubBytes(func)))
        return failure();
    host.bounds = options.emit == EmitKind::Artifact ||
                  options.emit == EmitKind::Manifest ||
                  options.emit == EmitKind::Object;
    FailureOr<HostProgram> oracle = compileReference(*job.hostForm, host);
    if (failed(oracle))
      return failure();
    program.host = std::move(*oracle);
    declareSubBytes(program.host);
    return success();
  }
  if (failed(compileKernels(job, program)))
    return failure();
  // Once for all kernels that it is true of.
  llvm::MapVector<StringRef, int64_t> notes;
  for (const CompiledKernel &kernel : program.kernels)
    if (!kernel.code.note.empty())
      ++notes[kernel.code.note];
  for (auto [note, count] : notes)
    result.diagnostics += ("remark: " + job.target->name + ": " + Twine(count) +
                           (count == 1 ? " kernel is " : " kernels are ") +
                           note + "\n")
                              .str();
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

LogicalResult Compilation::emitLoops() {
  if (failed(runStage(Stage::Input)) ||
      failed(lowerToLoops(*module, options.loops == LoopKind::Affine)))
    return failure();
  result.outputs.push_back({"", toText(*module, options.debugInfo)});
  return success();
}

/// Signatures are all that it says, so no code is generated.
LogicalResult Compilation::emitHeader() {
  std::vector<CompiledProgram> programs(1);
  CompiledProgram &program = programs.front();
  program.target = jobs.front().target;
  program.names = &names;
  for (auto func : jobs.front().hostForm->getOps<func::FuncOp>())
    if (func.isPublic() && !func.isExternal() && !isKernel(func))
      program.host.functions.push_back(
          {func.getName().str(), func.getFunctionType()});
  declareSubBytes(program.host);
  return package(module->getLoc(), programs, parameters, options, prefix,
                 result.outputs);
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

LogicalResult Compilation::run(StringRef source, StringRef name) {
  prefix = asCName(options.symbolPrefix.empty() ? llvm::sys::path::stem(name)
                                                : options.symbolPrefix);
  DialectRegistry dialects;
  registerInputDialects(dialects);
  registry.registerDialects(dialects);
  registerHostDialects(dialects);
  registerReferenceDialects(dialects);
  MLIRContext owned(dialects,
                    options.parallel && !options.watch.needsOneThread()
                        ? MLIRContext::Threading::ENABLED
                        : MLIRContext::Threading::DISABLED);
  context = &owned;
  context->loadDialect<TilewrightDialect>();
  // Errors quote the source; the op's generic form would be pages of IR.
  context->printOpOnDiagnostic(false);
  // Whatever refers to the context goes before it does.
  struct Release {
    Compilation &owner;
    ~Release() {
      owner.jobs.clear();
      owner.module = nullptr;
      owner.targets.clear();
    }
  } release{*this};

  llvm::SourceMgr sources;
  std::unique_ptr<llvm::MemoryBuffer> text =
      llvm::MemoryBuffer::getMemBufferCopy(source, name);
  if (!text)
    llvm::report_bad_alloc_error("no memory for a copy of the source");
  sources.AddNewSourceBuffer(std::move(text), llvm::SMLoc());
  llvm::raw_string_ostream diagnostics(result.diagnostics);
  SourceMgrDiagnosticHandler handler(sources, context, diagnostics);
  // In front of it: what is returned as failure goes on to the one before.
  ScopedDiagnosticHandler writtenNames(context, [](Diagnostic &diagnostic) {
    useWrittenNames(diagnostic);
    return failure();
  });

  // What only a crash leaves behind is the input; passes and kernels have
  // reproducers of their own, which are smaller.
  LogicalResult compiled = watcher.guard(
      UnknownLoc::get(context),
      "tilewright-compile -o /dev/null --target=" + options.targets,
      [&] { return source.str(); }, [&] { return compileAll(sources); },
      /*onFailure=*/false);
  if (watcher.hasCrashed()) {
    // In whatever state it is, nobody walks it any more.
    module.release();
    for (Job &job : jobs)
      job.hostForm.release();
  }
  std::string unknown = succeeded(compiled) ? watcher.unknownNames() : "";
  if (!unknown.empty()) {
    diagnostics << "error: cannot print the IR around " << unknown << "\n";
    return failure();
  }
  result.trace = watcher.takeTrace();
  result.timing = watcher.takeTiming();
  return compiled;
}

/// Programs without kernels never see a stage that could refuse one.
LogicalResult Compilation::checkRequirements() {
  if (options.require.empty())
    return success();
  auto hasNoKernels = [&](const ParsedTarget &target) {
    return registry.lookupBackend(target.backend)->getKernelForm() ==
           KernelForm::None;
  };
  bool all = llvm::all_of(targets, hasNoKernels);
  for (const ParsedTarget &target : targets)
    if (hasNoKernels(target))
      result.diagnostics += std::string(all ? "error" : "warning") + ": " +
                            target.name + " has no kernels, and nothing in it runs on " +
                            "matrix units: --require=matrix-unit " +
                            (all ? "cannot hold; name a target that has them\n"
                                 : "holds for the other targets only\n");
  return failure(all);
}

LogicalResult Compilation::parse(llvm::SourceMgr &sources) {
  ObservedStep step(&watcher, kSharedStep, "parse");
  llvm::Expected<std::vector<ParsedTarget>> parsed =
      registry.parseList(context, options.targets);
  if (!parsed) {
    result.diagnostics +=
        "error: " + llvm::toString(parsed.takeError()) + "\n";
    return failure();
  }
  targets = std::move(*parsed);
  if (failed(checkRequirements()))
    return failure();
  if (options.startAt)
    loadStageDialects();
  module = parseSource(sources, *context, options.startAt.has_value());
  if (!module)
    return failure();
  keepNames(sources, *module);
  names = getArgumentNames(*module);
  if (failed(parameters.read(*module, sources.getMemoryBuffer(1)->getBufferIdentifier(),
                             options.parameters)))
    return failure();
  std::string wrong;
  if (!options.configs.empty() &&
      failed(applyConfigFile(*module, options.configs, registry, wrong))) {
    result.diagnostics += "error: " + options.configsName + ": " + wrong + "\n";
    return failure();
  }
  if (!options.tuning.empty() &&
      failed(applyTuningFile(*module, options.tuning, options.tuningChip, wrong))) {
    result.diagnostics += "error: " + options.tuningName + ": " + wrong + "\n";
    return failure();
  }
  auto note = [&](StringRef attribute, const std::vector<std::string> &values) {
    SmallVector<StringRef> list(values.begin(), values.end());
    if (!list.empty())
      module->getOperation()->setAttr(attribute,
                                      Builder(context).getStrArrayAttr(list));
  };
  note(kFpAttr, options.fp);
  if (!options.asserts)
    module->getOperation()->setAttr(kAssertsAttr,
                                    StringAttr::get(context, "off"));
  note(kRequireAttr, options.require);
  if (!options.externalBlas.empty())
    module->getOperation()->setAttr(kExternalBlasAttr,
                                    StringAttr::get(context, options.externalBlas));
  for (auto func : module->getOps<func::FuncOp>())
    if (llvm::any_of(func.getArgumentTypes(), [](Type type) {
          return elementsPerByte(getElementTypeOrSelf(type)) > 1;
        }))
      subByteSignatures[func.getName()] = func.getFunctionType();
  for (const ParsedTarget &target : targets) {
    Job &job = jobs.emplace_back();
    job.target = &target;
    job.backend = registry.lookupBackend(target.backend);
    if (job.backend->getKernelForm() == KernelForm::None) {
      job.hostForm = cast<ModuleOp>(module->getOperation()->clone());
      job.hostForm.get()->setAttr(kTargetAttr, target.variants.front().target);
      if (DenseI64ArrayAttr sums = float8Sums())
        job.hostForm.get()->setAttr(kFloat8SumsAttr, sums);
    }
  }
  return options.startAt ? findPrograms() : success();
}

void Compilation::loadStageDialects() {
  DialectRegistry needed;
  registerStageDialects(needed);
  context->appendDialectRegistry(needed);
  context->loadAllAvailableDialects();
}

/// What the oracle allows sums of 8-bit floats: as few bits as a target keeps of them,
/// over a step of sums in two levels, or over all terms (--fp=fast-f8-sums).
DenseI64ArrayAttr Compilation::float8Sums() {
  constexpr int64_t kStep = 128;
  int64_t bits = 0;
  for (const ParsedTarget &target : targets)
    for (const TargetVariant &variant : target.variants)
      if (int64_t kept = variant.target.getFact("float8_sum_bits"))
        bits = bits ? std::min(bits, kept) : kept;
  bool isFast = llvm::is_contained(options.fp, "fast-f8-sums");
  return bits ? DenseI64ArrayAttr::get(context, {bits, isFast ? 0 : kStep})
              : DenseI64ArrayAttr();
}

/// Of IR from behind stage clone: which program is whose.
LogicalResult Compilation::findPrograms() {
  Stage start = *options.startAt;
  auto error = [&] {
    return emitError(module->getLoc()) << "--start-at=" << getStageName(start);
  };
  OwningOpRef<ModuleOp> placed;
  if (start > Stage::Place) {
    placed = parseSourceString<ModuleOp>(options.placed, context);
    if (!placed)
      return error() << ": the IR after stage place does not parse";
  }
  for (Job &job : jobs) {
    if (job.backend->getKernelForm() == KernelForm::None) {
      if (start != Stage::Input)
        return error() << ": " << job.target->name
                       << " compiles the program as it was written; leave it "
                          "out of --target";
      continue;
    }
    for (const TargetVariant &variant : job.target->variants) {
      std::string name = programName(*job.target, variant);
      auto find = [&](ModuleOp all) {
        return dyn_cast_or_null<ModuleOp>(
            SymbolTable::lookupSymbolIn(all, name));
      };
      if (start <= Stage::Clone)
        continue;
      ModuleOp program = find(*module);
      if (!program || program->getAttr(kTargetAttr) != variant.target)
        return error() << ": the input has no program for " << job.target->name
                       << " ('" << name
                       << "'); --target has to be that of --dump-stages";
      job.programs.push_back(program);
      if (!placed || job.hostForm)
        continue;
      ModuleOp host = find(*placed);
      if (!host)
        return error() << ": the IR after stage place is of other targets";
      job.hostForm = cast<ModuleOp>(host->clone());
    }
  }
  return success();
}

LogicalResult Compilation::compileAll(llvm::SourceMgr &sources) {
  ObservedStep whole(&watcher, kSharedStep, "compile");
  if (failed(parse(sources)))
    return failure();
  if (options.emit == EmitKind::Loops)
    return emitLoops();
  for (Stage stage : getStages()) {
    if (options.startAt && stage < *options.startAt)
      continue;
    bool stop = false;
    if (failed(runStage(stage)) || failed(afterStage(stage, stop)))
      return failure();
    if (stop)
      return success();
    if (stage == Stage::Place && options.emit == EmitKind::Header)
      return emitHeader();
  }
  if (options.emit == EmitKind::MLIR) {
    result.outputs.push_back({"", toText(*module, options.debugInfo)});
    return success();
  }
  std::vector<CompiledProgram> programs(jobs.size());
  for (auto [job, program] : llvm::zip_equal(jobs, programs))
    if (failed(compileProgram(job, program)))
      return failure();
  if ((options.resources || options.emit == EmitKind::Cubin) &&
      failed(assembleKernels(module->getLoc(), programs, options, &watcher,
                             result.resources)))
    return failure();
  for (const CompiledProgram &program : programs)
    for (ProgramExplanation &explained : result.programs)
      if (explained.target == program.target->name)
        explainCode(program, explained);
  ObservedStep step(&watcher, kSharedStep, "package");
  return package(module->getLoc(), programs, parameters, options, prefix,
                 result.outputs);
}

CompileResult tilewright::compile(StringRef source, StringRef name,
                                  const CompileOptions &options) {
  CompileResult result;
  result.succeeded = succeeded(Compilation(options, result).run(source, name));
  if (!result.succeeded)
    result.outputs.clear();
  if (!result.succeeded && result.diagnostics.empty())
    result.diagnostics = "error: compilation failed without a diagnostic\n";
  return result;
}
